//! The one place where a worker meets its trial: it hands out arrivals, takes the times, and passes on what happened.

use std::time::Duration;

use plimsoll_core::snapshot::{Counts, ErrorClass};
use plimsoll_core::statement::StatementResult;
use plimsoll_core::timing::TransactionTiming;

use crate::arrivals::{Arrival, Arrivals, Claim};
use crate::clock::TrialClock;
use crate::lifecycle::Lifecycle;
use crate::recorder::Tally;
use crate::server::ServerIndex;
use crate::server_record::ServerRecords;

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All its statements succeeded, after retries perhaps.
    Completed,
    /// It was given up.
    Failed,
}

/// What a gate works with; it belongs to the trial.
pub(crate) struct GateParts<'t> {
    pub(crate) worker: u32,
    pub(crate) clock: TrialClock,
    pub(crate) end_ns: u64,
    pub(crate) arrivals: &'t dyn Arrivals,
    pub(crate) servers: &'t ServerRecords,
    pub(crate) lifecycle: &'t Lifecycle,
    pub(crate) tally: &'t Tally,
    /// Whose turn the worker waits for; `None` where nobody takes turns.
    pub(crate) side: Option<u32>,
}

/// A worker's side of its trial. For each transaction: [`next`](Self::next), then [`sent`](Self::sent) before the
/// first byte leaves, [`statement`](Self::statement) after each success, [`error`](Self::error) and
/// [`retry`](Self::retry) as they happen, and [`finish`](Self::finish). Calls out of that order are programmer errors
/// and panic.
pub struct Gate<'t> {
    parts: GateParts<'t>,
    open: Option<Open>,
    counts: Counts,
    /// Servers whose connection is gone, as bits.
    lost_servers: u64,
    /// It is the turn of its side, and the leader waits for it at the end of that.
    is_busy: bool,
    /// When the worker became free: it ended its last transaction, or opened the connection that it had lost. `None` where
    /// only the clock knows.
    free_ns: Option<u64>,
}

/// The transaction that is running.
#[allow(clippy::struct_field_names)] // all are times, and the unit comes last
struct Open {
    due_ns: u64,
    free_ns: u64,
    sent_ns: Option<u64>,
    is_rolled_back: bool,
    server: ServerIndex,
}

impl<'t> Gate<'t> {
    pub(crate) fn new(parts: GateParts<'t>) -> Self {
        Self {
            parts,
            open: None,
            counts: Counts::default(),
            lost_servers: 0,
            is_busy: false,
            free_ns: None,
        }
    }

    /// Claims the next transaction and waits until it is due. `None` when this worker is to return. The worker counts as free
    /// since its last transaction was done, or since a lost connection was open again. What it does after that is the client's
    /// own time.
    #[allow(clippy::should_implement_trait)] // it borrows mutably and is no iterator: `finish` lies between two calls
    pub fn next(&mut self) -> Option<Arrival> {
        assert!(self.open.is_none(), "the last transaction was not finished");
        if !self.await_turn() {
            return None;
        }
        let parts = &self.parts;
        let now_ns = self.free_ns.take().unwrap_or_else(|| parts.clock.now_ns());
        if parts.lifecycle.is_ending() || now_ns >= parts.end_ns {
            return None;
        }
        match parts.arrivals.claim(parts.worker, now_ns) {
            Claim::Run(arrival) => self.open(arrival, now_ns),
            Claim::End => None,
        }
    }

    /// Takes the time: the transaction's first byte is about to leave. In a retry it changes nothing.
    pub fn sent(&mut self) {
        let open = self.open.as_mut().expect("a transaction must be open");
        if open.sent_ns.is_none() {
            let now_ns = self.parts.clock.now_ns();
            open.sent_ns = Some(now_ns);
            self.parts.tally.sent(now_ns);
        }
    }

    /// Counts a successful statement, classified as sysbench does: a result set is a read, changed rows a write, anything
    /// else is other. One outside of a transaction counts with the next that ends.
    pub fn statement(&mut self, result: StatementResult) {
        if result.has_result_set {
            self.counts.reads += 1;
        } else if result.rows_affected > 0 {
            self.counts.writes += 1;
        } else {
            self.counts.others += 1;
        }
        self.counts.rows_returned += result.rows_returned;
        self.counts.rows_affected += result.rows_affected;
    }

    /// Counts a failed statement or a lost connection of this server, inside of a transaction of this type, or outside of all.
    /// `code` is MySQL's error number, 0 when the client noticed without one.
    pub fn error(&mut self, server: ServerIndex, transaction: Option<usize>, class: ErrorClass, code: u16) {
        let now_ns = self.parts.clock.now_ns();
        let record = self.parts.servers.of(server);
        record.recorder.error(now_ns, transaction, class, code);
    }

    /// Counts that the open transaction is tried again with the same values.
    pub fn retry(&mut self) {
        debug_assert!(self.open.is_some(), "a retry outside of a transaction");
        self.counts.retries += 1;
    }

    /// Says that the open transaction ends in the rollback that it was to end in: it completes, and counts among those.
    pub fn rolled_back(&mut self) {
        let open = self.open.as_mut().expect("a transaction must be open");
        open.is_rolled_back = true;
    }

    /// Says that the open transaction ran on this server; it counts there, and not on the source.
    pub fn ran_on(&mut self, server: ServerIndex) {
        let open = self.open.as_mut().expect("a transaction must be open");
        open.server = server;
    }

    /// The worker's connection to this server is gone, after nothing had come from it for so long; the transaction that is open
    /// now is lost with it. Says nothing where it was said before.
    pub fn connection_lost(&mut self, server: ServerIndex, silence: Duration) {
        if !self.is_lost(server) {
            self.lost_servers |= bit(server);
            let parts = &self.parts;
            let now_ns = parts.clock.now_ns();
            let since_ns = now_ns.saturating_sub(silence.as_nanos() as u64);
            let outages = &parts.servers.of(server).outages;
            outages.lost(parts.worker, since_ns, now_ns);
        }
    }

    /// The worker has opened a connection to this server that it did not have at the start.
    pub fn connection_opened(&mut self, server: ServerIndex) {
        self.parts.servers.of(server).outages.opened();
    }

    fn is_lost(&self, server: ServerIndex) -> bool {
        self.lost_servers & bit(server) != 0
    }

    /// Opens a connection of the worker, as soon as not too many others are being opened; `None` when the trial ends before.
    /// What waits to be sent has a free connection only then.
    pub fn connecting<T>(&mut self, open: impl FnOnce() -> T) -> Option<T> {
        let _permit = self.parts.lifecycle.await_permit()?;
        let opened = open();
        let now_ns = self.parts.clock.now_ns();
        match &mut self.open {
            None => self.free_ns = Some(now_ns),
            Some(open) if open.sent_ns.is_none() => open.free_ns = now_ns,
            Some(_) => {} // it is a part of what the transaction does
        }
        Some(opened)
    }

    /// The number of this worker within its group.
    pub fn worker(&self) -> u32 {
        self.parts.worker
    }

    /// The worker's connection to this server is open again. Says nothing where it was not lost.
    pub fn connection_back(&mut self, server: ServerIndex) {
        if self.is_lost(server) {
            self.lost_servers &= !bit(server);
            let now_ns = self.parts.clock.now_ns();
            self.parts.servers.of(server).outages.back(now_ns);
        }
    }

    /// Ends the open transaction: its last reply was read, or it was given up. `transaction` is an index into
    /// [`WorkerFactory::transaction_names`](crate::WorkerFactory::transaction_names).
    pub fn finish(&mut self, transaction: usize, outcome: Outcome) {
        let done_ns = self.parts.clock.now_ns();
        let open = self.open.take().expect("a transaction must be open");
        let mut counts = std::mem::take(&mut self.counts);
        self.free_ns = Some(done_ns);
        if self.parts.lifecycle.is_cut() {
            return; // The account has it as unfinished.
        }
        let timing = match outcome {
            Outcome::Completed => {
                counts.completed = 1;
                counts.rolled_back = u64::from(open.is_rolled_back);
                Some(open.timing(done_ns))
            }
            Outcome::Failed => {
                counts.failed = 1;
                if self.is_lost(open.server) {
                    self.parts.servers.of(open.server).outages.transaction_lost();
                }
                None
            }
        };
        let record = self.parts.servers.of(open.server);
        record.recorder.transaction(transaction, done_ns, &counts, timing);
        self.parts.tally.ended(timing);
    }

    /// Counts what happened outside of transactions since the last one ended, with those of the first type. Without it that
    /// counts with the next that ends, and nowhere when none does.
    pub fn flush(&mut self) {
        let counts = std::mem::take(&mut self.counts);
        if counts != Counts::default() && !self.parts.lifecycle.is_cut() {
            let now_ns = self.parts.clock.now_ns();
            self.parts
                .servers
                .source()
                .recorder
                .transaction(0, now_ns, &counts, None);
        }
    }

    /// Takes the open transaction back, if there is one: it was not wanted after all, and counts nowhere.
    pub fn withdraw(&mut self) {
        if self.open.take().is_some() {
            self.parts.tally.withdrawn();
        }
    }

    /// Whether a transaction is open.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Whether the trial is at its end: do not retry or reconnect any more, finish as failed and call
    /// [`next`](Self::next).
    pub fn is_ending(&self) -> bool {
        self.parts.lifecycle.is_ending()
    }

    /// Waits for the turn of its side; false when there will be none.
    fn await_turn(&mut self) -> bool {
        let Some(side) = self.parts.side else {
            return true;
        };
        let lifecycle = self.parts.lifecycle;
        if self.is_busy && lifecycle.turns.is_on(side) {
            return true;
        }
        self.end_turn();
        self.free_ns = None; // nothing is wanted of it until its side has the turn
        self.is_busy = lifecycle.turns.enter(side, || lifecycle.side_is_idle());
        self.is_busy
    }

    fn end_turn(&mut self) {
        if let (true, Some(side)) = (self.is_busy, self.parts.side) {
            self.is_busy = false;
            let lifecycle = self.parts.lifecycle;
            lifecycle.turns.leave(side, || lifecycle.side_is_idle());
        }
    }

    fn open(&mut self, arrival: Arrival, now_ns: u64) -> Option<Arrival> {
        let parts = &self.parts;
        let free_ns = arrival.due_ns.max(now_ns);
        if arrival.due_ns > now_ns {
            let until_ns = arrival.due_ns.min(parts.end_ns);
            let is_reached = parts.lifecycle.sleep_until(parts.clock, until_ns);
            if !is_reached || arrival.due_ns >= parts.end_ns {
                return None; // It never fell due, so it was not offered.
            }
        }
        parts.tally.offered(arrival.due_ns);
        self.open = Some(Open {
            due_ns: arrival.due_ns,
            free_ns,
            sent_ns: None,
            is_rolled_back: false,
            server: ServerIndex::SOURCE,
        });
        Some(arrival)
    }
}

/// A worker that returns, or panics, keeps nobody waiting.
impl Drop for Gate<'_> {
    fn drop(&mut self) {
        self.end_turn();
    }
}

fn bit(server: ServerIndex) -> u64 {
    1 << server.0
}

impl Open {
    fn timing(&self, done_ns: u64) -> TransactionTiming {
        TransactionTiming {
            due_ns: self.due_ns,
            free_ns: self.free_ns,
            sent_ns: self.sent_ns.expect("a completed transaction was sent"),
            done_ns,
        }
    }
}
