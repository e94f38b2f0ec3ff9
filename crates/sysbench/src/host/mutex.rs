//! The test `mutex`: one event of each thread takes random mutexes, many times, with a pause of pure counting before
//! each.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use plimsoll_core::random::{Random, below, keyed};

use super::event::{Events, Work};
use super::futex::Futex;
use super::{array, at_least};
use crate::exit::Exit;
use crate::options::{Kind, OptionSpec};
use crate::test::{Context, Run, Test};

/// The test.
#[derive(Default)]
pub struct Mutexes {
    context: Option<Arc<Context>>,
    slots_count: u64,
    terms: Terms,
}

/// How much an event does.
#[derive(Clone, Copy, Default)]
struct Terms {
    locks_count: u64,
    loops_count: u64,
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

impl Test for Mutexes {
    fn name(&self) -> String {
        "mutex".to_owned()
    }

    fn options(&self) -> Vec<OptionSpec> {
        let with = |name, default, help| OptionSpec::new(name, Kind::Int, default, help);
        vec![
            with("mutex-num", "4096", "total size of mutex array"),
            with("mutex-locks", "50000", "number of mutex locks to do per thread"),
            with("mutex-loops", "10000", "number of empty loops to do outside mutex lock"),
        ]
    }

    fn configure(&mut self, context: &Arc<Context>) -> Result<(), Exit> {
        self.slots_count = at_least(context, "mutex-num", 1)?;
        self.terms = Terms {
            locks_count: at_least(context, "mutex-locks", 0)?,
            loops_count: at_least(context, "mutex-loops", 0)?,
        };
        self.context = Some(Arc::clone(context));
        Ok(())
    }

    fn command(&mut self, _name: &str) -> Option<Result<(), Exit>> {
        None
    }

    fn begin(&mut self) -> Result<Run, Exit> {
        let context = self.context.as_ref().expect("configured");
        let arena = Arc::new(Arena {
            slots: array(context, self.slots_count)?,
            locks_count: AtomicU64::new(0),
        });
        let (terms, seed) = (self.terms, context.seed);
        let work = move |worker: u32| {
            let (arena, mut random) = (Arc::clone(&arena), keyed(seed, worker.into(), 0));
            Work {
                event: move || terms.event(&arena, &mut random),
                events_max: Some(1),
            }
        };
        Ok(Run {
            factory: Events::factory("mutex", context, work),
            events_max: Some(Some(context.threads.into())),
            mode: String::new(),
        })
    }
}

impl Terms {
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
        let terms = Terms {
            locks_count: 800,
            loops_count: 1,
        };
        terms.event(&arena, &mut keyed(1, 0, 0));
        assert_eq!(arena.locks_count.into_inner(), 800);
    }
}
