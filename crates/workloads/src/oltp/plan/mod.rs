//! A transaction of an OLTP workload, compiled from its options into statements and a few steps.
//!
//! Texts, order, and where tables and rows are drawn are those of sysbench, so that a server does the same work for us.
//! Deliberately not here: running anything.

mod legacy;
mod lists;
mod modern;
#[cfg(test)]
mod tests;
mod texts;

use std::sync::Arc;

use plimsoll_core::plan::{Isolation, Layout, OltpOptions, Role, WorkloadPlan};
use plimsoll_session::{StatementId, Statements};

pub use lists::{POINTS_MAX, RANGES_MAX};
pub use texts::ForTable;
use texts::Texts;

/// What a caller has done wrong who asks for the options of another kind of workload.
const NOT_OLTP: &str = "workloads of another kind never come here";

/// Some statements on one table, or one without a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A statement without values: BEGIN, COMMIT, and locks.
    Alone(StatementId),
    /// A call of a procedure with the number of the connection and how many there are.
    Call(StatementId),
    /// Selects, updates or deletes of one row by its number only.
    ByRow { statement: ForTable, count: u32 },
    /// Selects of rows that follow each other.
    ByRange {
        statement: ForTable,
        count: u32,
        /// How far the last row is from the first.
        beyond: i64,
        /// A first row above this one is moved down to it.
        first_max: i64,
    },
    /// Updates of one row with a new text.
    Rewrites {
        statement: ForTable,
        count: u32,
        text: Text,
    },
    /// Deletes of a row, each followed by an insert of a row of the same number.
    Replacements {
        delete: ForTable,
        insert: ForTable,
        count: u32,
        /// The new row gets values of its own; otherwise they stand in the statement.
        renewed: bool,
    },
    /// An insert of a new row.
    Insert { statement: ForTable, id: NewId, text: Text },
    /// A delete of a row that no other transaction deletes.
    DeleteOnce(ForTable),
    /// A select with a list of so many values of k, within the connection's own part of the values.
    PointList { statement: ForTable, count: usize },
    /// A count over so many ranges of k, of this width, within the connection's own part of the values.
    RangeList {
        statement: ForTable,
        count: usize,
        delta: i64,
    },
    /// One insert of many rows, as text.
    BulkInsert,
}

/// How the texts of new rows look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// Groups of eleven digits, as in sysbench 1.
    Groups,
    /// Whole numbers of up to ten digits, as in sysbench 0.4.
    Integers,
}

/// Where the number of a new row comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewId {
    /// The server counts.
    Server,
    /// A number that comes once in 2^32 transactions, plus this.
    Scattered(i64),
}

/// What one transaction does.
#[derive(Clone, Debug)]
pub struct Transaction {
    /// Name of the transaction type.
    pub name: &'static str,
    /// Names and columns of the tables.
    pub layout: Layout,
    /// Where it runs.
    pub role: Role,
    /// Its steps in order.
    pub steps: Vec<Step>,
    /// All statements that it may run on one connection.
    pub statements: Arc<Statements>,
    /// Whether BEGIN and COMMIT stand around it, so that it does not depend on the server's autocommit.
    pub is_enclosed: bool,
}

/// What a transaction consists of, before statements for BEGIN and COMMIT are put around it.
struct Body {
    steps: Vec<Step>,
    writes: bool,
    /// What stands before and after it; `None` where nothing ever does.
    around: Option<(String, &'static str)>,
}

impl Body {
    fn single(step: Step, writes: bool) -> Self {
        Self {
            steps: vec![step],
            writes,
            around: None,
        }
    }
}

impl Transaction {
    /// Compiles the transaction of a workload.
    pub fn new(workload: &WorkloadPlan) -> Self {
        let options = options(workload);
        let layout = layout(workload);
        let mut texts = Texts::new(layout, options.tables);
        let body = match workload {
            WorkloadPlan::OltpReadOnly(_) => modern::transaction(options, &mut texts, (true, false)),
            WorkloadPlan::OltpReadWrite(_) => modern::transaction(options, &mut texts, (true, true)),
            WorkloadPlan::OltpWriteOnly(_) => modern::transaction(options, &mut texts, (false, true)),
            WorkloadPlan::OltpPointSelect(_) => Body::single(modern::points(&mut texts, 1), false),
            WorkloadPlan::OltpInsert(_) => Body::single(modern::insert(options, &mut texts), true),
            WorkloadPlan::OltpDelete(_) => Body::single(modern::delete(&mut texts), true),
            WorkloadPlan::OltpUpdateIndex(_) => modern::updates(options.index_updates, 0, &mut texts),
            WorkloadPlan::OltpUpdateNonIndex(_) => modern::updates(0, options.non_index_updates, &mut texts),
            WorkloadPlan::SelectRandomPoints(_) => Body::single(lists::points(options, &mut texts), false),
            WorkloadPlan::SelectRandomRanges(_) => Body::single(lists::ranges(options, &mut texts), false),
            WorkloadPlan::BulkInsert(_) => Body::single(Step::BulkInsert, true),
            WorkloadPlan::Oltp04Simple(_) => Body::single(legacy::points(options, &mut texts, 1), false),
            WorkloadPlan::Oltp04Complex(_) => legacy::transaction(options, &mut texts),
            WorkloadPlan::Oltp04Nontrx(_) => legacy::single(options, &mut texts),
            WorkloadPlan::Oltp04Sp(_) => Body::single(legacy::call(options, &mut texts), true),
            WorkloadPlan::Statements(_) | WorkloadPlan::Tpcc(_) => unreachable!("{NOT_OLTP}"),
        };
        Self::enclosed(name(workload), layout, options, body, texts)
    }

    fn enclosed(name: &'static str, layout: Layout, options: &OltpOptions, body: Body, mut texts: Texts) -> Self {
        let mut steps = body.steps;
        let around = body.around.filter(|_| !options.skip_transaction);
        let is_enclosed = around.is_some();
        if let Some((before, after)) = around {
            steps.insert(0, Step::Alone(texts.alone(before)));
            steps.push(Step::Alone(texts.alone(after.to_owned())));
        }
        let statements = texts.into_statements(options.prepared);
        let isolation = isolation_sql(options.isolation);
        let handler = options.point_select_handler.then(legacy::open_handler);
        let opening = isolation.into_iter().chain(handler);
        let statements = opening.fold(statements, Statements::with_opening);
        Self {
            name,
            layout,
            role: if body.writes { Role::Source } else { Role::Replica },
            steps,
            statements: Arc::new(statements),
            is_enclosed,
        }
    }

    /// Whether it does anything besides BEGIN and COMMIT.
    pub fn is_empty(&self) -> bool {
        self.steps.iter().all(|step| matches!(step, Step::Alone(_)))
    }

    /// Whether it needs rows that are there.
    pub fn needs_rows(&self) -> bool {
        !self
            .steps
            .iter()
            .any(|step| matches!(step, Step::Insert { .. } | Step::BulkInsert))
    }

    /// Whether it needs tables without rows, since its own would have the same numbers.
    pub fn needs_no_rows(&self) -> bool {
        self.steps.contains(&Step::BulkInsert)
    }

    /// Whether the server must give the numbers of new rows.
    pub fn needs_auto_increment(&self) -> bool {
        let by_server = |step: &Step| matches!(step, Step::Insert { id: NewId::Server, .. });
        self.steps.iter().any(by_server)
    }
}

/// Whether its transactions lock tables, where an engine knows no transactions.
pub fn locks(workload: &WorkloadPlan) -> bool {
    matches!(workload, WorkloadPlan::Oltp04Complex(options) if legacy::locks(options))
}

/// The options of a workload, whichever it is.
pub fn options(workload: &WorkloadPlan) -> &OltpOptions {
    match workload {
        WorkloadPlan::OltpReadOnly(options)
        | WorkloadPlan::OltpReadWrite(options)
        | WorkloadPlan::OltpWriteOnly(options)
        | WorkloadPlan::OltpPointSelect(options)
        | WorkloadPlan::OltpInsert(options)
        | WorkloadPlan::OltpDelete(options)
        | WorkloadPlan::OltpUpdateIndex(options)
        | WorkloadPlan::OltpUpdateNonIndex(options)
        | WorkloadPlan::SelectRandomPoints(options)
        | WorkloadPlan::SelectRandomRanges(options)
        | WorkloadPlan::BulkInsert(options)
        | WorkloadPlan::Oltp04Simple(options)
        | WorkloadPlan::Oltp04Complex(options)
        | WorkloadPlan::Oltp04Nontrx(options)
        | WorkloadPlan::Oltp04Sp(options) => options,
        WorkloadPlan::Statements(_) | WorkloadPlan::Tpcc(_) => unreachable!("{NOT_OLTP}"),
    }
}

fn name(workload: &WorkloadPlan) -> &'static str {
    match workload {
        WorkloadPlan::OltpReadOnly(_) => "oltp_read_only",
        WorkloadPlan::OltpReadWrite(_) => "oltp_read_write",
        WorkloadPlan::OltpWriteOnly(_) => "oltp_write_only",
        WorkloadPlan::OltpPointSelect(_) => "oltp_point_select",
        WorkloadPlan::OltpInsert(_) => "oltp_insert",
        WorkloadPlan::OltpDelete(_) => "oltp_delete",
        WorkloadPlan::OltpUpdateIndex(_) => "oltp_update_index",
        WorkloadPlan::OltpUpdateNonIndex(_) => "oltp_update_non_index",
        WorkloadPlan::SelectRandomPoints(_) => "select_random_points",
        WorkloadPlan::SelectRandomRanges(_) => "select_random_ranges",
        WorkloadPlan::BulkInsert(_) => "bulk_insert",
        WorkloadPlan::Oltp04Simple(_) => "oltp_0.4_simple",
        WorkloadPlan::Oltp04Complex(_) => "oltp_0.4_complex",
        WorkloadPlan::Oltp04Nontrx(_) => "oltp_0.4_nontrx",
        WorkloadPlan::Oltp04Sp(_) => "oltp_0.4_sp",
        WorkloadPlan::Statements(_) | WorkloadPlan::Tpcc(_) => unreachable!("{NOT_OLTP}"),
    }
}

/// Names and columns of a workload's tables.
pub fn layout(workload: &WorkloadPlan) -> Layout {
    match workload {
        WorkloadPlan::Oltp04Simple(_)
        | WorkloadPlan::Oltp04Complex(_)
        | WorkloadPlan::Oltp04Nontrx(_)
        | WorkloadPlan::Oltp04Sp(_) => Layout::Sysbench04,
        WorkloadPlan::BulkInsert(_) => Layout::Bulk,
        _ => Layout::Sysbench1,
    }
}

/// What a connection runs for this level; `None` for that of the server.
pub fn isolation_sql(isolation: Isolation) -> Option<String> {
    let level = match isolation {
        Isolation::ServerDefault => return None,
        Isolation::ReadUncommitted => "READ UNCOMMITTED",
        Isolation::ReadCommitted => "READ COMMITTED",
        Isolation::RepeatableRead => "REPEATABLE READ",
        Isolation::Serializable => "SERIALIZABLE",
    };
    Some(format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}"))
}

/// A step, unless it would do nothing.
fn some(count: u32, step: impl FnOnce() -> Step) -> Option<Step> {
    (count > 0).then(step)
}

/// A number of rows, which was checked to fit, as statements take it.
fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
