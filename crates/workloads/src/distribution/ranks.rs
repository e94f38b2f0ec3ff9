//! Rows by rank: the first ranks have a share of their own each, all others follow a power law.

use plimsoll_core::plan::HotRanks;
use plimsoll_core::random::{Random, unit};

use super::Zipfian;

/// Draws row numbers.
#[derive(Clone, Debug)]
pub struct Ranks {
    /// The sum of the shares up to each rank that has one.
    ends: Box<[f64]>,
    /// The other ranks.
    rest: Option<Zipfian>,
    /// How ranks are laid out over the rows, if not in order.
    scattered: Option<Scattered>,
}

impl Ranks {
    /// Rows 1..=`count` by shares that were checked. Where there are no more rows than shares, the rows have the first shares,
    /// in proportion. Panics when there are no rows.
    pub fn new(hot: &HotRanks, count: u32) -> Self {
        assert!(count > 0, "no rows to draw from");
        let shares = &hot.shares[..hot.shares.len().min(count as usize)];
        let sum: f64 = shares.iter().sum();
        let has_rest = (shares.len() as u32) < count && sum < 1.0;
        let scale = if has_rest { 1.0 } else { 1.0 / sum };
        let mut before = 0.0;
        let ends = shares.iter().map(|share| {
            before += share * scale;
            before
        });
        Self {
            ends: ends.collect(),
            rest: has_rest.then(|| Zipfian::between(hot.exponent, shares.len() as u32 + 1, count)),
            scattered: hot.scattered.then(|| Scattered::new(count)),
        }
    }

    /// One row number.
    #[inline]
    pub fn draw(&self, random: &mut Random) -> i64 {
        let rank = self.rank(random);
        match &self.scattered {
            None => i64::from(rank) + 1,
            Some(scattered) => i64::from(scattered.offset(rank)) + 1,
        }
    }

    /// A rank, from 0.
    fn rank(&self, random: &mut Random) -> u32 {
        let ranked = if self.ends.is_empty() {
            0
        } else {
            let drawn = unit(random);
            self.ends.partition_point(|end| *end <= drawn)
        };
        match &self.rest {
            Some(rest) if ranked == self.ends.len() => rest.draw(random) - 1,
            // Rounding may leave the last sum a little below 1.
            _ => ranked.min(self.ends.len().saturating_sub(1)) as u32,
        }
    }
}

/// A fixed order of all rows in which neighbouring ranks are far apart: multiples of a step near `count` times the golden ratio
/// that has no divisor in common with it, modulo `count`.
#[derive(Clone, Copy, Debug)]
struct Scattered {
    count: u64,
    step: u64,
    begin: u64,
}

impl Scattered {
    fn new(count: u32) -> Self {
        const GOLDEN: f64 = 0.618_033_988_749_894_9;
        let near = ((f64::from(count) * GOLDEN) as u64).max(1);
        let count = u64::from(count);
        let step = (near..near + count).find(|step| divisor(*step, count) == 1);
        Self {
            count,
            step: step.expect("so many numbers in a row leave the remainder 1, too"),
            begin: count / 3,
        }
    }

    #[inline]
    fn offset(&self, rank: u32) -> u32 {
        ((u64::from(rank) * self.step + self.begin) % self.count) as u32
    }
}

/// The greatest common divisor.
fn divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { divisor(other, one % other) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_rank_has_a_row_of_its_own(count in 1_u32..5_000) {
            let scattered = Scattered::new(count);
            let mut rows: Vec<u32> = (0..count).map(|rank| scattered.offset(rank)).collect();
            rows.sort_unstable();
            prop_assert!(rows.into_iter().eq(0..count));
        }
    }

    #[test]
    fn the_first_ranks_are_far_apart_also_among_the_most_rows() {
        for count in [1_000, 1_000_000, u32::MAX] {
            let scattered = Scattered::new(count);
            let mut rows: Vec<u32> = (0..20).map(|rank| scattered.offset(rank)).collect();
            rows.sort_unstable();
            let nearest = rows.windows(2).map(|pair| pair[1] - pair[0]).min().unwrap();
            assert!(nearest > count / 50, "{nearest} of {count}");
        }
    }
}
