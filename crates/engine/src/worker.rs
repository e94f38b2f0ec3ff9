//! What a workload implements: workers that pull arrivals from their gate, and the factory that builds them.

use plimsoll_core::statement::SentStatement;

use crate::fault::WorkerFault;
use crate::gate::Gate;
use crate::interrupter::Interrupter;
use crate::server::{GroupServer, ServerIndex};

/// Runs transactions one after the other on connections of its own. Built and used in one thread, so it need not be
/// `Send`.
pub trait Worker {
    /// Pulls arrivals from the gate until it gives no more, and reports statements, errors and outcomes to it. After
    /// an error that the worker can live with it goes on; it never ends early in good order.
    ///
    /// # Errors
    /// Only what must end the whole trial. Errors while [`Gate::is_ending`] are not faults: the connection was cut.
    fn run(&mut self, gate: &mut Gate<'_>) -> Result<(), WorkerFault>;

    /// Whether it has a connection to this server.
    fn is_connected(&self, server: ServerIndex) -> bool {
        server == ServerIndex::SOURCE
    }

    /// How to cut this worker's connections from another thread.
    fn interrupter(&self) -> Interrupter;
}

/// Builds the workers of one group.
pub trait WorkerFactory: Send + Sync {
    /// Names of the transaction types, at least one. [`Gate::finish`] takes an index into them.
    fn transaction_names(&self) -> Vec<String>;

    /// What its transactions send, in the order in which they do; nothing where the plan states it.
    fn statements(&self) -> Vec<SentStatement> {
        Vec::new()
    }

    /// The servers that its workers use, the source first.
    fn servers(&self) -> Vec<GroupServer> {
        vec![GroupServer::source()]
    }

    /// Stack of each worker's thread, bytes. What is not touched costs nothing.
    fn stack_bytes(&self) -> usize {
        256 * 1024
    }

    /// Connects and builds worker number `worker` (0, 1, … within the group). Called in that worker's thread.
    ///
    /// # Errors
    /// Whatever makes the trial impossible; the first such fault ends it before it began.
    fn build(&self, worker: u32) -> Result<Box<dyn Worker>, WorkerFault>;
}
