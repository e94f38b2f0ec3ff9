//! What the functions that scripts call through `ffi` find of their thread: one host for each Lua state, and a pointer to
//! that of the state which runs.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null;
use std::sync::Arc;

use plimsoll_engine::{Gate, WorkerFault};

use super::histogram::Histogram;
use super::rand::Draws;
use super::shared::Shared;
use super::slab::Slab;
use super::sql::Sql;
use super::thread_context::ThreadContext;
use crate::log::Level;

thread_local! {
    static CURRENT: Cell<*const Host> = const { Cell::new(null()) };
}

/// One Lua state's side of Rust. It stays where it is for as long as its state lives.
pub struct Host {
    pub thread: ThreadContext,
    pub tid: u32,
    pub draws: RefCell<Draws>,
    pub sql: RefCell<Sql>,
    pub histograms: RefCell<Slab<Histogram>>,
    /// One of our functions panicked: the run must not go on.
    is_broken: Cell<bool>,
}

impl Host {
    pub fn new(shared: Arc<Shared>, tid: u32, draws: Draws) -> Self {
        Self {
            thread: ThreadContext::new(shared),
            tid,
            draws: RefCell::new(draws),
            sql: RefCell::default(),
            histograms: RefCell::default(),
            is_broken: Cell::new(false),
        }
    }

    /// Runs something that may call into Lua, which finds this host then.
    pub fn enter<R>(&self, action: impl FnOnce() -> R) -> R {
        let _leave = Leave(CURRENT.replace(self));
        action()
    }

    /// The same with a gate to a trial, which learns first what happened before.
    pub fn with_gate<R>(&self, gate: &mut Gate<'_>, action: impl FnOnce() -> R) -> R {
        self.thread.with_gate(gate, || self.enter(action))
    }

    /// Whether one of our own functions panicked.
    pub fn is_broken(&self) -> bool {
        self.is_broken.get()
    }
}

/// Restores the host that was there before.
struct Leave(*const Host);

impl Drop for Leave {
    fn drop(&mut self) {
        CURRENT.set(self.0);
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
        host.thread
            .log(Level::Fatal, WorkerFault::from_panic("the Lua host", &*payload));
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
