//! What the workers of one group did, interval by interval.
//!
//! Buckets are sharded by processor, not by connection, so memory does not grow with connections. Each shard is
//! guarded by a lock that is held for some ten nanoseconds and never waited for while another shard is free; that is
//! cheaper than a dozen atomic additions, and it keeps all that one transaction did in one interval. A shard holds two
//! intervals, the one that is to be taken next and the one after it, and a transaction counts in the one in which it
//! ended even when the taker wakes up late. Only if it is late by a whole interval, what ended after the second counts
//! in the second.
//!
//! Deliberately not here: clocks (times are passed in), and adding up shards by hand (`Snapshot::sum` does it).

mod buckets;
mod cells;
mod in_flight;
mod moment;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use plimsoll_core::lock::lock;
use plimsoll_core::snapshot::{Counts, ErrorClass, Snapshot};
use plimsoll_core::timing::TransactionTiming;
use rustix::thread::sched_getcpu;

pub(crate) use cells::Cells;
pub(crate) use in_flight::InFlight;
use moment::Moment;

/// Takes what happened from all workers of a group at the same time.
pub(crate) struct Recorder {
    transaction_names: Vec<String>,
    interval_ns: u64,
    shards: Box<[Shard]>,
}

#[repr(align(128))]
struct Shard(Mutex<Slots>);

/// The interval that is to be taken next, and the one after it: interval `n` lies in `cells[n % 2]`.
struct Slots {
    next_interval: u64,
    cells: [Cells; 2],
}

impl Recorder {
    /// A recorder for these transaction types in `shard_count` shards.
    pub(crate) fn new(transaction_names: Vec<String>, interval_ns: u64, shard_count: usize) -> Self {
        let type_count = transaction_names.len();
        let shard = |_| Shard(Mutex::new(Slots::new(type_count)));
        Self {
            transaction_names,
            interval_ns,
            shards: (0..shard_count.max(1)).map(shard).collect(),
        }
    }

    /// Counts a transaction that ended at `done_ns`, and times it where it completed.
    pub(crate) fn transaction(
        &self,
        transaction: usize,
        done_ns: u64,
        counts: &Counts,
        timing: Option<TransactionTiming>,
    ) {
        self.write(done_ns, |cells| cells.transaction(transaction, counts, timing));
    }

    /// Counts `count` arrivals that were given up by `at_ns`. Nobody knows of which type they would have been: the first.
    pub(crate) fn dropped(&self, at_ns: u64, count: u64) {
        let dropped = Counts {
            dropped: count,
            ..Counts::default()
        };
        self.write(at_ns, |cells| cells.transaction(0, &dropped, None));
    }

    /// Counts one error.
    pub(crate) fn error(&self, at_ns: u64, transaction: Option<usize>, class: ErrorClass, code: u16) {
        self.write(at_ns, |cells| cells.error(transaction, class, code));
    }

    /// A set of cells to pass to [`take`](Self::take), again and again.
    pub(crate) fn spare(&self) -> Cells {
        Cells::new(self.transaction_names.len())
    }

    /// Takes the oldest interval out. What comes for it later counts in the next one. One taker at a time.
    pub(crate) fn take(&self, spare: &mut Cells) -> Snapshot {
        let shards = self.shards.iter().map(|shard| {
            let mut slots = shard.lock();
            let taken = slots.next_index();
            std::mem::swap(&mut slots.cells[taken], spare);
            slots.next_interval += 1;
            drop(slots);
            spare.drain(&self.transaction_names)
        });
        Snapshot::sum(&shards.collect::<Vec<_>>())
    }

    fn write(&self, at_ns: u64, action: impl FnOnce(&mut Cells)) {
        let mut slots = self.lock_free_shard();
        let next = slots.next_interval;
        let interval = (at_ns / self.interval_ns).clamp(next, next + 1);
        action(&mut slots.cells[(interval % 2) as usize]);
    }

    /// The shard of this processor, or another one while a thread that lost the processor holds it.
    fn lock_free_shard(&self) -> MutexGuard<'_, Slots> {
        let home = sched_getcpu() % self.shards.len();
        let (before, from_home) = self.shards.split_at(home);
        let free = from_home.iter().chain(before).find_map(|shard| shard.0.try_lock().ok());
        free.unwrap_or_else(|| self.shards[home].lock())
    }
}

impl Shard {
    fn lock(&self) -> MutexGuard<'_, Slots> {
        lock(&self.0)
    }
}

impl Slots {
    fn new(type_count: usize) -> Self {
        Self {
            next_interval: 0,
            cells: [Cells::new(type_count), Cells::new(type_count)],
        }
    }

    fn next_index(&self) -> usize {
        (self.next_interval % 2) as usize
    }
}

/// What one worker did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerShare {
    /// Transactions that fell due and were claimed.
    pub offered_count: u64,
    /// Transactions that completed or failed.
    pub ended_count: u64,
    /// Response times of those that completed, nanoseconds.
    pub response_sum_ns: u64,
    /// Their service times, nanoseconds.
    pub service_sum_ns: u64,
}

/// What one worker was offered and what became of it, or what fell due and no worker claimed. One thread writes it.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Tally {
    offered_count: AtomicU64,
    ended_count: AtomicU64,
    response_sum_ns: AtomicU64,
    service_sum_ns: AtomicU64,
    /// When what the worker runs was due. It stays when that was cut: it never ended.
    due: Moment,
    /// When it was sent.
    sent: Moment,
}

/// What a worker runs: nanoseconds since trial start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Running {
    pub(crate) due_ns: u64,
    pub(crate) sent_ns: Option<u64>,
}

impl Tally {
    /// A transaction fell due at `due_ns` and was claimed.
    pub(crate) fn offered(&self, due_ns: u64) {
        self.left(1);
        self.sent.clear();
        self.due.set(due_ns);
    }

    /// Its first byte left.
    pub(crate) fn sent(&self, sent_ns: u64) {
        self.sent.set(sent_ns);
    }

    /// What the worker runs at this moment, from any thread.
    pub(crate) fn running(&self) -> Option<Running> {
        let due_ns = self.due.get()?;
        let sent_ns = self.sent.get();
        Some(Running { due_ns, sent_ns })
    }

    /// So many fell due and never ended.
    pub(crate) fn left(&self, count: u64) {
        add(&self.offered_count, count);
    }

    /// A transaction completed in this time, or failed.
    pub(crate) fn ended(&self, timing: Option<TransactionTiming>) {
        self.due.clear();
        add(&self.ended_count, 1);
        if let Some(timing) = timing {
            add(&self.response_sum_ns, timing.response_ns());
            add(&self.service_sum_ns, timing.service_ns());
        }
    }

    /// One that was offered was taken back.
    pub(crate) fn withdrawn(&self) {
        self.due.clear();
        let offered_count = self.offered_count.load(Ordering::Relaxed);
        self.offered_count.store(offered_count - 1, Ordering::Release);
    }

    /// What one worker did so far.
    pub(crate) fn share(&self) -> WorkerShare {
        WorkerShare {
            offered_count: self.offered_count.load(Ordering::Acquire),
            ended_count: self.ended_count.load(Ordering::Acquire),
            response_sum_ns: self.response_sum_ns.load(Ordering::Acquire),
            service_sum_ns: self.service_sum_ns.load(Ordering::Acquire),
        }
    }

    /// Arrivals were offered and given up.
    pub(crate) fn dropped(&self, count: u64) {
        add(&self.offered_count, count);
        add(&self.ended_count, count);
    }

    /// Offered so far, and how many of them have not ended.
    pub(crate) fn offered_and_unfinished(&self) -> (u64, u64) {
        let ended = self.ended_count.load(Ordering::Acquire);
        let offered = self.offered_count.load(Ordering::Acquire);
        (offered, offered - ended)
    }
}

/// One writer, so no atomic addition is needed.
fn add(counter: &AtomicU64, count: u64) {
    counter.store(counter.load(Ordering::Relaxed) + count, Ordering::Release);
}

#[cfg(test)]
mod tests;
