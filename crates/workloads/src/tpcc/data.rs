//! The nine tables on a server: made, gone on with, checked, removed.
//!
//! A warehouse's own row is loaded last, so that what is in `warehouse` is there as a whole. Going on, rows of other
//! warehouses, at most of as many as there were loaders, are deleted and loaded again.

use std::collections::HashSet;

use plimsoll_core::message::FailureClass;
use plimsoll_core::plan::{DataPlan, TpccData};
use plimsoll_engine::WorkerFault;
use plimsoll_wire::Connection;

use super::check;
use super::inspect::{Begin, Found, begin, foreign, look, refuse_referred, unfit};
use super::load::Loader;
use super::population::{self, places};
use super::procedures;
use super::tables::{TABLES, Table};
use crate::control;
use crate::data::crew::{Crew, Meter};
use crate::data::fault::blame;
use crate::data::load::index;
use crate::data::{DataDone, DataEvent, LOADERS_MAX, refuse_foreign};

/// Most warehouses: what is known of each of them while loading fits into little memory, and their keys into 32 bits.
const WAREHOUSES_MAX: u32 = 100_000;

/// Most partitions that servers take.
const PARTITIONS_MAX: u32 = 8_192;

/// The tables, each before those that its foreign keys refer to.
const CHILDREN_FIRST: [Table; 9] = [
    Table::History,
    Table::NewOrders,
    Table::OrderLine,
    Table::Orders,
    Table::Customer,
    Table::Stock,
    Table::District,
    Table::Item,
    Table::Warehouse,
];

/// Makes the tables with rows, indexes and statistics, looks whether they are consistent, and makes the procedures where
/// they are wanted. What is there already, made by us in the same way and complete, is used as it is; what was left
/// unfinished is gone on with.
///
/// # Errors
/// When other tables are there, when conditions do not hold, or when the server says no.
pub fn prepare(plan: &DataPlan, data: &TpccData, observe: &mut dyn FnMut(DataEvent)) -> Result<DataDone, WorkerFault> {
    let found = look(plan)?;
    let (begin, routines) = allowed(plan, data, &found)?;
    let mut crew = Crew::new(plan, observe);
    let loader = Loader::new(plan, data.seed)?;
    match begin {
        Begin::Complete => {}
        Begin::Anew => {
            refuse_referred(plan)?;
            drop_tables(&mut crew, &found)?;
            create(&mut crew, data)?;
            load(&mut crew, &loader, data, &[])?;
            finish(&mut crew, data)?;
        }
        Begin::GoOn => {
            let there = warehouses_there(plan)?;
            clear_unfinished(&mut crew, data, &there)?;
            load(&mut crew, &loader, data, &there)?;
            finish(&mut crew, data)?;
        }
    }
    if data.procedures {
        procedures::make(&mut crew, &routines)?;
    }
    count(plan, data)
}

/// Looks whether the tables are there, complete, with all their warehouses; and the procedures, where they are wanted.
///
/// # Errors
/// When something is missing, or when the server says no.
pub fn check(plan: &DataPlan, data: &TpccData) -> Result<DataDone, WorkerFault> {
    let mut faults: Vec<String> = look(plan)?
        .iter()
        .zip(TABLES)
        .filter_map(|(found, table)| unfit(found, table, data))
        .collect();
    if data.procedures {
        faults.extend(procedures::faults(&look_at_procedures(plan)?));
    }
    if !faults.is_empty() {
        return Err(WorkerFault::new(FailureClass::Data, faults.join("; ")));
    }
    count(plan, data)
}

/// Does all that [`check`] does, and looks at the consistency conditions.
///
/// # Errors
/// As [`check`]; and when conditions do not hold.
pub fn verify(plan: &DataPlan, data: &TpccData, observe: &mut dyn FnMut(DataEvent)) -> Result<DataDone, WorkerFault> {
    let done = check(plan, data)?;
    check::check(&mut Crew::new(plan, observe), data)?;
    Ok(done)
}

/// Drops the tables and procedures that Plimsoll made, and others of these names only when told to.
///
/// # Errors
/// When one of them is not ours and was not to be dropped: then none is. Or when the server says no.
pub fn cleanup(plan: &DataPlan, observe: &mut dyn FnMut(DataEvent)) -> Result<DataDone, WorkerFault> {
    let (found, routines) = (look(plan)?, look_at_procedures(plan)?);
    let mut foreign = foreign(&found);
    foreign.extend(procedures::foreign(&routines));
    refuse_foreign(&foreign, plan)?;
    refuse_referred(plan)?;
    let mut crew = Crew::new(plan, observe);
    procedures::remove(&mut crew, &routines)?;
    drop_tables(&mut crew, &found)?;
    Ok(DataDone { rows_count: 0 })
}

/// What [`prepare`] looks at before it changes anything.
///
/// # Errors
/// When it would be refused.
pub fn foresee(plan: &DataPlan, data: &TpccData) -> Result<(), WorkerFault> {
    match allowed(plan, data, &look(plan)?)? {
        (Begin::Complete, _) => count(plan, data).map(|_| ()),
        _ => Ok(()),
    }
}

/// The tables and procedures that are there and that Plimsoll did not make.
///
/// # Errors
/// Whatever the server said.
pub fn not_ours(plan: &DataPlan) -> Result<Vec<String>, WorkerFault> {
    let mut names = foreign(&look(plan)?);
    let routines = look_at_procedures(plan)?;
    names.extend(procedures::foreign(&routines));
    Ok(names.into_iter().map(str::to_owned).collect())
}

/// How preparing would begin, if nothing stands in its way.
fn allowed(plan: &DataPlan, data: &TpccData, found: &[Found]) -> Result<(Begin, Vec<procedures::Found>), WorkerFault> {
    let begin = begin(found, data, plan.drop_foreign)?;
    let routines = look_at_procedures(plan)?;
    if data.procedures {
        procedures::refuse_foreign(&routines, plan.drop_foreign)?;
    }
    Ok((begin, routines))
}

fn look_at_procedures(plan: &DataPlan) -> Result<Vec<procedures::Found>, WorkerFault> {
    let mut control = control::open(&plan.target)?;
    let found = procedures::look(&mut control).map_err(|error| blame(&error, "look at procedures"))?;
    control.close();
    Ok(found)
}

/// Faults of a plan for these tables.
pub fn faults(plan: &DataPlan, data: &TpccData) -> Vec<String> {
    let mut faults = Vec::new();
    let mut within = |name: &str, value: u32, first: u32, last: u32| {
        if !(first..=last).contains(&value) {
            faults.push(format!("{name}: must be within {first}..={last}, is {value}"));
        }
    };
    within("data_set.warehouses", data.warehouses, 1, WAREHOUSES_MAX);
    within(
        "data_set.first_warehouse",
        data.first_warehouse,
        1,
        i32::MAX as u32 - WAREHOUSES_MAX,
    );
    within("data_set.partitions", data.partitions, 0, PARTITIONS_MAX);
    within("loaders", plan.loaders, 1, LOADERS_MAX as u32);
    if data.partitions > 0 && data.foreign_keys {
        faults.push("data_set.foreign_keys: tables with partitions have none; leave one of them out".to_owned());
    }
    let engine = &data.storage_engine;
    let is_word = engine.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if engine.is_empty() || engine.len() > 64 || !is_word {
        faults.push(format!(
            "data_set.storage_engine: must be the name of an engine such as innodb, is {engine:?}"
        ));
    }
    faults
}

/// Drops what is there, those that refer to others first. The server looks at foreign keys too, and refuses to drop a table
/// that one refers to which this account cannot see.
fn drop_tables(crew: &mut Crew<'_>, found: &[Found]) -> Result<(), WorkerFault> {
    let is_there = |table: &Table| {
        TABLES
            .iter()
            .zip(found)
            .any(|(one, found)| one == table && found.is_some())
    };
    let there = CHILDREN_FIRST.iter().filter(|table| is_there(table));
    let names: Vec<&str> = there.map(|table| table.name()).collect();
    if names.is_empty() {
        return Ok(());
    }
    crew.work("drop", 1, &[names.join(", ")], |connection, names, meter| {
        run(
            connection,
            &format!("DROP TABLE IF EXISTS {names}"),
            &format!("drop {names}"),
        )?;
        meter.add(1);
        Ok(())
    })
}

fn create(crew: &mut Crew<'_>, data: &TpccData) -> Result<(), WorkerFault> {
    crew.work("create", 1, &[()], |connection, (), meter| {
        for table in TABLES {
            run(connection, &table.create_sql(data), &format!("create {}", table.name()))?;
        }
        meter.add(1);
        Ok(())
    })
}

/// The warehouses that are loaded.
fn warehouses_there(plan: &DataPlan) -> Result<Vec<u32>, WorkerFault> {
    let mut control = control::open(&plan.target)?;
    let rows = control.query_rows("SELECT w_id FROM warehouse", WAREHOUSES_MAX as usize);
    let rows = rows.map_err(|error| blame(&error, "look at warehouses"))?;
    control.close();
    Ok(rows
        .iter()
        .filter_map(|row| row.first()?.as_ref()?.parse().ok())
        .collect())
}

/// What is loaded together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Items,
    Warehouse(u32),
}

fn missing(data: &TpccData, there: &[u32]) -> Vec<u32> {
    let there: HashSet<u32> = there.iter().copied().collect();
    data.numbers().filter(|number| !there.contains(number)).collect()
}

/// Removes rows of warehouses that are not complete, and waits for what is still under way there: what the last statement
/// of an engine that was killed did may be seen only now.
fn clear_unfinished(crew: &mut Crew<'_>, data: &TpccData, there: &[u32]) -> Result<(), WorkerFault> {
    let missing = missing(data, there);
    let mut jobs = vec![format!(
        "DELETE FROM history WHERE {} NOT IN (SELECT w_id FROM warehouse)",
        Table::History.warehouse_column()
    )];
    for number in &missing {
        for table in TABLES
            .iter()
            .filter(|table| !matches!(table, Table::Item | Table::History))
        {
            jobs.push(format!(
                "DELETE FROM {} WHERE {} = {number}",
                table.name(),
                table.warehouse_column()
            ));
        }
    }
    crew.work("clear", jobs.len() as u64, &jobs, |connection, sql, meter| {
        run(connection, sql, "remove rows of unfinished warehouses")?;
        meter.add(1);
        Ok(())
    })
}

fn load(crew: &mut Crew<'_>, loader: &Loader, data: &TpccData, there: &[u32]) -> Result<(), WorkerFault> {
    let warehouses = missing(data, there).into_iter().map(Part::Warehouse);
    let parts: Vec<Part> = [Part::Items].into_iter().chain(warehouses).collect();
    let total = rows_count(data, data.numbers()) + u64::from(places(Table::Item));
    let done = rows_count(data, there.iter().copied());
    crew.go_on("load", done, total, &parts, |connection, part, meter| match *part {
        Part::Items => load_items(connection, loader, meter),
        Part::Warehouse(number) => load_warehouse(connection, loader, number, meter),
    })
}

/// Its own row goes last. Neighbours begin at opposite ends, so that two loaders seldom fill the same table at the same time.
fn load_warehouse(connection: &mut Connection, loader: &Loader, number: u32, meter: &Meter) -> Result<(), WorkerFault> {
    let mut tables = TABLES.to_vec();
    tables.retain(|table| !matches!(table, Table::Item | Table::Warehouse));
    if number % 2 == 0 {
        tables.reverse();
    }
    tables.push(Table::Warehouse);
    tables
        .into_iter()
        .try_for_each(|table| loader.fill(connection, table, number, meter))
}

/// Items are all there or all loaded again.
fn load_items(connection: &mut Connection, loader: &Loader, meter: &Meter) -> Result<(), WorkerFault> {
    let found = connection.query_rows("SELECT COUNT(*) FROM item", 1);
    let found = found.map_err(|error| blame(&error, "count items"))?;
    let count = found.first().and_then(|row| row.first()?.as_ref()?.parse().ok());
    if count == Some(places(Table::Item)) {
        meter.add(u64::from(places(Table::Item)));
        return Ok(());
    }
    if count != Some(0) {
        run(connection, "DELETE FROM item", "remove items")?;
    }
    loader.fill(connection, Table::Item, 0, meter)
}

/// Rows of these warehouses as they are loaded.
fn rows_count(data: &TpccData, warehouses: impl Iterator<Item = u32>) -> u64 {
    warehouses.map(|number| population::rows_count(data.seed, number)).sum()
}

/// Indexes, foreign keys, statistics, the conditions, and the word that all is complete.
fn finish(crew: &mut Crew<'_>, data: &TpccData) -> Result<(), WorkerFault> {
    let indexed: Vec<(Table, String)> = TABLES
        .iter()
        .filter_map(|table| Some((*table, table.index_sql()?)))
        .collect();
    crew.work(
        "index",
        indexed.len() as u64,
        &indexed,
        |connection, (table, sql), meter| {
            index(connection, table.name(), sql)?;
            meter.add(1);
            Ok(())
        },
    )?;
    if data.foreign_keys {
        add_foreign_keys(crew)?;
    }
    crew.work("analyze", TABLES.len() as u64, &TABLES, |connection, table, meter| {
        let name = table.name();
        run(connection, &format!("ANALYZE TABLE {name}"), &format!("analyze {name}"))?;
        meter.add(1);
        Ok(())
    })?;
    check::check(crew, data)?;
    // Where tables refer to each other, changing one locks others too: two at a time would be a deadlock.
    let at_a_time = if data.foreign_keys { TABLES.len() } else { 1 };
    let parts: Vec<&[Table]> = TABLES.chunks(at_a_time).collect();
    crew.work("complete", TABLES.len() as u64, &parts, |connection, tables, meter| {
        tables.iter().try_for_each(|table| {
            let doing = format!("complete {}", table.name());
            run(connection, &table.complete_sql(data), &doing)?;
            meter.add(1);
            Ok(())
        })
    })
}

/// They hold by the way rows are made, so the server need not look at all rows again, which would copy the tables. Those
/// that an interrupted attempt made are left as they are.
fn add_foreign_keys(crew: &mut Crew<'_>) -> Result<(), WorkerFault> {
    crew.work("foreign keys", 1, &[()], |connection, (), meter| {
        run(connection, "SET foreign_key_checks = 0", "switch the look at rows off")?;
        for table in TABLES {
            let Some(sql) = table.foreign_keys_sql() else { continue };
            let there = format!(
                "SELECT COUNT(*) FROM information_schema.TABLE_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = DATABASE() \
                 AND TABLE_NAME = '{}' AND CONSTRAINT_TYPE = 'FOREIGN KEY'",
                table.name()
            );
            let rows = connection
                .query_rows(&there, 1)
                .map_err(|error| blame(&error, "look at foreign keys"))?;
            if rows.first().and_then(|row| row.first()?.as_deref()) == Some("0") {
                run(connection, &sql, &format!("add foreign keys to {}", table.name()))?;
            }
        }
        meter.add(1);
        Ok(())
    })
}

/// How many rows there were when they were loaded, after a look whether all warehouses are there.
fn count(plan: &DataPlan, data: &TpccData) -> Result<DataDone, WorkerFault> {
    let there = warehouses_there(plan)?;
    if let Some(number) = missing(data, &there).first() {
        let message = format!(
            "warehouse {number} is not there: remove the tables with `plimsoll cleanup`, then `plimsoll prepare`"
        );
        return Err(WorkerFault::new(FailureClass::Data, message));
    }
    Ok(DataDone {
        rows_count: rows_count(data, data.numbers()) + u64::from(places(Table::Item)),
    })
}

fn run(connection: &mut Connection, sql: &str, doing: &str) -> Result<(), WorkerFault> {
    connection.query(sql).map(|_| ()).map_err(|error| blame(&error, doing))
}
