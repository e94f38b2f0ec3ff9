//! What an interrupted load left behind: which chunks are whole, which have their first rows, and which have none.
//!
//! A chunk goes by one LOAD DATA, which takes effect as a whole or not at all, or by inserts in the order of the keys. So it
//! holds all its rows, none, or the first of them, and loading goes on behind those: deleting them first would leave gaps in
//! the pages. Whatever else is found was not loaded by us and is refused, never removed.

use std::sync::Mutex;

use plimsoll_core::plan::OltpData;
use plimsoll_engine::WorkerFault;
use plimsoll_wire::Connection;

use super::content::{Slice, chunks, leading_rows};
use super::crew::Crew;
use super::fault::blame;
use super::inspect::{differs, key_range};
use crate::oltp::tables;

/// What is still to do.
#[derive(Debug, Default)]
pub struct Rest {
    /// What is missing of each chunk, table by table, in the order of the keys.
    pub missing: Vec<Slice>,
    /// Rows that are there, all tables together.
    pub kept_rows: u64,
}

/// Looks at tables of this data set that are marked as unfinished.
///
/// # Errors
/// When one holds rows that loading does not put there, or whatever the server said.
pub fn look(crew: &mut Crew<'_>, numbers: &[u32], data: &OltpData) -> Result<Rest, WorkerFault> {
    let chunks = chunks(numbers, data.rows_each());
    let total = numbers.len() as u64 * data.rows_each();
    let kept = Mutex::new(vec![0; chunks.len()]);
    let places: Vec<usize> = (0..chunks.len()).collect();
    crew.work("resume", total, &places, |connection, place, meter| {
        let chunk = chunks[*place];
        if chunk.first == 1 {
            outside(connection, chunk.table, data.rows_each())?;
        }
        let rows =
            leading_rows(connection, data, chunk)?.ok_or_else(|| foreign(chunk.table, chunk.first, chunk.last))?;
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

/// Rows beyond all chunks are nobody's that we know.
fn outside(connection: &mut Connection, number: u32, size: u64) -> Result<(), WorkerFault> {
    let range = key_range(connection, number)
        .map_err(|error| blame(&error, &format!("look at the keys of {}", tables::name(number))))?;
    match range {
        Some(range) if range.first < 1 || u64::try_from(range.last).is_ok_and(|last| last > size) => Err(differs(
            &tables::name(number),
            &format!(
                "is unfinished and has ids from {} to {}, beyond its own 1 to {size}",
                range.first, range.last
            ),
        )),
        _ => Ok(()),
    }
}

fn foreign(number: u32, first: u64, last: u64) -> WorkerFault {
    let how =
        format!("is unfinished, and its rows from id {first} to {last} are others than an interrupted load leaves");
    differs(&tables::name(number), &how)
}
