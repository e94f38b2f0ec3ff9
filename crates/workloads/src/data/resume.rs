//! What an interrupted load left behind: which chunks are whole, which have their first rows, and which have none.
//!
//! A chunk goes by one LOAD DATA, which takes effect as a whole or not at all, or by inserts in the order of the rows. So it
//! holds all its rows, none, or the first of them, and loading goes on behind those: deleting them first would leave gaps in
//! the pages. Whatever else is found was not loaded by us and is refused, never removed.

use std::sync::Mutex;

use plimsoll_engine::WorkerFault;
use plimsoll_wire::Connection;

use super::content::leading_rows;
use super::crew::Crew;
use super::fault::blame;
use super::inspect::differs;
use super::table::{RowKey, Slice, Table, chunks};

/// What is still to do.
#[derive(Default)]
pub struct Rest<'a> {
    /// What is missing of each chunk, table by table, in the order of the rows.
    pub missing: Vec<Slice<'a>>,
    /// Rows that are there, all tables together.
    pub kept_rows: u64,
}

/// Looks at tables that are marked as unfinished.
///
/// # Errors
/// When one holds rows that loading does not put there, or whatever the server said.
pub fn look<'a>(crew: &mut Crew<'_>, tables: &[&'a dyn Table]) -> Result<Rest<'a>, WorkerFault> {
    let chunks = chunks(tables);
    let total = tables.iter().map(|table| table.rows_count()).sum();
    let kept = Mutex::new(vec![0; chunks.len()]);
    let places: Vec<usize> = (0..chunks.len()).collect();
    crew.work("resume", total, &places, |connection, place, meter| {
        let chunk = chunks[*place];
        if let (1, Some(key)) = (chunk.first, chunk.table.row_key()) {
            outside(connection, chunk.table, key)?;
        }
        let rows = leading_rows(connection, chunk)?.ok_or_else(|| foreign(chunk))?;
        kept.lock().expect("no loader panics while it notes rows")[*place] = rows;
        meter.add(chunk.rows());
        Ok(())
    })?;
    let kept = kept.into_inner().expect("no loader panicked");
    let rest = chunks.iter().zip(&kept).map(|(chunk, rows)| Slice {
        first: chunk.first + rows,
        ..*chunk
    });
    Ok(Rest {
        missing: rest.filter(|rest| rest.rows() > 0).collect(),
        kept_rows: kept.iter().sum(),
    })
}

/// Rows beyond all chunks are nobody's that we know. Where keys do not tell, they are found when all rows are counted.
fn outside(connection: &mut Connection, table: &dyn Table, key: &RowKey) -> Result<(), WorkerFault> {
    let sql = format!("SELECT MIN({0}), MAX({0}) FROM {1}", key.quoted, table.quoted_name());
    let rows = connection
        .query_rows(&sql, 1)
        .map_err(|error| blame(&error, &format!("look at the keys of {}", table.name())))?;
    let number = |at: usize| rows.first()?.get(at)?.as_ref()?.parse::<i128>().ok();
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
    differs(&chunk.shown(), how)
}
