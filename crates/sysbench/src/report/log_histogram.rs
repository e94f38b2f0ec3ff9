//! A histogram with buckets at equal distances on a logarithmic scale, and how sysbench draws it.
//!
//! It is for show: our own figures come from finer buckets.

use std::fmt::Write as _;

use plimsoll_core::histogram::{Histogram, bucket_range_ns};

use crate::log::{Level, Log};

/// Stars of the fullest bucket.
const STARS: f64 = 40.0;

/// Counts of values between a least and a greatest; what lies beyond counts in the first and the last bucket.
#[derive(Clone, Debug, PartialEq)]
pub struct LogHistogram {
    min: f64,
    max: f64,
    counts: Vec<u64>,
}

impl LogHistogram {
    /// Most buckets that one may have.
    pub const SIZE_MAX: usize = 1 << 20;

    /// An empty one of so many buckets. `None` where that makes no sense: fewer than two or too many buckets, values that are not
    /// above 0, or no distance between them.
    pub fn new(size: usize, min: f64, max: f64) -> Option<Self> {
        let is_sensible = (2..=Self::SIZE_MAX).contains(&size) && min > 0.0 && max > min && max.is_finite();
        is_sensible.then(|| Self {
            min,
            max,
            counts: vec![0; size],
        })
    }

    /// Response times in milliseconds, in the buckets that sysbench has for them: 1,024 from 0.001 ms to 100 s.
    pub fn of_latency(latency: &Histogram) -> Self {
        let mut histogram = Self::new(1024, 0.001, 100_000.0).expect("constants make sense");
        for (bucket, count) in latency.buckets.iter().zip(&latency.counts) {
            let (low, high) = bucket_range_ns(*bucket as usize);
            histogram.add((low + (high - low) / 2) as f64 / 1e6, *count);
        }
        histogram
    }

    /// Counts a value.
    pub fn update(&mut self, value: f64) {
        self.add(value, 1);
    }

    fn add(&mut self, value: f64, count: u64) {
        let last = self.counts.len() - 1;
        let place = (value / self.min).ln() * self.per_ln() + 0.5;
        let place = if place > 0.0 { (place as usize).min(last) } else { 0 }; // also for what is no number
        self.counts[place] += count;
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.counts.iter().all(|count| *count == 0)
    }

    fn per_ln(&self) -> f64 {
        (self.counts.len() - 1) as f64 / (self.max / self.min).ln()
    }

    fn value(&self, place: usize) -> f64 {
        self.min * (place as f64 / self.per_ln()).exp()
    }

    /// Prints one of response times in milliseconds: its rows, if there are any, whatever the verbosity, as sysbench does.
    pub fn tell(&self, log: &Log) {
        log.line(Level::Notice, "Latency histogram (values are in milliseconds)");
        if !self.is_empty() {
            log.print(self.rows());
        }
        log.line(Level::Notice, " ");
    }

    /// Names of columns, and a line for each bucket that is not empty.
    pub fn rows(&self) -> String {
        let most = self.counts.iter().copied().max().unwrap_or_default();
        let mut text = "       value  ------------- distribution ------------- count\n".to_owned();
        for (place, count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let stars = "*".repeat((STARS * *count as f64 / most as f64 + 0.5) as usize);
            let _ = writeln!(text, "{:12.3} |{stars:<40} {count}", self.value(place));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_fall_into_the_nearest_bucket_and_are_shown_by_it() {
        let mut histogram = LogHistogram::new(1000, 1.0, 10.0).unwrap();
        for value in [1.0, 2.0, 5.0, 10.0, 10.0, 0.1, 99.0, f64::NAN] {
            histogram.update(value);
        }
        let text = histogram.rows();
        let shown: Vec<&str> = text
            .lines()
            .skip(1)
            .map(|line| line.split_whitespace().next().unwrap_or(""))
            .collect();
        assert_eq!(shown, ["1.000", "2.001", "4.997", "10.000"]);
        assert!(
            text.contains("      10.000 |**************************************** 3\n"),
            "{text}"
        );
        assert!(
            text.contains("       2.001 |*************                            1\n"),
            "{text}"
        );
    }

    #[test]
    fn senseless_histograms_are_refused() {
        for (size, min, max) in [
            (0, 1.0, 2.0),
            (10, 0.0, 2.0),
            (10, 2.0, 2.0),
            (usize::MAX, 1.0, 2.0),
            (10, 1.0, f64::NAN),
        ] {
            assert!(LogHistogram::new(size, min, max).is_none());
        }
    }
}
