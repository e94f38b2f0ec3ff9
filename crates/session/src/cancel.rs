//! What lets the engine cut a worker's connections from another thread, across reconnects.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use plimsoll_core::lock::lock;

use plimsoll_engine::Interrupter;
use plimsoll_wire::Interrupter as WireInterrupter;

use crate::clock::{Bell, Clock};

/// The end of a trial as all connections of one session see it.
pub(crate) struct CancelRegistry {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    ended: Bell,
}

#[derive(Default)]
struct State {
    is_cut: bool,
    cuts: Vec<WireInterrupter>,
}

impl CancelRegistry {
    /// Nothing to cut yet.
    pub(crate) fn new(clock: &Arc<dyn Clock>) -> Self {
        Self {
            clock: Arc::clone(clock),
            state: Mutex::default(),
            ended: Bell::default(),
        }
    }

    /// A handle for one more connection, however often it is opened: cutting ends it, also while it is being opened.
    pub(crate) fn register(&self) -> WireInterrupter {
        let cut = WireInterrupter::default();
        self.lock().cuts.push(cut.clone());
        cut
    }

    /// Whether the connections were cut.
    pub(crate) fn is_cut(&self) -> bool {
        self.lock().is_cut
    }

    /// Waits, at most until the connections are cut. True when they were.
    pub(crate) fn wait(&self, duration: Duration) -> bool {
        let until_ns = self.clock.after(duration);
        self.clock.wait(&self.ended, until_ns, &|| self.is_cut())
    }

    /// What the engine calls to end everything that is under way.
    pub(crate) fn interrupter(self: &Arc<Self>) -> Interrupter {
        let registry = Arc::clone(self);
        Interrupter::new(move || registry.cut())
    }

    fn cut(&self) {
        let mut state = self.lock();
        state.is_cut = true;
        state.cuts.iter().for_each(WireInterrupter::interrupt);
        drop(state);
        self.ended.ring();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}
