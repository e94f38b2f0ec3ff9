//! Builds the workers of an OLTP workload, and leads each through its arrivals.
//!
//! Deliberately not here: what a transaction does (see `run`).

use std::sync::Arc;

use plimsoll_core::plan::{OltpPlan, ReconnectMode};
use plimsoll_core::random::below;
use plimsoll_core::statement::SentStatement;
use plimsoll_engine::{Arrival, Gate, GroupServer, Interrupter, ServerIndex, Worker, WorkerFactory, WorkerFault};
use plimsoll_session::{Session, Sessions, transact};

use super::run::{Run, Scratch};
use super::shared::Shared;
use super::transaction_id::TransactionId;
use crate::workload::Setting;

/// Builds the workers of one group.
pub struct OltpFactory {
    shared: Arc<Shared>,
    sessions: Sessions,
}

impl OltpFactory {
    /// Compiles the workload. Its options must have been checked (see `faults`).
    pub fn new(workload: &OltpPlan, setting: Setting<'_>) -> Self {
        let Setting {
            servers, seed, terms, ..
        } = setting;
        let shared = Shared::new(workload, seed, setting.connections.total);
        Self {
            sessions: Sessions::new(servers, Arc::clone(&shared.transaction.statements), terms, seed),
            shared: Arc::new(shared),
        }
    }
}

impl WorkerFactory for OltpFactory {
    fn transaction_names(&self) -> Vec<String> {
        vec![self.shared.transaction.name.to_owned()]
    }

    fn statements(&self) -> Vec<SentStatement> {
        self.shared.statements()
    }

    fn servers(&self) -> Vec<GroupServer> {
        self.sessions.servers()
    }

    fn build(&self, worker: u32) -> Result<Box<dyn Worker>, WorkerFault> {
        Ok(Box::new(OltpWorker {
            session: self.sessions.open(worker)?,
            shared: Arc::clone(&self.shared),
            scratch: Scratch::default(),
            transactions_count: 0,
        }))
    }
}

struct OltpWorker {
    session: Session,
    shared: Arc<Shared>,
    scratch: Scratch,
    transactions_count: u64,
}

impl OltpWorker {
    /// Whether this transaction begins with a new connection.
    fn reconnects(&mut self, arrival: &Arrival) -> bool {
        let options = &self.shared.options;
        let is_first = self.transactions_count == 0;
        let is_full = self.transactions_count.checked_rem(options.reconnect_after) == Some(0);
        self.transactions_count += 1;
        let by_mode = match options.reconnect_mode {
            ReconnectMode::Session | ReconnectMode::Query => false,
            ReconnectMode::Transaction => true,
            ReconnectMode::Random => below(&mut arrival.random(!self.shared.seed), 2) == 0,
        };
        !is_first && (is_full || by_mode)
    }
}

impl Worker for OltpWorker {
    fn run(&mut self, gate: &mut Gate<'_>) -> Result<(), WorkerFault> {
        while let Some(arrival) = gate.next() {
            let mut reconnects = self.reconnects(&arrival);
            let shared = &*self.shared;
            let scratch = &mut self.scratch;
            let role = shared.transaction.role;
            transact(&mut self.session, gate, (0, role), |session, gate| {
                if std::mem::take(&mut reconnects) {
                    session.renew()?;
                }
                let run = Run {
                    shared,
                    session,
                    gate,
                    scratch,
                    id: TransactionId::new(&arrival, shared.connections),
                    random: arrival.random(shared.seed),
                    seed: shared.seed,
                };
                run.transaction()
            })?;
        }
        Ok(())
    }

    fn is_connected(&self, server: ServerIndex) -> bool {
        self.session.is_connected(server)
    }

    fn interrupter(&self) -> Interrupter {
        self.session.interrupter()
    }
}
