//! How long a user thinks between two transactions.

use plimsoll_core::plan::ThinkTimePlan;
use plimsoll_core::random::{keyed, unit};

use super::Pace;

/// The streams of think times, one for each connection, apart from those of the transactions' values and of the gaps
/// between arrivals.
const THOUGHTS: u64 = 2 << 32;

const NS_PER_MS: f64 = 1e6;

/// Users whose pauses do not depend on what they do.
#[derive(Clone, Copy, Debug)]
pub struct Thinking {
    /// How long they pause: 0 or more, and the longest no shorter than the shortest.
    pub think_time: ThinkTimePlan,
    /// Pauses follow from it.
    pub seed: u64,
}

impl Pace for Thinking {
    fn begin(&self, user: u32) -> (u64, u64) {
        (0, self.pause_ns(user, 0))
    }

    /// The same for the same seed, user and index. Before the first transaction it is what is left of a pause that the user is
    /// found in: otherwise all would begin at once, and go on in step. Of an exponential pause as much is left as there was; an
    /// even one is found in proportion to its length, at any point of it (the residual life of renewal theory).
    fn pause_ns(&self, user: u32, index: u64) -> u64 {
        let mut random = keyed(self.seed, THOUGHTS + u64::from(user), index);
        let drawn = unit(&mut random);
        let pause_ns = match self.think_time {
            ThinkTimePlan::Exponential { mean_ms } => -(1.0 - drawn).ln() * (mean_ms * NS_PER_MS),
            ThinkTimePlan::Uniform { min_ms, max_ms } => {
                let (min_ns, max_ns) = (min_ms * NS_PER_MS, max_ms * NS_PER_MS);
                if index == 0 {
                    let found_ns = (min_ns * min_ns + drawn * (max_ns * max_ns - min_ns * min_ns)).sqrt();
                    unit(&mut random) * found_ns
                } else {
                    min_ns + drawn * (max_ns - min_ns)
                }
            }
        };
        pause_ns as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thinking(think_time: ThinkTimePlan, seed: u64) -> Thinking {
        Thinking { think_time, seed }
    }

    fn drawn(think: ThinkTimePlan) -> Vec<f64> {
        let thinking = thinking(think, 7);
        (1..=50_000).map(|index| thinking.pause_ns(3, index) as f64).collect()
    }

    /// Kolmogorov-Smirnov distance; 1.95 / sqrt(n) is its bound at 0.001.
    fn assert_distributed(mut pauses: Vec<f64>, below: impl Fn(f64) -> f64) {
        pauses.sort_by(f64::total_cmp);
        let n = pauses.len() as f64;
        let ranked = pauses.iter().enumerate();
        let distance = ranked.map(|(rank, pause)| ((rank as f64 + 0.5) / n - below(*pause)).abs());
        let distance = distance.fold(0.0, f64::max);
        assert!(distance < 1.95 / n.sqrt(), "{distance}");
    }

    #[test]
    fn pauses_are_distributed_as_asked_and_follow_from_the_key() {
        let exponential = ThinkTimePlan::Exponential { mean_ms: 2e3 };
        assert_distributed(drawn(exponential), |pause| 1.0 - (-pause / 2e9).exp());
        let (min_ns, max_ns) = (1e6, 5e6);
        let uniform = ThinkTimePlan::Uniform {
            min_ms: 1.0,
            max_ms: 5.0,
        };
        assert_distributed(drawn(uniform), |pause| (pause - min_ns) / (max_ns - min_ns));
        assert_eq!(drawn(exponential), drawn(exponential));
        let second = |seed, user| thinking(exponential, seed).pause_ns(user, 1);
        assert_ne!(second(7, 3), second(7, 4));
        assert_ne!(second(7, 3), second(8, 3));
    }

    #[test]
    fn a_constant_pause_is_exact_and_connections_begin_spread_over_it() {
        let constant = ThinkTimePlan::Uniform {
            min_ms: 1e3,
            max_ms: 1e3,
        };
        assert!((1..99).all(|index| thinking(constant, 1).pause_ns(0, index) == 1_000_000_000));
        assert_distributed(first(constant), |pause| pause / 1e9);
    }

    #[test]
    fn connections_begin_as_if_they_had_been_there_for_long() {
        assert_distributed(first(ThinkTimePlan::Exponential { mean_ms: 2e3 }), |pause| {
            1.0 - (-pause / 2e9).exp()
        });
        let (min_ns, max_ns) = (1e9, 4e9);
        let uniform = ThinkTimePlan::Uniform {
            min_ms: 1e3,
            max_ms: 4e3,
        };
        // The share of pauses that are longer than x, summed up to x, over the mean.
        assert_distributed(first(uniform), |pause| {
            let beyond = (pause - min_ns).max(0.0);
            (pause.min(min_ns) + beyond - beyond * beyond / (2.0 * (max_ns - min_ns))) / 2.5e9
        });
    }

    fn first(think: ThinkTimePlan) -> Vec<f64> {
        (0..50_000)
            .map(|connection| thinking(think, 1).pause_ns(connection, 0) as f64)
            .collect()
    }
}
