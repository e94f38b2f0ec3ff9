//! A table that is made row by row, whoever described it, and the grid of chunks in which that is done.
//!
//! Deliberately not here: what the rows are (see the data sets of the workloads).

use std::ops::RangeInclusive;

use plimsoll_core::message::FailureClass;
use plimsoll_engine::WorkerFault;
use plimsoll_wire::Connection;

use super::fault::{blame, differs};
use super::mark::{Found, Mark, State};
use super::row::Style;
use crate::control;

/// Rows in a chunk: one LOAD DATA, which is a transaction that any server and its binary log can hold. The grid depends on
/// nothing but the table's size, so that who goes on finds the chunks of who was interrupted.
pub const CHUNK_ROWS: u64 = 50_000;

/// Appends rows, by their number.
pub type Writer<'a> = Box<dyn FnMut(u64, &mut Vec<u8>) + 'a>;

/// A column that rises or falls with the number of the row, and is the first of the primary key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowKey {
    /// Its name, as messages show it.
    pub name: String,
    /// Its name, as statements have it.
    pub quoted: String,
    /// Its value in the first row.
    pub first: i128,
    /// From row to row.
    pub step: i128,
}

impl RowKey {
    /// A column of this name, which needs no quotation marks, that counts the rows from 1.
    pub fn counting(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            quoted: name.to_owned(),
            first: 1,
            step: 1,
        }
    }

    /// The smallest and the largest value in rows `first`..=`last`.
    pub fn ends(&self, first: u64, last: u64) -> RangeInclusive<i128> {
        let value = |row: u64| self.first + (i128::from(row) - 1) * self.step;
        let (one, other) = (value(first), value(last));
        one.min(other)..=one.max(other)
    }

    /// What is true of rows `first`..=`last` and of no others.
    pub fn condition(&self, first: u64, last: u64) -> String {
        let (low, high) = self.ends(first, last).into_inner();
        format!("{} BETWEEN {low} AND {high}", self.quoted)
    }
}

/// A foreign key of a table, as statements have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKey {
    /// The name of its constraint, not quoted.
    pub name: String,
    /// What ALTER TABLE takes to add it.
    pub add_sql: String,
    /// Finds the values of a row that refers to none.
    pub orphan_sql: String,
    /// What messages call it.
    pub label: String,
}

/// A table whose rows follow from their number, which is counted from 1.
pub trait Table: Sync {
    /// What messages call it.
    fn name(&self) -> String;
    /// What statements call it.
    fn quoted_name(&self) -> String {
        self.name()
    }
    /// How many rows it has once it is made.
    fn rows_count(&self) -> u64;
    /// Rows in each of its chunks but the last.
    fn chunk_rows(&self) -> u64 {
        CHUNK_ROWS
    }
    /// Creates it, empty and marked as unfinished.
    fn create_sql(&self) -> String;
    /// Makes the indexes that are made after the rows.
    fn index_sql(&self) -> Option<String> {
        None
    }
    /// The foreign keys that are made when all tables have their rows and indexes.
    fn foreign_keys(&self) -> Vec<ForeignKey> {
        vec![]
    }
    /// Its mark in this state.
    fn mark(&self, state: State) -> Mark;
    /// Whether a check takes a table of ours that carries this mark.
    fn accepts(&self, found: &Mark) -> bool {
        *found == self.mark(State::Complete)
    }
    /// Its columns, as INSERT and LOAD DATA list them.
    fn columns_sql(&self) -> String;
    /// The character set of its rows as they are written.
    fn character_set(&self) -> &'static str;
    /// Bytes of the longest row in any style.
    fn row_bytes_max(&self) -> usize;
    /// What appends its rows in this style.
    fn writer(&self, style: Style) -> Writer<'_>;
    /// What the server has for a row in [`Style::Content`]: its checksum is taken from it.
    ///
    /// Unless a table says otherwise, no column of it may be NULL: `CONCAT_WS` leaves that out, comma and all.
    fn content_sql(&self) -> String {
        // Converted, since a database may keep its texts in two or four bytes for each character.
        format!(
            "CONVERT(CONCAT_WS(',', '', {}) USING {})",
            self.columns_sql(),
            self.character_set()
        )
    }
    /// The columns that [`Self::content_sql`] leaves out, as messages show them.
    fn uncompared(&self) -> Vec<String> {
        vec![]
    }
    /// The column that tells rows by a range; without one they are told by lists of keys.
    fn row_key(&self) -> Option<&RowKey>;
    /// What is true of rows `first`..=`last` and of no others. They are at most as many as `rows_each_query` says.
    fn condition(&self, first: u64, last: u64) -> String;
    /// How many rows one query may read.
    fn rows_each_query(&self) -> u64 {
        u64::MAX
    }
    /// The values of a statement may not fit their columns, which the server tells by a warning.
    fn minds_warnings(&self) -> bool {
        false
    }
    /// What a table of this name lacks that somebody else may have made.
    ///
    /// # Errors
    /// Whatever the server said.
    fn lacks(&self, _connection: &mut Connection) -> Result<Vec<String>, WorkerFault> {
        Ok(vec![])
    }
    /// Whether a check takes this table only with exactly its number of rows: no workload changes that, say.
    fn is_fixed(&self, found: &Found) -> bool;
    /// Checks its shape, if it has more to it than its rows, and counts these. With `exactly`, there must be as many as were
    /// made.
    ///
    /// # Errors
    /// When it is different, or whatever the server said.
    fn count(&self, connection: &mut Connection, exactly: bool) -> Result<u64, WorkerFault> {
        let (name, wanted) = (self.name(), self.rows_count());
        let rows = connection.query_rows(&format!("SELECT COUNT(*) FROM {}", self.quoted_name()), 1);
        let rows = rows.map_err(|error| blame(&error, &format!("count the rows of {name}")))?;
        match control::first_number(&rows, 0) {
            Some(count) if count == wanted || !exactly => Ok(count),
            Some(count) => Err(differs(&name, &format!("has {count} rows and not {wanted}"))),
            None => {
                let message = format!("{name}: COUNT(*) gave no number; is this a MySQL server?");
                Err(WorkerFault::new(FailureClass::Target, message))
            }
        }
    }
    /// Checks, once it is made, that it has its shape, its indexes and exactly its number of rows.
    ///
    /// # Errors
    /// When it is different, or whatever the server said.
    fn inspect(&self, connection: &mut Connection) -> Result<(), WorkerFault> {
        self.count(connection, true).map(|_| ())
    }
}

/// Rows `first`..=`last` of one table.
#[derive(Clone, Copy)]
pub struct Slice<'a> {
    /// Whose.
    pub table: &'a dyn Table,
    /// First row, counted from 1.
    pub first: u64,
    /// Last row; less than the first when there are no rows.
    pub last: u64,
}

impl Slice<'_> {
    /// How many rows.
    pub fn rows(self) -> u64 {
        (self.last + 1).saturating_sub(self.first)
    }

    /// Whether both are of one table.
    pub fn is_beside(&self, other: &Self) -> bool {
        std::ptr::addr_eq(self.table, other.table)
    }

    /// What messages call it: `table1 rows 1 to 50000`.
    pub fn label(self) -> String {
        let name = self.table.name();
        match self.table.row_key() {
            Some(key) => {
                let (first, last) = key.ends(self.first, self.last).into_inner();
                format!("{name} {} {first} to {last}", key.name)
            }
            None => format!("{name} rows {} to {} as they were made", self.first, self.last),
        }
    }
}

/// The chunks of these tables, table by table, in the order of the rows.
pub fn chunks<'a>(tables: &[&'a dyn Table]) -> Vec<Slice<'a>> {
    let of_table = |table: &&'a dyn Table| {
        let table = *table;
        let (count, each) = (table.rows_count(), table.chunk_rows());
        (0..count.div_ceil(each)).map(move |at| Slice {
            table,
            first: at * each + 1,
            last: count.min((at + 1) * each),
        })
    };
    tables.iter().flat_map(of_table).collect()
}

/// The same tables, whatever kind they are.
pub fn as_tables<'a, T: Table + 'a>(tables: impl IntoIterator<Item = &'a T>) -> Vec<&'a dyn Table> {
    tables.into_iter().map(|table| table as &dyn Table).collect()
}

#[cfg(test)]
pub(crate) mod fixture {
    use super::*;

    /// A table of nothing but a number and so many rows.
    pub struct Numbered {
        pub number: u32,
        pub rows: u64,
    }

    impl Table for Numbered {
        fn name(&self) -> String {
            format!("table{}", self.number)
        }
        fn rows_count(&self) -> u64 {
            self.rows
        }
        fn create_sql(&self) -> String {
            String::new()
        }
        fn mark(&self, state: State) -> Mark {
            Mark::new("numbered", String::new(), state)
        }
        fn columns_sql(&self) -> String {
            String::new()
        }
        fn character_set(&self) -> &'static str {
            ""
        }
        fn row_bytes_max(&self) -> usize {
            0
        }
        fn writer(&self, _: Style) -> Writer<'_> {
            Box::new(|_, _| ())
        }
        fn row_key(&self) -> Option<&RowKey> {
            None
        }
        fn condition(&self, _: u64, _: u64) -> String {
            String::new()
        }
        fn is_fixed(&self, _: &Found) -> bool {
            true
        }
    }
}

#[cfg(test)]
mod tests {
    use super::fixture::Numbered;
    use super::*;

    #[test]
    fn the_grid_follows_from_the_size_alone() {
        let ends = |size: u64| -> Vec<String> {
            let tables = [1, 3].map(|number| Numbered { number, rows: size });
            chunks(&as_tables(&tables)).into_iter().map(Slice::label).collect()
        };
        let grid = [
            "table1 rows 1 to 50000 as they were made",
            "table1 rows 50001 to 100000 as they were made",
            "table1 rows 100001 to 120000 as they were made",
            "table3 rows 1 to 50000 as they were made",
        ];
        assert_eq!(ends(120_000)[..4], grid);
        assert_eq!(ends(0), [""; 0]);
    }

    #[test]
    fn keys_may_fall() {
        let key = RowKey {
            name: String::new(),
            quoted: String::new(),
            first: 5,
            step: -3,
        };
        assert_eq!(key.ends(1, 3), -1..=5);
        assert_eq!(RowKey::counting("id").condition(2, 5), "id BETWEEN 2 AND 5");
    }
}
