//! Foreign keys between tables: added when all rows and indexes are there, taken away before tables are dropped.
//!
//! All by one connection: where tables refer to each other, changing one locks others too, and two at a time would be a
//! deadlock.

use plimsoll_core::message::FailureClass;
use plimsoll_engine::WorkerFault;
use plimsoll_wire::Connection;

use super::fault::{blame, run};
use super::pool::LoaderPool;
use super::table::{ForeignKey, Table};
use crate::control::NAMES_MAX;

/// Adds what these tables lack of their foreign keys. Rows are looked at by a query of ours: with `foreign_key_checks` the
/// server would copy each table.
///
/// # Errors
/// When a row refers to none, or whatever the server said.
pub fn add(pool: &mut LoaderPool<'_>, tables: &[&dyn Table]) -> Result<(), WorkerFault> {
    let wanted: Vec<(&dyn Table, Vec<ForeignKey>)> = tables
        .iter()
        .map(|table| (*table, table.foreign_keys()))
        .filter(|(_, keys)| !keys.is_empty())
        .collect();
    if wanted.is_empty() {
        return Ok(());
    }
    pool.work("foreign keys", wanted.len() as u64, &[()], |connection, (), meter| {
        run(connection, "SET foreign_key_checks = 0", "switch the look at rows off")?;
        for (table, keys) in &wanted {
            add_to(connection, *table, keys)?;
            meter.add(1);
        }
        Ok(())
    })
}

fn add_to(connection: &mut Connection, table: &dyn Table, keys: &[ForeignKey]) -> Result<(), WorkerFault> {
    let missing = missing(connection, table, keys)?;
    if missing.is_empty() {
        return Ok(());
    }
    for key in &missing {
        refuse_orphans(connection, key)?;
    }
    let added: Vec<&str> = missing.iter().map(|key| &*key.add_sql).collect();
    let sql = format!("ALTER TABLE {} {}", table.quoted_name(), added.join(", "));
    let outcome = run(connection, &sql, &format!("add foreign keys to {}", table.name()));
    // The statement of an engine that was killed may have ended only now.
    match outcome {
        Err(fault) if !self::missing(connection, table, keys)?.is_empty() => Err(fault),
        _ => Ok(()),
    }
}

fn missing<'a>(
    connection: &mut Connection,
    table: &dyn Table,
    keys: &'a [ForeignKey],
) -> Result<Vec<&'a ForeignKey>, WorkerFault> {
    let there = constraints(connection, "CONSTRAINT_SCHEMA")?;
    let is_there = |key: &ForeignKey| {
        let mut of_table = there.iter().filter(|one| is_same(&one.table, &table.name()));
        of_table.any(|one| is_same(&one.name, &key.name))
    };
    Ok(keys.iter().filter(|key| !is_there(key)).collect())
}

fn refuse_orphans(connection: &mut Connection, key: &ForeignKey) -> Result<(), WorkerFault> {
    let label = &key.label;
    let rows = connection.query_rows(&key.orphan_sql, 1);
    let rows = rows.map_err(|error| blame(&error, &format!("look whether each row of {label}")))?;
    let Some(row) = rows.first() else { return Ok(()) };
    let values: Vec<&str> = row.iter().map(|value| value.as_deref().unwrap_or("NULL")).collect();
    let message = format!(
        "{label}, but there is no row with {}: let the generators make only values that are there, as \"reference\" \
         does, then prepare again",
        values.join(", ")
    );
    Err(WorkerFault::new(FailureClass::Target, message))
}

/// A foreign key that is there.
struct Constraint {
    schema: String,
    table: String,
    name: String,
    referred: String,
}

/// Those whose tables (`CONSTRAINT_SCHEMA`), or the tables that they refer to (`UNIQUE_CONSTRAINT_SCHEMA`), are here.
fn constraints(connection: &mut Connection, schema_column: &str) -> Result<Vec<Constraint>, WorkerFault> {
    let sql = format!(
        "SELECT CONSTRAINT_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, REFERENCED_TABLE_NAME \
         FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE {schema_column} = DATABASE()"
    );
    let rows = connection.query_rows(&sql, NAMES_MAX);
    let rows = rows.map_err(|error| blame(&error, "look at foreign keys"))?;
    let constraint = |row: Vec<Option<String>>| {
        let [schema, table, name, referred] = <[Option<String>; 4]>::try_from(row).ok()?;
        Some(Constraint {
            schema: schema?,
            table: table?,
            name: name?,
            referred: referred?,
        })
    };
    Ok(rows.into_iter().filter_map(constraint).collect())
}

/// Takes away the foreign keys that refer to tables which are to be dropped, so that these can be dropped in any order.
///
/// `own` are the tables that may be changed for it, by the name that messages have and as statements have it.
///
/// # Errors
/// When another table refers to one of them: then nothing is changed. Or whatever the server said.
pub fn release(pool: &LoaderPool<'_>, dropped: &[String], own: &[(String, String)]) -> Result<(), WorkerFault> {
    let mut connection = pool.connect()?;
    let here = database(&mut connection)?;
    let mut jobs = Vec::new();
    for one in constraints(&mut connection, "UNIQUE_CONSTRAINT_SCHEMA")? {
        let is_dropped = dropped.iter().any(|name| is_same(name, &one.referred));
        let refers_to_itself = one.schema == here && is_same(&one.table, &one.referred);
        if !is_dropped || refers_to_itself {
            continue;
        }
        let table = own
            .iter()
            .find(|(name, _)| one.schema == here && is_same(name, &one.table));
        let Some((_, quoted)) = table else {
            return Err(others_refer(&one));
        };
        let name = one.name.replace('`', "``");
        jobs.push((format!("ALTER TABLE {quoted} DROP FOREIGN KEY `{name}`"), one.table));
    }
    for (sql, table) in jobs {
        run(&mut connection, &sql, &format!("drop a foreign key of {table}"))?;
    }
    connection.close();
    Ok(())
}

fn database(connection: &mut Connection) -> Result<String, WorkerFault> {
    let rows = connection.query_rows("SELECT DATABASE()", 1);
    let rows = rows.map_err(|error| blame(&error, "ask for the database"))?;
    Ok(rows.into_iter().flatten().flatten().next().unwrap_or_default())
}

fn others_refer(one: &Constraint) -> WorkerFault {
    let Constraint {
        schema,
        table,
        name,
        referred,
    } = one;
    let message = format!(
        "{schema}.{table}, which Plimsoll did not make, refers to {referred} by the foreign key {name}, so nothing was \
         dropped: drop that foreign key first"
    );
    WorkerFault::new(FailureClass::Target, message)
}

/// As servers may compare names of tables.
fn is_same(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}
