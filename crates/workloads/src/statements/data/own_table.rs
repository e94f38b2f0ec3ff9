//! A user's own table, as loading and comparing see it.
//!
//! Its rows are told by a range of the primary key where that begins with a sequence, by lists of its keys where it does
//! not, and all at once where there is none.

use plimsoll_core::plan::{ColumnPlan, Generator, TablePlan};
use plimsoll_engine::WorkerFault;
use plimsoll_session::Kept;
use plimsoll_wire::Connection;

use super::{CATALOGUE_ROWS_MAX, count_as_made};
use crate::data::fault::blame;
use crate::data::inspect::differs;
use crate::data::table::{CHUNK_ROWS, RowKey, Style, Table, Writer};
use crate::statements::rows::{NULL_CONTENT, TableRows};
use crate::statements::shown::Shown;
use crate::statements::table::{Mark, State, create_sql, index_sql, literal, quoted, quoted_list};

/// Keys in one statement: servers look each up by the index, and forget about it when there are too many.
const KEYS_MAX: u64 = 1_000;

/// One of a user's tables.
pub struct OwnTable<'a> {
    plan: &'a TablePlan,
    seed: u64,
    rows: TableRows,
    key: Option<RowKey>,
}

impl<'a> OwnTable<'a> {
    /// A table without faults.
    pub fn new(plan: &'a TablePlan, seed: u64) -> Self {
        Self {
            plan,
            seed,
            rows: TableRows::new(plan, seed),
            key: row_key(plan),
        }
    }

    fn has_key(&self) -> bool {
        !self.plan.primary_key.is_empty()
    }

    /// The places of the columns of the primary key.
    fn key_places(&self) -> Vec<usize> {
        let place = |name: &String| self.plan.columns.iter().position(|column| column.name == *name);
        self.plan.primary_key.iter().filter_map(place).collect()
    }
}

/// The first column of the primary key, when its values follow from the number of the row.
fn row_key(plan: &TablePlan) -> Option<RowKey> {
    let name = plan.primary_key.first()?;
    let column = plan.columns.iter().find(|column| column.name == *name)?;
    match column.generator {
        Generator::Sequence { first, step } if step != 0 && Shown::of(column) == Some(Shown::Number(0)) => {
            Some(RowKey {
                name: name.clone(),
                quoted: quoted(name),
                first: i128::from(first),
                step: i128::from(step),
            })
        }
        _ => None,
    }
}

/// The columns whose values cannot be compared.
pub fn uncompared(plan: &TablePlan) -> impl Iterator<Item = &ColumnPlan> {
    plan.columns.iter().filter(|column| Shown::of(column).is_none())
}

impl Table for OwnTable<'_> {
    fn name(&self) -> String {
        self.plan.name.clone()
    }

    fn quoted_name(&self) -> String {
        quoted(&self.plan.name)
    }

    fn rows_count(&self) -> u64 {
        self.plan.rows
    }

    fn chunk_rows(&self) -> u64 {
        if self.has_key() { CHUNK_ROWS } else { u64::MAX }
    }

    fn create_sql(&self) -> String {
        create_sql(self.plan, self.seed)
    }

    fn index_sql(&self) -> Option<String> {
        index_sql(self.plan)
    }

    fn complete_mark(&self) -> String {
        Mark::new(self.plan, self.seed, State::Complete).text()
    }

    fn columns_sql(&self) -> String {
        let names: Vec<String> = self.plan.columns.iter().map(|column| column.name.clone()).collect();
        quoted_list(&names)
    }

    fn line_format(&self) -> &'static str {
        "CHARACTER SET utf8mb4 FIELDS TERMINATED BY X'09' ESCAPED BY X'5C' LINES TERMINATED BY X'0A'"
    }

    fn row_bytes_max(&self) -> usize {
        self.rows.bytes_max()
    }

    fn writer(&self, style: Style) -> Writer<'_> {
        let mut kept = Kept::default();
        Box::new(move |row, out| self.rows.push((row - 1) as u32, style, &mut kept, out))
    }

    fn content_sql(&self) -> String {
        let compared = self.plan.columns.iter().filter(|column| Shown::of(column).is_some());
        let shown = |column: &ColumnPlan| {
            let name = quoted(&column.name);
            format!(", IFNULL(CONVERT({name} USING utf8mb4), X'{NULL_CONTENT:02X}')")
        };
        let shown: String = compared.map(shown).collect();
        format!("CONCAT_WS(X'2C', X''{shown})")
    }

    fn row_key(&self) -> Option<&RowKey> {
        self.key.as_ref()
    }

    fn condition(&self, first: u64, last: u64) -> String {
        if let Some(key) = &self.key {
            let (low, high) = key.ends(first, last).into_inner();
            return format!("{} BETWEEN {low} AND {high}", key.quoted);
        }
        if !self.has_key() {
            return "TRUE".to_owned();
        }
        let (places, mut kept) = (self.key_places(), Kept::default());
        let mut keys = Vec::new();
        for row in first..=last {
            if row > first {
                keys.push(b',');
            }
            self.rows.push_key((row - 1) as u32, &places, &mut kept, &mut keys);
        }
        let keys = String::from_utf8(keys).expect("values are text");
        format!("({}) IN ({keys})", quoted_list(&self.plan.primary_key))
    }

    fn rows_each_look(&self) -> u64 {
        if self.key.is_some() || !self.has_key() {
            u64::MAX
        } else {
            KEYS_MAX
        }
    }

    fn minds_warnings(&self) -> bool {
        true
    }

    fn look(&self, connection: &mut Connection) -> Result<(), WorkerFault> {
        let name = &self.plan.name;
        let sql = format!(
            "SELECT DISTINCT INDEX_NAME FROM information_schema.STATISTICS \
             WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {}",
            literal(name)
        );
        let rows = connection
            .query_rows(&sql, CATALOGUE_ROWS_MAX)
            .map_err(|error| blame(&error, &format!("look at {name}")))?;
        let is_there = |wanted: &str| {
            let mut names = rows.iter().filter_map(|row| row.first()?.as_deref());
            names.any(|found| found.eq_ignore_ascii_case(wanted))
        };
        if let Some(missing) = self.plan.indexes.iter().find(|index| !is_there(&index.name)) {
            return Err(differs(name, &format!("has no index {}", missing.name)));
        }
        count_as_made(connection, self.plan).map(|_| ())
    }
}
