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

use plimsoll_core::plan::{Layout, OltpKind, OltpOptions, OltpPlan, Role};
use plimsoll_session::Statements;

pub use lists::{POINTS_MAX, RANGES_MAX, outline_points, outline_ranges};
pub use step::{NewId, Step, Text};
pub use texts::ForTable;

use crate::isolation;
use step::Body;
use texts::Texts;

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
    pub fn new(workload: &OltpPlan) -> Self {
        let OltpPlan { kind, options } = workload;
        let layout = layout(*kind);
        let mut texts = Texts::new(layout, options.tables);
        let body = match kind {
            OltpKind::ReadOnly => modern::transaction(options, &mut texts, (true, false)),
            OltpKind::ReadWrite => modern::transaction(options, &mut texts, (true, true)),
            OltpKind::WriteOnly => modern::transaction(options, &mut texts, (false, true)),
            OltpKind::PointSelect => Body::single(modern::points(&mut texts, 1), false),
            OltpKind::Insert => Body::single(modern::insert(options, &mut texts), true),
            OltpKind::Delete => Body::single(modern::delete(&mut texts), true),
            OltpKind::UpdateIndex => modern::updates(options.index_updates, 0, &mut texts),
            OltpKind::UpdateNonIndex => modern::updates(0, options.non_index_updates, &mut texts),
            OltpKind::RandomPoints => Body::single(lists::points(options, &mut texts), false),
            OltpKind::RandomRanges => Body::single(lists::ranges(options, &mut texts), false),
            OltpKind::BulkInsert => Body::single(Step::BulkInsert, true),
            OltpKind::Simple04 => Body::single(legacy::points(options, &mut texts, 1), false),
            OltpKind::Complex04 => legacy::transaction(options, &mut texts),
            OltpKind::Nontrx04 => legacy::single(options, &mut texts),
            OltpKind::Sp04 => Body::single(legacy::call(options, &mut texts), true),
        };
        Self::enclosed(kind.name(), layout, options, body, texts)
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
pub fn locks(workload: &OltpPlan) -> bool {
    workload.kind == OltpKind::Complex04 && legacy::locks(&workload.options)
}

/// Names and columns of a workload's tables.
pub fn layout(kind: OltpKind) -> Layout {
    match kind {
        OltpKind::Simple04 | OltpKind::Complex04 | OltpKind::Nontrx04 | OltpKind::Sp04 => Layout::Sysbench04,
        OltpKind::BulkInsert => Layout::Bulk,
        OltpKind::ReadOnly
        | OltpKind::ReadWrite
        | OltpKind::WriteOnly
        | OltpKind::PointSelect
        | OltpKind::Insert
        | OltpKind::Delete
        | OltpKind::UpdateIndex
        | OltpKind::UpdateNonIndex
        | OltpKind::RandomPoints
        | OltpKind::RandomRanges => Layout::Sysbench1,
    }
}
