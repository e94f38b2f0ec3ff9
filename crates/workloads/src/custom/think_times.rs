//! How long connections pause after the transactions of a workload file: the pace of its closed loop.

use plimsoll_core::plan::{StatementsPlan, ThinkRange, ThinkTimePlan};
use plimsoll_core::random::{keyed, unit};
use plimsoll_engine::{Arrival, Pace, Thinking};

use super::choice::Choice;

/// The stream of pauses that connections are found in, apart from those of think times, choices and values.
const FOUND: u64 = 6 << 32;

/// Think times by what was done before them.
pub struct ThinkTimes {
    choice: Choice,
    /// One for each transaction.
    after: Vec<Thinking>,
    /// The time that is spent in pauses after each transaction, and after all those before it, for each round of weights.
    spent_ns: Vec<f64>,
    seed: u64,
}

impl ThinkTimes {
    /// Those of a plan; `None` where no transaction has any.
    pub fn of(plan: &StatementsPlan, seed: u64) -> Option<Self> {
        if !plan.has_own_pace() {
            return None;
        }
        let mut total_ns = 0.0;
        let spent_ns = plan.transactions.iter().map(|one| {
            let (min_ms, max_ms) = range_ms(one.think_time);
            total_ns += f64::from(one.weight) * (min_ms * 1e6 + max_ms * 1e6) / 2.0;
            total_ns
        });
        let after = plan.transactions.iter().map(|one| {
            let (min_ms, max_ms) = range_ms(one.think_time);
            let think_time = ThinkTimePlan::Uniform { min_ms, max_ms };
            Thinking { think_time, seed }
        });
        Some(Self {
            choice: Choice::of(plan),
            after: after.collect(),
            spent_ns: spent_ns.collect(),
            seed,
        })
    }
}

impl Pace for ThinkTimes {
    /// A connection is found in a pause, as if it had been there for long: otherwise all would begin at once, and go on in
    /// step. It is found sooner after what comes more often and in longer pauses.
    fn begin(&self, user: u32) -> (u64, u64) {
        let total_ns = self.spent_ns.last().copied().unwrap_or(0.0);
        let at_ns = unit(&mut keyed(self.seed, FOUND + u64::from(user), 0)) * total_ns;
        let position = self.spent_ns.partition_point(|end_ns| *end_ns <= at_ns);
        (0, self.after[position].pause_ns(user, 0))
    }

    fn pause_ns(&self, user: u32, index: u64) -> u64 {
        let last = Arrival {
            index: index - 1,
            actor: user,
            due_ns: 0,
        };
        let position = self.choice.draw(&mut last.random(self.seed));
        self.after[position].pause_ns(user, index)
    }
}

/// The shortest and the longest, milliseconds.
fn range_ms(range: Option<ThinkRange>) -> (f64, f64) {
    range.map_or((0.0, 0.0), |range| (range.min_ms, range.max_ms))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const MS: f64 = 1e6;
    const SAMPLES: u32 = 20_000;

    /// Transactions by weight and pause, milliseconds.
    fn plan(transactions: &[(u32, Option<(f64, f64)>)]) -> StatementsPlan {
        let one = |&(weight, pause): &(u32, Option<(f64, f64)>)| {
            let think_time = pause.map(|(min_ms, max_ms)| json!({"min_ms": min_ms, "max_ms": max_ms}));
            json!({"name": "t", "weight": weight, "begin": false, "isolation": "server_default", "values": [],
                "statements": [], "think_time": think_time})
        };
        let all: Vec<_> = transactions.iter().map(one).collect();
        serde_json::from_value(json!({"tables": [], "prepared": true, "transactions": all})).unwrap()
    }

    fn pauses(transactions: &[(u32, Option<(f64, f64)>)]) -> ThinkTimes {
        ThinkTimes::of(&plan(transactions), 7).unwrap()
    }

    fn ranks(values: &[f64]) -> Vec<f64> {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|one, other| values[*one].total_cmp(&values[*other]));
        let mut ranks = vec![0.0; values.len()];
        for (rank, position) in order.into_iter().enumerate() {
            ranks[position] = rank as f64;
        }
        ranks
    }

    /// Spearman's rank correlation of values without ties.
    fn rank_correlation(one: &[f64], other: &[f64]) -> f64 {
        let n = one.len() as f64;
        let apart = ranks(one).into_iter().zip(ranks(other)).map(|(a, b)| (a - b) * (a - b));
        1.0 - 6.0 * apart.sum::<f64>() / (n * (n * n - 1.0))
    }

    #[test]
    fn a_pause_has_nothing_to_do_with_the_values_of_any_transaction() {
        let pauses = pauses(&[(1, Some((0.0, 1_000.0)))]);
        let before_second: Vec<f64> = (0..SAMPLES).map(|user| pauses.pause_ns(user, 1) as f64).collect();
        let found: Vec<f64> = (0..SAMPLES).map(|user| pauses.begin(user).1 as f64).collect();
        for index in 0..3 {
            for value in 0..3 {
                let drawn = (0..SAMPLES).map(|actor| {
                    let due_ns = 0;
                    let mut random = Arrival { index, actor, due_ns }.random(7);
                    (0..value).for_each(|_| {
                        unit(&mut random);
                    });
                    unit(&mut random)
                });
                let drawn: Vec<f64> = drawn.collect();
                for pause in [&before_second, &found] {
                    let correlation = rank_correlation(pause, &drawn);
                    // 3.3 / sqrt(n) is its bound at 0.001.
                    let bound = 3.3 / f64::from(SAMPLES).sqrt();
                    assert!(
                        correlation.abs() < bound,
                        "{correlation} with value {value} of transaction {index}"
                    );
                }
            }
        }
        let correlation = rank_correlation(&before_second, &found);
        assert!(correlation.abs() < 3.3 / f64::from(SAMPLES).sqrt(), "{correlation}");
    }

    #[test]
    fn each_transaction_is_followed_by_its_own_pause() {
        let transactions = [(3, Some((10.0, 20.0))), (1, None), (2, Some((50.0, 50.0)))];
        let (pauses, choice) = (pauses(&transactions), Choice::of(&plan(&transactions)));
        let mut seen = [0; 3];
        for index in 0..1_000 {
            let last = Arrival {
                index,
                actor: 4,
                due_ns: 0,
            };
            let position = choice.draw(&mut last.random(7));
            let (min_ms, max_ms) = transactions[position].1.unwrap_or_default();
            let pause_ms = pauses.pause_ns(4, index + 1) as f64 / MS;
            assert!((min_ms..=max_ms).contains(&pause_ms), "{pause_ms} ms after {position}");
            seen[position] += 1;
        }
        assert!(seen.iter().all(|count| *count > 100), "{seen:?}");
    }

    /// The share of all pausing that is yet to come after x, by renewal theory: each pause is found in proportion to its
    /// length, at any point of it.
    #[test]
    fn connections_begin_as_if_they_had_been_there_for_long() {
        let transactions = [(3, Some((10.0, 20.0))), (1, None), (2, Some((50.0, 150.0)))];
        let pauses = pauses(&transactions);
        let below = |ms: f64| {
            let (mut within, mut all) = (0.0, 0.0);
            for (weight, range) in &transactions {
                let (min, max) = range.unwrap_or_default();
                let beyond = (ms.min(max) - min).max(0.0);
                let curved = if beyond > 0.0 {
                    beyond * beyond / (2.0 * (max - min))
                } else {
                    0.0
                };
                within += f64::from(*weight) * (ms.min(min) + beyond - curved);
                all += f64::from(*weight) * (min + max) / 2.0;
            }
            within / all
        };
        let mut first_ms: Vec<f64> = (0..SAMPLES).map(|user| pauses.begin(user).1 as f64 / MS).collect();
        first_ms.sort_by(f64::total_cmp);
        let n = f64::from(SAMPLES);
        let apart = (0..)
            .zip(&first_ms)
            .map(|(rank, ms)| ((f64::from(rank) + 0.5) / n - below(*ms)).abs());
        // Kolmogorov-Smirnov; 1.95 / sqrt(n) is its bound at 0.001.
        let distance = apart.fold(0.0, f64::max);
        assert!(distance < 1.95 / n.sqrt(), "{distance}");
    }

    #[test]
    fn without_any_pause_there_is_no_pace() {
        assert!(ThinkTimes::of(&plan(&[(1, None), (1, Some((0.0, 0.0)))]), 7).is_none());
    }
}
