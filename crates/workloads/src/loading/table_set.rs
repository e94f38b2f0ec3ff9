//! The tables of a data set that are made row by row: what is there of them, and what becomes of it.
//!
//! Deliberately not here: which tables those are, and finding out what is there.

use plimsoll_core::message::FailureClass;
use plimsoll_core::plan::DataPlan;
use plimsoll_engine::WorkerFault;
use plimsoll_wire::Connection;

use super::fault::blame;
use super::mark::{Found, Mark, State};
use super::pool::LoaderPool;
use super::table::{Table, as_tables};
use super::{foreign_keys, make, refuse_foreign};

/// A table that carries a mark.
pub trait MarkedTable: Table {
    /// What its comment says.
    type Mark: Mark;
    /// Its own mark, in this state.
    fn mark(&self, state: State) -> Self::Mark;
    /// That it holds other data than wanted, with the cure.
    fn other_data(&self, found: &Self::Mark) -> String;
    /// Counts the rows, which must be as many as were made.
    ///
    /// # Errors
    /// When there are more or fewer, or whatever the server said.
    fn count_as_made(&self, connection: &mut Connection) -> Result<u64, WorkerFault>;
}

/// Tables, and what is there under the name of each.
pub struct TableSet<T: MarkedTable>(Vec<(T, Found<T::Mark>)>);

/// What is to become of each table.
struct Sorted<'a, T> {
    /// Used as they are.
    complete: Vec<&'a T>,
    /// Resumed.
    unfinished: Vec<&'a T>,
    /// Dropped, and made again.
    in_the_way: Vec<&'a T>,
    /// Made, those that are made again included.
    new: Vec<&'a T>,
}

impl<T: MarkedTable> TableSet<T> {
    /// Tables and what was found of each.
    pub fn new(tables: impl IntoIterator<Item = T>, found: Vec<Found<T::Mark>>) -> Self {
        Self(tables.into_iter().zip(found).collect())
    }

    /// Each with what was found.
    pub fn iter(&self) -> impl Iterator<Item = &(T, Found<T::Mark>)> {
        self.0.iter()
    }

    /// The names of those that are there and that Plimsoll did not make.
    pub fn foreign(&self) -> Vec<String> {
        let foreign = self.iter().filter(|(_, found)| *found == Found::Foreign);
        foreign.map(|(table, _)| table.name()).collect()
    }

    /// Makes what is missing, resumes what is unfinished, and counts what is complete.
    ///
    /// # Errors
    /// When something stands in the way, or when the server says no.
    pub fn prepare(&self, pool: &mut LoaderPool<'_>, plan: &DataPlan) -> Result<(), WorkerFault> {
        let sorted = self.sort(plan)?;
        count_as_made(pool, &sorted.complete)?;
        self.drop_tables(pool, &sorted.in_the_way)?;
        let tables = make::Tables {
            new: as_tables(sorted.new),
            unfinished: as_tables(sorted.unfinished),
            complete: as_tables(sorted.complete),
        };
        make::make(pool, &tables, plan)
    }

    /// What [`Self::prepare`] does before it changes anything.
    ///
    /// # Errors
    /// When it would be refused.
    pub fn foresee(&self, pool: &mut LoaderPool<'_>, plan: &DataPlan) -> Result<(), WorkerFault> {
        count_as_made(pool, &self.sort(plan)?.complete)
    }

    /// Drops all that are there.
    ///
    /// # Errors
    /// When one of them is not ours and was not to be dropped: then none is. Or when the server says no.
    pub fn cleanup(&self, pool: &mut LoaderPool<'_>, plan: &DataPlan) -> Result<(), WorkerFault> {
        refuse_foreign(&self.foreign(), plan)?;
        let there = self.iter().filter(|(_, found)| *found != Found::Nothing);
        self.drop_tables(pool, &there.map(|(table, _)| table).collect::<Vec<_>>())
    }

    /// Drops tables that were found before, and no others: what somebody made meanwhile is not ours.
    fn drop_tables(&self, pool: &mut LoaderPool<'_>, tables: &[&T]) -> Result<(), WorkerFault> {
        if tables.is_empty() {
            return Ok(());
        }
        let dropped: Vec<String> = tables.iter().map(|table| table.name()).collect();
        let own: Vec<(String, String)> = self
            .iter()
            .filter(|(table, found)| matches!(found, Found::Ours(_)) || dropped.contains(&table.name()))
            .map(|(table, _)| (table.name(), table.quoted_name()))
            .collect();
        foreign_keys::release(pool, &dropped, &own)?;
        pool.work("drop", tables.len() as u64, tables, |connection, table, meter| {
            let dropped = connection.query(&format!("DROP TABLE IF EXISTS {}", table.quoted_name()));
            dropped.map_err(|error| blame(&error, &format!("drop {}", table.name())))?;
            meter.add(1);
            Ok(())
        })
    }

    /// All that stands in the way at once.
    fn sort(&self, plan: &DataPlan) -> Result<Sorted<'_, T>, WorkerFault> {
        let (mut complete, mut unfinished) = (Vec::new(), Vec::new());
        let (mut in_the_way, mut new) = (Vec::new(), Vec::new());
        let mut faults = Vec::new();
        for (table, found) in self.iter() {
            match found {
                Found::Nothing => new.push(table),
                Found::Ours(mark) if *mark == table.mark(State::Complete) => complete.push(table),
                Found::Ours(mark) if *mark == table.mark(State::Loading) => unfinished.push(table),
                Found::Ours(mark) if mark.state() == State::Complete => faults.push(table.other_data(mark)),
                Found::Foreign if !plan.drop_foreign => faults.push(format!(
                    "{} exists and was not made by Plimsoll: a trial can use it as it is; to remove it: `plimsoll cleanup --drop-foreign`",
                    table.name()
                )),
                Found::Ours(_) | Found::Foreign => {
                    in_the_way.push(table);
                    new.push(table);
                }
            }
        }
        if !faults.is_empty() {
            return Err(WorkerFault::new(FailureClass::Target, faults.join("; ")));
        }
        Ok(Sorted {
            complete,
            unfinished,
            in_the_way,
            new,
        })
    }
}

fn count_as_made<T: MarkedTable>(pool: &mut LoaderPool<'_>, tables: &[&T]) -> Result<(), WorkerFault> {
    pool.work("verify", tables.len() as u64, tables, |connection, table, meter| {
        table.count_as_made(connection)?;
        meter.add(1);
        Ok(())
    })
}
