//! What the functions that scripts call through `ffi` find of their thread: one host for each Lua state, and a pointer to
//! that of the state which runs.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{NonNull, null};
use std::sync::Arc;

use plimsoll_core::snapshot::ErrorClass;
use plimsoll_engine::{Gate, StatementResult, WorkerFault};

use super::cuts::Cuts;
use super::histogram::Histogram;
use super::rand::Draws;
use super::shared::Shared;
use super::slab::Slab;
use super::sql::Sql;
use crate::log::Level;

thread_local! {
    static CURRENT: Cell<*const Host> = const { Cell::new(null()) };
}

/// One Lua state's side of Rust. It stays where it is for as long as its state lives.
pub struct Host {
    pub shared: Arc<Shared>,
    pub tid: u32,
    pub cuts: Arc<Cuts>,
    pub draws: RefCell<Draws>,
    pub sql: RefCell<Sql>,
    pub histograms: RefCell<Slab<Histogram>>,
    gate: Cell<Option<NonNull<Gate<'static>>>>,
    /// What happened before there was a gate.
    early: RefCell<Early>,
    /// One of our functions panicked: the run must not go on.
    is_broken: Cell<bool>,
    /// The run ended while a connection was lost.
    is_given_up: Cell<bool>,
}

/// What happened while there was no gate.
#[derive(Default)]
pub struct Early {
    /// How often, by whether they gave a result set and how many rows they changed: only whether it was any.
    statements: BTreeMap<(bool, u64), u64>,
    errors: BTreeMap<(ErrorClass, u16), u64>,
}

impl Host {
    pub fn new(shared: Arc<Shared>, tid: u32, draws: Draws) -> Self {
        Self {
            sql: RefCell::default(),
            histograms: RefCell::default(),
            shared,
            tid,
            cuts: Arc::default(),
            draws: RefCell::new(draws),
            gate: Cell::new(None),
            early: RefCell::default(),
            is_broken: Cell::new(false),
            is_given_up: Cell::new(false),
        }
    }

    /// Runs something that may call into Lua, which finds this host then.
    pub fn enter<R>(&self, action: impl FnOnce() -> R) -> R {
        let _leave = Leave(CURRENT.replace(self));
        action()
    }

    /// The same with a gate to a trial, which learns first what happened before.
    pub fn with_gate<R>(&self, gate: &mut Gate<'_>, action: impl FnOnce() -> R) -> R {
        self.tell_early(gate);
        self.gate.set(Some(NonNull::from(gate).cast()));
        let _close = Close(&self.gate);
        self.enter(action)
    }

    fn tell_early(&self, gate: &mut Gate<'_>) {
        let early = self.early.take();
        for ((has_result_set, rows_affected), count) in early.statements {
            let result = StatementResult {
                has_result_set,
                rows_affected,
                rows_returned: 0,
            };
            (0..count).for_each(|_| gate.statement(result));
        }
        for ((class, code), count) in early.errors {
            (0..count).for_each(|_| gate.error(None, class, code));
        }
    }

    /// Takes out what happened before there was a gate.
    pub fn take_early(&self) -> Early {
        self.early.take()
    }

    /// Adds what happened elsewhere before there was a gate.
    pub fn add_early(&self, other: Early) {
        let mut early = self.early.borrow_mut();
        for (what, count) in other.statements {
            *early.statements.entry(what).or_default() += count;
        }
        for (what, count) in other.errors {
            *early.errors.entry(what).or_default() += count;
        }
    }

    /// Lends the gate, where there is a trial.
    #[inline]
    pub fn gate<R>(&self, action: impl FnOnce(&mut Gate<'_>) -> R) -> Option<R> {
        let mut gate = self.gate.get()?;
        // SAFETY: `with_gate` holds the only reference to the gate until it takes the pointer away, and lends it to nobody
        // but through here. A gate never calls back, so no two of these borrows exist at a time.
        Some(action(unsafe { gate.as_mut() }))
    }

    /// Opens a connection again, in a trial as soon as not too many others are being opened; `None` when it ends before.
    pub fn connecting<R>(&self, open: impl FnOnce() -> R) -> Option<R> {
        if self.gate.get().is_none() {
            return Some(open());
        }
        self.gate(|gate| gate.connecting(open)).flatten()
    }

    /// Counts a successful statement.
    #[inline]
    pub fn statement(&self, result: StatementResult) {
        if self.gate(|gate| gate.statement(result)).is_none() {
            let mut early = self.early.borrow_mut();
            *early.statements.entry(key(result)).or_default() += 1;
        }
    }

    /// Counts an error.
    pub fn error(&self, class: ErrorClass, code: u16) {
        if self.gate(|gate| gate.error(None, class, code)).is_none() {
            *self.early.borrow_mut().errors.entry((class, code)).or_default() += 1;
        }
    }

    /// Whether nothing should be tried again any more.
    pub fn is_ending(&self) -> bool {
        self.cuts.is_cut() || self.gate(|gate| gate.is_ending()) == Some(true)
    }

    /// The run is over, and a connection is not back.
    pub fn give_up(&self) {
        self.is_given_up.set(true);
    }

    /// Whether an error of the script means nothing, because the run is over and its connections are gone.
    pub fn is_cut_off(&self) -> bool {
        self.is_given_up.get() || self.cuts.is_cut()
    }

    /// Whether one of our own functions panicked.
    pub fn is_broken(&self) -> bool {
        self.is_broken.get()
    }

    pub fn log(&self, level: Level, message: impl std::fmt::Display) {
        self.shared.log.text(level, message);
    }
}

/// What matters of a statement before the run.
fn key(result: StatementResult) -> (bool, u64) {
    (result.has_result_set, result.rows_affected.min(1))
}

/// Restores the host that was there before.
struct Leave(*const Host);

impl Drop for Leave {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

/// Takes the gate away again, also when a panic passes.
struct Close<'a>(&'a Cell<Option<NonNull<Gate<'static>>>>);

impl Drop for Close<'_> {
    fn drop(&mut self) {
        self.0.set(None);
    }
}

/// Runs an exported function on the host of the state that runs. Where there is none, and where it panics, it returns
/// `fallback`: nothing may unwind into Lua.
#[inline]
pub fn guarded<R>(fallback: R, action: impl FnOnce(&Host) -> R) -> R {
    // SAFETY: `enter` keeps the host borrowed for as long as the pointer is set.
    let Some(host) = (unsafe { CURRENT.get().as_ref() }) else {
        return fallback;
    };
    catch_unwind(AssertUnwindSafe(|| action(host))).unwrap_or_else(|payload| {
        host.is_broken.set(true);
        host.log(Level::Fatal, WorkerFault::from_panic("the Lua host", &*payload));
        fallback
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compat::Compat;
    use crate::distributions::Distributions;
    use crate::log::tests::log;
    use crate::lua::shared::{CommandLine, Source};
    use crate::options::{Options, Value};
    use crate::test::Context;

    #[test]
    fn a_panic_is_said_and_breaks_the_run_but_unwinds_into_nobody() {
        let (log, out, _) = log();
        let mut options = Options::default();
        options.set("rand-type", Value::String("uniform".to_owned()));
        let context = Context {
            options,
            log: Arc::new(log),
            seed: 1,
            threads: 1,
            compat: Compat::V10,
        };
        let shared = Shared::new(Source::Text(String::new()), "", CommandLine::default(), &context);
        let (shared, _) = shared.unwrap();
        let host = Host::new(Arc::new(shared), 0, Draws::new(Distributions::default(), 1, 0, 0));
        assert_eq!(guarded(7, |_| 8), 7, "there is no state that runs");
        host.enter(|| {
            assert_eq!(guarded(7, |_| 8), 8);
            assert!(!host.is_broken());
            assert_eq!(guarded(7, |_| panic!("by design")), 7);
        });
        assert!(host.is_broken());
        assert!(
            out.text().starts_with("FATAL: the Lua host panicked: by design"),
            "{}",
            out.text()
        );
    }
}
