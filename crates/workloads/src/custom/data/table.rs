//! A user's own table, as loading and comparing see it.
//!
//! Its rows are told by a range of the primary key where that begins with a sequence, by lists of its keys where it does
//! not, and all at once where there is none.

use plimsoll_core::plan::{ColumnPlan, Generator, StatementsData, TablePlan};
use plimsoll_engine::WorkerFault;
use plimsoll_session::Captured;
use plimsoll_wire::Connection;

use super::canonical::Canonical;
use super::catalogue::{column_faults, missing_index};
use super::definition::{create_sql, foreign_key, index_sql, mark, quoted, quoted_list};
use super::rows::TableRows;
use crate::loading::fault::differs;
use crate::loading::mark::{Found, Mark, State};
use crate::loading::row::{NULL_CONTENT, Style};
use crate::loading::table::{CHUNK_ROWS, ForeignKey, RowKey, Table, Writer};

/// Keys in one statement: servers look each up by the index, and forget about it when there are too many.
const KEYS_MAX: u64 = 1_000;

/// One of a user's tables.
pub struct CustomTable<'a> {
    plan: &'a TablePlan,
    seed: u64,
    /// Workloads insert or delete its rows.
    changing: bool,
    rows: TableRows,
    key: Option<RowKey>,
}

impl<'a> CustomTable<'a> {
    /// A table without faults.
    pub fn new(plan: &'a TablePlan, data: &StatementsData) -> Self {
        let StatementsData { seed, changing, .. } = *data;
        Self {
            plan,
            seed,
            changing,
            rows: TableRows::new(plan, seed),
            key: row_key(plan),
        }
    }

    fn has_key(&self) -> bool {
        !self.plan.primary_key.is_empty()
    }

    /// The positions of the columns of the primary key.
    fn key_positions(&self) -> Vec<usize> {
        let position = |name: &String| self.plan.columns.iter().position(|column| column.name == *name);
        self.plan.primary_key.iter().filter_map(position).collect()
    }
}

/// The first column of the primary key, when its values follow from the number of the row and no two rows share one.
fn row_key(plan: &TablePlan) -> Option<RowKey> {
    let name = plan.primary_key.first()?;
    let column = plan.columns.iter().find(|column| column.name == *name)?;
    match column.generator {
        Generator::Sequence {
            first,
            step,
            each: 1,
            cycle,
        } if step != 0
            && cycle.is_none_or(|count| count >= plan.rows)
            && Canonical::of(column) == Some(Canonical::Number(0)) =>
        {
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

impl Table for CustomTable<'_> {
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

    fn foreign_keys(&self) -> Vec<ForeignKey> {
        let keys = self.plan.foreign_keys.iter();
        keys.map(|key| foreign_key(self.plan, key)).collect()
    }

    fn mark(&self, state: State) -> Mark {
        mark(self.plan, self.seed, state)
    }

    fn columns_sql(&self) -> String {
        let names: Vec<String> = self.plan.columns.iter().map(|column| column.name.clone()).collect();
        quoted_list(&names)
    }

    fn character_set(&self) -> &'static str {
        "utf8mb4"
    }

    fn row_bytes_max(&self) -> usize {
        self.rows.bytes_max()
    }

    fn writer(&self, style: Style) -> Writer<'_> {
        let mut value = Captured::default();
        Box::new(move |row, out| self.rows.push((row - 1) as u32, style, &mut value, out))
    }

    fn content_sql(&self) -> String {
        let compared = self
            .plan
            .columns
            .iter()
            .filter(|column| Canonical::of(column).is_some());
        let content = |column: &ColumnPlan| {
            let name = quoted(&column.name);
            format!(", IFNULL(CONVERT({name} USING utf8mb4), X'{NULL_CONTENT:02X}')")
        };
        let contents: String = compared.map(content).collect();
        format!("CONCAT_WS(X'2C', X''{contents})")
    }

    fn uncompared(&self) -> Vec<String> {
        let left_out = self
            .plan
            .columns
            .iter()
            .filter(|column| Canonical::of(column).is_none());
        left_out
            .map(|column| format!("{}.{} ({})", self.plan.name, column.name, column.sql_type))
            .collect()
    }

    fn row_key(&self) -> Option<&RowKey> {
        self.key.as_ref()
    }

    fn condition(&self, first: u64, last: u64) -> String {
        if let Some(key) = &self.key {
            return key.condition(first, last);
        }
        if !self.has_key() {
            return "TRUE".to_owned();
        }
        let (positions, mut value) = (self.key_positions(), Captured::default());
        let mut keys = Vec::new();
        for row in first..=last {
            if row > first {
                keys.push(b',');
            }
            self.rows.push_key((row - 1) as u32, &positions, &mut value, &mut keys);
        }
        let keys = String::from_utf8(keys).expect("values are text");
        format!("({}) IN ({keys})", quoted_list(&self.plan.primary_key))
    }

    fn rows_each_query(&self) -> u64 {
        if self.key.is_some() || !self.has_key() {
            u64::MAX
        } else {
            KEYS_MAX
        }
    }

    fn minds_warnings(&self) -> bool {
        true
    }

    fn lacks(&self, connection: &mut Connection) -> Result<Vec<String>, WorkerFault> {
        column_faults(connection, self.plan)
    }

    fn is_fixed(&self, found: &Found) -> bool {
        !self.changing && *found != Found::Foreign
    }

    fn inspect(&self, connection: &mut Connection) -> Result<(), WorkerFault> {
        if let Some(index) = missing_index(connection, self.plan)? {
            return Err(differs(&self.plan.name, &format!("has no index {index}")));
        }
        self.count(connection, true).map(|_| ())
    }
}
