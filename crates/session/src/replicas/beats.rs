//! The heartbeats of a group: which were written on the source, and when, by this engine's clock.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use plimsoll_core::lock::lock;

use crate::clock::{Bell, Clock};

/// How often one is written.
pub(crate) const BEAT: Duration = Duration::from_millis(50);

/// As many are remembered: those of an hour. A replica that is further behind is taken to stand still.
const REMEMBERED_MAX: usize = 72_000;

/// What was written on the source. A beat has a number that rises, also from trial to trial.
pub(crate) struct Beats {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    came: Bell,
    /// When the newest one began that the source is known to have; 0 before the first.
    newest_ns: AtomicU64,
    /// This engine writes them, so that it knows exactly when.
    are_own: AtomicBool,
}

#[derive(Default)]
struct State {
    /// Number, and when it began: no write that was acknowledged before is missing where it is seen.
    remembered: VecDeque<(u64, u64)>,
    is_over: bool,
}

impl Beats {
    /// None yet.
    pub(crate) fn new(clock: &Arc<dyn Clock>) -> Self {
        Self {
            clock: Arc::clone(clock),
            state: Mutex::default(),
            came: Bell::default(),
            newest_ns: AtomicU64::new(0),
            are_own: AtomicBool::new(false),
        }
    }

    /// The clock that they are counted by.
    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// The source has this one, which began at `begin_ns`.
    pub(crate) fn add(&self, number: u64, begin_ns: u64) {
        let mut state = self.lock();
        if state.remembered.len() == REMEMBERED_MAX {
            state.remembered.pop_front();
        }
        state.remembered.push_back((number, begin_ns));
        self.newest_ns.store(begin_ns, Ordering::Release);
        drop(state);
        self.came.ring();
    }

    /// This engine writes them.
    pub(crate) fn own(&self) {
        self.are_own.store(true, Ordering::Relaxed);
    }

    pub(crate) fn are_own(&self) -> bool {
        self.are_own.load(Ordering::Relaxed)
    }

    /// When the newest one began that the source is known to have; 0 before the first.
    pub(crate) fn newest_ns(&self) -> u64 {
        self.newest_ns.load(Ordering::Acquire)
    }

    /// When the beat of this number began; `None` for one that is not remembered.
    pub(crate) fn begin_ns(&self, number: u64) -> Option<u64> {
        let state = self.lock();
        let place = state.remembered.partition_point(|(one, _)| *one <= number);
        state
            .remembered
            .get(place.checked_sub(1)?)
            .map(|(_, begin_ns)| *begin_ns)
    }

    /// When the first one began that is remembered; 0 before the first.
    pub(crate) fn first_ns(&self) -> u64 {
        self.lock().remembered.front().map_or(0, |(_, begin_ns)| *begin_ns)
    }

    /// Waits until the source has one that began after this, at most so long.
    pub(crate) fn await_newer(&self, than_ns: u64, at_most: Duration) {
        let is_over = || self.newest_ns() > than_ns || self.lock().is_over;
        self.clock.wait(&self.came, self.clock.after(at_most), &is_over);
    }

    /// Nobody waits any more.
    pub(crate) fn end(&self) {
        self.lock().is_over = true;
        self.came.ring();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}
