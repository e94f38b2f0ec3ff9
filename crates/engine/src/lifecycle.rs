//! Where a trial stands, shared by the thread that leads it, its workers and whoever asks for its end. Workers touch
//! the lock only at the beginning and at their end; in between they read two flags.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use plimsoll_core::lock::lock;
use plimsoll_core::message::FailureClass;

use crate::clock::{TrialClock, monotonic_ns};
use crate::ending::Ending;
use crate::fault::WorkerFault;
use crate::interrupter::Interrupter;
use crate::permits::{Permit, Permits};
use crate::turns::Turns;

/// Starts and stops one trial from any thread.
#[derive(Clone)]
pub struct TrialHandle(Arc<Lifecycle>);

impl TrialHandle {
    pub(crate) fn new(lifecycle: Arc<Lifecycle>) -> Self {
        Self(lifecycle)
    }

    /// Begins the load, at `at_unix_ns` on the wall clock or now if that is absent or past. Before the trial is ready
    /// this is remembered; only the first call counts.
    pub fn start(&self, at_unix_ns: Option<u64>) {
        self.0.change(|state| {
            state.start.get_or_insert(Start { at_unix_ns });
        });
    }

    /// The server whose turn is number `turn` runs, and no other. Nothing where groups do not take turns.
    pub fn go(&self, turn: u64) {
        self.0.change(|state| state.go = Some(turn));
    }

    /// Ends the trial with what was measured, whatever state it is in.
    pub fn stop(&self) {
        self.0.change(|state| state.is_stop_wanted = true);
    }

    /// Does `work` in a thread of its own and returns what came of it, or `None` as soon as a stop is wanted: a probe of
    /// a server that never answers must not keep the trial from ending. A panic of `work` goes on in the caller.
    pub fn unless_stopped<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let result = Arc::new(Mutex::new(None));
        let (theirs, lifecycle) = (Arc::clone(&result), Arc::clone(&self.0));
        thread::spawn(move || {
            let outcome = catch_unwind(AssertUnwindSafe(work));
            *lock(&theirs) = Some(outcome);
            lifecycle.change(|_| {}); // wakes who waits
        });
        drop(
            self.0
                .wait(None, |state| state.is_stop_wanted || lock(&result).is_some()),
        );
        let outcome = lock(&result).take()?;
        Some(outcome.unwrap_or_else(|payload| resume_unwind(payload)))
    }
}

/// When the load is to begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    pub(crate) at_unix_ns: Option<u64>,
}

/// What workers are told once all are built.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Release {
    Run(TrialClock),
    Abort,
}

/// What happened so far.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) start: Option<Start>,
    pub(crate) is_stop_wanted: bool,
    /// The last turn that may begin.
    pub(crate) go: Option<u64>,
    pub(crate) built_count: usize,
    /// Workers that did not come into being; they count as ended too.
    pub(crate) refused_count: usize,
    pub(crate) ended_count: usize,
    /// The first one; later ones are consequences.
    pub(crate) fault: Option<WorkerFault>,
    release: Option<Release>,
    interrupters: Vec<Interrupter>,
}

impl State {
    /// Workers that are connected or never will be.
    pub(crate) fn settled_count(&self) -> usize {
        self.built_count + self.refused_count
    }
}

#[derive(Default)]
pub(crate) struct Lifecycle {
    ending: Ending,
    is_cut: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
    released: Condvar,
    /// For connections that are opened again.
    permits: Permits,
    /// Whose workers may claim arrivals.
    pub(crate) turns: Turns,
}

impl Lifecycle {
    /// That of a trial whose groups take turns.
    pub(crate) fn taking_turns(turns: Turns) -> Self {
        Self {
            turns,
            ..Self::default()
        }
    }

    /// Whether no new transaction may begin.
    pub(crate) fn is_ending(&self) -> bool {
        self.ending.has_come()
    }

    /// Whether connections were cut, so that what still runs is unfinished.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut.load(Ordering::Acquire)
    }

    /// Lets no new transaction begin.
    pub(crate) fn end(&self) {
        self.ending.come();
        self.permits.end();
        self.turns.end();
    }

    /// Waits for leave to open a connection again; `None` when the end comes first.
    pub(crate) fn await_permit(&self) -> Option<Permit<'_>> {
        self.permits.take()
    }

    /// Sleeps until the clock shows `at_ns`, or the end comes. Returns whether the time was reached.
    pub(crate) fn sleep_until(&self, clock: TrialClock, at_ns: u64) -> bool {
        self.ending.sleep_until(clock, at_ns)
    }

    /// Cuts all connections. May be called again: a worker that was just reconnecting is reached then.
    pub(crate) fn cut(&self) {
        self.is_cut.store(true, Ordering::Release);
        self.lock().interrupters.iter().for_each(Interrupter::interrupt);
    }

    /// Called by a worker that is connected: waits for the others and the start. `None` when there will be none.
    pub(crate) fn await_release(&self, interrupter: Interrupter) -> Option<TrialClock> {
        self.change(|state| {
            state.built_count += 1;
            state.interrupters.push(interrupter);
        });
        let state = self
            .released
            .wait_while(self.lock(), |state| state.release.is_none())
            .unwrap_or_else(PoisonError::into_inner);
        match state.release {
            Some(Release::Run(clock)) => Some(clock),
            _ => None,
        }
    }

    /// Tells all workers to go, or to go home.
    pub(crate) fn release(&self, release: Release) {
        self.change(|state| state.release = Some(release));
        self.released.notify_all();
    }

    /// Takes note that so many workers do not come into being.
    pub(crate) fn workers_refused(&self, count: usize) {
        self.change(|state| {
            state.refused_count += count;
            state.ended_count += count;
        });
    }

    /// Wakes the leader: no worker of a side is busy any more.
    pub(crate) fn side_is_idle(&self) {
        self.change(|_| {});
    }

    /// Called by a worker's thread as its last act. After connections were cut only a defect is a fault.
    pub(crate) fn worker_ended(&self, fault: Option<WorkerFault>) {
        let fault = fault.filter(|fault| !self.is_cut() || fault.class == FailureClass::Bug);
        self.change(|state| {
            state.ended_count += 1;
            if state.fault.is_none() {
                state.fault = fault;
            }
        });
    }

    /// Waits until `is_over` or, where one is given, until the monotonic clock shows `until_ns`.
    pub(crate) fn wait(&self, until_ns: Option<u64>, is_over: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        while !is_over(&state) {
            let Some(until_ns) = until_ns else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left_ns = until_ns.saturating_sub(monotonic_ns());
            if left_ns == 0 {
                break;
            }
            let left = Duration::from_nanos(left_ns);
            state = self
                .changed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        state
    }

    /// Whether somebody asked for the end.
    pub(crate) fn is_stop_wanted(&self) -> bool {
        self.lock().is_stop_wanted
    }

    /// The first fault, once.
    pub(crate) fn take_fault(&self) -> Option<WorkerFault> {
        self.lock().fault.take()
    }

    fn change(&self, action: impl FnOnce(&mut State)) {
        action(&mut self.lock());
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_lasts_until_its_time_also_before_the_clock_runs() {
        let lifecycle = Lifecycle::default();
        let clock = TrialClock::starting_at(monotonic_ns() + 20_000_000);
        assert!(lifecycle.sleep_until(clock, 5_000_000));
        assert!(clock.now_ns() >= 5_000_000);
        assert!(lifecycle.sleep_until(clock, 0), "a time that is over");
    }

    #[test]
    fn the_end_wakes_all_who_sleep() {
        let lifecycle = Lifecycle::default();
        let clock = TrialClock::starting_at(monotonic_ns());
        thread::scope(|scope| {
            let sleep = || lifecycle.sleep_until(clock, 3_600_000_000_000);
            let sleepers: Vec<_> = (0..4).map(|_| scope.spawn(sleep)).collect();
            lifecycle.end();
            assert!(sleepers.into_iter().all(|one| !one.join().unwrap()));
        });
        assert!(!lifecycle.sleep_until(clock, 3_600_000_000_000), "after the end");
    }
}
