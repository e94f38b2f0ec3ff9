//! Keys in their order: the next that no row has yet, and the newest that there are.
//!
//! All connections of a load count together. Several engines that share a load each take every n-th number, so that none takes
//! another's, whenever they asked for the largest key.

use std::sync::atomic::{AtomicI64, Ordering};

use plimsoll_core::plan::{CounterPlan, Share, ValueDistribution};
use plimsoll_core::random::Random;

use super::data::quoted;
use super::generator::Sampler;

/// The columns of the answer to [`ends_sql`].
pub const ENDS: [&str; 2] = ["oldest", "newest"];

/// Asks for the smallest and the largest key.
pub fn ends_sql(plan: &CounterPlan) -> String {
    let (table, column) = (quoted(&plan.table), quoted(&plan.column));
    format!("SELECT MIN({column}) AS oldest, MAX({column}) AS newest FROM {table}")
}

/// Values that are chosen from the newest keys of a counter.
pub struct Recent {
    pub counter: usize,
    pub within: Option<u32>,
    pub distribution: ValueDistribution,
}

/// All counters of a load from when it begins.
pub struct Keys {
    counters: Vec<Counter>,
    /// The counter of each, and how it chooses.
    recent: Vec<(usize, Sampler)>,
}

struct Counter {
    next: AtomicI64,
    newest: AtomicI64,
    oldest: i64,
    step: i64,
}

impl Keys {
    /// Counts on from the smallest and the largest key of each counter, `None` where there is no row.
    pub fn new(ends: &[Option<(i64, i64)>], recent: &[Recent], share: Share) -> Self {
        let counters: Vec<Counter> = ends.iter().map(|one| Counter::new(*one, share)).collect();
        let sampler = |one: &Recent| (one.counter, counters[one.counter].sampler(one));
        Self {
            recent: recent.iter().map(sampler).collect(),
            counters,
        }
    }

    /// A key that no row has.
    #[inline]
    pub fn next(&self, counter: usize) -> i64 {
        let counter = &self.counters[counter];
        let key = counter.next.fetch_add(counter.step, Ordering::Relaxed);
        counter.newest.fetch_max(key, Ordering::Relaxed);
        key
    }

    /// The server gave a row this key.
    #[inline]
    pub fn given(&self, counter: usize, key: i64) {
        self.counters[counter].newest.fetch_max(key, Ordering::Relaxed);
    }

    /// One of the newest keys. Where there are fewer than it is chosen from, they are counted through again.
    #[inline]
    pub fn recent(&self, recent: usize, random: &mut Random) -> i64 {
        let (counter, sampler) = &self.recent[recent];
        let counter = &self.counters[*counter];
        let newest = counter.newest.load(Ordering::Relaxed);
        newest - sampler.draw(random) % (newest - counter.oldest + 1).max(1)
    }
}

impl Counter {
    fn new(ends: Option<(i64, i64)>, share: Share) -> Self {
        let (oldest, newest) = ends.unwrap_or((1, 0));
        let step = i64::from(share.count);
        let first = newest.saturating_add(1);
        let next = first.saturating_add((i64::from(share.index) - first).rem_euclid(step));
        Self {
            next: AtomicI64::new(next),
            newest: AtomicI64::new(newest),
            oldest,
            step,
        }
    }

    fn sampler(&self, plan: &Recent) -> Sampler {
        let all = (self.newest.load(Ordering::Relaxed) - self.oldest + 1).max(1);
        let most = if plan.distribution.is_uniform() {
            i64::MAX
        } else {
            i64::from(u32::MAX)
        };
        let within = plan.within.map_or(all.min(most), i64::from);
        Sampler::new(&plan.distribution, within.unsigned_abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_core::random::keyed;

    #[test]
    fn engines_that_share_a_load_never_take_the_same_key_whenever_they_asked() {
        let of = |index, newest| Keys::new(&[Some((1, newest))], &[], Share { index, count: 3 });
        let engines = [of(0, 100), of(1, 100), of(2, 107)];
        let mut keys: Vec<i64> = (0..30).map(|n: usize| engines[n % 3].next(0)).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!((keys.len(), keys[0] > 100), (30, true));
    }

    #[test]
    fn the_next_key_stands_behind_the_largest() {
        let keys = |ends| Keys::new(&[ends], &[], Share::default());
        let full = keys(Some((5, 9)));
        assert_eq!((full.next(0), full.next(0)), (10, 11));
        assert_eq!(keys(None).next(0), 1);
        assert_eq!(keys(Some((-9, -5))).next(0), -4);
    }

    #[test]
    fn recent_keys_follow_what_was_made() {
        let recent = |within| Recent {
            counter: 0,
            within,
            distribution: ValueDistribution::default(),
        };
        let keys = Keys::new(&[Some((1, 10))], &[recent(Some(3)), recent(None)], Share::default());
        let drawn = |which| {
            let mut found: Vec<i64> = (0..500).map(|n| keys.recent(which, &mut keyed(n, 0, 0))).collect();
            found.sort_unstable();
            found.dedup();
            found
        };
        assert_eq!((drawn(0), drawn(1)), (vec![8, 9, 10], (1..=10).collect()));
        keys.given(0, 20);
        keys.given(0, 15);
        assert_eq!(drawn(0), [18, 19, 20]);
    }

    #[test]
    fn where_there_are_fewer_keys_than_are_chosen_from_each_is_one_of_them() {
        let recent = Recent {
            counter: 0,
            within: Some(100),
            distribution: ValueDistribution::default(),
        };
        let keys = Keys::new(&[Some((7, 9))], &[recent], Share::default());
        assert!((0..300).all(|n| (7..=9).contains(&keys.recent(0, &mut keyed(n, 0, 0)))));
    }
}
