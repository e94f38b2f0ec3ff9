//! The tables of users' own workloads: made, looked at, removed.
//!
//! They carry a mark in their comment, as all tables that Plimsoll makes. After a trial they may hold more or fewer rows
//! than they were made with; a check takes that as it is, while preparing refuses it.

use std::sync::atomic::{AtomicU64, Ordering};

use plimsoll_core::message::{EngineWarning, FailureClass};
use plimsoll_core::plan::{DataPlan, StatementsData, TablePlan};
use plimsoll_engine::WorkerFault;
use plimsoll_wire::{Connection, WireError};

use super::faults::table_faults;
use super::table::{Mark, State, literal, quoted};
use crate::control;
use crate::data::crew::{Crew, Meter};
use crate::data::fault::blame;
use crate::data::inspect::differs;
use crate::data::{DataDone, DataEvent, LOADERS_MAX, as_tables, load, refuse_foreign};
use own_table::{OwnTable, uncompared};

mod own_table;

/// Rows that a look at a catalogue may return.
const CATALOGUE_ROWS_MAX: usize = 1_000_000;

/// What is there under the name of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    Nothing,
    Ours(Mark),
    Foreign,
}

/// Makes what is missing. Tables that are there, made by us from the same definition and complete, are used as they are
/// when no row came or went since; what was left unfinished is gone on with, and of another definition made again.
///
/// # Errors
/// When a table is there that is not ours or is another one, or when the server says no.
pub fn prepare(
    plan: &DataPlan,
    data: &StatementsData,
    observe: &mut dyn FnMut(DataEvent),
) -> Result<DataDone, WorkerFault> {
    let found = look(plan, data)?;
    let Sorted { kept, unfinished, new } = sort(&found, data, plan.drop_foreign)?;
    let mut crew = Crew::new(plan, observe);
    verify(&mut crew, &kept)?;
    let in_the_way: Vec<&TablePlan> = there(&found, data).filter(|one| new.contains(one)).collect();
    drop_tables(&mut crew, &in_the_way)?;
    let (new, unfinished) = (own_tables(new, data.seed), own_tables(unfinished, data.seed));
    load::make(&mut crew, &as_tables(&new), &as_tables(&unfinished), plan)?;
    Ok(DataDone {
        rows_count: data.tables.iter().map(|one| one.rows).sum(),
    })
}

/// Looks whether all tables are there with their columns and, unless workloads change that, their number of rows.
///
/// # Errors
/// When something is missing, or ours and another one, or when the server says no.
pub fn check(
    plan: &DataPlan,
    data: &StatementsData,
    observe: &mut dyn FnMut(DataEvent),
) -> Result<DataDone, WorkerFault> {
    let found = look(plan, data)?;
    let mut faults: Vec<String> = found
        .iter()
        .zip(&data.tables)
        .filter_map(|(found, table)| unfit(*found, table, data.seed))
        .collect();
    if faults.is_empty() {
        faults = column_faults(plan, data)?;
    }
    if !faults.is_empty() {
        return Err(WorkerFault::new(FailureClass::Data, faults.join("; ")));
    }
    let rows = AtomicU64::new(0);
    let tables: Vec<(&TablePlan, Found)> = data.tables.iter().zip(found).collect();
    Crew::new(plan, observe).work(
        "verify",
        tables.len() as u64,
        &tables,
        |connection, (table, whose), meter: &Meter| {
            let found = if data.changing || *whose == Found::Foreign {
                count(connection, table)?
            } else {
                count_as_made(connection, table)?
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

/// Tables as loading and comparing see them.
pub fn own_tables<'a>(plans: impl IntoIterator<Item = &'a TablePlan>, seed: u64) -> Vec<OwnTable<'a>> {
    plans.into_iter().map(|plan| OwnTable::new(plan, seed)).collect()
}

/// Tells which columns a comparison leaves out.
pub fn tell_uncompared(data: &StatementsData, observe: &mut dyn FnMut(DataEvent)) {
    let left_out = data.tables.iter().flat_map(|table| {
        uncompared(table).map(|column| format!("{}.{} ({})", table.name, column.name, column.sql_type))
    });
    let left_out: Vec<String> = left_out.collect();
    if left_out.is_empty() {
        return;
    }
    observe(DataEvent::Warning(EngineWarning {
        code: "columns-not-compared".to_owned(),
        evidence: format!("Not compared: {}.", left_out.join(", ")),
        advice:
            "Servers show values of such a type otherwise than they were sent: take a type that keeps them as they \
                 are, if that matters."
                .to_owned(),
    }));
}

/// Drops the tables that Plimsoll made, and others of these names only when told to.
///
/// # Errors
/// When a table is not ours and was not to be dropped: then none is. Or when the server says no.
pub fn cleanup(
    plan: &DataPlan,
    data: &StatementsData,
    observe: &mut dyn FnMut(DataEvent),
) -> Result<DataDone, WorkerFault> {
    let found = look(plan, data)?;
    refuse_foreign(&foreign(&found, data), plan)?;
    let there: Vec<&TablePlan> = there(&found, data).collect();
    drop_tables(&mut Crew::new(plan, observe), &there)?;
    Ok(DataDone { rows_count: 0 })
}

/// What [`prepare`] does before it changes anything.
///
/// # Errors
/// When it would be refused.
pub fn foresee(plan: &DataPlan, data: &StatementsData, observe: &mut dyn FnMut(DataEvent)) -> Result<(), WorkerFault> {
    let sorted = sort(&look(plan, data)?, data, plan.drop_foreign)?;
    verify(&mut Crew::new(plan, observe), &sorted.kept)
}

/// The tables that are there and that Plimsoll did not make.
///
/// # Errors
/// Whatever the server said.
pub fn not_ours(plan: &DataPlan, data: &StatementsData) -> Result<Vec<String>, WorkerFault> {
    let found = look(plan, data)?;
    Ok(foreign(&found, data).into_iter().map(str::to_owned).collect())
}

fn foreign<'a>(found: &[Found], data: &'a StatementsData) -> Vec<&'a str> {
    let pairs = found.iter().zip(&data.tables);
    let foreign = pairs.filter(|(found, _)| **found == Found::Foreign);
    foreign.map(|(_, table)| &*table.name).collect()
}

/// Faults of a plan for these tables.
pub fn faults(plan: &DataPlan, data: &StatementsData) -> Vec<String> {
    let mut faults = table_faults(&data.tables);
    if !(1..=LOADERS_MAX).contains(&u64::from(plan.loaders)) {
        faults.push(format!(
            "loaders: must be within 1..={LOADERS_MAX}, is {}",
            plan.loaders
        ));
    }
    faults
}

fn there<'a>(found: &'a [Found], data: &'a StatementsData) -> impl Iterator<Item = &'a TablePlan> {
    let pairs = found.iter().zip(&data.tables);
    pairs
        .filter(|(found, _)| **found != Found::Nothing)
        .map(|(_, table)| table)
}

fn look(plan: &DataPlan, data: &StatementsData) -> Result<Vec<Found>, WorkerFault> {
    let names: Vec<&str> = data.tables.iter().map(|one| &*one.name).collect();
    let mut control = control::open(&plan.target)?;
    let found = find(&mut control, &names).map_err(|error| blame(&error, "look at tables"))?;
    control.close();
    Ok(found)
}

/// What is there under each name.
///
/// # Errors
/// Whatever the server said.
pub fn find(connection: &mut Connection, names: &[&str]) -> Result<Vec<Found>, WireError> {
    if names.is_empty() {
        return Ok(vec![]);
    }
    let sql = format!(
        "SELECT TABLE_NAME, TABLE_COMMENT FROM information_schema.TABLES \
         WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN ({})",
        literals(names)
    );
    let mut found = vec![Found::Nothing; names.len()];
    for row in connection.query_rows(&sql, CATALOGUE_ROWS_MAX)? {
        let [Some(name), comment] = &row[..] else { continue };
        if let Some(place) = names.iter().position(|one| one.eq_ignore_ascii_case(name)) {
            let mark = comment.as_deref().and_then(Mark::parse);
            found[place] = mark.map_or(Found::Foreign, Found::Ours);
        }
    }
    Ok(found)
}

fn literals(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| literal(name)).collect();
    names.join(", ")
}

/// What is to become of each table.
#[derive(Default)]
struct Sorted<'a> {
    /// Used as they are.
    kept: Vec<&'a TablePlan>,
    /// Gone on with.
    unfinished: Vec<&'a TablePlan>,
    /// Made, or made again.
    new: Vec<&'a TablePlan>,
}

/// Sorts tables by what is there of them; all that stands in the way at once.
fn sort<'a>(found: &[Found], data: &'a StatementsData, drop_foreign: bool) -> Result<Sorted<'a>, WorkerFault> {
    let (mut sorted, mut faults) = (Sorted::default(), Vec::new());
    for (one, table) in found.iter().zip(&data.tables) {
        let mark = |state| Mark::new(table, data.seed, state);
        match one {
            Found::Ours(found) if *found == mark(State::Complete) => sorted.kept.push(table),
            Found::Ours(found) if *found == mark(State::Loading) => sorted.unfinished.push(table),
            Found::Ours(found) if found.state == State::Complete => faults.push(other_data(table, *found)),
            Found::Foreign if !drop_foreign => faults.push(format!(
                "{} exists and was not made by Plimsoll: a trial can use it as it is; to remove it: `plimsoll cleanup --drop-foreign`",
                table.name
            )),
            Found::Nothing | Found::Ours(_) | Found::Foreign => sorted.new.push(table),
        }
    }
    if faults.is_empty() {
        Ok(sorted)
    } else {
        Err(WorkerFault::new(FailureClass::Target, faults.join("; ")))
    }
}

fn other_data(table: &TablePlan, mark: Mark) -> String {
    let wanted = Mark::new(table, mark.seed, State::Complete);
    let what = if wanted.shape == mark.shape {
        format!("holds {} rows from seed {}", mark.rows, mark.seed)
    } else {
        "was made from another definition".to_owned()
    };
    format!(
        "{} {what}, other data than wanted: remove it first with `plimsoll cleanup`, or use the workload file that it \
         was made from",
        table.name
    )
}

fn unfit(found: Found, table: &TablePlan, seed: u64) -> Option<String> {
    let name = &table.name;
    match found {
        Found::Nothing => Some(format!("{name} does not exist: make it with `plimsoll prepare`")),
        Found::Ours(mark) if mark.state == State::Loading => {
            Some(format!("{name} is unfinished: complete it with `plimsoll prepare`"))
        }
        Found::Ours(mark) if mark != Mark::new(table, seed, State::Complete) => Some(other_data(table, mark)),
        Found::Ours(_) | Found::Foreign => None,
    }
}

/// Columns that tables of others lack.
fn column_faults(plan: &DataPlan, data: &StatementsData) -> Result<Vec<String>, WorkerFault> {
    let mut faults = Vec::new();
    let mut control = control::open(&plan.target)?;
    for table in &data.tables {
        let sql = format!(
            "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {}",
            literal(&table.name)
        );
        let rows = control.query_rows(&sql, CATALOGUE_ROWS_MAX);
        let rows = rows.map_err(|error| blame(&error, &format!("look at {}", table.name)))?;
        let is_there = |name: &String| {
            let mut names = rows.iter().filter_map(|row| row.first()?.as_deref());
            names.any(|found| found.eq_ignore_ascii_case(name))
        };
        let missing = table
            .columns
            .iter()
            .map(|column| &column.name)
            .filter(|name| !is_there(name));
        faults.extend(missing.map(|name| format!("{} has no column {name}", table.name)));
    }
    control.close();
    Ok(faults)
}

fn verify(crew: &mut Crew<'_>, kept: &[&TablePlan]) -> Result<(), WorkerFault> {
    crew.work("verify", kept.len() as u64, kept, |connection, table, meter: &Meter| {
        count_as_made(connection, table)?;
        meter.add(1);
        Ok(())
    })
}

/// The number of rows, which must be what it was when the table was made.
fn count_as_made(connection: &mut Connection, table: &TablePlan) -> Result<u64, WorkerFault> {
    let count = count(connection, table)?;
    if count == table.rows {
        return Ok(count);
    }
    Err(differs(
        &table.name,
        &format!("has {count} rows and not {}", table.rows),
    ))
}

fn count(connection: &mut Connection, table: &TablePlan) -> Result<u64, WorkerFault> {
    let rows = connection.query_rows(&format!("SELECT COUNT(*) FROM {}", quoted(&table.name)), 1);
    let rows = rows.map_err(|error| blame(&error, &format!("count the rows of {}", table.name)))?;
    let number = rows.first().and_then(|row| row.first()?.as_ref()?.parse().ok());
    number.ok_or_else(|| {
        let message = format!("{}: COUNT(*) gave no number; is this a MySQL server?", table.name);
        WorkerFault::new(FailureClass::Target, message)
    })
}

fn drop_tables(crew: &mut Crew<'_>, tables: &[&TablePlan]) -> Result<(), WorkerFault> {
    crew.work("drop", tables.len() as u64, tables, |connection, table, meter| {
        let dropped = connection.query(&format!("DROP TABLE IF EXISTS {}", quoted(&table.name)));
        dropped.map_err(|error| blame(&error, &format!("drop {}", table.name)))?;
        meter.add(1);
        Ok(())
    })
}
