//! The workers of one group and the life of a worker's thread.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use plimsoll_core::message::FailureClass;
use plimsoll_core::statement::SentStatement;

use super::refusals::Refusals;
use super::{ConnectionTerms, GroupRun, TrialOptions};
use crate::arrivals::Arrivals;
use crate::clock::TrialClock;
use crate::fault::WorkerFault;
use crate::gate::{Gate, GateParts};
use crate::lifecycle::Lifecycle;
use crate::outages::Outages;
use crate::recorder::{InFlight, Recorder, Tally};
use crate::server::ServerIndex;
use crate::server_record::{ServerRecord, ServerRecords};
use crate::worker::{Worker, WorkerFactory};

/// What the workers of one group share.
pub(super) struct WorkerGroup {
    pub(super) instance: String,
    pub(super) servers: ServerRecords,
    /// One for each worker.
    pub(super) tallies: Box<[Tally]>,
    /// What no worker claimed.
    pub(super) unclaimed: Tally,
    pub(super) terms: ConnectionTerms,
    /// Why connections did not come.
    pub(super) refusals: Refusals,
    factory: Box<dyn WorkerFactory>,
    arrivals: Box<dyn Arrivals>,
    lifecycle: Arc<Lifecycle>,
    end_ns: u64,
    /// Which takes its turns; `None` where nobody does.
    side: Option<u32>,
}

impl WorkerGroup {
    pub(super) fn new(group: GroupRun, options: TrialOptions, lifecycle: Arc<Lifecycle>, side: Option<u32>) -> Self {
        // Where groups take turns an interval ends when it is taken.
        let interval_ns = side.map_or(options.interval_ms * 1_000_000, |_| u64::MAX);
        let shard_count = thread::available_parallelism().map_or(1, usize::from);
        let names = group.factory.transaction_names();
        Self {
            servers: ServerRecords::new(group.factory.servers().into_iter().map(|server| {
                let instance = server.instance.clone().unwrap_or_else(|| group.instance.clone());
                ServerRecord {
                    recorder: Recorder::new(names.clone(), interval_ns, shard_count),
                    outages: Outages::new(instance, server.role, group.terms.back_ratio),
                    server,
                }
            })),
            instance: group.instance,
            tallies: (0..group.connections).map(|_| Tally::default()).collect(),
            unclaimed: Tally::default(),
            terms: group.terms,
            refusals: Refusals::default(),
            factory: group.factory,
            arrivals: group.arrivals,
            lifecycle,
            end_ns: options.duration_ms * 1_000_000,
            side,
        }
    }

    /// What its transactions send.
    pub(super) fn statements(&self) -> Vec<SentStatement> {
        self.factory.statements()
    }

    /// Gathers what is in flight at `to_ns`, the end of an interval, and returns how many of those wait.
    pub(super) fn probe_in_flight(&self, to_ns: u64, in_flight: &mut InFlight) -> u64 {
        in_flight.begin(to_ns);
        self.tallies.iter().for_each(|tally| in_flight.worker(tally));
        self.probe_backlog(to_ns, &mut |due_ns| in_flight.waiting(due_ns))
    }

    /// Counts what was given up by `to_ns`, and returns how many are waiting; `waiting` is told when each was due.
    fn probe_backlog(&self, to_ns: u64, waiting: &mut dyn FnMut(u64)) -> u64 {
        let backlog = self.arrivals.backlog(to_ns.min(self.end_ns), waiting);
        if backlog.dropped_count > 0 {
            self.servers.source().recorder.dropped(to_ns - 1, backlog.dropped_count);
            self.unclaimed.dropped(backlog.dropped_count);
        }
        backlog.waiting_count
    }

    /// Counts what is still waiting when all is over.
    pub(super) fn leave_backlog(&self, now_ns: u64) {
        self.unclaimed.left(self.probe_backlog(now_ns, &mut |_| {}));
    }

    /// Lets nothing more fall due from `now_ns` on. What is waiting then will never end.
    pub(super) fn close(&self, now_ns: u64) {
        self.arrivals.close(now_ns.min(self.end_ns));
    }

    /// Takes note that `count` connections do not come. It is a fault of the trial when all are wanted, or when it is not
    /// the server or this machine that refused.
    pub(super) fn refuse(&self, fault: WorkerFault, count: u64) -> Result<(), WorkerFault> {
        if self.terms.all_required || matches!(fault.class, FailureClass::Spec | FailureClass::Bug) {
            return Err(fault);
        }
        self.refusals.add(fault, count);
        self.lifecycle.workers_refused(count as usize);
        Ok(())
    }

    /// Whether no connection to the source, which takes what no replica takes, has been open for so long that it is not
    /// waited for any more.
    pub(super) fn is_given_up(&self, now_ns: u64) -> bool {
        let give_up_ns = self.terms.give_up_ms * 1_000_000;
        let since_ns = self.servers.source().outages.none_since_ns();
        since_ns.is_some_and(|since_ns| now_ns >= since_ns + give_up_ns)
    }

    /// The whole life of worker number `worker`, in its own thread. `None` when it did not come into being.
    fn live(&self, worker: u32) -> Option<Result<(), WorkerFault>> {
        let hand = match self.factory.build(worker) {
            Ok(hand) => hand,
            Err(fault) => return self.refuse(fault, 1).err().map(Err),
        };
        let servers = self.servers.iter().enumerate();
        let connected = servers.filter(|(place, _)| hand.is_connected(ServerIndex(*place)));
        connected.for_each(|(_, server)| server.outages.opened());
        Some(self.work(worker, hand))
    }

    fn work(&self, worker: u32, mut hand: Box<dyn Worker>) -> Result<(), WorkerFault> {
        let Some(clock) = self.lifecycle.await_release(hand.interrupter()) else {
            return Ok(());
        };
        if self.lifecycle.sleep_until(clock, 0) {
            hand.run(&mut self.gate(worker, clock))?;
        }
        Ok(())
    }

    fn gate(&self, worker: u32, clock: TrialClock) -> Gate<'_> {
        Gate::new(GateParts {
            worker,
            clock,
            end_ns: self.end_ns,
            arrivals: &*self.arrivals,
            servers: &self.servers,
            lifecycle: &self.lifecycle,
            tally: &self.tallies[worker as usize],
            side: self.side,
        })
    }
}

/// Starts the thread of worker number `worker`.
///
/// # Errors
/// When this machine gives no more threads.
pub(super) fn launch(group: &Arc<WorkerGroup>, worker: u32) -> Result<(), WorkerFault> {
    let shared = Arc::clone(group);
    let spawned = thread::Builder::new()
        .name(format!("worker-{worker}"))
        .stack_size(group.factory.stack_bytes())
        .spawn(move || run_thread(&shared, worker));
    let count = group.tallies.len();
    spawned.map(|_| ()).map_err(|error| no_thread(worker, count, &error))
}

fn run_thread(group: &WorkerGroup, worker: u32) {
    let result = catch_unwind(AssertUnwindSafe(|| group.live(worker)));
    let panicked = |payload: Box<dyn Any + Send>| {
        let place = format!("worker {worker} of {}", group.instance);
        Some(Err(WorkerFault::from_panic(&place, &*payload)))
    };
    if let Some(result) = result.unwrap_or_else(panicked) {
        group.lifecycle.worker_ended(result.err());
    }
}

fn no_thread(worker: u32, count: usize, error: &std::io::Error) -> WorkerFault {
    let message = format!(
        "connections: cannot start thread {} of {count}: {error}; use fewer connections, or raise the limits of \
         processes (`ulimit -u`) and memory",
        worker + 1
    );
    WorkerFault::new(FailureClass::Host, message)
}
