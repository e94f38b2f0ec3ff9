//! Builds the workers of an OLTP workload, and leads each through its arrivals.
//!
//! Deliberately not here: what a transaction does (see `run`).

use std::sync::Arc;

use plimsoll_core::plan::{OltpOptions, ReconnectMode, RoleTarget, WorkloadPlan};
use plimsoll_core::random::below;
use plimsoll_engine::{Arrival, Gate, Interrupter, Worker, WorkerFactory, WorkerFault};
use plimsoll_session::{Session, Sessions, Terms, transact};

use super::place::Place;
use super::plan::{self, Step, Transaction};
use super::run::{Run, Scratch};
use super::tables::{self, Numbers};
use crate::distribution::Rows;

/// Builds the workers of one group.
pub struct OltpFactory {
    shared: Arc<Shared>,
    sessions: Sessions,
}

/// What all workers of a group have in common.
pub struct Shared {
    pub transaction: Transaction,
    pub rows: Rows,
    pub options: OltpOptions,
    /// Where `bulk_insert` inserts; other statements hold the names of their tables.
    pub bulk_tables: Vec<String>,
    /// Among how many members the values of k are divided, and values drawn within each part.
    pub parts: Option<Parts>,
    pub connections: u64,
    seed: u64,
}

/// Values of k in parts, one for each connection. They differ by one in size, and so do the draws.
pub struct Parts {
    pub small: Rows,
    pub large: Rows,
    pub small_count: u64,
}

impl OltpFactory {
    /// Compiles the workload for so many connections. Its options must have been checked (see `faults`).
    pub fn new(workload: &WorkloadPlan, targets: &[RoleTarget], seed: u64, connections: u32, terms: Terms) -> Self {
        let options: &OltpOptions = plan::options(workload);
        let transaction = Transaction::new(workload);
        let connections = u64::from(connections);
        let bulk_tables = if transaction.steps.contains(&Step::BulkInsert) {
            let numbers = Numbers::new(transaction.layout, options.tables);
            numbers.iter().map(tables::name).collect()
        } else {
            vec![]
        };
        let by_parts = |step: &Step| matches!(step, Step::PointList { .. } | Step::RangeList { .. });
        let shared = Shared {
            parts: transaction
                .steps
                .iter()
                .any(by_parts)
                .then(|| Parts::new(options, connections)),
            transaction,
            rows: Rows::new(options.distribution, options.table_size as u32),
            options: options.clone(),
            bulk_tables,
            connections,
            seed,
        };
        Self {
            sessions: Sessions::new(targets, Arc::clone(&shared.transaction.statements), terms, seed),
            shared: Arc::new(shared),
        }
    }
}

impl Parts {
    fn new(options: &OltpOptions, connections: u64) -> Self {
        let small_count = options.table_size / connections + 1;
        let draw = |count: u64| Rows::new(options.distribution, count as u32);
        Self {
            small: draw(small_count),
            large: draw(small_count + 1),
            small_count,
        }
    }
}

impl WorkerFactory for OltpFactory {
    fn transaction_names(&self) -> Vec<String> {
        vec![self.shared.transaction.name.to_owned()]
    }

    fn build(&self, _worker: u32) -> Result<Box<dyn Worker>, WorkerFault> {
        Ok(Box::new(OltpWorker {
            session: self.sessions.open()?,
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
            transact(&mut self.session, gate, 0, |session, gate| {
                if std::mem::take(&mut reconnects) {
                    session.renew()?;
                }
                let run = Run {
                    shared,
                    session,
                    gate,
                    scratch,
                    place: Place::new(&arrival, shared.connections),
                    random: arrival.random(shared.seed),
                    seed: shared.seed,
                };
                run.transaction()
            })?;
        }
        Ok(())
    }

    fn interrupter(&self) -> Interrupter {
        self.session.interrupter()
    }
}
