//! Workers: one request of the common queue is one event.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use plimsoll_engine::{Gate, Interrupter, Outcome, StatementResult, Worker, WorkerFactory, WorkerFault};

use super::io::{self, Io, Shared};
use super::requests::{Request, Turns};

/// Builds them.
pub(super) struct Factory {
    pub(super) shared: Arc<Shared>,
    pub(super) stack_bytes: usize,
}

struct FileWorker {
    shared: Arc<Shared>,
    io: Box<dyn Io>,
    turns: Turns,
}

const READ: StatementResult = StatementResult {
    has_result_set: true,
    rows_returned: 0,
    rows_affected: 0,
};
const WRITE: StatementResult = StatementResult {
    has_result_set: false,
    rows_returned: 0,
    rows_affected: 1,
};
const SYNC: StatementResult = StatementResult {
    has_result_set: false,
    rows_returned: 0,
    rows_affected: 0,
};

impl WorkerFactory for Factory {
    fn transaction_names(&self) -> Vec<String> {
        vec!["fileio".to_owned()]
    }

    fn stack_bytes(&self) -> usize {
        self.stack_bytes
    }

    fn build(&self, _worker: u32) -> Result<Box<dyn Worker>, WorkerFault> {
        Ok(Box::new(FileWorker {
            io: io::of(Arc::clone(&self.shared))?,
            shared: Arc::clone(&self.shared),
            turns: Turns::default(),
        }))
    }
}

impl Worker for FileWorker {
    fn run(&mut self, gate: &mut Gate<'_>) -> Result<(), WorkerFault> {
        let seed = self.shared.seed;
        while let Some(arrival) = gate.next() {
            let mut random = arrival.random(seed);
            gate.sent();
            let request = self.shared.queue().next(&mut self.turns, &mut random);
            match request {
                Request::Read(extent) => {
                    self.io.read(extent)?;
                    self.shared.moved(extent);
                    gate.statement(READ);
                }
                Request::Write(extent) => {
                    self.io.write(extent, &mut random)?;
                    self.shared.moved(extent);
                    gate.statement(WRITE);
                    if self.shared.plan.syncs.after_write {
                        self.io.sync(extent.file)?;
                        gate.statement(SYNC);
                    }
                }
                Request::Sync(file) => {
                    self.io.sync(file)?;
                    gate.statement(SYNC);
                }
            }
            gate.finish(0, Outcome::Completed);
        }
        self.end()
    }

    fn interrupter(&self) -> Interrupter {
        Interrupter::none()
    }
}

impl FileWorker {
    /// What belongs to the run but to no event.
    fn end(&mut self) -> Result<(), WorkerFault> {
        self.io.finish()?;
        let plan = &self.shared.plan;
        if plan.syncs.at_end && plan.mode.is_some_and(super::plan::Mode::writes) {
            for file in 0..plan.files_count {
                self.io.sync(file)?;
                self.shared.traffic.end_syncs_count.fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok(())
    }
}
