//! The nine tables on a server: made, resumed, checked, removed.
//!
//! A warehouse's own row is loaded last, so that what is in `warehouse` is there as a whole. Going on, rows of other
//! warehouses, at most of as many as there were loaders, are deleted and loaded again.

mod build;
mod consistency;
mod inspect;
mod load;
mod population;

use plimsoll_core::message::FailureClass;
use plimsoll_core::plan::TpccData;
use plimsoll_engine::WorkerFault;

use super::procedures;
use crate::loading::fault::blame;
use crate::loading::options::options_fault;
use crate::loading::pool::LoaderPool;
use crate::loading::{DataSet, FoundSet, refuse_foreign};
use build::{clear_unfinished, create, drop_tables, finish, load, missing, rows_count};
use inspect::{Begin, TablesFound, WAREHOUSES_MAX, begin, refuse_referred, unfit, warehouses_there};
use load::Loader;

pub use inspect::find;

/// Most partitions that servers take.
const PARTITIONS_MAX: u32 = 8_192;

impl DataSet for TpccData {
    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut within = |name: &str, value: u32, first: u32, last: u32| {
            if !(first..=last).contains(&value) {
                faults.push(format!("{name}: must be within {first}..={last}, is {value}"));
            }
        };
        within("data_set.warehouses", self.warehouses, 1, WAREHOUSES_MAX);
        within(
            "data_set.first_warehouse",
            self.first_warehouse,
            1,
            i32::MAX as u32 - WAREHOUSES_MAX,
        );
        within("data_set.partitions", self.partitions, 0, PARTITIONS_MAX);
        if self.partitions > 0 && self.foreign_keys {
            faults.push("data_set.foreign_keys: tables with partitions have none; leave one of them out".to_owned());
        }
        let engine = &self.storage_engine;
        let is_word = engine.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if engine.is_empty() || engine.len() > 64 || !is_word {
            faults.push(format!(
                "data_set.storage_engine: must be the name of an engine such as innodb, is {engine:?}"
            ));
        }
        faults.extend(options_fault("data_set.table_options", &self.table_options));
        faults
    }

    fn find(&self, pool: &LoaderPool<'_>) -> Result<Box<dyn FoundSet + '_>, WorkerFault> {
        let mut connection = pool.connect()?;
        let tables = find(&mut connection, self.order_names).map_err(|error| blame(&error, "look at tables"))?;
        let routines = procedures::find(&mut connection, self.order_names);
        let routines = routines.map_err(|error| blame(&error, "look at procedures"))?;
        connection.close();
        Ok(Box::new(TpccFound {
            data: self,
            tables,
            routines,
        }))
    }
}

/// What is there of the tables and procedures.
struct TpccFound<'a> {
    data: &'a TpccData,
    tables: TablesFound,
    routines: Vec<procedures::Found>,
}

impl FoundSet for TpccFound<'_> {
    fn foreign(&self) -> Vec<String> {
        let mut names = self.tables.foreign();
        names.extend(procedures::foreign(&self.routines));
        names
    }

    /// Checks whether the tables are consistent, too, and makes the procedures where they are wanted.
    fn make(&self, pool: &mut LoaderPool<'_>) -> Result<u64, WorkerFault> {
        let data = self.data;
        let begin = self.begin(pool)?;
        let loader = Loader::new(pool, data.seed)?;
        match begin {
            Begin::Complete => {}
            Begin::Again => {
                refuse_referred(pool)?;
                drop_tables(pool, &self.tables.there())?;
                create(pool, data)?;
                load(pool, &loader, data, &[])?;
                finish(pool, data)?;
            }
            Begin::Resume => {
                let there = warehouses_there(pool)?;
                clear_unfinished(pool, data, &there)?;
                load(pool, &loader, data, &there)?;
                finish(pool, data)?;
            }
        }
        if data.procedures {
            procedures::make(pool, &self.routines, data.order_names)?;
        }
        self.count(pool)
    }

    fn foresee(&self, pool: &mut LoaderPool<'_>) -> Result<(), WorkerFault> {
        match self.begin(pool)? {
            Begin::Complete => self.count(pool).map(|_| ()),
            Begin::Resume | Begin::Again => Ok(()),
        }
    }

    fn check(&self, pool: &mut LoaderPool<'_>) -> Result<u64, WorkerFault> {
        let tables = self.tables.tables.iter();
        let mut faults: Vec<String> = tables
            .filter_map(|(table, found)| unfit(*table, found, self.data))
            .collect();
        if self.data.procedures {
            faults.extend(procedures::faults(&self.routines));
        }
        if !faults.is_empty() {
            return Err(WorkerFault::new(FailureClass::Data, faults.join("; ")));
        }
        self.count(pool)
    }

    /// Checks the consistency conditions.
    fn compare(&self, pool: &mut LoaderPool<'_>) -> Result<(), WorkerFault> {
        consistency::check(pool, self.data)
    }

    fn remove(&self, pool: &mut LoaderPool<'_>) -> Result<(), WorkerFault> {
        refuse_foreign(&self.foreign(), pool.drop_foreign())?;
        refuse_referred(pool)?;
        procedures::remove(pool, &self.routines)?;
        drop_tables(pool, &self.tables.there())
    }
}

impl TpccFound<'_> {
    /// How making would begin, if nothing stands in its way.
    fn begin(&self, pool: &LoaderPool<'_>) -> Result<Begin, WorkerFault> {
        let begin = begin(&self.tables, self.data, pool.drop_foreign())?;
        if self.data.procedures {
            procedures::refuse_foreign(&self.routines, pool.drop_foreign())?;
        }
        Ok(begin)
    }

    /// How many rows there were when they were loaded, after a look whether all warehouses are there.
    fn count(&self, pool: &LoaderPool<'_>) -> Result<u64, WorkerFault> {
        let there = warehouses_there(pool)?;
        if let Some(number) = missing(self.data, &there).first() {
            let message = format!(
                "warehouse {number} is not there: remove the tables with `plimsoll cleanup`, then `plimsoll prepare`"
            );
            return Err(WorkerFault::new(FailureClass::Data, message));
        }
        Ok(rows_count(self.data))
    }
}
