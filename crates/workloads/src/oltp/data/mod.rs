//! The data set of the OLTP workloads: tables as sysbench shapes them.
//!
//! Deliberately not here: how tables are loaded (see `loading`).

mod inspect;
mod rows;
mod table;

use plimsoll_core::plan::OltpData;
use plimsoll_engine::WorkerFault;

use super::tables::{self, Numbers};
use crate::loading::pool::LoaderPool;
use crate::loading::table_set::TableSet;
use crate::loading::{DataSet, FoundSet};
use table::OltpTable;

pub use inspect::{KeyRange, Needs, column_faults, find, key_range, present};

impl DataSet for OltpData {
    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut within = |name: &str, value: u64, last: u64| {
            if !(1..=last).contains(&value) {
                faults.push(format!("{name}: must be within 1..={last}, is {value}"));
            }
        };
        within("data_set.tables", u64::from(self.tables), tables::TABLES_MAX);
        within("data_set.table_size", self.table_size, i32::MAX as u64); // the range of column id
        let shape = tables::shape_faults(self);
        faults.extend(shape.into_iter().map(|fault| format!("data_set.{fault}")));
        faults
    }

    fn find(&self, pool: &LoaderPool<'_>) -> Result<Box<dyn FoundSet + '_>, WorkerFault> {
        let numbers = Numbers::new(self.layout, self.tables);
        let found = pool.ask("look at tables", |connection| find(connection, numbers))?;
        let tables = numbers.iter().map(|number| OltpTable::new(self, number));
        Ok(Box::new(TableSet::new(tables, found)))
    }
}
