//! What is there under the names of the nine tables, and what is to become of it.

use plimsoll_core::message::FailureClass;
use plimsoll_core::plan::{OrderNames, TpccData};
use plimsoll_engine::WorkerFault;
use plimsoll_wire::{Connection, WireError};

use crate::control::number;
use crate::loading::mark::{self, Found, Mark, State};
use crate::loading::pool::LoaderPool;
use crate::tpcc::tables::mark::{KIND, mark};
use crate::tpcc::tables::{Table, tables};

/// Most warehouses: what is known of each of them while loading fits into little memory, and their keys into 32 bits.
pub const WAREHOUSES_MAX: u32 = 100_000;

/// What is there under the names of the nine tables.
pub struct TablesFound {
    /// Each of them.
    pub tables: Vec<(Table, Found)>,
    /// The table of new orders that Plimsoll made under its other name.
    stray: Option<Table>,
}

impl TablesFound {
    /// The tables that are there.
    pub fn there(&self) -> Vec<Table> {
        let there = self.tables.iter().filter(|(_, found)| *found != Found::Nothing);
        there.map(|(table, _)| *table).chain(self.stray).collect()
    }

    /// The tables that are there and that Plimsoll did not make.
    pub fn foreign(&self) -> Vec<String> {
        let foreign = self.tables.iter().filter(|(_, found)| *found == Found::Foreign);
        foreign.map(|(table, _)| table.name().to_owned()).collect()
    }

    /// The marks of those that it made.
    fn marks(&self) -> impl Iterator<Item = &Mark> {
        self.tables.iter().filter_map(|(_, found)| match found {
            Found::Ours(mark) => Some(mark),
            Found::Nothing | Found::Foreign => None,
        })
    }
}

/// The tables of all data sets: those of one, and that of new orders under its other name.
fn all_tables(names: OrderNames) -> Vec<Table> {
    let other = match names {
        OrderNames::Usual => OrderNames::Tpc,
        OrderNames::Tpc => OrderNames::Usual,
    };
    let mut all = tables(names).to_vec();
    all.push(Table::of_new_orders(other));
    all
}

/// Names of tables in quotation marks with commas between them.
fn quoted_names(tables: &[Table]) -> String {
    let quoted: Vec<String> = tables.iter().map(|table| format!("'{}'", table.name())).collect();
    quoted.join(", ")
}

/// What is there under each of the nine names.
///
/// # Errors
/// Whatever the server said.
pub fn find(connection: &mut Connection, names: OrderNames) -> Result<TablesFound, WireError> {
    let all = all_tables(names);
    let condition = format!("IN ({})", quoted_names(&all));
    let found = mark::find(connection, KIND, &condition, all.len(), |name| {
        all.iter().position(|table| table.name() == name)
    })?;
    let mut tables: Vec<(Table, Found)> = all.into_iter().zip(found).collect();
    let stray = tables.pop().filter(|(_, found)| matches!(found, Found::Ours(_)));
    Ok(TablesFound {
        tables,
        stray: stray.map(|(table, _)| table),
    })
}

/// How preparing begins.
pub enum Begin {
    /// All is there.
    Complete,
    /// It was interrupted.
    Resume,
    /// Whatever is there is replaced.
    Again,
}

/// What is to become of what is there.
///
/// # Errors
/// When something stands in the way.
pub fn begin(found: &TablesFound, data: &TpccData, drop_foreign: bool) -> Result<Begin, WorkerFault> {
    let foreign = found.foreign();
    if !foreign.is_empty() {
        let message = format!(
            "{} exists and was not made by Plimsoll: choose another database, or remove all nine tables: `plimsoll cleanup --drop-foreign`",
            foreign.join(", ")
        );
        return if drop_foreign {
            Ok(Begin::Again)
        } else {
            Err(WorkerFault::new(FailureClass::Target, message))
        };
    }
    let wanted = [State::Loading, State::Complete].map(|state| mark(data, state));
    let all_there = found.tables.iter().all(|(_, found)| *found != Found::Nothing);
    match found.marks().find(|mark| !wanted.contains(mark)) {
        Some(other) if other.is_complete() => {
            let message = other.other_than(&wanted[1], "the tables were");
            Err(WorkerFault::new(FailureClass::Target, message))
        }
        Some(_) => Ok(Begin::Again),
        None if !all_there && found.marks().any(Mark::is_complete) => {
            let message = "some of the nine tables are complete, and others are not there: remove them first with `plimsoll cleanup`";
            Err(WorkerFault::new(FailureClass::Target, message))
        }
        // The table of warehouses is created last: without it, nothing was loaded.
        None if !all_there => Ok(Begin::Again),
        None if found.marks().all(Mark::is_complete) => Ok(Begin::Complete),
        None => Ok(Begin::Resume),
    }
}

/// Why a table is not what it should be, if it is not.
pub fn unfit(table: Table, found: &Found, data: &TpccData) -> Option<String> {
    let (name, wanted) = (table.name(), mark(data, State::Complete));
    match found {
        Found::Foreign => Some(format!("{name} was not made by Plimsoll")),
        Found::Ours(mark) if mark.is_complete() && *mark != wanted => {
            Some(mark.other_than(&wanted, &format!("{name}: the tables were")))
        }
        Found::Ours(_) | Found::Nothing => found.unmade(name),
    }
}

/// Refuses to drop tables that others refer to by foreign keys: those would be left without what they refer to.
///
/// # Errors
/// When there is such a table, or when the server says no.
pub fn refuse_referred(pool: &LoaderPool<'_>) -> Result<(), WorkerFault> {
    let names = quoted_names(&all_tables(OrderNames::Usual));
    let sql = format!(
        "SELECT DISTINCT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME, ' (', CONSTRAINT_NAME, ')') \
         FROM information_schema.KEY_COLUMN_USAGE \
         WHERE REFERENCED_TABLE_SCHEMA = DATABASE() AND REFERENCED_TABLE_NAME IN ({names}) \
         AND NOT (TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN ({names})) LIMIT 10"
    );
    let rows = pool.ask("look at foreign keys", |connection| connection.query_rows(&sql, 10))?;
    let told: Vec<&str> = rows.iter().filter_map(|row| row.first()?.as_deref()).collect();
    if told.is_empty() {
        return Ok(());
    }
    let message = format!(
        "foreign keys of tables that Plimsoll did not make refer to these, so nothing was dropped: {}; drop those keys first",
        told.join(", ")
    );
    Err(WorkerFault::new(FailureClass::Target, message))
}

/// The warehouses that are loaded.
///
/// # Errors
/// Whatever the server said.
pub fn warehouses_there(pool: &LoaderPool<'_>) -> Result<Vec<u32>, WorkerFault> {
    let rows = pool.ask("look at warehouses", |connection| {
        connection.query_rows("SELECT w_id FROM warehouse", WAREHOUSES_MAX as usize)
    })?;
    Ok(rows.iter().filter_map(|row| number(row, 0)).collect())
}
