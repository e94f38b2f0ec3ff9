//! Which of a user's transactions comes next. It follows from the weights and the generator of the arrival alone, so that
//! whoever needs to know it may ask.

use plimsoll_core::plan::StatementsPlan;
use plimsoll_core::random::{Random, below};

/// How transactions are chosen: each by itself, by weight.
pub struct Choice {
    /// The sum of all weights up to each transaction, its own included.
    ends: Vec<u64>,
}

impl Choice {
    /// By the weights of a plan's transactions.
    pub fn of(plan: &StatementsPlan) -> Self {
        let mut total = 0;
        let ends = plan.transactions.iter().map(|one| {
            total += u64::from(one.weight);
            total
        });
        Self { ends: ends.collect() }
    }

    /// The position of the chosen one. Where there is only one nothing is drawn.
    #[inline]
    pub fn draw(&self, random: &mut Random) -> usize {
        let Some(total) = self.ends.last().filter(|_| self.ends.len() > 1) else {
            return 0;
        };
        let drawn = below(random, *total);
        self.ends.partition_point(|end| *end <= drawn)
    }
}
