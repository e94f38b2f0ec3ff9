//! The tables of users' own workloads.
//!
//! They carry a mark in their comment, as all tables that Plimsoll makes. After a trial they may hold more or fewer rows
//! than they were made with; a check takes that as it is, while preparing refuses it. Of tables of others it takes any number
//! of rows.
//!
//! Deliberately not here: how tables are loaded (see `loading`).

mod canonical;
mod catalogue;
mod definition;
mod rows;
mod table;

use plimsoll_core::plan::StatementsData;
use plimsoll_engine::WorkerFault;

use super::faults::table_faults;
use crate::loading::pool::LoaderPool;
use crate::loading::table_set::TableSet;
use crate::loading::{DataSet, FoundSet};
use table::CustomTable;

pub use catalogue::find;
pub use definition::quoted;

impl DataSet for StatementsData {
    fn faults(&self) -> Vec<String> {
        table_faults(&self.tables)
    }

    fn find(&self, pool: &LoaderPool<'_>) -> Result<Box<dyn FoundSet + '_>, WorkerFault> {
        let names: Vec<&str> = self.tables.iter().map(|table| &*table.name).collect();
        let found = pool.ask("look at tables", |connection| find(connection, &names))?;
        let tables = self.tables.iter().map(|table| CustomTable::new(table, self));
        Ok(Box::new(TableSet::new(tables, found)))
    }
}
