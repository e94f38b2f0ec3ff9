//! The data set of the OLTP workloads: tables as sysbench shapes them.
//!
//! Deliberately not here: how tables are loaded (see `loading`).

mod inspect;
mod rows;
mod table;

use std::sync::atomic::{AtomicU64, Ordering};

use plimsoll_core::message::FailureClass;
use plimsoll_core::plan::{DataPlan, OltpData};
use plimsoll_engine::WorkerFault;

use super::tables::{self, Mark, Numbers};
use crate::control;
use crate::loading::fault::blame;
use crate::loading::mark::{Found, State};
use crate::loading::pool::{LoaderPool, Meter};
use crate::loading::table::Table as _;
use crate::loading::table_set::{MarkedTable as _, TableSet};
use crate::loading::verify::compare;
use crate::loading::{DataDone, DataEvent, loaders_fault};
use table::OltpTable;

pub use inspect::{KeyRange, Needs, column_faults, find, key_range, present};

type Observe<'a> = &'a mut dyn FnMut(DataEvent);

/// Makes what is missing.
///
/// # Errors
/// When a table is there that is not ours or is another one, or when the server says no; the same for all below.
pub fn prepare(plan: &DataPlan, data: &OltpData, observe: Observe<'_>) -> Result<DataDone, WorkerFault> {
    there(plan, data)?.prepare(&mut LoaderPool::new(plan, observe), plan)?;
    Ok(DataDone {
        rows_count: data.rows_count(),
    })
}

/// Checks that all tables are there with their shape and rows, or any rows where workloads change them.
///
/// # Errors
/// When something is missing or different.
pub fn check(plan: &DataPlan, data: &OltpData, observe: Observe<'_>) -> Result<DataDone, WorkerFault> {
    let tables = there(plan, data)?;
    let faults: Vec<String> = tables.iter().filter_map(|(table, found)| unfit(table, found)).collect();
    if !faults.is_empty() {
        return Err(WorkerFault::new(FailureClass::Data, faults.join("; ")));
    }
    let rows_count = AtomicU64::new(0);
    let numbers: Vec<u32> = numbers(data).iter().collect();
    LoaderPool::new(plan, observe).work(
        "verify",
        numbers.len() as u64,
        &numbers,
        |connection, number, meter: &Meter| {
            let rows = inspect::verify(connection, *number, data, data.changing)?;
            rows_count.fetch_add(rows, Ordering::Relaxed);
            meter.add(1);
            Ok(())
        },
    )?;
    Ok(DataDone {
        rows_count: rows_count.into_inner(),
    })
}

/// Does all that [`check`] does, and compares each row.
///
/// # Errors
/// As [`check`]; and when rows differ.
pub fn verify(plan: &DataPlan, data: &OltpData, observe: Observe<'_>) -> Result<DataDone, WorkerFault> {
    let done = check(plan, data, observe)?;
    let tables: Vec<OltpTable<'_>> = all(data).collect();
    compare(&mut LoaderPool::new(plan, observe), &tables)?;
    Ok(done)
}

/// Drops the tables that Plimsoll made, and others of these names only when told to.
///
/// # Errors
/// When a table is not ours and was not to be dropped: then none is.
pub fn cleanup(plan: &DataPlan, data: &OltpData, observe: Observe<'_>) -> Result<(), WorkerFault> {
    there(plan, data)?.cleanup(&mut LoaderPool::new(plan, observe), plan)
}

/// What [`prepare`] does before it changes anything.
///
/// # Errors
/// When it would be refused.
pub fn foresee(plan: &DataPlan, data: &OltpData, observe: Observe<'_>) -> Result<(), WorkerFault> {
    there(plan, data)?.foresee(&mut LoaderPool::new(plan, observe), plan)
}

/// The tables that are there and that Plimsoll did not make.
///
/// # Errors
/// Whatever the server said.
pub fn not_ours(plan: &DataPlan, data: &OltpData) -> Result<Vec<String>, WorkerFault> {
    Ok(there(plan, data)?.foreign())
}

/// Faults of a plan for these tables.
pub fn faults(plan: &DataPlan, data: &OltpData) -> Vec<String> {
    let mut faults = Vec::new();
    let mut within = |name: &str, value: u64, last: u64| {
        if !(1..=last).contains(&value) {
            faults.push(format!("{name}: must be within 1..={last}, is {value}"));
        }
    };
    within("data_set.tables", u64::from(data.tables), tables::TABLES_MAX);
    within("data_set.table_size", data.table_size, i32::MAX as u64); // the range of column id
    faults.extend(loaders_fault(plan));
    let shape = tables::shape_faults(data);
    faults.extend(shape.into_iter().map(|fault| format!("data_set.{fault}")));
    faults
}

fn unfit(table: &OltpTable<'_>, found: &Found<Mark>) -> Option<String> {
    let shape = table.mark(State::Complete).shape;
    found.unmade(&table.name()).or_else(|| match found {
        Found::Ours(mark) if mark.shape != shape => Some(table.other_data(mark)),
        _ => None,
    })
}

fn numbers(data: &OltpData) -> Numbers {
    Numbers::new(data.layout, data.tables)
}

fn all(data: &OltpData) -> impl Iterator<Item = OltpTable<'_>> {
    numbers(data).iter().map(|number| OltpTable::new(data, number))
}

/// All tables, and what is there under the name of each.
fn there<'a>(plan: &DataPlan, data: &'a OltpData) -> Result<TableSet<OltpTable<'a>>, WorkerFault> {
    let mut control = control::open(&plan.target)?;
    let found = find(&mut control, numbers(data)).map_err(|error| blame(&error, "look at tables"))?;
    control.close();
    Ok(TableSet::new(all(data), found))
}
