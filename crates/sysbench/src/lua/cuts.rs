//! What lets the engine cut the connections of a worker's script from another thread, across reconnects.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use plimsoll_core::lock::lock;
use plimsoll_engine::Interrupter;
use plimsoll_wire::Interrupter as WireInterrupter;

/// The connections of one state, open or being opened.
#[derive(Default)]
pub struct Cuts {
    is_cut: AtomicBool,
    open: Mutex<Vec<(u64, WireInterrupter)>>,
}

impl Cuts {
    /// A handle for connection number `number`, which is to be opened with it. When all were cut already, this one is too.
    pub fn attach(&self, number: u64) -> WireInterrupter {
        let cut = WireInterrupter::default();
        let mut open = self.lock();
        if self.is_cut() {
            cut.interrupt();
        }
        open.push((number, cut.clone()));
        cut
    }

    /// Forgets a connection.
    pub fn detach(&self, number: u64) {
        self.lock().retain(|(one, _)| *one != number);
    }

    /// Whether all were cut.
    pub fn is_cut(&self) -> bool {
        self.is_cut.load(Ordering::Relaxed)
    }

    /// What the engine calls.
    pub fn interrupter(self: &Arc<Self>) -> Interrupter {
        let cuts = Arc::clone(self);
        Interrupter::new(move || {
            let open = cuts.lock();
            cuts.is_cut.store(true, Ordering::Relaxed);
            open.iter().for_each(|(_, cut)| cut.interrupt());
        })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(u64, WireInterrupter)>> {
        lock(&self.open)
    }
}
