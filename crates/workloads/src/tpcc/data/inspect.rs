//! What is there under the names of the nine tables, and what is to become of it.

use plimsoll_core::message::FailureClass;
use plimsoll_core::plan::{DataPlan, OrderNames, TpccData};
use plimsoll_engine::WorkerFault;

use crate::control;
use crate::loading::fault::blame;
use crate::loading::mark::State;
use crate::tpcc::tables::mark::{described, is_ours, mark};
use crate::tpcc::tables::{Table, tables};

/// Most warehouses: what is known of each of them while loading fits into little memory, and their keys into 32 bits.
pub const WAREHOUSES_MAX: u32 = 100_000;

/// What is there under the name of a table: a comment, be it empty.
pub type Comment = Option<String>;

/// What is there under the names of the nine tables.
pub struct Found {
    /// Each of them with its comment.
    pub tables: Vec<(Table, Comment)>,
    /// The table of new orders that Plimsoll made under its other name.
    stray: Option<Table>,
}

impl Found {
    /// The tables that are there.
    pub fn there(&self) -> Vec<Table> {
        let there = self.tables.iter().filter(|(_, comment)| comment.is_some());
        there.map(|(table, _)| *table).chain(self.stray).collect()
    }

    /// The tables that are there and that Plimsoll did not make.
    pub fn foreign(&self) -> Vec<&'static str> {
        let foreign = |comment: &Comment| comment.as_ref().is_some_and(|comment| !is_ours(comment));
        let tables = self.tables.iter().filter(|(_, comment)| foreign(comment));
        tables.map(|(table, _)| table.name()).collect()
    }

    fn comments(&self) -> impl Iterator<Item = &Comment> {
        self.tables.iter().map(|(_, comment)| comment)
    }
}

/// The names of all tables that data sets have, in quotation marks with commas between them.
fn quoted_names() -> String {
    let mut names = tables(OrderNames::Usual).to_vec();
    names.push(Table::NewOrder);
    let quoted: Vec<String> = names.iter().map(|table| format!("'{}'", table.name())).collect();
    quoted.join(", ")
}

/// What is there under each of the nine names.
///
/// # Errors
/// Whatever the server said.
pub fn find(plan: &DataPlan, names: OrderNames) -> Result<Found, WorkerFault> {
    let sql = format!(
        "SELECT TABLE_NAME, TABLE_COMMENT FROM information_schema.TABLES \
         WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN ({})",
        quoted_names()
    );
    let mut control = control::open(&plan.target)?;
    let rows = control
        .query_rows(&sql, 100)
        .map_err(|error| blame(&error, "look at tables"))?;
    control.close();
    let comment = |table: &Table| {
        let same = |row: &&Vec<Option<String>>| row.first().is_some_and(|name| name.as_deref() == Some(table.name()));
        rows.iter()
            .find(same)
            .map(|row| row.last().cloned().flatten().unwrap_or_default())
    };
    let stray = Table::of_new_orders(match names {
        OrderNames::Usual => OrderNames::Tpc,
        OrderNames::Tpc => OrderNames::Usual,
    });
    Ok(Found {
        tables: tables(names).map(|table| (table, comment(&table))).into(),
        stray: comment(&stray)
            .is_some_and(|comment| is_ours(&comment))
            .then_some(stray),
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
pub fn begin(found: &Found, data: &TpccData, drop_foreign: bool) -> Result<Begin, WorkerFault> {
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
    let there = || found.comments().flatten();
    let all_there = found.comments().all(Option::is_some);
    let complete = |mark: &String| described(mark).1;
    match there().find(|mark| !wanted.contains(mark)) {
        Some(other) if complete(other) => Err(WorkerFault::new(FailureClass::Target, other_data(other, data))),
        Some(_) => Ok(Begin::Again),
        None if !all_there && there().any(complete) => {
            let message = "some of the nine tables are complete, and others are not there: remove them first with `plimsoll cleanup`";
            Err(WorkerFault::new(FailureClass::Target, message))
        }
        // The table of warehouses is created last: without it, nothing was loaded.
        None if !all_there => Ok(Begin::Again),
        None if there().all(complete) => Ok(Begin::Complete),
        None => Ok(Begin::Resume),
    }
}

fn other_data(found: &str, data: &TpccData) -> String {
    format!(
        "the tables were made as ({}) and not as wanted ({}): remove them first with `plimsoll cleanup`, or prepare with these values",
        described(found).0,
        described(&mark(data, State::Complete)).0
    )
}

/// Why a table is not what it should be, if it is not.
pub fn unfit(table: Table, comment: &Comment, data: &TpccData) -> Option<String> {
    let name = table.name();
    match comment {
        None => Some(format!("{name} does not exist: make it with `plimsoll prepare`")),
        Some(comment) if !is_ours(comment) => Some(format!("{name} was not made by Plimsoll")),
        Some(comment) if *comment == mark(data, State::Complete) => None,
        Some(comment) if described(comment).1 => Some(format!("{name}: {}", other_data(comment, data))),
        Some(_) => Some(format!("{name} is unfinished: complete it with `plimsoll prepare`")),
    }
}

/// Refuses to drop tables that others refer to by foreign keys: those would be left without what they refer to.
///
/// # Errors
/// When there is such a table, or when the server says no.
pub fn refuse_referred(plan: &DataPlan) -> Result<(), WorkerFault> {
    let names = quoted_names();
    let sql = format!(
        "SELECT DISTINCT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME, ' (', CONSTRAINT_NAME, ')') \
         FROM information_schema.KEY_COLUMN_USAGE \
         WHERE REFERENCED_TABLE_SCHEMA = DATABASE() AND REFERENCED_TABLE_NAME IN ({names}) \
         AND NOT (TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN ({names})) LIMIT 10"
    );
    let mut control = control::open(&plan.target)?;
    let rows = control
        .query_rows(&sql, 10)
        .map_err(|error| blame(&error, "look at foreign keys"))?;
    control.close();
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
pub fn warehouses_there(plan: &DataPlan) -> Result<Vec<u32>, WorkerFault> {
    let mut control = control::open(&plan.target)?;
    let rows = control.query_rows("SELECT w_id FROM warehouse", WAREHOUSES_MAX as usize);
    let rows = rows.map_err(|error| blame(&error, "look at warehouses"))?;
    control.close();
    Ok(rows
        .iter()
        .filter_map(|row| row.first()?.as_ref()?.parse().ok())
        .collect())
}
