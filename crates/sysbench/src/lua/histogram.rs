//! `sysbench.histogram`: buckets whose bounds grow by a constant factor, and how they are printed.

use std::fmt::Write as _;

use super::memory::Reserved;
use super::slab::{Faced, Fixed};

/// Widest bar, characters.
const BAR_WIDTH: f64 = 40.0;

/// Buckets between two values. Values beyond count in the first and the last.
#[derive(Default)]
pub struct Histogram {
    face: Fixed<u64>,
    /// Logarithm of the least value.
    low: f64,
    /// Buckets for each unit of the logarithm.
    scale: f64,
    counts: Vec<u64>,
    memory: Reserved,
}

impl Faced for Histogram {
    type Face = u64;

    fn face(&self) -> *mut u64 {
        self.face.pointer()
    }
}

impl Histogram {
    /// Empties it, with so many buckets from `low` to `high`. False when that makes no sense, or there is no memory
    /// for them.
    pub fn begin(&mut self, size: usize, low: f64, high: f64) -> bool {
        let makes_sense = (2..=1 << 24).contains(&size) && low > 0.0 && high > low && high.is_finite();
        self.end();
        let memory = if makes_sense {
            Reserved::new(size * size_of::<u64>())
        } else {
            None
        };
        let Some(memory) = memory else { return false };
        self.low = low.ln();
        self.scale = (size - 1) as f64 / (high.ln() - low.ln());
        (self.counts, self.memory) = (vec![0; size], memory);
        true
    }

    /// Gives its memory back.
    pub fn end(&mut self) {
        (self.counts, self.memory) = (Vec::new(), Reserved::default());
    }

    /// Counts a value in the bucket nearest to it.
    pub fn update(&mut self, value: f64) {
        let Some(last) = self.counts.len().checked_sub(1) else {
            return;
        };
        let place = ((value.ln() - self.low) * self.scale + 0.5).floor().max(0.0) as usize; // NaN counts first
        self.counts[place.min(last)] += 1;
    }

    /// A line for each bucket that is not empty.
    pub fn shown(&self) -> String {
        let most = self.counts.iter().max().copied().unwrap_or_default();
        let mut text = String::from("       value  ------------- distribution ------------- count\n");
        for (place, count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let value = (place as f64 / self.scale + self.low).exp();
            let stars = "*".repeat((BAR_WIDTH * *count as f64 / most as f64 + 0.5) as usize);
            writeln!(text, "{value:12.3} |{stars:<40} {count}").expect("a string takes all that is written");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_count_in_the_nearest_bucket_and_show_its_centre() {
        let mut histogram = Histogram::default();
        assert!(histogram.begin(1000, 1.0, 10.0));
        for (value, count) in [(1.0, 1), (0.1, 1), (2.0, 4), (5.0, 1), (10.0, 1), (99.0, 1)] {
            (0..count).for_each(|_| histogram.update(value));
        }
        let bar = |stars: usize| format!("{:<40}", "*".repeat(stars));
        let expected = format!(
            "       value  ------------- distribution ------------- count\n       1.000 |{} 2\n       2.001 |{} 4\n       \
             4.997 |{} 1\n      10.000 |{} 2\n",
            bar(20),
            bar(40),
            bar(10),
            bar(20)
        );
        assert_eq!(histogram.shown(), expected);
    }

    #[test]
    fn bounds_that_make_no_sense_are_refused() {
        let mut histogram = Histogram::default();
        for (size, low, high) in [
            (1, 1.0, 2.0),
            (9, 0.0, 2.0),
            (9, 2.0, 1.0),
            (9, f64::NAN, 1.0),
            (usize::MAX, 1.0, 2.0),
        ] {
            assert!(!histogram.begin(size, low, high));
        }
        histogram.update(1.0);
    }
}
