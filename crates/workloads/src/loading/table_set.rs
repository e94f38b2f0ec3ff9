//! The tables of a data set that are made row by row: what is there of them, and what becomes of it.
//!
//! Deliberately not here: which tables those are.

use std::sync::atomic::{AtomicU64, Ordering};

use plimsoll_core::message::{EngineWarning, FailureClass};
use plimsoll_engine::WorkerFault;

use super::fault::blame;
use super::mark::{Found, State};
use super::pool::LoaderPool;
use super::table::{Table, as_tables};
use super::{FoundSet, foreign_keys, make, refuse_foreign, verify};

/// Tables, and what is there under the name of each.
pub struct TableSet<T>(Vec<(T, Found)>);

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

impl<T: Table> FoundSet for TableSet<T> {
    fn foreign(&self) -> Vec<String> {
        let foreign = self.0.iter().filter(|(_, found)| *found == Found::Foreign);
        foreign.map(|(table, _)| table.name()).collect()
    }

    fn make(&self, pool: &mut LoaderPool<'_>) -> Result<u64, WorkerFault> {
        let sorted = self.sort(pool)?;
        count_as_made(pool, &sorted.complete)?;
        self.drop_tables(pool, &sorted.in_the_way)?;
        let tables = make::Tables {
            new: as_tables(sorted.new),
            unfinished: as_tables(sorted.unfinished),
            complete: as_tables(sorted.complete),
        };
        make::make(pool, &tables)?;
        Ok(self.0.iter().map(|(table, _)| table.rows_count()).sum())
    }

    fn foresee(&self, pool: &mut LoaderPool<'_>) -> Result<(), WorkerFault> {
        count_as_made(pool, &self.sort(pool)?.complete)
    }

    fn check(&self, pool: &mut LoaderPool<'_>) -> Result<u64, WorkerFault> {
        let mut faults: Vec<String> = self.0.iter().filter_map(|(table, found)| unfit(table, found)).collect();
        if faults.is_empty() {
            let mut connection = pool.connect()?;
            for (table, _) in &self.0 {
                faults.extend(table.lacks(&mut connection)?);
            }
            connection.close();
        }
        if !faults.is_empty() {
            return Err(WorkerFault::new(FailureClass::Data, faults.join("; ")));
        }
        let rows = AtomicU64::new(0);
        pool.work(
            "verify",
            self.0.len() as u64,
            &self.0,
            |connection, (table, found), meter| {
                rows.fetch_add(table.count(connection, table.is_fixed(found))?, Ordering::Relaxed);
                meter.add(1);
                Ok(())
            },
        )?;
        Ok(rows.into_inner())
    }

    fn compare(&self, pool: &mut LoaderPool<'_>) -> Result<(), WorkerFault> {
        let tables = as_tables(self.0.iter().map(|(table, _)| table));
        let left_out: Vec<String> = tables.iter().flat_map(|table| table.uncompared()).collect();
        if !left_out.is_empty() {
            pool.warn(uncompared(&left_out));
        }
        verify::compare(pool, &tables)
    }

    fn remove(&self, pool: &mut LoaderPool<'_>) -> Result<(), WorkerFault> {
        refuse_foreign(&self.foreign(), pool.drop_foreign())?;
        let there = self.0.iter().filter(|(_, found)| *found != Found::Nothing);
        self.drop_tables(pool, &there.map(|(table, _)| table).collect::<Vec<_>>())
    }
}

impl<T: Table> TableSet<T> {
    /// Tables and what was found of each.
    pub fn new(tables: impl IntoIterator<Item = T>, found: Vec<Found>) -> Self {
        Self(tables.into_iter().zip(found).collect())
    }

    /// Drops tables that were found before, and no others: what somebody made meanwhile is not ours.
    fn drop_tables(&self, pool: &mut LoaderPool<'_>, tables: &[&T]) -> Result<(), WorkerFault> {
        if tables.is_empty() {
            return Ok(());
        }
        let dropped: Vec<String> = tables.iter().map(|table| table.name()).collect();
        let own: Vec<(String, String)> = self
            .0
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
    fn sort(&self, pool: &LoaderPool<'_>) -> Result<Sorted<'_, T>, WorkerFault> {
        let (mut complete, mut unfinished) = (Vec::new(), Vec::new());
        let (mut in_the_way, mut new) = (Vec::new(), Vec::new());
        let mut faults = Vec::new();
        for (table, found) in &self.0 {
            match found {
                Found::Nothing => new.push(table),
                Found::Ours(mark) if *mark == table.mark(State::Complete) => complete.push(table),
                Found::Ours(mark) if *mark == table.mark(State::Loading) => unfinished.push(table),
                Found::Ours(mark) if mark.is_complete() => {
                    faults.push(mark.other_than(&table.mark(State::Complete), &format!("{} was", table.name())));
                }
                Found::Foreign if !pool.drop_foreign() => faults.push(format!(
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

fn count_as_made<T: Table>(pool: &mut LoaderPool<'_>, tables: &[&T]) -> Result<(), WorkerFault> {
    pool.work("verify", tables.len() as u64, tables, |connection, table, meter| {
        table.count(connection, true)?;
        meter.add(1);
        Ok(())
    })
}

/// Why a check does not take what is there.
fn unfit<T: Table>(table: &T, found: &Found) -> Option<String> {
    let name = table.name();
    found.unmade(&name).or_else(|| match found {
        Found::Ours(mark) if !table.accepts(mark) => {
            Some(mark.other_than(&table.mark(State::Complete), &format!("{name} was")))
        }
        Found::Ours(_) | Found::Nothing | Found::Foreign => None,
    })
}

/// That a comparison leaves columns out.
fn uncompared(columns: &[String]) -> EngineWarning {
    EngineWarning {
        code: "columns-not-compared".to_owned(),
        evidence: format!("Not compared: {}.", columns.join(", ")),
        advice:
            "Servers show values of such a type otherwise than they were sent: take a type that keeps them as they \
                 are, if that matters."
                .to_owned(),
    }
}
