//! What a script's calls need of the thread that they run in: the gate to its trial, the log, the cuts of its connections. It
//! knows nothing of what the calls are.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_core::snapshot::ErrorClass;
use plimsoll_engine::{Gate, ServerIndex, StatementResult};

use super::cuts::Cuts;
use super::lent_gate::LentGate;
use super::shared::Shared;
use crate::log::Level;

/// One Lua state's thread.
pub struct ThreadContext {
    pub shared: Arc<Shared>,
    pub cuts: Arc<Cuts>,
    gate: LentGate,
    /// What happened before there was a gate.
    early: RefCell<Early>,
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

impl ThreadContext {
    pub fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            cuts: Arc::default(),
            gate: LentGate::default(),
            early: RefCell::default(),
            is_given_up: Cell::new(false),
        }
    }

    /// Does something with a gate to a trial, which learns first what happened before.
    pub fn with_gate<R>(&self, gate: &mut Gate<'_>, action: impl FnOnce() -> R) -> R {
        self.tell_early(gate);
        self.gate.lend(gate, action)
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
            (0..count).for_each(|_| gate.error(ServerIndex::SOURCE, None, class, code));
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
        self.gate.borrow(action)
    }

    /// Opens a connection again, in a trial as soon as not too many others are being opened; `None` when it ends before.
    pub fn connecting<R>(&self, open: impl FnOnce() -> R) -> Option<R> {
        if !self.gate.is_lent() {
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
        if self
            .gate(|gate| gate.error(ServerIndex::SOURCE, None, class, code))
            .is_none()
        {
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

    /// Writes to the log of the run.
    pub fn log(&self, level: Level, message: impl std::fmt::Display) {
        self.shared.log.text(level, message);
    }
}

/// What matters of a statement before the run.
fn key(result: StatementResult) -> (bool, u64) {
    (result.has_result_set, result.rows_affected.min(1))
}
