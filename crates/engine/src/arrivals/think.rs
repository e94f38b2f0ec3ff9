//! How long a user thinks between two transactions.

use plimsoll_core::random::{keyed, unit};

use super::Pace;

/// The streams of think times, one for each connection, apart from those of the transactions' values and of the gaps
/// between arrivals.
const THOUGHTS: u64 = 2 << 32;

/// How long connections pause between the end of a transaction and the due time of the next, nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ThinkTime {
    /// Exponentially distributed, as pauses of independent users are.
    Exponential {
        /// The mean, 0 or more.
        mean_ns: f64,
    },
    /// Evenly distributed on `min_ns..max_ns`; always the same when both are equal.
    Uniform {
        /// The shortest, 0 or more.
        min_ns: f64,
        /// The longest, at least `min_ns`.
        max_ns: f64,
    },
}

impl ThinkTime {
    /// The pause before transaction `index` of a connection: the same for the same seed, connection and index. Before the
    /// first one it is what is left of a pause that the connection is found in: otherwise all would begin at once, and go
    /// on in step. Of an exponential pause as much is left as there was; an even one is found in proportion to its length,
    /// at any point of it (the residual life of renewal theory).
    pub fn pause_ns(self, seed: u64, connection: u32, index: u64) -> u64 {
        let mut random = keyed(seed, THOUGHTS + u64::from(connection), index);
        let drawn = unit(&mut random);
        let pause_ns = match self {
            Self::Exponential { mean_ns } => -(1.0 - drawn).ln() * mean_ns,
            Self::Uniform { min_ns, max_ns } if index == 0 => {
                let found_ns = (min_ns * min_ns + drawn * (max_ns * max_ns - min_ns * min_ns)).sqrt();
                unit(&mut random) * found_ns
            }
            Self::Uniform { min_ns, max_ns } => min_ns + drawn * (max_ns - min_ns),
        };
        pause_ns as u64
    }
}

/// Users whose pauses do not depend on what they do.
#[derive(Clone, Copy, Debug)]
pub struct Thinking {
    /// How long they pause.
    pub think_time: ThinkTime,
    /// Pauses follow from it.
    pub seed: u64,
}

impl Pace for Thinking {
    fn begin(&self, user: u32) -> (u64, u64) {
        (0, self.pause_ns(user, 0))
    }

    fn pause_ns(&self, user: u32, index: u64) -> u64 {
        self.think_time.pause_ns(self.seed, user, index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(think: ThinkTime) -> Vec<f64> {
        (1..=50_000).map(|index| think.pause_ns(7, 3, index) as f64).collect()
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
        let exponential = ThinkTime::Exponential { mean_ns: 2e9 };
        assert_distributed(drawn(exponential), |pause| 1.0 - (-pause / 2e9).exp());
        let (min_ns, max_ns) = (1e6, 5e6);
        let uniform = ThinkTime::Uniform { min_ns, max_ns };
        assert_distributed(drawn(uniform), |pause| (pause - min_ns) / (max_ns - min_ns));
        assert_eq!(drawn(exponential), drawn(exponential));
        assert_ne!(exponential.pause_ns(7, 3, 1), exponential.pause_ns(7, 4, 1));
        assert_ne!(exponential.pause_ns(7, 3, 1), exponential.pause_ns(8, 3, 1));
    }

    #[test]
    fn a_constant_pause_is_exact_and_connections_begin_spread_over_it() {
        let constant = ThinkTime::Uniform {
            min_ns: 1e9,
            max_ns: 1e9,
        };
        assert!((1..99).all(|index| constant.pause_ns(1, 0, index) == 1_000_000_000));
        assert_distributed(first(constant), |pause| pause / 1e9);
    }

    #[test]
    fn connections_begin_as_if_they_had_been_there_for_long() {
        assert_distributed(first(ThinkTime::Exponential { mean_ns: 2e9 }), |pause| {
            1.0 - (-pause / 2e9).exp()
        });
        let (min_ns, max_ns) = (1e9, 4e9);
        // The share of pauses that are longer than x, summed up to x, over the mean.
        assert_distributed(first(ThinkTime::Uniform { min_ns, max_ns }), |pause| {
            let beyond = (pause - min_ns).max(0.0);
            (pause.min(min_ns) + beyond - beyond * beyond / (2.0 * (max_ns - min_ns))) / 2.5e9
        });
    }

    fn first(think: ThinkTime) -> Vec<f64> {
        (0..50_000)
            .map(|connection| think.pause_ns(1, connection, 0) as f64)
            .collect()
    }
}
