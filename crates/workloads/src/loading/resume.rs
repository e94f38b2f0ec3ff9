//! What an interrupted load left behind: which chunks are whole, which have their first rows, and which have none.
//!
//! A chunk goes by one LOAD DATA, which takes effect as a whole or not at all, or by inserts in the order of the rows. So it
//! holds all its rows, none, or the first of them, and loading goes on behind those: deleting them first would leave gaps in
//! the pages. Whatever else is found was not loaded by us and is refused, never removed.

use std::sync::Mutex;

use plimsoll_engine::WorkerFault;
use plimsoll_wire::Connection;

use super::content::leading_rows;
use super::fault::{blame, differs};
use super::pool::LoaderPool;
use super::table::{RowKey, Slice, Table, chunks};
use crate::control::first_number;

/// What is still to do.
#[derive(Default)]
pub struct Rest<'a> {
    /// What is missing of each chunk, table by table, in the order of the rows.
    pub missing: Vec<Slice<'a>>,
    /// Rows that are there, all tables together.
    pub loaded_rows: u64,
}

/// What is still to do of tables that are marked as unfinished.
///
/// # Errors
/// When one holds rows that loading does not put there, or whatever the server said.
pub fn remaining<'a>(pool: &mut LoaderPool<'_>, tables: &[&'a dyn Table]) -> Result<Rest<'a>, WorkerFault> {
    let chunks = chunks(tables);
    let total = tables.iter().map(|table| table.rows_count()).sum();
    let loaded = Mutex::new(vec![0; chunks.len()]);
    let positions: Vec<usize> = (0..chunks.len()).collect();
    pool.work("resume", total, &positions, |connection, position, meter| {
        let chunk = chunks[*position];
        if let (1, Some(key)) = (chunk.first, chunk.table.row_key()) {
            outside(connection, chunk.table, key)?;
        }
        let rows = leading_rows(connection, chunk)?.ok_or_else(|| foreign(chunk))?;
        loaded.lock().expect("no loader panics while it notes rows")[*position] = rows;
        meter.add(chunk.rows());
        Ok(())
    })?;
    let loaded = loaded.into_inner().expect("no loader panicked");
    let rest = chunks.iter().zip(&loaded).map(|(chunk, rows)| Slice {
        first: chunk.first + rows,
        ..*chunk
    });
    Ok(Rest {
        missing: rest.filter(|rest| rest.rows() > 0).collect(),
        loaded_rows: loaded.iter().sum(),
    })
}

/// Rows beyond all chunks are nobody's that we know. Where keys do not tell, they are found when all rows are counted.
fn outside(connection: &mut Connection, table: &dyn Table, key: &RowKey) -> Result<(), WorkerFault> {
    let sql = format!("SELECT MIN({0}), MAX({0}) FROM {1}", key.quoted, table.quoted_name());
    let rows = connection
        .query_rows(&sql, 1)
        .map_err(|error| blame(&error, &format!("look at the keys of {}", table.name())))?;
    let number = |column| first_number::<i128>(&rows, column);
    let (own_first, own_last) = key.ends(1, table.rows_count()).into_inner();
    match (number(0), number(1)) {
        (Some(first), Some(last)) if first < own_first || last > own_last => Err(differs(
            &table.name(),
            &format!(
                "is unfinished and has {} from {first} to {last}, beyond its own {own_first} to {own_last}",
                key.name
            ),
        )),
        _ => Ok(()),
    }
}

fn foreign(chunk: Slice<'_>) -> WorkerFault {
    let how = "is unfinished, and these rows are others than an interrupted load leaves";
    differs(&chunk.label(), how)
}
