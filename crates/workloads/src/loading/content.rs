//! What a table should hold and what it does hold, chunk by chunk, without sending rows back: the server sums up CRC-32 over
//! the rows of a chunk, and we over the same rows as we would make them.
//!
//! A sum sees any row that is missing, too many, altered or moved to another key; that it misses one has a chance of about 2
//! to the power of -32 each. It is no protection against somebody who means to deceive.

use crc32fast::hash;
use plimsoll_core::message::FailureClass;
use plimsoll_engine::WorkerFault;
use plimsoll_wire::Connection;

use super::fault::{blame, run};
use super::row::Style;
use super::table::Slice;
use crate::control::first_number;

/// What some rows are, in short.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// How many.
    pub rows: u64,
    /// CRC-32 of each, keys included, summed up.
    sum: u64,
}

impl Content {
    /// Of these rows as they are made.
    pub fn wanted(slice: Slice<'_>) -> Self {
        let mut write = slice.table.writer(Style::Content);
        let mut bytes = Vec::with_capacity(slice.table.row_bytes_max());
        let checksum = |row| {
            bytes.clear();
            write(row, &mut bytes);
            u64::from(hash(&bytes))
        };
        Self {
            rows: slice.rows(),
            sum: (slice.first..=slice.last).map(checksum).sum(),
        }
    }

    /// Of the rows that the server has under the keys of these.
    ///
    /// # Errors
    /// Whatever the server said.
    pub fn found(connection: &mut Connection, slice: Slice<'_>) -> Result<Self, WorkerFault> {
        let (mut all, mut first) = (Self::default(), slice.first);
        while first <= slice.last {
            let last = slice.last.min(first.saturating_add(slice.table.rows_each_query() - 1));
            let part = Self::found_at_once(connection, Slice { first, last, ..slice })?;
            all.rows += part.rows;
            all.sum += part.sum;
            first = last + 1;
        }
        Ok(all)
    }

    /// The same by one statement.
    fn found_at_once(connection: &mut Connection, slice: Slice<'_>) -> Result<Self, WorkerFault> {
        let table = slice.table;
        let sql = format!(
            "SELECT COUNT(*), COALESCE(SUM(CRC32({})), 0) FROM {} WHERE {}",
            table.content_sql(),
            table.quoted_name(),
            table.condition(slice.first, slice.last)
        );
        let doing = format!("sum up the rows of {}", table.name());
        let rows = connection.query_rows(&sql, 1).map_err(|error| blame(&error, &doing))?;
        let (Some(rows), Some(sum)) = (first_number(&rows, 0), first_number(&rows, 1)) else {
            let message = format!("{doing}: the server gave no numbers; is this a MySQL server?");
            return Err(WorkerFault::new(FailureClass::Target, message));
        };
        Ok(Self { rows, sum })
    }
}

/// How many of the first rows of a chunk are there, as loading puts them there; `None` when there are others among them.
///
/// All statements see the rows of one moment. Otherwise the last statement of an engine that was killed might take effect
/// between them, and some would count its rows and others not.
///
/// # Errors
/// Whatever the server said.
pub fn leading_rows(connection: &mut Connection, chunk: Slice<'_>) -> Result<Option<u64>, WorkerFault> {
    let doing = format!("sum up the rows of {}", chunk.table.name());
    run(connection, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", &doing)?;
    run(connection, "START TRANSACTION WITH CONSISTENT SNAPSHOT", &doing)?;
    let found = Content::found(connection, chunk)?;
    run(connection, "COMMIT", &doing)?;
    let last = (chunk.first + found.rows).saturating_sub(1).min(chunk.last);
    let is_ours = found == Content::wanted(Slice { last, ..chunk });
    Ok(is_ours.then_some(found.rows))
}
