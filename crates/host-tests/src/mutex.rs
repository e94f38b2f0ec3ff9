//! Mutexes. The one event of each thread takes random ones, many times, with a pause of pure counting before each.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use plimsoll_core::random::{Random, below, keyed};
use plimsoll_engine::{WorkerFactory, WorkerFault};

use crate::event::{Events, Work};
use crate::futex::Futex;
use crate::{Setup, array};

/// How much an event does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// How many mutexes there are, at least 1.
    pub slots_count: u64,
    /// How many of them an event takes, one after the other.
    pub locks_count: u64,
    /// How far it counts before each.
    pub loops_count: u64,
}

/// A mutex on cache lines of its own.
#[derive(Default)]
#[repr(align(256))]
struct Slot(Futex);

/// What all workers share.
struct Arena {
    slots: Vec<Slot>,
    /// Written under every mutex.
    locks_count: AtomicU64,
}

/// Workers of one event each.
///
/// # Errors
/// A fault of class `host` when there is not enough memory.
pub fn factory(options: Options, setup: &Setup) -> Result<Box<dyn WorkerFactory>, WorkerFault> {
    let arena = Arc::new(Arena {
        slots: array(options.slots_count)?,
        locks_count: AtomicU64::new(0),
    });
    let seed = setup.seed;
    let work = move |worker: u32| {
        let (arena, mut random) = (Arc::clone(&arena), keyed(seed, worker.into(), 0));
        Work {
            event: move || options.event(&arena, &mut random),
            events_max: Some(1),
        }
    };
    Ok(Events::factory("mutex", setup.stack_bytes, work))
}

impl Options {
    fn event(self, arena: &Arena, random: &mut Random) {
        for _ in 0..self.locks_count {
            let slot = &arena.slots[below(random, arena.slots.len() as u64) as usize];
            for _ in 0..self.loops_count {
                black_box(());
            }
            slot.0.with(|| {
                arena.locks_count.fetch_add(1, Ordering::Relaxed);
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_takes_as_many_locks_as_it_is_told() {
        let arena = Arena {
            slots: (0..8).map(|_| Slot::default()).collect(),
            locks_count: AtomicU64::new(0),
        };
        let options = Options {
            slots_count: 8,
            locks_count: 800,
            loops_count: 1,
        };
        options.event(&arena, &mut keyed(1, 0, 0));
        assert_eq!(arena.locks_count.into_inner(), 800);
    }
}
