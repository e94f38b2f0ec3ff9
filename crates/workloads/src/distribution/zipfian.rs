//! Zipf's law on m..=n: `k` is chosen in proportion to 1 / k^exponent.
//!
//! By rejection-inversion after W. Hörmann and G. Derflinger, "Rejection-inversion to generate variates from monotone
//! discrete distributions", ACM TOMACS 6 (1996): constant time and memory, whatever n is. The integral of x^-exponent
//! is inverted at a uniform number, rounded, and seldom rejected.

use plimsoll_core::random::{Random, unit};

/// Draws from m..=n.
#[derive(Clone, Copy, Debug)]
pub struct Zipfian {
    exponent: f64,
    first: f64,
    last: f64,
    /// The integral where the first row begins, one unit to the left of its right edge.
    integral_first: f64,
    /// The integral at the right edge of the last row.
    integral_last: f64,
    /// A number so little below its rounded value is accepted without looking at the integral.
    sure: f64,
}

impl Zipfian {
    /// Rows 1..=`count` under an exponent of 0 or more.
    pub fn new(exponent: f64, count: u32) -> Self {
        Self::between(exponent, 1, count)
    }

    /// Rows `first`..=`last`, in proportion to what they have among all from 1 on.
    pub fn between(exponent: f64, first: u32, last: u32) -> Self {
        let (first, last) = (f64::from(first), f64::from(last));
        let next = first + 1.0;
        let sure = next - integral_inverse(exponent, integral(exponent, next + 0.5) - density(exponent, next));
        Self {
            exponent,
            first,
            last,
            integral_first: integral(exponent, first + 0.5) - density(exponent, first),
            integral_last: integral(exponent, last + 0.5),
            sure,
        }
    }

    /// One row number.
    pub fn draw(&self, random: &mut Random) -> u32 {
        loop {
            let at = self.integral_last + unit(random) * (self.integral_first - self.integral_last);
            let x = integral_inverse(self.exponent, at);
            let row = x.round().clamp(self.first, self.last);
            if row - x <= self.sure || at >= integral(self.exponent, row + 0.5) - density(self.exponent, row) {
                return row as u32;
            }
        }
    }
}

fn density(exponent: f64, x: f64) -> f64 {
    (-exponent * x.ln()).exp()
}

/// The integral of the density from 1 to `x`: (x^(1-s) - 1) / (1-s), and ln x for s = 1.
fn integral(exponent: f64, x: f64) -> f64 {
    let log = x.ln();
    growth((1.0 - exponent) * log) * log
}

/// The `x` at which the integral has this value. What rounding pushes below the integral's least value counts as that.
fn integral_inverse(exponent: f64, value: f64) -> f64 {
    let t = (value * (1.0 - exponent)).max(-1.0);
    (decay(t) * value).exp()
}

/// (e^t - 1) / t, also near 0.
fn growth(t: f64) -> f64 {
    if t.abs() > 1e-8 { t.exp_m1() / t } else { 1.0 + t / 2.0 }
}

/// ln(1 + t) / t, also near 0.
fn decay(t: f64) -> f64 {
    if t.abs() > 1e-8 { t.ln_1p() / t } else { 1.0 - t / 2.0 }
}
