//! How rows are chosen out of 1..=n.
//!
//! The formulas are those of sysbench 0.4, 1.0 and 1.1, over our own generator; [`Ranks`] is Plimsoll's own.

mod ranks;
mod zipfian;

#[cfg(test)]
mod tests;

use plimsoll_core::plan::{Distribution, HotBand};
use plimsoll_core::random::{Random, below, unit};

pub use ranks::Ranks;
use zipfian::Zipfian;

/// Draws row numbers.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    draw: Draw,
    count: u32,
}

/// A distribution with what can be calculated beforehand.
#[derive(Clone, Copy, Debug)]
enum Draw {
    Uniform,
    Gaussian { draws: u32 },
    Special04(HotBand),
    Special10(Special10),
    Pareto { power: f64 },
    Zipfian(Zipfian),
}

impl Rows {
    /// Rows 1..=`count`, chosen by a distribution whose parameters were checked. Panics when there are none.
    pub fn new(distribution: Distribution, count: u32) -> Self {
        assert!(count > 0, "no rows to draw from");
        let draw = match distribution {
            Distribution::Uniform {} => Draw::Uniform,
            Distribution::Gaussian(bell) => Draw::Gaussian { draws: bell.draws },
            Distribution::Special04(band) => Draw::Special04(band),
            Distribution::Special10(band) => Draw::Special10(Special10::new(band, count - 1)),
            Distribution::Pareto(pareto) => Draw::Pareto {
                power: pareto.h.ln() / (1.0 - pareto.h).ln(),
            },
            Distribution::Zipfian(zipfian) => Draw::Zipfian(Zipfian::new(zipfian.exponent, count)),
        };
        Self { draw, count }
    }

    /// One row number.
    #[inline]
    pub fn draw(&self, random: &mut Random) -> i64 {
        let width = f64::from(self.count);
        let offset = match &self.draw {
            Draw::Uniform => below(random, u64::from(self.count)) as u32,
            Draw::Gaussian { draws } => (width * mean(random, *draws)) as u32,
            Draw::Special04(band) => special_04(random, *band, u64::from(self.count)),
            Draw::Special10(special) => special.draw(random),
            Draw::Pareto { power } => (width * unit(random).powf(*power)) as u32,
            Draw::Zipfian(zipfian) => zipfian.draw(random) - 1,
        };
        1 + i64::from(offset.min(self.count - 1))
    }
}

/// The mean of so many uniform numbers, 0..1.
fn mean(random: &mut Random, draws: u32) -> f64 {
    (0..draws).map(|_| unit(random)).sum::<f64>() / f64::from(draws)
}

/// `special` of sysbench 1.0 on 0..=`last`: some draws follow a bell over all rows, the others fall evenly into a band in
/// the middle. One and the same uniform number selects the branch and the place in the band, so only the upper part of
/// the band is ever hit (three quarters by default): a peculiarity that a fair comparison has to keep.
#[derive(Clone, Copy, Debug)]
struct Special10 {
    width: f64,
    /// The share of the rows that is hot.
    hot_ratio: f64,
    /// The share of the accesses that is meant for them.
    hot_access_ratio: f64,
    draws: u32,
}

impl Special10 {
    fn new(band: HotBand, last: u32) -> Self {
        Self {
            width: f64::from(last),
            hot_ratio: f64::from(band.hot_rows_percent) / 100.0,
            hot_access_ratio: f64::from(band.hot_accesses_percent) / 100.0,
            draws: band.draws,
        }
    }

    fn draw(&self, random: &mut Random) -> u32 {
        let selector = unit(random);
        let offset = if selector < 1.0 - self.hot_access_ratio {
            self.width * mean(random, self.draws)
        } else {
            selector * (self.width * self.hot_ratio + 1.0) + self.width / 2.0 - self.width * self.hot_ratio / 2.0
        };
        offset as u32
    }
}

/// `special` of sysbench 0.4 on 1..=`count`, as an offset from 1, in its whole numbers: the choice of the branch is one
/// draw from 1 to `count` times 100 / (100 - percent), rounded down, so that only certain shares of accesses are
/// possible (75 % exactly, but 60 % becomes 50 %). A row 0, which it can name in tiny tables, is row 1 here.
fn special_04(random: &mut Random, band: HotBand, count: u64) -> u32 {
    let (percent, draws) = (u64::from(band.hot_rows_percent), u64::from(band.draws));
    let factor = 100 / (100 - u64::from(band.hot_accesses_percent));
    let selector = 1 + below(random, count * factor);
    let row = if selector <= count {
        (0..draws).map(|_| 1 + below(random, count)).sum::<u64>() / draws
    } else {
        selector % (count * percent / 100).max(1) + count / 2 - count * percent / 200
    };
    row.saturating_sub(1) as u32
}
