//! The table of the workload.

use plimsoll_workloads::loading::mark::{Found, Mark, State};
use plimsoll_workloads::loading::row::{RowWriter, Style};
use plimsoll_workloads::loading::table::{RowKey, Table, Writer};

/// What the table is called in its mark.
pub const KIND: &str = "counter";

/// What it is called in statements.
pub const NAME: &str = "counter";

/// The table: each row has its number, and how often it was counted.
pub struct CounterTable {
    rows: u64,
    key: RowKey,
}

impl CounterTable {
    /// With so many rows.
    pub fn new(rows: u64) -> Self {
        let key = RowKey::counting("id");
        Self { rows, key }
    }
}

impl Table for CounterTable {
    fn name(&self) -> String {
        NAME.to_owned()
    }

    fn rows_count(&self) -> u64 {
        self.rows
    }

    fn create_sql(&self) -> String {
        let mark = self.mark(State::Loading).text();
        format!("CREATE TABLE {NAME} (id INT NOT NULL PRIMARY KEY, n INT NOT NULL) COMMENT = '{mark}'")
    }

    fn mark(&self, state: State) -> Mark {
        Mark::new(KIND, format!("rows={}", self.rows), state)
    }

    fn columns_sql(&self) -> String {
        "id, n".to_owned()
    }

    fn character_set(&self) -> &'static str {
        "latin1"
    }

    fn row_bytes_max(&self) -> usize {
        32
    }

    fn writer(&self, style: Style) -> Writer<'_> {
        Box::new(move |id, out| {
            let mut row = RowWriter::new(style, out);
            row.begin();
            row.number(id);
            row.number(0);
            row.end();
        })
    }

    fn row_key(&self) -> Option<&RowKey> {
        Some(&self.key)
    }

    fn condition(&self, first: u64, last: u64) -> String {
        self.key.condition(first, last)
    }

    fn is_fixed(&self, _: &Found) -> bool {
        true
    }
}
