//! What all workers of a group have in common: the transaction, and what its values are drawn from.

use plimsoll_core::plan::{OltpOptions, OltpPlan};
use plimsoll_core::statement::SentStatement;

use super::bulk;
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
    pub fn new(workload: &OltpPlan, seed: u64, connections: u32) -> Self {
        let options = &workload.options;
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

    /// What a transaction sends, in order, on the first of its tables.
    pub fn statements(&self) -> Vec<SentStatement> {
        let text = |id| self.transaction.statements.text(id).to_owned();
        let mut sent = Vec::new();
        for step in &self.transaction.steps {
            match *step {
                Step::Alone(statement) | Step::Call(statement) => sent.push((text(statement), 1)),
                Step::ByRow { statement, count }
                | Step::ByRange { statement, count, .. }
                | Step::Rewrites { statement, count, .. } => sent.push((text(statement.at(0)), count)),
                Step::Replacements {
                    delete, insert, count, ..
                } => sent.extend([(text(delete.at(0)), count), (text(insert.at(0)), count)]),
                Step::Insert { statement, .. } | Step::DeleteOnce(statement) => sent.push((text(statement.at(0)), 1)),
                Step::PointList { statement, count } => {
                    sent.push((plan::outline_points(&text(statement.at(0)), count), 1));
                }
                Step::RangeList { statement, count, .. } => {
                    sent.push((plan::outline_ranges(&text(statement.at(0)), count), 1));
                }
                Step::BulkInsert => sent.extend(self.bulk_tables.first().map(|table| (bulk::outline(table), 1))),
            }
        }
        let named = |(sql, times)| SentStatement {
            transaction: self.transaction.name.to_owned(),
            sql,
            times: Some(times),
        };
        sent.into_iter().map(named).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_core::plan::OltpKind;

    #[test]
    fn what_a_transaction_sends_is_named_once_with_how_often() {
        let of = |kind: OltpKind| {
            let options = OltpOptions {
                tables: 3,
                ..OltpOptions::default()
            };
            let statements = Shared::new(&kind.with(options), 0, 4).statements();
            let line = |one: SentStatement| format!("{}: {:?} {}", one.transaction, one.times, one.sql);
            statements.into_iter().map(line).collect::<Vec<_>>()
        };
        assert_eq!(
            of(OltpKind::WriteOnly),
            [
                "oltp_write_only: Some(1) BEGIN",
                "oltp_write_only: Some(1) UPDATE sbtest1 SET k=k+1 WHERE id=?",
                "oltp_write_only: Some(1) UPDATE sbtest1 SET c=? WHERE id=?",
                "oltp_write_only: Some(1) DELETE FROM sbtest1 WHERE id=?",
                "oltp_write_only: Some(1) INSERT INTO sbtest1 (id, k, c, pad) VALUES (?, ?, ?, ?)",
                "oltp_write_only: Some(1) COMMIT",
            ]
        );
        assert!(
            of(OltpKind::ReadOnly).contains(&"oltp_read_only: Some(10) SELECT c FROM sbtest1 WHERE id=?".to_owned())
        );
        let points = of(OltpKind::RandomPoints);
        assert!(
            points[0].ends_with("FROM sbtest1 WHERE k IN (?, ...) (10 values)"),
            "{points:?}"
        );
        let ranges = of(OltpKind::RandomRanges);
        assert!(
            ranges[0].ends_with("WHERE k BETWEEN ? AND ? OR ... (10 ranges)"),
            "{ranges:?}"
        );
        let bulk = of(OltpKind::BulkInsert);
        assert!(
            bulk.len() == 1 && bulk[0].contains("INSERT INTO sbtest1 VALUES(?,?),..."),
            "{bulk:?}"
        );
    }
}
