//! What a server says about the tables of a user: whose they are, their columns and indexes, how many rows they have.

use plimsoll_core::plan::TablePlan;
use plimsoll_engine::WorkerFault;
use plimsoll_wire::{Connection, WireError};

use super::definition::{KIND, literal};
use crate::control::NAMES_MAX;
use crate::loading::fault::blame;
use crate::loading::mark::{self, Found};

/// What is there under each name.
///
/// # Errors
/// Whatever the server said.
pub fn find(connection: &mut Connection, names: &[&str]) -> Result<Vec<Found>, WireError> {
    if names.is_empty() {
        return Ok(vec![]);
    }
    let condition = format!("IN ({})", literals(names));
    mark::find(connection, KIND, &condition, names.len(), |name| {
        names.iter().position(|one| one.eq_ignore_ascii_case(name))
    })
}

fn literals(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| literal(name)).collect();
    names.join(", ")
}

/// Columns that a table lacks.
///
/// # Errors
/// Whatever the server said.
pub fn column_faults(connection: &mut Connection, table: &TablePlan) -> Result<Vec<String>, WorkerFault> {
    let sql = format!(
        "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {}",
        literal(&table.name)
    );
    let there = names(connection, &sql, table)?;
    let missing = table.columns.iter().filter(|column| !has(&there, &column.name));
    Ok(missing
        .map(|column| format!("{} has no column {}", table.name, column.name))
        .collect())
}

/// An index that a table lacks.
///
/// # Errors
/// Whatever the server said.
pub fn missing_index<'a>(connection: &mut Connection, table: &'a TablePlan) -> Result<Option<&'a str>, WorkerFault> {
    let sql = format!(
        "SELECT DISTINCT INDEX_NAME FROM information_schema.STATISTICS \
         WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {}",
        literal(&table.name)
    );
    let there = names(connection, &sql, table)?;
    let missing = table.indexes.iter().find(|index| !has(&there, &index.name));
    Ok(missing.map(|index| &*index.name))
}

/// The first column of a query about a table.
fn names(connection: &mut Connection, sql: &str, table: &TablePlan) -> Result<Vec<String>, WorkerFault> {
    let rows = connection.query_rows(sql, NAMES_MAX);
    let rows = rows.map_err(|error| blame(&error, &format!("look at {}", table.name)))?;
    Ok(rows
        .into_iter()
        .filter_map(|row| row.into_iter().next().flatten())
        .collect())
}

fn has(names: &[String], wanted: &str) -> bool {
    names.iter().any(|name| name.eq_ignore_ascii_case(wanted))
}
