//! The workers of one group and the life of a worker's thread.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use plimsoll_core::message::FailureClass;

use super::connect::Refusals;
use super::{ConnectionTerms, GroupRun, TrialOptions};
use crate::arrivals::Arrivals;
use crate::clock::TrialClock;
use crate::fault::WorkerFault;
use crate::gate::{Gate, GateParts};
use crate::lifecycle::Lifecycle;
use crate::outages::Outages;
use crate::recorder::{InFlight, Recorder, Tally};
use crate::worker::{Worker, WorkerFactory};

/// What the workers of one group share.
pub(super) struct Crew {
    pub(super) instance: String,
    pub(super) recorder: Recorder,
    /// One for each worker.
    pub(super) tallies: Box<[Tally]>,
    /// What no worker claimed.
    pub(super) unclaimed: Tally,
    pub(super) terms: ConnectionTerms,
    pub(super) outages: Outages,
    /// Why connections did not come.
    pub(super) refusals: Refusals,
    factory: Box<dyn WorkerFactory>,
    arrivals: Box<dyn Arrivals>,
    lifecycle: Arc<Lifecycle>,
    end_ns: u64,
}

impl Crew {
    pub(super) fn new(group: GroupRun, options: TrialOptions, lifecycle: Arc<Lifecycle>) -> Self {
        let shard_count = thread::available_parallelism().map_or(1, usize::from);
        let names = group.factory.transaction_names();
        Self {
            outages: Outages::new(group.instance.clone(), group.terms.back_ratio),
            instance: group.instance,
            recorder: Recorder::new(names, options.interval_ms * 1_000_000, shard_count),
            tallies: (0..group.connections).map(|_| Tally::default()).collect(),
            unclaimed: Tally::default(),
            terms: group.terms,
            refusals: Refusals::default(),
            factory: group.factory,
            arrivals: group.arrivals,
            lifecycle,
            end_ns: options.duration_ms * 1_000_000,
        }
    }

    /// Gathers what is in flight at `to_ns`, the end of an interval, and returns how many of those wait.
    pub(super) fn look_in_flight(&self, to_ns: u64, in_flight: &mut InFlight) -> u64 {
        in_flight.begin(to_ns);
        self.tallies.iter().for_each(|tally| in_flight.worker(tally));
        self.look_at_backlog(to_ns, &mut |due_ns| in_flight.waiting(due_ns))
    }

    /// Counts what was given up by `to_ns`, and returns how many are waiting; `waiting` is told when each was due.
    fn look_at_backlog(&self, to_ns: u64, waiting: &mut dyn FnMut(u64)) -> u64 {
        let backlog = self.arrivals.backlog(to_ns.min(self.end_ns), waiting);
        if backlog.dropped_count > 0 {
            self.recorder.dropped(to_ns - 1, backlog.dropped_count);
            self.unclaimed.dropped(backlog.dropped_count);
        }
        backlog.waiting_count
    }

    /// Counts what is still waiting when all is over.
    pub(super) fn leave_backlog(&self, now_ns: u64) {
        self.unclaimed.left(self.look_at_backlog(now_ns, &mut |_| {}));
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

    /// Whether no connection has been open for so long that it is not waited for any more.
    pub(super) fn is_given_up(&self, now_ns: u64) -> bool {
        let give_up_ns = self.terms.give_up_ms * 1_000_000;
        self.outages
            .none_since_ns()
            .is_some_and(|since_ns| now_ns >= since_ns + give_up_ns)
    }

    /// The whole life of worker number `worker`, in its own thread. `None` when it did not come into being.
    fn live(&self, worker: u32) -> Option<Result<(), WorkerFault>> {
        let hand = match self.factory.build(worker) {
            Ok(hand) => hand,
            Err(fault) => return self.refuse(fault, 1).err().map(Err),
        };
        self.outages.opened();
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
            recorder: &self.recorder,
            lifecycle: &self.lifecycle,
            tally: &self.tallies[worker as usize],
            outages: &self.outages,
        })
    }
}

/// Starts the thread of worker number `worker`.
///
/// # Errors
/// When this machine gives no more threads.
pub(super) fn launch(crew: &Arc<Crew>, worker: u32) -> Result<(), WorkerFault> {
    let shared = Arc::clone(crew);
    let spawned = thread::Builder::new()
        .name(format!("worker-{worker}"))
        .stack_size(crew.factory.stack_bytes())
        .spawn(move || run_thread(&shared, worker));
    let count = crew.tallies.len();
    spawned.map(|_| ()).map_err(|error| no_thread(worker, count, &error))
}

fn run_thread(crew: &Crew, worker: u32) {
    let result = catch_unwind(AssertUnwindSafe(|| crew.live(worker)));
    let panicked = |payload: Box<dyn Any + Send>| {
        let place = format!("worker {worker} of {}", crew.instance);
        Some(Err(WorkerFault::from_panic(&place, &*payload)))
    };
    if let Some(result) = result.unwrap_or_else(panicked) {
        crew.lifecycle.worker_ended(result.err());
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
