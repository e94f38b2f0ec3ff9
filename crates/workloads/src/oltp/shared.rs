//! What all workers of a group have in common: the transaction, and what its values are drawn from.

use plimsoll_core::plan::{OltpOptions, WorkloadPlan};

use super::plan::{self, Step, Transaction};
use super::tables::{self, Numbers};
use crate::distribution::Rows;

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
    pub seed: u64,
}

/// Values of k in parts, one for each connection. They differ by one in size, and so do the draws.
pub struct Parts {
    pub small: Rows,
    pub large: Rows,
    pub small_count: u64,
}

impl Shared {
    /// Compiles the workload for so many connections.
    pub fn new(workload: &WorkloadPlan, seed: u64, connections: u32) -> Self {
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
        Self {
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
