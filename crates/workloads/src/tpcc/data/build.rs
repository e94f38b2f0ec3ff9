//! Makes the nine tables: created, filled warehouse by warehouse, indexed, checked, completed; and drops them.
//!
//! Every function fails with whatever the server says.

use std::collections::HashSet;

use plimsoll_core::plan::{OrderNames, TpccData};
use plimsoll_engine::WorkerFault;
use plimsoll_wire::Connection;

use super::consistency;
use super::load::Loader;
use super::population::{self, positions};
use crate::control::first_number;
use crate::loading::fault::blame;
use crate::loading::make::index;
use crate::loading::pool::{LoaderPool, Meter};
use crate::tpcc::tables::{Table, tables};

/// The tables, each before those that its foreign keys refer to.
const CHILDREN_FIRST: [Table; 10] = [
    Table::History,
    Table::NewOrders,
    Table::NewOrder,
    Table::OrderLine,
    Table::Orders,
    Table::Customer,
    Table::Stock,
    Table::District,
    Table::Item,
    Table::Warehouse,
];

/// Drops these tables, those that refer to others first. The server looks at foreign keys too, and refuses to drop a table
/// that one refers to which this account cannot see.
pub fn drop_tables(pool: &mut LoaderPool<'_>, there: &[Table]) -> Result<(), WorkerFault> {
    let in_order = CHILDREN_FIRST.iter().filter(|table| there.contains(table));
    let names: Vec<&str> = in_order.map(|table| table.name()).collect();
    if names.is_empty() {
        return Ok(());
    }
    pool.work("drop", 1, &[names.join(", ")], |connection, names, meter| {
        run(
            connection,
            &format!("DROP TABLE IF EXISTS {names}"),
            &format!("drop {names}"),
        )?;
        meter.add(1);
        Ok(())
    })
}

pub fn create(pool: &mut LoaderPool<'_>, data: &TpccData) -> Result<(), WorkerFault> {
    pool.work("create", 1, &[()], |connection, (), meter| {
        for table in tables(data.order_names) {
            run(connection, &table.create_sql(data), &format!("create {}", table.name()))?;
        }
        meter.add(1);
        Ok(())
    })
}

/// What is loaded together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Items,
    Warehouse(u32),
}

/// The warehouses that are not among these.
pub fn missing(data: &TpccData, there: &[u32]) -> Vec<u32> {
    let there: HashSet<u32> = there.iter().copied().collect();
    data.numbers().filter(|number| !there.contains(number)).collect()
}

/// Removes rows of warehouses that are not complete, and waits for what is still under way there: what the last statement
/// of an engine that was killed did may be seen only now.
pub fn clear_unfinished(pool: &mut LoaderPool<'_>, data: &TpccData, there: &[u32]) -> Result<(), WorkerFault> {
    let missing = missing(data, there);
    let mut jobs = vec![format!(
        "DELETE FROM history WHERE {} NOT IN (SELECT w_id FROM warehouse)",
        Table::History.warehouse_column()
    )];
    for number in &missing {
        for table in tables(data.order_names)
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
    pool.work("clear", jobs.len() as u64, &jobs, |connection, sql, meter| {
        run(connection, sql, "remove rows of unfinished warehouses")?;
        meter.add(1);
        Ok(())
    })
}

pub fn load(pool: &mut LoaderPool<'_>, loader: &Loader, data: &TpccData, there: &[u32]) -> Result<(), WorkerFault> {
    let warehouses = missing(data, there).into_iter().map(Part::Warehouse);
    let parts: Vec<Part> = [Part::Items].into_iter().chain(warehouses).collect();
    let done = rows_of(data, there.iter().copied());
    pool.resume(
        "load",
        done,
        rows_count(data),
        &parts,
        |connection, part, meter| match *part {
            Part::Items => load_items(connection, loader, meter),
            Part::Warehouse(number) => load_warehouse(connection, loader, (number, data.order_names), meter),
        },
    )
}

/// Its own row goes last. Neighbours begin at opposite ends, so that two loaders seldom fill the same table at the same time.
fn load_warehouse(
    connection: &mut Connection,
    loader: &Loader,
    (number, names): (u32, OrderNames),
    meter: &Meter,
) -> Result<(), WorkerFault> {
    let mut tables = tables(names).to_vec();
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
    let count = first_number(&found, 0);
    if count == Some(positions(Table::Item)) {
        meter.add(u64::from(positions(Table::Item)));
        return Ok(());
    }
    if count != Some(0) {
        run(connection, "DELETE FROM item", "remove items")?;
    }
    loader.fill(connection, Table::Item, 0, meter)
}

/// Rows of all tables when they are loaded.
pub fn rows_count(data: &TpccData) -> u64 {
    rows_of(data, data.numbers()) + u64::from(positions(Table::Item))
}

/// Those of these warehouses.
fn rows_of(data: &TpccData, warehouses: impl Iterator<Item = u32>) -> u64 {
    warehouses.map(|number| population::rows_count(data.seed, number)).sum()
}

/// Indexes, foreign keys, statistics, the conditions, and the word that all is complete.
pub fn finish(pool: &mut LoaderPool<'_>, data: &TpccData) -> Result<(), WorkerFault> {
    let all = tables(data.order_names);
    let indexed: Vec<(Table, String)> = all
        .iter()
        .filter_map(|table| Some((*table, table.index_sql(data.order_names)?)))
        .collect();
    pool.work(
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
        add_foreign_keys(pool, &all)?;
    }
    pool.work("analyze", all.len() as u64, &all, |connection, table, meter| {
        let name = table.name();
        run(connection, &format!("ANALYZE TABLE {name}"), &format!("analyze {name}"))?;
        meter.add(1);
        Ok(())
    })?;
    consistency::check(pool, data)?;
    // Where tables refer to each other, changing one locks others too: two at a time would be a deadlock.
    let at_a_time = if data.foreign_keys { all.len() } else { 1 };
    let parts: Vec<&[Table]> = all.chunks(at_a_time).collect();
    pool.work("complete", all.len() as u64, &parts, |connection, tables, meter| {
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
fn add_foreign_keys(pool: &mut LoaderPool<'_>, tables: &[Table]) -> Result<(), WorkerFault> {
    pool.work("foreign keys", 1, &[()], |connection, (), meter| {
        run(connection, "SET foreign_key_checks = 0", "switch the look at rows off")?;
        for table in tables {
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

fn run(connection: &mut Connection, sql: &str, doing: &str) -> Result<(), WorkerFault> {
    connection.query(sql).map(|_| ()).map_err(|error| blame(&error, doing))
}
