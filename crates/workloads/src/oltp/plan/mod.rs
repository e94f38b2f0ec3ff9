//! A transaction of an OLTP workload, compiled from its options into statements and a few steps.
//!
//! Texts, order, and where tables and rows are drawn are those of sysbench, so that a server does the same work for us.
//! Deliberately not here: running anything.

mod legacy;
mod lists;
mod modern;
mod step;
#[cfg(test)]
mod tests;
mod texts;

use std::sync::Arc;

use plimsoll_core::plan::{Layout, OltpOptions, Role, WorkloadPlan};
use plimsoll_session::Statements;

pub use lists::{POINTS_MAX, RANGES_MAX, outline_points, outline_ranges};
pub use step::{NewId, Step, Text};
pub use texts::ForTable;

use crate::isolation;
use step::Body;
use texts::Texts;

/// What a caller has done wrong who asks for the options of another kind of workload.
const NOT_OLTP: &str = "workloads of another kind never come here";

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
        let isolation = isolation::session_sql(options.isolation);
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
