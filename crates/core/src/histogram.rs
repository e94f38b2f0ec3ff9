//! Histograms of durations in nanoseconds with three significant digits, in the bucket layout of HdrHistogram
//! (lowest discernible value 1, 2,048 sub-buckets), so that an export needs no recalculation.
//!
//! A bucket is at most 1/1,024 of its value wide; reporting its middle is wrong by at most 0.05 %.
//! Deliberately not here: the atomic buckets that workers write to (they belong to the engine's recorder).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const SUB_BUCKET_BITS: u32 = 11;
const SUB_BUCKETS: u64 = 1 << SUB_BUCKET_BITS;
const HALF_SUB_BUCKETS: u64 = SUB_BUCKETS / 2;

/// The largest duration that has a bucket of its own, about 73 minutes; longer ones count in the last bucket.
pub const VALUE_NS_MAX: u64 = (1 << 42) - 1;

/// How many buckets cover 0..=[`VALUE_NS_MAX`].
pub const BUCKET_COUNT: usize = (SUB_BUCKETS + (42 - SUB_BUCKET_BITS as u64) * HALF_SUB_BUCKETS) as usize;

/// The bucket that `value_ns` counts in.
pub fn bucket_index(value_ns: u64) -> usize {
    let value = value_ns.min(VALUE_NS_MAX);
    let octave = (u64::BITS - (value | (SUB_BUCKETS - 1)).leading_zeros()) - SUB_BUCKET_BITS;
    let sub_bucket = value >> octave;
    (u64::from(octave) * HALF_SUB_BUCKETS + sub_bucket) as usize
}

/// The smallest and the largest duration that count in a bucket, both included, in nanoseconds.
pub fn bucket_range_ns(index: usize) -> (u64, u64) {
    assert!(index < BUCKET_COUNT, "bucket {index} of {BUCKET_COUNT}");
    let index = index as u64;
    let octave = if index < SUB_BUCKETS {
        0
    } else {
        index / HALF_SUB_BUCKETS - 1
    };
    let low = (index - octave * HALF_SUB_BUCKETS) << octave;
    (low, low + (1 << octave) - 1)
}

/// A sparse histogram: the buckets that are not empty, in rising order, and how often each was hit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Histogram {
    /// Bucket indexes, strictly rising.
    pub buckets: Vec<u32>,
    /// Counts, one for each of `buckets`, none of them 0.
    pub counts: Vec<u64>,
    /// Exact sum of all recorded durations, nanoseconds.
    pub sum_ns: u64,
    /// Exact largest recorded duration, nanoseconds; 0 when empty.
    pub max_ns: u64,
}

impl Histogram {
    /// How many durations were recorded.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Records one duration. For tests and small sets; the engine's recorder has its own atomic buckets.
    pub fn record(&mut self, value_ns: u64) {
        let index = bucket_index(value_ns) as u32;
        match self.buckets.binary_search(&index) {
            Ok(at) => self.counts[at] += 1,
            Err(at) => {
                self.buckets.insert(at, index);
                self.counts.insert(at, 1);
            }
        }
        self.sum_ns += value_ns;
        self.max_ns = self.max_ns.max(value_ns);
    }

    /// Both histograms as one.
    #[must_use]
    pub fn merge(&self, other: &Self) -> Self {
        Self::sum(&[self, other])
    }

    /// All histograms as one. The work grows with the total number of their entries, not with the square of the number of parts.
    pub fn sum(parts: &[&Self]) -> Self {
        let mut pairs = Vec::with_capacity(parts.iter().map(|part| part.buckets.len()).sum());
        let mut sum = Self::default();
        for part in parts {
            pairs.extend(part.pairs());
            sum.sum_ns += part.sum_ns;
            sum.max_ns = sum.max_ns.max(part.max_ns);
        }
        pairs.sort_by_key(|pair: &(u32, u64)| pair.0); // each part is in order: a stable sort merges such runs
        for same in pairs.chunk_by(|one, other| one.0 == other.0) {
            sum.buckets.push(same[0].0);
            sum.counts.push(same.iter().map(|pair| pair.1).sum());
        }
        sum
    }

    /// The duration below which the given share (0..=1) of all recorded ones lies, nanoseconds: the middle of the
    /// bucket that holds the value of that rank, never above the exact maximum. `None` when empty.
    pub fn quantile_ns(&self, quantile: f64) -> Option<u64> {
        assert!(
            (0.0..=1.0).contains(&quantile),
            "quantile {quantile} is not within 0..=1"
        );
        let rank = ((self.count() as f64 * quantile).ceil() as u64).max(1);
        let mut seen = 0;
        for (bucket, count) in self.pairs() {
            seen += count;
            if seen >= rank {
                let (low, high) = bucket_range_ns(bucket as usize);
                return Some((low + (high - low) / 2).min(self.max_ns));
            }
        }
        None
    }

    fn pairs(&self) -> impl Iterator<Item = (u32, u64)> {
        self.buckets.iter().copied().zip(self.counts.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        for &value in values {
            histogram.record(value);
        }
        histogram
    }

    #[test]
    fn buckets_cover_everything_once_and_in_order() {
        let mut next = 0;
        for index in 0..BUCKET_COUNT {
            let (low, high) = bucket_range_ns(index);
            assert_eq!(low, next, "gap before bucket {index}");
            assert_eq!((bucket_index(low), bucket_index(high)), (index, index));
            next = high + 1;
        }
        assert_eq!(next, VALUE_NS_MAX + 1);
        assert_eq!(bucket_index(u64::MAX), BUCKET_COUNT - 1);
    }

    #[test]
    fn merged_percentile_is_that_of_all_values_and_not_a_mean_of_percentiles() {
        let low: Vec<u64> = (1..=1000).map(|v| v * 1_000_000).collect();
        let high: Vec<u64> = (1001..=2000).map(|v| v * 1_000_000).collect();
        let p99 = of(&low).merge(&of(&high)).quantile_ns(0.99).unwrap();
        assert!((1_979_000_000..=1_981_000_000).contains(&p99), "{p99}");
    }

    proptest! {
        #[test]
        fn a_quantile_is_within_a_thousandth_of_the_exact_one(
            mut values in prop::collection::vec(1u64..VALUE_NS_MAX, 1..300), quantile in 0.0f64..=1.0
        ) {
            let found = of(&values).quantile_ns(quantile).unwrap() as f64;
            values.sort_unstable();
            let rank = ((values.len() as f64 * quantile).ceil() as usize).max(1);
            let exact = values[rank - 1] as f64;
            prop_assert!((found - exact).abs() <= exact * 0.001 + 1.0, "{} for {}", found, exact);
        }

        #[test]
        fn merging_is_associative_and_commutative(
            a in prop::collection::vec(0u64..1_000_000, 0..50),
            b in prop::collection::vec(0u64..1_000_000, 0..50),
            c in prop::collection::vec(0u64..1_000_000, 0..50),
        ) {
            let (a, b, c) = (of(&a), of(&b), of(&c));
            prop_assert_eq!(a.merge(&b).merge(&c), a.merge(&b.merge(&c)));
            prop_assert_eq!(a.merge(&b), b.merge(&a));
        }
    }
}
