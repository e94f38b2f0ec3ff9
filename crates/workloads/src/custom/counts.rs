//! Whole numbers that are drawn, compiled: how often something runs, how many of something there are.

use plimsoll_core::plan::CountPlan;
use plimsoll_core::random::{Random, below, unit};

/// Draws one of several numbers. Its numbers have positions, from the smallest on.
#[derive(Clone, Debug)]
pub enum Counts {
    /// Each from `min` on is equally likely.
    Range { min: u32, choices: u64 },
    /// Each with the share of all that is chosen before it ends, 0..=1.
    Weighted(Vec<(f64, u32)>),
}

impl Counts {
    /// Compiles a plan that has no faults.
    pub fn new(plan: &CountPlan) -> Self {
        match plan {
            CountPlan::Range { min, .. } => Self::Range {
                min: *min,
                choices: plan.choices(),
            },
            CountPlan::Weighted { counts, weights } => {
                let total: f64 = weights.iter().sum();
                let mut before = 0.0;
                let share = |(count, weight): (&u32, &f64)| {
                    before += weight / total;
                    (before, *count)
                };
                Self::Weighted(counts.iter().zip(weights).map(share).collect())
            }
        }
    }

    /// The position of a number. Where there is only one nothing is drawn.
    #[inline]
    pub fn draw(&self, random: &mut Random) -> usize {
        match self {
            Self::Range { choices: 1, .. } => 0,
            Self::Range { choices, .. } => below(random, *choices) as usize,
            Self::Weighted(shares) if shares.len() == 1 => 0,
            Self::Weighted(shares) => {
                let drawn = unit(random);
                let found = shares.iter().position(|(end, _)| drawn < *end);
                // Rounding may leave the last share a little below 1; what has no weight is never taken.
                found.unwrap_or_else(|| shares.partition_point(|(end, _)| *end < shares[shares.len() - 1].0))
            }
        }
    }

    /// The number at a position.
    #[inline]
    pub fn at(&self, position: usize) -> u32 {
        match self {
            Self::Range { min, .. } => min + position as u32,
            Self::Weighted(shares) => shares[position].1,
        }
    }
}

/// How long a list is at the moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Length {
    /// The position of its length among all that it may have.
    pub position: usize,
    pub count: usize,
}

/// How often something runs, or how many rows or items there are.
#[derive(Clone, Debug)]
pub enum Times {
    Drawn(Counts),
    /// As many as a list has items, by its position.
    Items(usize),
}

impl Times {
    /// The number, and its position among all that there may be. Nothing is drawn where a list has it.
    #[inline]
    pub fn draw(&self, random: &mut Random, lists: &[Length]) -> Length {
        match self {
            Self::Drawn(counts) => {
                let position = counts.draw(random);
                let count = counts.at(position) as usize;
                Length { position, count }
            }
            Self::Items(list) => lists[*list],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_core::random::keyed;

    fn drawn(plan: &CountPlan) -> Vec<u32> {
        let counts = Counts::new(plan);
        let mut random = keyed(4, 0, 0);
        (0..8_000).map(|_| counts.at(counts.draw(&mut random))).collect()
    }

    #[test]
    fn numbers_come_by_their_weights() {
        let plan = CountPlan::Weighted {
            counts: vec![5, 6, 9],
            weights: vec![1.0, 2.0, 0.0],
        };
        let drawn = drawn(&plan);
        let fives = drawn.iter().filter(|count| **count == 5).count();
        assert!(drawn.iter().all(|count| [5, 6].contains(count)));
        // A third of 8,000 is expected, with a standard deviation of 42.
        assert!((2_500..2_840).contains(&fives), "{fives}");
    }

    #[test]
    fn a_range_has_both_its_ends_and_draws_as_ever() {
        let drawn = drawn(&CountPlan::Range { min: 2, max: 4 });
        let mut random = keyed(4, 0, 0);
        assert!(drawn.iter().all(|count| *count == 2 + below(&mut random, 3) as u32));
        assert!([2, 3, 4].iter().all(|count| drawn.contains(count)));
    }

    #[test]
    fn nothing_is_drawn_where_there_is_one_number() {
        let one = CountPlan::Weighted {
            counts: vec![7],
            weights: vec![3.0],
        };
        for plan in [CountPlan::default(), one] {
            let mut random = keyed(4, 0, 0);
            Counts::new(&plan).draw(&mut random);
            assert_eq!(unit(&mut random).to_bits(), unit(&mut keyed(4, 0, 0)).to_bits());
        }
    }
}
