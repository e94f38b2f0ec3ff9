//! The time as sessions see it, how they wait, and how they reach servers: passed in, so that tests run hours of outages in
//! no time. Nothing here is called for a statement.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use plimsoll_core::lock::lock;
use plimsoll_core::plan::Target;
use plimsoll_engine::{monotonic_ns, unix_ns};
use plimsoll_wire::{ConnectOptions, Connection, Connector, Interrupter, WireError};

/// What shows the time and lets threads wait for it.
pub trait Clock: Send + Sync {
    /// Nanoseconds on a clock that never goes back.
    fn monotonic_ns(&self) -> u64;

    /// The wall clock, nanoseconds since 1970.
    fn unix_ns(&self) -> u64;

    /// Waits until `is_over`, or until the monotonic clock shows `until_ns`. Whoever changes what `is_over` sees rings the bell
    /// after that. Returns what `is_over` said last.
    fn wait(&self, bell: &Bell, until_ns: u64, is_over: &dyn Fn() -> bool) -> bool;
}

impl dyn Clock + '_ {
    /// The monotonic clock's time after so long.
    pub(crate) fn after(&self, duration: Duration) -> u64 {
        self.monotonic_ns().saturating_add(duration.as_nanos() as u64)
    }

    /// Does nothing for so long.
    pub(crate) fn sleep(&self, duration: Duration) {
        self.wait(&Bell::default(), self.after(duration), &|| false);
    }
}

/// The clocks of this machine.
pub struct MachineClock;

impl Clock for MachineClock {
    fn monotonic_ns(&self) -> u64 {
        monotonic_ns()
    }

    fn unix_ns(&self) -> u64 {
        unix_ns()
    }

    fn wait(&self, bell: &Bell, until_ns: u64, is_over: &dyn Fn() -> bool) -> bool {
        loop {
            let count = bell.count();
            if is_over() {
                return true;
            }
            let left_ns = until_ns.saturating_sub(monotonic_ns());
            if left_ns == 0 {
                return false;
            }
            bell.await_ring(count, Some(Duration::from_nanos(left_ns)));
        }
    }
}

/// Wakes those who wait for something beside the time. Clones are the same bell.
#[derive(Clone, Default)]
pub struct Bell(Arc<(Mutex<u64>, Condvar)>);

impl Bell {
    /// Wakes all who wait.
    pub fn ring(&self) {
        *lock(&self.0.0) += 1;
        self.0.1.notify_all();
    }

    /// How often it was rung. Take it before you check the condition: then no ring is missed.
    pub fn count(&self) -> u64 {
        *lock(&self.0.0)
    }

    /// Waits until it was rung more often than `count` times, at most so long; `None` waits for ever.
    pub fn await_ring(&self, count: u64, at_most: Option<Duration>) {
        let is_silent = |rung: &mut u64| *rung <= count;
        let (guard, rung) = (lock(&self.0.0), &self.0.1);
        match at_most {
            Some(at_most) => drop(rung.wait_timeout_while(guard, at_most, is_silent)),
            None => drop(rung.wait_while(guard, is_silent)),
        }
    }
}

/// Opens connections to a server. It may be another one later.
pub trait Connect: Send + Sync {
    /// Where they lead now, and as whom.
    fn target(&self) -> Target;

    /// Opens one. Another thread may end the attempt, and later the connection.
    ///
    /// # Errors
    /// As [`Connector::open`].
    fn open(&self, options: &ConnectOptions, interrupter: &Interrupter) -> Result<Connection, WireError>;
}

impl Connect for Connector {
    fn target(&self) -> Target {
        self.target().clone()
    }

    fn open(&self, options: &ConnectOptions, interrupter: &Interrupter) -> Result<Connection, WireError> {
        self.open(options, interrupter)
    }
}
