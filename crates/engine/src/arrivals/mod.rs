//! When transactions are wanted. Workers claim arrivals themselves; there is no dispatcher thread.
//!
//! Deliberately not here: waiting until an arrival is due (the gate does it) and any clock (`now_ns` is passed in).

mod bursts;
mod closed;
mod open;
mod pace;
mod rate;
mod think;
mod users;

use plimsoll_core::random::{self, Random};

pub use closed::ClosedLoop;
pub use open::{OpenLoop, OpenLoopOptions};
pub use pace::Pace;
pub use think::Thinking;
pub use users::{Users, UsersOptions};

/// One wanted transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Ordinal among those of its actor: 0, 1, 2, …
    pub index: u64,
    /// Who wants it: the connection in a closed loop, a constant where all connections share one schedule.
    pub actor: u32,
    /// When it is wanted, nanoseconds since trial start.
    pub due_ns: u64,
}

impl Arrival {
    /// The generator of this transaction's values: the same for the same seed, actor and index, whichever worker
    /// runs it, whenever, and however often it is retried.
    pub fn random(&self, seed: u64) -> Random {
        random::keyed(seed, u64::from(self.actor), self.index)
    }
}

/// What a worker gets when it asks for work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Run this one, not before it is due.
    Run(Arrival),
    /// There is nothing more to do, ever.
    End,
}

/// The transactions that are wanted and that no worker has claimed yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Due, and still to be claimed.
    pub waiting_count: u64,
    /// Given up because too many were waiting, since this was asked last.
    pub dropped_count: u64,
}

/// A schedule that workers claim from, at the same time. A schedule that never lets anything wait, as a closed loop,
/// needs no more than `claim`.
pub trait Arrivals: Send + Sync {
    /// The next arrival for `worker` (0, 1, … within its group), which became free at `now_ns` since trial start: usually when
    /// its last transaction was done. This may be earlier than the clock shows. Only one thread claims for a worker.
    fn claim(&self, worker: u32, now_ns: u64) -> Claim;

    /// What fell due before `now_ns` and is waiting; `waiting` is told when each of them was due. One thread asks, at the
    /// end of each interval.
    fn backlog(&self, _now_ns: u64, _waiting: &mut dyn FnMut(u64)) -> Backlog {
        Backlog::default()
    }

    /// Ends the schedule at `now_ns`: what falls due from then on is not wanted any more, and what is waiting can no longer be
    /// claimed, so that it is counted as unfinished and nowhere else.
    fn close(&self, _now_ns: u64) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_core::random::Rng;

    #[test]
    fn values_depend_on_the_key_and_not_on_when_it_runs() {
        let at = |index, due_ns| Arrival {
            index,
            actor: 3,
            due_ns,
        };
        assert_eq!(at(1, 0).random(7).next_u64(), at(1, 99).random(7).next_u64());
        assert_ne!(at(1, 0).random(7).next_u64(), at(2, 0).random(7).next_u64());
        assert_ne!(at(1, 0).random(7).next_u64(), at(1, 0).random(8).next_u64());
    }
}
