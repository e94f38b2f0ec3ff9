//! The closed loop.

use std::sync::atomic::{AtomicU64, Ordering};

use plimsoll_core::plan::Share;

use super::{Arrival, Arrivals, Claim, Pace};

/// Each connection's next transaction is due when the last one is done, or a pause later.
pub struct ClosedLoop {
    /// How many transactions each worker has claimed.
    workers: Box<[Lane]>,
    transactions_max: Option<u64>,
    claimed_count: Lane,
    pace: Option<Box<dyn Pace>>,
    share: Share,
}

/// A counter on cache lines of its own: 128 bytes, since processors fetch lines in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Lane(AtomicU64);

impl Lane {
    /// Counts one more and gives how many there were before. Only the worker's own thread counts, so nothing is lost without a
    /// locked instruction.
    fn step(&self) -> u64 {
        let count = self.0.load(Ordering::Relaxed);
        self.0.store(count + 1, Ordering::Relaxed);
        count
    }
}

impl ClosedLoop {
    /// A closed loop of so many connections that ends after `transactions_max` transactions of all of them together,
    /// or never.
    pub fn new(connections: u32, transactions_max: Option<u64>) -> Self {
        Self {
            workers: (0..connections).map(|_| Lane::default()).collect(),
            transactions_max,
            claimed_count: Lane::default(),
            pace: None,
            share: Share::default(),
        }
    }

    /// The same for connections that are a share of all: they are numbered, and have the pauses and values, as in the whole.
    #[must_use]
    pub fn sharing(self, share: Share) -> Self {
        Self { share, ..self }
    }

    /// The same with pauses: each connection is one user, whose transaction is due a pause after the last one was done. Users
    /// of this `pace` begin with their transaction number 0.
    #[must_use]
    pub fn with_pace(self, pace: impl Pace + 'static) -> Self {
        Self {
            pace: Some(Box::new(pace)),
            ..self
        }
    }

    fn is_exhausted(&self) -> bool {
        self.transactions_max
            .is_some_and(|max| self.claimed_count.0.fetch_add(1, Ordering::Relaxed) >= max)
    }
}

impl Arrivals for ClosedLoop {
    fn claim(&self, worker: u32, now_ns: u64) -> Claim {
        if self.is_exhausted() {
            return Claim::End;
        }
        let index = self.workers[worker as usize].step();
        let actor = self.share.number(worker);
        let pause_ns = match &self.pace {
            None => 0,
            Some(pace) if index == 0 => pace.begin(actor).1,
            Some(pace) => pace.pause_ns(actor, index),
        };
        Claim::Run(Arrival {
            index,
            actor,
            due_ns: now_ns.saturating_add(pause_ns),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrivals::Thinking;
    use plimsoll_core::plan::ThinkTimePlan;

    #[test]
    fn a_closed_loop_is_due_when_the_worker_is_free_and_counts_each_by_itself() {
        let arrivals = ClosedLoop::new(2, None);
        let due = |worker, now_ns| arrivals.claim(worker, now_ns);
        let run = |index, actor, due_ns| Claim::Run(Arrival { index, actor, due_ns });
        assert_eq!(due(0, 5), run(0, 0, 5));
        assert_eq!(due(0, 9), run(1, 0, 9));
        assert_eq!(due(1, 9), run(0, 1, 9));
    }

    #[test]
    fn connections_of_a_share_have_the_numbers_and_pauses_of_the_whole() {
        let pace = || Thinking {
            think_time: ThinkTimePlan::Exponential { mean_ms: 1e3 },
            seed: 7,
        };
        let whole = ClosedLoop::new(5, None).with_pace(pace());
        let share = Share { index: 1, count: 2 };
        let part = ClosedLoop::new(2, None).sharing(share).with_pace(pace());
        for _ in 0..3 {
            assert_eq!(part.claim(0, 9), whole.claim(1, 9));
            assert_eq!(part.claim(1, 9), whole.claim(3, 9));
        }
    }

    #[test]
    fn with_think_time_a_transaction_is_due_a_pause_after_the_last_one_was_done() {
        let think_time = ThinkTimePlan::Exponential { mean_ms: 1e3 };
        let pace = Thinking { think_time, seed: 7 };
        let arrivals = ClosedLoop::new(2, None).with_pace(pace);
        let first = Arrival {
            index: 0,
            actor: 1,
            due_ns: 9 + pace.pause_ns(1, 0),
        };
        assert_eq!(arrivals.claim(1, 9), Claim::Run(first));
        let due_ns = 5_000 + pace.pause_ns(1, 1);
        let second = Arrival {
            index: 1,
            actor: 1,
            due_ns,
        };
        assert_eq!(arrivals.claim(1, 5_000), Claim::Run(second));
    }

    #[test]
    fn a_bounded_closed_loop_hands_out_exactly_its_transactions() {
        let arrivals = ClosedLoop::new(4, Some(1_000));
        let taken = |worker| {
            (0..9_999)
                .take_while(|_| arrivals.claim(worker, 0) != Claim::End)
                .count()
        };
        let total: usize = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..4).map(|worker| scope.spawn(move || taken(worker))).collect();
            workers.into_iter().map(|one| one.join().unwrap()).sum()
        });
        assert_eq!(total, 1_000);
    }
}
