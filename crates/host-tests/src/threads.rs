//! The scheduler. One event takes a mutex, yields the processor, lets it go, and again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use plimsoll_engine::{WorkerFactory, WorkerFault};

use crate::event::{Events, Work};
use crate::futex::Futex;
use crate::{Setup, array};

/// How much is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// How often an event yields.
    pub yields_count: u64,
    /// How many mutexes the events take in turn, at least 1.
    pub locks_count: u64,
}

/// Workers that do so.
///
/// # Errors
/// A fault of class `host` when there is not enough memory.
pub fn factory(options: Options, setup: &Setup) -> Result<Box<dyn WorkerFactory>, WorkerFault> {
    let arena = Arc::new(Arena {
        mutexes: array(options.locks_count)?,
        events_count: AtomicU64::new(0),
        yields_count: options.yields_count,
    });
    let work = move |_| {
        let arena = Arc::clone(&arena);
        Work {
            event: move || arena.event(),
            events_max: None,
        }
    };
    Ok(Events::factory("threads", setup.stack_bytes, work))
}

/// What all workers share.
struct Arena {
    mutexes: Vec<Futex>,
    /// Events that began so far.
    events_count: AtomicU64,
    yields_count: u64,
}

impl Arena {
    fn event(&self) {
        let number = self.events_count.fetch_add(1, Ordering::Relaxed);
        let mutex = &self.mutexes[(number % self.mutexes.len() as u64) as usize];
        for _ in 0..self.yields_count {
            mutex.with(rustix::thread::sched_yield);
        }
    }
}
