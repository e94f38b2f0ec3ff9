//! Workers whose event is one call of a function.

use std::sync::Arc;

use plimsoll_engine::{Gate, Interrupter, Outcome, Worker, WorkerFactory, WorkerFault};

use crate::test::Context;

/// The least stack of a worker's thread, bytes: what our own code takes, whatever `--thread-stack-size` says.
const STACK_BYTES_MIN: usize = 256 * 1024;

/// The stack that a worker's thread gets, bytes.
pub(super) fn stack_bytes(context: &Context) -> usize {
    let wanted = usize::try_from(context.options.size("thread-stack-size")).unwrap_or(usize::MAX);
    wanted.max(STACK_BYTES_MIN)
}

/// Builds workers that call what `make` gives them, once for each event.
pub(super) struct Events<M> {
    name: &'static str,
    stack_bytes: usize,
    make: M,
}

/// What a worker does.
pub(super) struct Work<F> {
    /// One event.
    pub(super) event: F,
    /// After so many events of its own it returns; `None` for no end.
    pub(super) events_max: Option<u64>,
}

impl<M, F> Events<M>
where
    M: Fn(u32) -> Work<F> + Send + Sync + 'static,
    F: FnMut() + 'static,
{
    /// A factory; `make` gets the number of the worker: 0, 1, …
    pub(super) fn factory(name: &'static str, context: &Arc<Context>, make: M) -> Box<dyn WorkerFactory> {
        Box::new(Self {
            name,
            stack_bytes: stack_bytes(context),
            make,
        })
    }
}

impl<M, F> WorkerFactory for Events<M>
where
    M: Fn(u32) -> Work<F> + Send + Sync,
    F: FnMut() + 'static,
{
    fn transaction_names(&self) -> Vec<String> {
        vec![self.name.to_owned()]
    }

    fn stack_bytes(&self) -> usize {
        self.stack_bytes
    }

    fn build(&self, worker: u32) -> Result<Box<dyn Worker>, WorkerFault> {
        Ok(Box::new((self.make)(worker)))
    }
}

impl<F: FnMut()> Worker for Work<F> {
    fn run(&mut self, gate: &mut Gate<'_>) -> Result<(), WorkerFault> {
        let mut left_count = self.events_max.unwrap_or(u64::MAX);
        while left_count > 0 && gate.next().is_some() {
            gate.sent();
            (self.event)();
            gate.finish(0, Outcome::Completed);
            left_count -= 1;
        }
        Ok(())
    }

    fn interrupter(&self) -> Interrupter {
        Interrupter::none()
    }
}
