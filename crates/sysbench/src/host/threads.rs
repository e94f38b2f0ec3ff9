//! The test `threads`: the scheduler. One event takes a mutex, yields the processor, lets it go, and again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::event::{Events, Work};
use super::futex::Futex;
use super::{array, at_least};
use crate::exit::Exit;
use crate::options::{Kind, OptionSpec};
use crate::test::{Context, Run, Test};

/// The test.
#[derive(Default)]
pub struct Threads {
    context: Option<Arc<Context>>,
    yields_count: u64,
    locks_count: u64,
}

/// What all workers share.
struct Arena {
    mutexes: Vec<Futex>,
    /// Events that began so far.
    events_count: AtomicU64,
    yields_count: u64,
}

impl Test for Threads {
    fn name(&self) -> String {
        "threads".to_owned()
    }

    fn options(&self) -> Vec<OptionSpec> {
        vec![
            OptionSpec::new("thread-yields", Kind::Int, "1000", "number of yields to do per request"),
            OptionSpec::new("thread-locks", Kind::Int, "8", "number of locks per thread"),
        ]
    }

    fn configure(&mut self, context: &Arc<Context>) -> Result<(), Exit> {
        self.yields_count = at_least(context, "thread-yields", 0)?;
        self.locks_count = at_least(context, "thread-locks", 1)?;
        self.context = Some(Arc::clone(context));
        Ok(())
    }

    fn command(&mut self, _name: &str) -> Option<Result<(), Exit>> {
        None
    }

    fn begin(&mut self) -> Result<Run, Exit> {
        let context = self.context.as_ref().expect("configured");
        let arena = Arc::new(Arena {
            mutexes: array(context, self.locks_count)?,
            events_count: AtomicU64::new(0),
            yields_count: self.yields_count,
        });
        let work = move |_| {
            let arena = Arc::clone(&arena);
            Work {
                event: move || arena.event(),
                events_max: None,
            }
        };
        Ok(Run {
            factory: Events::factory("threads", context, work),
            events_max: None,
            mode: String::new(),
        })
    }
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
