//! A gate to a trial, found again by functions that Lua calls: no reference can be handed through its frames.

use std::cell::Cell;
use std::ptr::NonNull;

use plimsoll_engine::Gate;

/// Where the gate is while it is lent.
#[derive(Default)]
pub struct LentGate(Cell<Option<NonNull<Gate<'static>>>>);

impl LentGate {
    /// Lends a gate for as long as the action takes.
    pub fn lend<R>(&self, gate: &mut Gate<'_>, action: impl FnOnce() -> R) -> R {
        self.0.set(Some(NonNull::from(gate).cast()));
        let _close = Close(&self.0);
        action()
    }

    /// Whether there is one.
    pub fn is_lent(&self) -> bool {
        self.0.get().is_some()
    }

    /// Does something with the gate, where there is one.
    #[inline]
    pub fn borrow<R>(&self, action: impl FnOnce(&mut Gate<'_>) -> R) -> Option<R> {
        let mut gate = self.0.get()?;
        // SAFETY: `lend` holds the only reference to the gate until it takes the pointer away, and lends it to nobody but
        // through here. A gate never calls back, so no two of these borrows exist at a time.
        Some(action(unsafe { gate.as_mut() }))
    }
}

/// Takes the gate away again, also when a panic passes.
struct Close<'a>(&'a Cell<Option<NonNull<Gate<'static>>>>);

impl Drop for Close<'_> {
    fn drop(&mut self) {
        self.0.set(None);
    }
}
