//! The tables of the OLTP workloads, as loading and comparing see them.

use plimsoll_core::plan::OltpData;
use plimsoll_engine::WorkerFault;
use plimsoll_wire::Connection;

use super::inspect;
use super::rows::{LINE, ROW_BYTES_MAX, Rows, TUPLE};
use crate::loading::mark::State;
use crate::loading::table::{RowKey, Style, Table, Writer};
use crate::loading::table_set::MarkedTable;
use crate::oltp::tables::{self, Mark};

/// One of them.
pub struct OltpTable<'a> {
    data: &'a OltpData,
    number: u32,
    key: RowKey,
}

impl<'a> OltpTable<'a> {
    /// The table of this number.
    pub fn new(data: &'a OltpData, number: u32) -> Self {
        let key = RowKey {
            name: "id".to_owned(),
            quoted: "id".to_owned(),
            first: 1,
            step: 1,
        };
        Self { data, number, key }
    }
}

impl Table for OltpTable<'_> {
    fn name(&self) -> String {
        tables::name(self.number)
    }

    fn quoted_name(&self) -> String {
        tables::name(self.number)
    }

    fn rows_count(&self) -> u64 {
        self.data.rows_each()
    }

    fn create_sql(&self) -> String {
        tables::create_sql(self.number, self.data)
    }

    fn index_sql(&self) -> Option<String> {
        let (name, index) = (self.name(), tables::index_name(self.number));
        tables::is_indexed_after_loading(self.data).then(|| format!("CREATE INDEX {index} ON {name}(k)"))
    }

    fn comment(&self, state: State) -> String {
        self.mark(state).text()
    }

    fn columns_sql(&self) -> String {
        "id, k, c, pad".to_owned()
    }

    fn line_format(&self) -> &'static str {
        "CHARACTER SET latin1 FIELDS TERMINATED BY ',' ESCAPED BY '' LINES TERMINATED BY '\\n'"
    }

    fn row_bytes_max(&self) -> usize {
        ROW_BYTES_MAX
    }

    fn writer(&self, style: Style) -> Writer<'_> {
        let (style, cut) = match style {
            Style::Line => (LINE, 0),
            Style::Tuple => (TUPLE, 0),
            Style::Content => (LINE, 1), // without the end of the line
        };
        let rows = Rows::new(self.data, self.number, style);
        Box::new(move |id, out| {
            rows.push(id, out);
            out.truncate(out.len() - cut);
        })
    }

    fn content_sql(&self) -> String {
        // Converted, since a database may keep its texts in two or four bytes for each character.
        "CONVERT(CONCAT_WS(',', id, k, c, pad) USING latin1)".to_owned()
    }

    fn row_key(&self) -> Option<&RowKey> {
        Some(&self.key)
    }

    fn condition(&self, first: u64, last: u64) -> String {
        format!("id BETWEEN {first} AND {last}")
    }

    fn rows_each_query(&self) -> u64 {
        u64::MAX
    }

    fn minds_warnings(&self) -> bool {
        false
    }

    fn inspect(&self, connection: &mut Connection) -> Result<(), WorkerFault> {
        self.count_as_made(connection).map(|_| ())
    }
}

impl MarkedTable for OltpTable<'_> {
    type Mark = Mark;

    fn mark(&self, state: State) -> Mark {
        Mark::new(self.data, state)
    }

    fn other_data(&self, found: &Mark) -> String {
        let wanted = self.mark(State::Complete);
        let name = |shape: &str| {
            if shape.is_empty() {
                "the usual one".to_owned()
            } else {
                shape.to_owned()
            }
        };
        let shapes = if found.shape == wanted.shape {
            String::new()
        } else {
            format!(" in the shape {} and not {}", name(&found.shape), name(&wanted.shape))
        };
        format!(
            "{} holds {} rows from seed {}{shapes}, other data than wanted: remove it first with `plimsoll cleanup`, or \
             prepare with these values",
            self.name(),
            found.rows,
            found.seed
        )
    }

    fn count_as_made(&self, connection: &mut Connection) -> Result<u64, WorkerFault> {
        inspect::verify(connection, self.number, self.data, false)
    }
}
