//! Which words of a block an event touches, in which order.
//!
//! Drawing must not take longer than the access that it is for. Uniform offsets take some two nanoseconds and are drawn as
//! they are needed. Other distributions take up to a hundred: they are drawn into a table beforehand, which the workers
//! then read in order, each from a place of its own.

use std::sync::Arc;

use plimsoll_core::plan::Distribution;
use plimsoll_core::random::{Random, below, keyed};
use plimsoll_workloads::distribution::Rows;

/// Offsets that are drawn beforehand.
const TABLE_COUNT: usize = 1 << 20;

/// The stream of random numbers that the table is drawn from; workers have those from 0 on.
const TABLE_STREAM: u64 = u64::MAX;

/// How offsets are chosen.
pub(super) enum Offsets {
    /// One after the other.
    InOrder,
    /// All equally likely.
    Uniform,
    /// As they were drawn.
    Table(Arc<[u32]>),
}

/// One worker's passes over its block.
pub(super) enum Pass {
    InOrder,
    Uniform(Random),
    Table { drawn: Arc<[u32]>, next: usize },
}

impl Offsets {
    /// Offsets below `words_count` that follow a distribution.
    pub(super) fn random(distribution: Distribution, words_count: u64, seed: u64) -> Self {
        if distribution == (Distribution::Uniform {}) {
            return Self::Uniform;
        }
        let rows = Rows::new(distribution, u32::try_from(words_count).unwrap_or(u32::MAX));
        let mut random = keyed(seed, TABLE_STREAM, 0);
        Self::Table((0..TABLE_COUNT).map(|_| rows.draw(&mut random) as u32 - 1).collect())
    }

    /// The passes of a worker with a generator of its own.
    pub(super) fn pass(&self, mut random: Random) -> Pass {
        match self {
            Self::InOrder => Pass::InOrder,
            Self::Uniform => Pass::Uniform(random),
            Self::Table(drawn) => Pass::Table {
                next: below(&mut random, drawn.len() as u64) as usize,
                drawn: Arc::clone(drawn),
            },
        }
    }
}

impl Pass {
    /// As many offsets as there are words.
    #[inline]
    pub(super) fn each(&mut self, words_count: u64, mut touch: impl FnMut(u64)) {
        match self {
            Self::InOrder => (0..words_count).for_each(touch),
            Self::Uniform(random) => (0..words_count).for_each(|_| touch(below(random, words_count))),
            Self::Table { drawn, next } => {
                for _ in 0..words_count {
                    touch(drawn[*next].into());
                    *next = (*next + 1) % TABLE_COUNT;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_core::plan::{Bell, HotBand, Pareto, Zipfian};

    use super::*;

    fn touched(offsets: &Offsets, words_count: u64) -> Vec<u64> {
        let mut all = vec![];
        offsets.pass(keyed(1, 0, 0)).each(words_count, |at| all.push(at));
        all
    }

    #[test]
    fn in_order_every_word_is_touched_once() {
        assert_eq!(touched(&Offsets::InOrder, 128), (0..128).collect::<Vec<_>>());
    }

    #[test]
    fn every_distribution_stays_within_the_block_and_moves_about() {
        let all = [
            Distribution::Uniform {},
            Distribution::Gaussian(Bell::default()),
            Distribution::Special10(HotBand::default()),
            Distribution::Pareto(Pareto::default()),
            Distribution::Zipfian(Zipfian::default()),
        ];
        for distribution in all {
            for words_count in [1, 1_000] {
                let touched = touched(&Offsets::random(distribution, words_count, 7), words_count);
                assert_eq!(touched.len() as u64, words_count);
                assert!(touched.iter().all(|at| *at < words_count), "{distribution:?}");
                let first = touched[0];
                assert!(
                    words_count == 1 || touched.iter().any(|at| *at != first),
                    "{distribution:?}"
                );
            }
        }
    }
}
