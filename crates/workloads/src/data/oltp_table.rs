//! The tables of the OLTP workloads, as loading and comparing see them.

use plimsoll_core::plan::OltpData;
use plimsoll_engine::WorkerFault;
use plimsoll_wire::Connection;

use super::inspect;
use super::rows::{LINE, ROW_BYTES_MAX, Rows, TUPLE};
use super::table::{RowKey, Style, Table, Writer};
use crate::oltp::tables::{self, Mark, State};

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

    fn complete_mark(&self) -> String {
        Mark::new(self.data, State::Complete).text()
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

    fn rows_each_look(&self) -> u64 {
        u64::MAX
    }

    fn minds_warnings(&self) -> bool {
        false
    }

    fn look(&self, connection: &mut Connection) -> Result<(), WorkerFault> {
        inspect::verify(connection, self.number, self.data, false).map(|_| ())
    }
}
