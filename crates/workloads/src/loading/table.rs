//! A table that is made row by row, whoever described it, and the grid of chunks in which that is done.
//!
//! Deliberately not here: what the rows are (see the data sets of the workloads).

use std::ops::RangeInclusive;

use plimsoll_engine::WorkerFault;
use plimsoll_wire::Connection;

use super::mark::State;

/// Rows in a chunk: one LOAD DATA, which is a transaction that any server and its binary log can hold. The grid depends on
/// nothing but the table's size, so that who goes on finds the chunks of who was interrupted.
pub const CHUNK_ROWS: u64 = 50_000;

/// How a row is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A line of LOAD DATA.
    Line,
    /// A row of INSERT, with a comma after it.
    Tuple,
    /// What [`Table::content_sql`] gives for it.
    Content,
}

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
    /// The smallest and the largest value in rows `first`..=`last`.
    pub fn ends(&self, first: u64, last: u64) -> RangeInclusive<i128> {
        let value = |row: u64| self.first + (i128::from(row) - 1) * self.step;
        let (one, other) = (value(first), value(last));
        one.min(other)..=one.max(other)
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
    fn quoted_name(&self) -> String;
    /// How many rows it has once it is made.
    fn rows_count(&self) -> u64;
    /// Rows in each of its chunks but the last.
    fn chunk_rows(&self) -> u64 {
        CHUNK_ROWS
    }
    /// Creates it, empty and marked as unfinished.
    fn create_sql(&self) -> String;
    /// Makes the indexes that are made after the rows.
    fn index_sql(&self) -> Option<String>;
    /// The foreign keys that are made when all tables have their rows and indexes.
    fn foreign_keys(&self) -> Vec<ForeignKey> {
        vec![]
    }
    /// The comment that says how far it is.
    fn comment(&self, state: State) -> String;
    /// Its columns, as INSERT and LOAD DATA list them.
    fn columns_sql(&self) -> String;
    /// Character set and separators of [`Style::Line`], as LOAD DATA has them.
    fn line_format(&self) -> &'static str;
    /// Bytes of the longest row in any style.
    fn row_bytes_max(&self) -> usize;
    /// What appends its rows in this style.
    fn writer(&self, style: Style) -> Writer<'_>;
    /// The bytes of a row from which its checksum is taken.
    fn content_sql(&self) -> String;
    /// The column that tells rows by a range; without one they are told by lists of keys.
    fn row_key(&self) -> Option<&RowKey>;
    /// What is true of rows `first`..=`last` and of no others. They are at most as many as `rows_each_query` says.
    fn condition(&self, first: u64, last: u64) -> String;
    /// How many rows one query may read.
    fn rows_each_query(&self) -> u64;
    /// The values of a statement may not fit their columns, which the server tells by a warning.
    fn minds_warnings(&self) -> bool;
    /// Checks that it has its shape, its indexes and exactly its number of rows.
    ///
    /// # Errors
    /// When it is different, or whatever the server said.
    fn inspect(&self, connection: &mut Connection) -> Result<(), WorkerFault>;
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
pub mod fixture {
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
        fn quoted_name(&self) -> String {
            self.name()
        }
        fn rows_count(&self) -> u64 {
            self.rows
        }
        fn create_sql(&self) -> String {
            String::new()
        }
        fn index_sql(&self) -> Option<String> {
            None
        }
        fn comment(&self, _: State) -> String {
            String::new()
        }
        fn columns_sql(&self) -> String {
            String::new()
        }
        fn line_format(&self) -> &'static str {
            ""
        }
        fn row_bytes_max(&self) -> usize {
            0
        }
        fn writer(&self, _: Style) -> Writer<'_> {
            Box::new(|_, _| ())
        }
        fn content_sql(&self) -> String {
            String::new()
        }
        fn row_key(&self) -> Option<&RowKey> {
            None
        }
        fn condition(&self, _: u64, _: u64) -> String {
            String::new()
        }
        fn rows_each_query(&self) -> u64 {
            u64::MAX
        }
        fn minds_warnings(&self) -> bool {
            false
        }
        fn inspect(&self, _: &mut Connection) -> Result<(), WorkerFault> {
            Ok(())
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
    }
}
