//! Workers whose event is one call of a function.

use plimsoll_engine::{Gate, Interrupter, Outcome, Worker, WorkerFactory, WorkerFault};

/// The least stack of a worker's thread, bytes: what our own code takes.
pub const STACK_BYTES_MIN: usize = 256 * 1024;

/// Builds workers that call what `make` gives them, once for each event.
pub(crate) struct Events<M> {
    name: &'static str,
    stack_bytes: usize,
    make: M,
}

/// What a worker does.
pub(crate) struct Work<F> {
    /// One event.
    pub(crate) event: F,
    /// After so many events of its own it returns; `None` for no end.
    pub(crate) events_max: Option<u64>,
}

impl<M, F> Events<M>
where
    M: Fn(u32) -> Work<F> + Send + Sync + 'static,
    F: FnMut() + 'static,
{
    /// A factory; `make` gets the number of the worker: 0, 1, …
    pub(crate) fn factory(name: &'static str, stack_bytes: usize, make: M) -> Box<dyn WorkerFactory> {
        Box::new(Self {
            name,
            stack_bytes,
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
