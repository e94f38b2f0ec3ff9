//! The tables of users' own workloads: made, checked, removed.
//!
//! They carry a mark in their comment, as all tables that Plimsoll makes. After a trial they may hold more or fewer rows
//! than they were made with; a check takes that as it is, while preparing refuses it.

mod canonical;
mod catalogue;
mod definition;
mod rows;
mod table;

use std::sync::atomic::{AtomicU64, Ordering};

use plimsoll_core::message::{EngineWarning, FailureClass};
use plimsoll_core::plan::{DataPlan, StatementsData};
use plimsoll_engine::WorkerFault;

use super::faults::table_faults;
use crate::control;
use crate::loading::fault::blame;
use crate::loading::mark::{Found, State};
use crate::loading::pool::{LoaderPool, Meter};
use crate::loading::table_set::{MarkedTable as _, TableSet};
use crate::loading::verify::compare;
use crate::loading::{DataDone, DataEvent, loaders_fault};
use catalogue::{column_faults, count_rows};
use definition::Mark;
use table::{CustomTable, uncompared};

pub use catalogue::find;
pub use definition::quoted;

type Observe<'a> = &'a mut dyn FnMut(DataEvent);

/// Makes what is missing. Tables that are there, made by us from the same definition and complete, are used as they are
/// when no row came or went since; what was left unfinished is resumed, and of another definition made again.
///
/// # Errors
/// When a table is there that is not ours or is another one, or when the server says no; the same for all below.
pub fn prepare(plan: &DataPlan, data: &StatementsData, observe: Observe<'_>) -> Result<DataDone, WorkerFault> {
    there(plan, data)?.prepare(&mut LoaderPool::new(plan, observe), plan)?;
    Ok(DataDone {
        rows_count: data.tables.iter().map(|one| one.rows).sum(),
    })
}

/// Checks that all tables are there with their columns and, unless workloads change that, their number of rows.
///
/// # Errors
/// When something is missing, or ours and another one.
pub fn check(plan: &DataPlan, data: &StatementsData, observe: Observe<'_>) -> Result<DataDone, WorkerFault> {
    let tables = there(plan, data)?;
    let mut faults: Vec<String> = tables.iter().filter_map(|(table, found)| unfit(table, found)).collect();
    if faults.is_empty() {
        let mut control = control::open(&plan.target)?;
        faults = column_faults(&mut control, &data.tables)?;
        control.close();
    }
    if !faults.is_empty() {
        return Err(WorkerFault::new(FailureClass::Data, faults.join("; ")));
    }
    let rows = AtomicU64::new(0);
    let tables: Vec<_> = tables.iter().collect();
    LoaderPool::new(plan, observe).work(
        "verify",
        tables.len() as u64,
        &tables,
        |connection, (table, whose), meter: &Meter| {
            let found = if data.changing || *whose == Found::Foreign {
                count_rows(connection, table.plan())?
            } else {
                table.count_as_made(connection)?
            };
            rows.fetch_add(found, Ordering::Relaxed);
            meter.add(1);
            Ok(())
        },
    )?;
    Ok(DataDone {
        rows_count: rows.into_inner(),
    })
}

/// Does all that [`check`] does, and compares each row, but for columns whose values cannot be compared, which it names.
///
/// # Errors
/// As [`check`]; and when rows differ.
pub fn verify(plan: &DataPlan, data: &StatementsData, observe: Observe<'_>) -> Result<DataDone, WorkerFault> {
    let done = check(plan, data, observe)?;
    if let Some(warning) = uncompared_columns(data) {
        observe(DataEvent::Warning(warning));
    }
    let tables: Vec<CustomTable<'_>> = all(data).collect();
    compare(&mut LoaderPool::new(plan, observe), &tables)?;
    Ok(done)
}

/// Drops the tables that Plimsoll made, and others of these names only when told to.
///
/// # Errors
/// When a table is not ours and was not to be dropped: then none is.
pub fn cleanup(plan: &DataPlan, data: &StatementsData, observe: Observe<'_>) -> Result<(), WorkerFault> {
    there(plan, data)?.cleanup(&mut LoaderPool::new(plan, observe), plan)
}

/// What [`prepare`] does before it changes anything.
///
/// # Errors
/// When it would be refused.
pub fn foresee(plan: &DataPlan, data: &StatementsData, observe: Observe<'_>) -> Result<(), WorkerFault> {
    there(plan, data)?.foresee(&mut LoaderPool::new(plan, observe), plan)
}

/// The tables that are there and that Plimsoll did not make.
///
/// # Errors
/// Whatever the server said.
pub fn not_ours(plan: &DataPlan, data: &StatementsData) -> Result<Vec<String>, WorkerFault> {
    Ok(there(plan, data)?.foreign())
}

/// Faults of a plan for these tables.
pub fn faults(plan: &DataPlan, data: &StatementsData) -> Vec<String> {
    let mut faults = table_faults(&data.tables);
    faults.extend(loaders_fault(plan));
    faults
}

/// All tables, and what is there under the name of each.
fn there<'a>(plan: &DataPlan, data: &'a StatementsData) -> Result<TableSet<CustomTable<'a>>, WorkerFault> {
    let names: Vec<&str> = data.tables.iter().map(|one| &*one.name).collect();
    let mut control = control::open(&plan.target)?;
    let found = find(&mut control, &names).map_err(|error| blame(&error, "look at tables"))?;
    control.close();
    Ok(TableSet::new(all(data), found))
}

fn all(data: &StatementsData) -> impl Iterator<Item = CustomTable<'_>> {
    data.tables.iter().map(|table| CustomTable::new(table, data.seed))
}

fn unfit(table: &CustomTable<'_>, found: &Found<Mark>) -> Option<String> {
    found.unmade(&table.plan().name).or_else(|| match found {
        Found::Ours(mark) if *mark != table.mark(State::Complete) => Some(table.other_data(mark)),
        _ => None,
    })
}

/// The columns that a comparison leaves out.
fn uncompared_columns(data: &StatementsData) -> Option<EngineWarning> {
    let left_out = data.tables.iter().flat_map(|table| {
        uncompared(table).map(|column| format!("{}.{} ({})", table.name, column.name, column.sql_type))
    });
    let left_out: Vec<String> = left_out.collect();
    (!left_out.is_empty()).then(|| EngineWarning {
        code: "columns-not-compared".to_owned(),
        evidence: format!("Not compared: {}.", left_out.join(", ")),
        advice:
            "Servers show values of such a type otherwise than they were sent: take a type that keeps them as they \
                 are, if that matters."
                .to_owned(),
    })
}
