//! `sysbench.histogram`: buckets as a script holds them.

use super::fixed::Fixed;
use super::memory::Reserved;
use super::slab::Faced;
use crate::report::LogHistogram;

/// A histogram that a script holds.
#[derive(Default)]
pub struct Histogram {
    face: Fixed<u64>,
    /// `None` when the script let it go.
    buckets: Option<LogHistogram>,
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
        self.end();
        let memory = (size <= LogHistogram::SIZE_MAX).then(|| Reserved::new(size * size_of::<u64>()));
        let Some(memory) = memory.flatten() else { return false };
        (self.buckets, self.memory) = (LogHistogram::new(size, low, high), memory);
        self.buckets.is_some()
    }

    /// Gives its memory back.
    pub fn end(&mut self) {
        (self.buckets, self.memory) = (None, Reserved::default());
    }

    /// Counts a value in the bucket nearest to it.
    pub fn update(&mut self, value: f64) {
        if let Some(buckets) = &mut self.buckets {
            buckets.update(value);
        }
    }

    /// A line for each bucket that is not empty; nothing where all are.
    pub fn shown(&self) -> String {
        let filled = self.buckets.as_ref().filter(|buckets| !buckets.is_empty());
        filled.map(LogHistogram::rows).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_count_in_the_nearest_bucket_and_show_its_centre() {
        let mut histogram = Histogram::default();
        assert!(histogram.begin(1000, 1.0, 10.0));
        assert_eq!(histogram.shown(), "");
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
