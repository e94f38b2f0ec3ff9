//! Data sets: made, checked and removed. The tables carry a mark in their comment, by which Plimsoll knows its own and
//! how far their making came; what it did not make it does not touch unless told to.
//!
//! Deliberately not here: the shape of the tables (see `oltp::tables`), and any setting of the server that makes data
//! less durable.

mod content;
pub(crate) mod crew;
pub(crate) mod fault;
pub(crate) mod fingerprint;
pub mod foresee;
pub(crate) mod inspect;
pub(crate) mod load;
mod oltp_table;
mod resume;
mod rows;
pub(crate) mod table;
pub mod verify;

use std::sync::atomic::{AtomicU64, Ordering};

use plimsoll_core::message::{EngineWarning, FailureClass, Progress};
use plimsoll_core::plan::{DataPlan, DataSet, OltpData};
use plimsoll_engine::WorkerFault;

use crate::control;
use crate::oltp::tables::{self, Mark, Numbers, State};
use crate::statements::data as statements;
use crate::tpcc::data as tpcc;
use crew::{Crew, Meter};
use fault::blame;
use inspect::Found;
use oltp_table::OltpTable;
use table::Table;

/// Most connections that load at the same time: each is a thread, and servers gain nothing from so many.
pub(crate) const LOADERS_MAX: u64 = 1_000;

/// What happens while a data set is made, checked or removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataEvent {
    /// How far it is, at least twice a second.
    Progress(Progress),
    /// A doubt about the data.
    Warning(EngineWarning),
}

/// The data set as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataDone {
    /// Rows, all tables together.
    pub rows_count: u64,
}

/// Makes the tables with their rows, index and statistics. What is there already, made by us from the same seed and
/// complete, is used as it is after a look at it. What an earlier attempt at the same data set left unfinished is gone on with,
/// and at another one made again.
///
/// # Errors
/// When a table is there that is not ours or is another one, or when the server says no.
pub fn prepare(plan: &DataPlan, observe: &mut dyn FnMut(DataEvent)) -> Result<DataDone, WorkerFault> {
    let data = match checked(plan)? {
        DataSet::Oltp(data) => data,
        DataSet::Statements(data) => return statements::prepare(plan, data, observe),
        DataSet::Tpcc(data) => return tpcc::prepare(plan, data, observe),
    };
    let found = look(plan, data)?;
    let mut crew = Crew::new(plan, observe);
    let Sorted { unfinished, new, .. } = sort_and_count(&mut crew, &found, data, plan.drop_foreign)?;
    let in_the_way = found
        .iter()
        .filter(|(number, one)| new.contains(number) && *one != Found::Nothing);
    let in_the_way: Vec<u32> = in_the_way.map(|(number, _)| *number).collect();
    drop_tables(&mut crew, &in_the_way)?;
    let tables = |numbers: &[u32]| -> Vec<OltpTable<'_>> {
        let table = |number: &u32| OltpTable::new(data, *number);
        numbers.iter().map(table).collect()
    };
    let (new, unfinished) = (tables(&new), tables(&unfinished));
    load::make(&mut crew, &as_tables(&new), &as_tables(&unfinished), plan)?;
    Ok(DataDone {
        rows_count: data.rows_count(),
    })
}

/// Looks whether all tables are there with their shape and rows, or any rows where workloads change them. Who made them does
/// not matter, as long as they are complete.
///
/// # Errors
/// When something is missing or different, or when the server says no.
pub fn check(plan: &DataPlan, observe: &mut dyn FnMut(DataEvent)) -> Result<DataDone, WorkerFault> {
    let data = match checked(plan)? {
        DataSet::Oltp(data) => data,
        DataSet::Statements(data) => return statements::check(plan, data, observe),
        DataSet::Tpcc(data) => return tpcc::check(plan, data),
    };
    let found = look(plan, data)?;
    let wanted = Mark::new(data, State::Complete);
    let unfit = found.iter().filter_map(|(number, one)| unfit(*number, one, &wanted));
    let faults: Vec<String> = unfit.collect();
    if !faults.is_empty() {
        return Err(WorkerFault::new(FailureClass::Data, faults.join("; ")));
    }
    let numbers: Vec<u32> = numbers(data).iter().collect();
    let rows_count = count(&mut Crew::new(plan, observe), &numbers, data, data.changing)?;
    Ok(DataDone { rows_count })
}

/// Drops the tables that Plimsoll made, and others of these names only when told to.
///
/// # Errors
/// When a table is not ours and was not to be dropped: then none is. Or when the server says no.
pub fn cleanup(plan: &DataPlan, observe: &mut dyn FnMut(DataEvent)) -> Result<DataDone, WorkerFault> {
    let data = match checked(plan)? {
        DataSet::Oltp(data) => data,
        DataSet::Statements(data) => return statements::cleanup(plan, data, observe),
        DataSet::Tpcc(_) => return tpcc::cleanup(plan, observe),
    };
    let found = look(plan, data)?;
    refuse_foreign(&foreign(&found), plan)?;
    let there = found.iter().filter(|(_, one)| *one != Found::Nothing);
    let numbers: Vec<u32> = there.map(|(number, _)| *number).collect();
    drop_tables(&mut Crew::new(plan, observe), &numbers)?;
    Ok(DataDone { rows_count: 0 })
}

/// The tables that are there and that Plimsoll did not make.
fn foreign(found: &[(u32, Found)]) -> Vec<String> {
    let foreign = found.iter().filter(|(_, one)| *one == Found::Foreign);
    foreign.map(|(number, _)| tables::name(*number)).collect()
}

/// Refuses to drop what is not ours, unless told to.
pub(crate) fn refuse_foreign<T: AsRef<str>>(names: &[T], plan: &DataPlan) -> Result<(), WorkerFault> {
    if names.is_empty() || plan.drop_foreign {
        return Ok(());
    }
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    let message = format!(
        "{} not made by Plimsoll, so nothing was dropped; to drop them too: `plimsoll cleanup --drop-foreign`",
        names.join(", ")
    );
    Err(WorkerFault::new(FailureClass::Target, message))
}

/// Looks whether a plan makes sense, without a server.
///
/// # Errors
/// All that is wrong with it.
pub fn check_plan(plan: &DataPlan) -> Result<(), WorkerFault> {
    checked(plan).map(|_| ())
}

fn checked(plan: &DataPlan) -> Result<&DataSet, WorkerFault> {
    let faults = match &plan.data_set {
        DataSet::Oltp(data) => oltp_faults(plan, data),
        DataSet::Statements(data) => statements::faults(plan, data),
        DataSet::Tpcc(data) => tpcc::faults(plan, data),
    };
    if faults.is_empty() {
        Ok(&plan.data_set)
    } else {
        Err(WorkerFault::new(FailureClass::Spec, faults.join("; ")))
    }
}

fn oltp_faults(plan: &DataPlan, data: &OltpData) -> Vec<String> {
    let mut faults = Vec::new();
    let mut within = |name: &str, value: u64, last: u64| {
        if !(1..=last).contains(&value) {
            faults.push(format!("{name}: must be within 1..={last}, is {value}"));
        }
    };
    within("data_set.tables", u64::from(data.tables), tables::TABLES_MAX);
    within("data_set.table_size", data.table_size, i32::MAX as u64); // the range of column id
    within("loaders", u64::from(plan.loaders), LOADERS_MAX);
    faults.extend(
        tables::shape_faults(data)
            .into_iter()
            .map(|fault| format!("data_set.{fault}")),
    );
    faults
}

/// Tables by number.
#[derive(Default)]
struct Sorted {
    /// Used as they are.
    kept: Vec<u32>,
    /// Gone on with.
    unfinished: Vec<u32>,
    /// Made, or made again.
    new: Vec<u32>,
}

/// What is to become of each table; all that stands in the way at once.
fn sort(found: &[(u32, Found)], data: &OltpData, drop_foreign: bool) -> Result<Sorted, WorkerFault> {
    let (complete, loading) = (Mark::new(data, State::Complete), Mark::new(data, State::Loading));
    let (mut sorted, mut faults) = (Sorted::default(), Vec::new());
    for (number, one) in found {
        let number = *number;
        match one {
            Found::Ours(mark) if *mark == complete => sorted.kept.push(number),
            Found::Ours(mark) if *mark == loading => sorted.unfinished.push(number),
            Found::Ours(mark) if mark.state == State::Complete => faults.push(other_data(number, mark, &complete)),
            Found::Foreign if !drop_foreign => faults.push(format!(
                "{} exists and was not made by Plimsoll: a trial can use it as it is; to remove it: `plimsoll cleanup --drop-foreign`",
                tables::name(number)
            )),
            Found::Nothing | Found::Ours(_) | Found::Foreign => sorted.new.push(number),
        }
    }
    if faults.is_empty() {
        Ok(sorted)
    } else {
        Err(WorkerFault::new(FailureClass::Target, faults.join("; ")))
    }
}

/// The same, and the rows of what is used as it is must all be there.
fn sort_and_count(
    crew: &mut Crew<'_>,
    found: &[(u32, Found)],
    data: &OltpData,
    drop_foreign: bool,
) -> Result<Sorted, WorkerFault> {
    let sorted = sort(found, data, drop_foreign)?;
    count(crew, &sorted.kept, data, false)?;
    Ok(sorted)
}

fn other_data(number: u32, mark: &Mark, wanted: &Mark) -> String {
    let name = |shape: &str| {
        if shape.is_empty() {
            "the usual one".to_owned()
        } else {
            shape.to_owned()
        }
    };
    let shapes = if mark.shape == wanted.shape {
        String::new()
    } else {
        format!(" in the shape {} and not {}", name(&mark.shape), name(&wanted.shape))
    };
    format!(
        "{} holds {} rows from seed {}{shapes}, other data than wanted: remove it first with `plimsoll cleanup`, or \
         prepare with these values",
        tables::name(number),
        mark.rows,
        mark.seed
    )
}

fn unfit(number: u32, found: &Found, wanted: &Mark) -> Option<String> {
    let name = tables::name(number);
    match found {
        Found::Nothing => Some(format!("{name} does not exist: make it with `plimsoll prepare`")),
        Found::Ours(Mark {
            state: State::Loading, ..
        }) => Some(format!("{name} is unfinished: complete it with `plimsoll prepare`")),
        Found::Ours(mark) if mark.shape != wanted.shape => Some(other_data(number, mark, wanted)),
        Found::Ours(_) | Found::Foreign => None,
    }
}

fn numbers(data: &OltpData) -> Numbers {
    Numbers::new(data.layout, data.tables)
}

/// What is there under the name of each table, with its number.
fn look(plan: &DataPlan, data: &OltpData) -> Result<Vec<(u32, Found)>, WorkerFault> {
    let mut control = control::open(&plan.target)?;
    let found = inspect::tables(&mut control, numbers(data)).map_err(|error| blame(&error, "look at tables"))?;
    control.close();
    Ok(numbers(data).iter().zip(found).collect())
}

/// The same, whatever kind they are.
pub(crate) fn as_tables<T: Table>(tables: &[T]) -> Vec<&dyn Table> {
    tables.iter().map(|table| table as &dyn Table).collect()
}

/// Returns how many rows there are, all these tables together.
fn count(crew: &mut Crew<'_>, numbers: &[u32], data: &OltpData, changing: bool) -> Result<u64, WorkerFault> {
    let rows_count = AtomicU64::new(0);
    crew.work(
        "verify",
        numbers.len() as u64,
        numbers,
        |connection, number, meter: &Meter| {
            let rows = inspect::verify(connection, *number, data, changing)?;
            rows_count.fetch_add(rows, Ordering::Relaxed);
            meter.add(1);
            Ok(())
        },
    )?;
    Ok(rows_count.into_inner())
}

/// Drops tables that were looked at before, and no others: what somebody made meanwhile is not ours.
fn drop_tables(crew: &mut Crew<'_>, numbers: &[u32]) -> Result<(), WorkerFault> {
    crew.work("drop", numbers.len() as u64, numbers, |connection, number, meter| {
        let name = tables::name(*number);
        connection
            .query(&format!("DROP TABLE IF EXISTS {name}"))
            .map_err(|error| blame(&error, &format!("drop {name}")))?;
        meter.add(1);
        Ok(())
    })
}
