//! What a table should hold and what it does hold, chunk by chunk, without sending rows back: the server sums up CRC-32 over
//! the rows of a chunk, and we over the same rows as we would make them.
//!
//! A sum sees any row that is missing, too many, altered or moved to another key; that it misses one has a chance of about 2
//! to the power of -32 each. It is no protection against somebody who means to deceive.

use crc32fast::hash;
use plimsoll_core::message::FailureClass;
use plimsoll_core::plan::OltpData;
use plimsoll_engine::WorkerFault;
use plimsoll_wire::Connection;

use super::fault::blame;
use super::rows::{LINE, ROW_BYTES_MAX, Rows};
use crate::oltp::tables;

/// Rows in a chunk: one LOAD DATA, which is a transaction that any server and its binary log can hold. The grid depends on
/// nothing but the table's size, so that who goes on finds the chunks of who was interrupted.
pub const CHUNK_ROWS: u64 = 50_000;

/// Rows `first`..=`last` of one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Number of the table.
    pub table: u32,
    /// First id.
    pub first: u64,
    /// Last id; less than the first when there are no rows.
    pub last: u64,
}

impl Slice {
    /// How many rows.
    pub fn rows(self) -> u64 {
        (self.last + 1).saturating_sub(self.first)
    }
}

/// The chunks of tables of this size, table by table, in the order of the keys.
pub fn chunks(numbers: &[u32], size: u64) -> Vec<Slice> {
    let of_table = |table: &u32| {
        let table = *table;
        (0..size.div_ceil(CHUNK_ROWS)).map(move |at| Slice {
            table,
            first: at * CHUNK_ROWS + 1,
            last: size.min((at + 1) * CHUNK_ROWS),
        })
    };
    numbers.iter().flat_map(of_table).collect()
}

/// What some rows are, in short.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// How many.
    pub rows: u64,
    /// Smallest id; 0 when there are none.
    first: u64,
    /// Largest id; 0 when there are none.
    last: u64,
    /// CRC-32 of `id,k,c,pad` of each, summed up.
    sum: u64,
}

impl Content {
    /// Of these rows as they are made.
    pub fn wanted(data: &OltpData, slice: Slice) -> Self {
        if slice.rows() == 0 {
            return Self::default();
        }
        let rows = Rows::new(data, slice.table, LINE);
        let mut line = Vec::with_capacity(ROW_BYTES_MAX);
        let checksum = |id| {
            line.clear();
            rows.push(id, &mut line);
            u64::from(hash(line.trim_ascii_end()))
        };
        Self {
            rows: slice.rows(),
            first: slice.first,
            last: slice.last,
            sum: (slice.first..=slice.last).map(checksum).sum(),
        }
    }

    /// Of the rows that the server has between these ids.
    ///
    /// # Errors
    /// Whatever the server said.
    pub fn found(connection: &mut Connection, slice: Slice) -> Result<Self, WorkerFault> {
        let name = tables::name(slice.table);
        // Converted, since a database may keep its texts in two or four bytes for each character.
        let sql = format!(
            "SELECT COUNT(*), COALESCE(MIN(id), 0), COALESCE(MAX(id), 0), \
             COALESCE(SUM(CRC32(CONVERT(CONCAT_WS(',', id, k, c, pad) USING latin1))), 0) \
             FROM {name} WHERE id BETWEEN {} AND {}",
            slice.first, slice.last
        );
        let rows = connection
            .query_rows(&sql, 1)
            .map_err(|error| blame(&error, &format!("sum up the rows of {name}")))?;
        let numbers = rows.first().map_or(&[][..], |row| &row[..]);
        let numbers: Vec<u64> = numbers.iter().filter_map(|one| one.as_ref()?.parse().ok()).collect();
        let [rows, first, last, sum] = numbers[..] else {
            let message = format!("sum up the rows of {name}: the server gave no numbers; is this a MySQL server?");
            return Err(WorkerFault::new(FailureClass::Target, message));
        };
        Ok(Self { rows, first, last, sum })
    }
}

/// How many of the first rows of a chunk are there, as loading puts them there; `None` when there are others among them.
///
/// # Errors
/// Whatever the server said.
pub fn leading_rows(connection: &mut Connection, data: &OltpData, chunk: Slice) -> Result<Option<u64>, WorkerFault> {
    let found = Content::found(connection, chunk)?;
    let last = (chunk.first + found.rows).saturating_sub(1).min(chunk.last);
    let is_ours = found == Content::wanted(data, Slice { last, ..chunk });
    Ok(is_ours.then_some(found.rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(slices: &[Slice]) -> Vec<(u32, u64, u64)> {
        slices.iter().map(|one| (one.table, one.first, one.last)).collect()
    }

    #[test]
    fn the_grid_follows_from_the_size_alone() {
        let grid = [
            (1, 1, 50_000),
            (1, 50_001, 100_000),
            (1, 100_001, 120_000),
            (3, 1, 50_000),
        ];
        assert_eq!(ends(&chunks(&[1, 3], 120_000))[..4], grid);
        assert_eq!(chunks(&[1, 2], 0), []);
    }
}
