//! Workers whose faults are said in the log when they happen, each of them, and not only the first one at the end.

use std::sync::Arc;

use plimsoll_engine::{Gate, Interrupter, Worker, WorkerFactory, WorkerFault};

use crate::log::Log;

/// A factory of such workers.
pub(super) struct Logged {
    pub(super) factory: Box<dyn WorkerFactory>,
    pub(super) log: Arc<Log>,
}

struct LoggedWorker {
    worker: Box<dyn Worker>,
    log: Arc<Log>,
}

impl WorkerFactory for Logged {
    fn transaction_names(&self) -> Vec<String> {
        self.factory.transaction_names()
    }

    fn stack_bytes(&self) -> usize {
        self.factory.stack_bytes()
    }

    fn build(&self, worker: u32) -> Result<Box<dyn Worker>, WorkerFault> {
        let worker = self.factory.build(worker).map_err(|fault| said(&self.log, fault))?;
        let log = Arc::clone(&self.log);
        Ok(Box::new(LoggedWorker { worker, log }))
    }
}

impl Worker for LoggedWorker {
    fn run(&mut self, gate: &mut Gate<'_>) -> Result<(), WorkerFault> {
        self.worker.run(gate).map_err(|fault| said(&self.log, fault))
    }

    fn interrupter(&self) -> Interrupter {
        self.worker.interrupter()
    }
}

/// Says it line by line. Without a message nobody says it again.
fn said(log: &Log, fault: WorkerFault) -> WorkerFault {
    fault.message.lines().for_each(|line| {
        log.fatal(line);
    });
    WorkerFault {
        message: String::new(),
        ..fault
    }
}
