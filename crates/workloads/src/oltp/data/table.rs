//! The tables of the OLTP workloads, as loading and comparing see them.

use plimsoll_core::plan::OltpData;
use plimsoll_engine::WorkerFault;
use plimsoll_wire::Connection;

use super::inspect;
use super::rows::{ROW_BYTES_MAX, Rows};
use crate::loading::mark::{Found, Mark, State};
use crate::loading::row::Style;
use crate::loading::table::{RowKey, Table, Writer};
use crate::oltp::tables;

/// One of them.
pub struct OltpTable<'a> {
    data: &'a OltpData,
    number: u32,
    key: RowKey,
}

impl<'a> OltpTable<'a> {
    /// The table of this number.
    pub fn new(data: &'a OltpData, number: u32) -> Self {
        let key = RowKey::counting("id");
        Self { data, number, key }
    }
}

impl Table for OltpTable<'_> {
    fn name(&self) -> String {
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

    fn mark(&self, state: State) -> Mark {
        tables::mark(self.data, state)
    }

    fn accepts(&self, found: &Mark) -> bool {
        found.has_shape_of(&self.mark(State::Complete))
    }

    fn columns_sql(&self) -> String {
        "id, k, c, pad".to_owned()
    }

    fn character_set(&self) -> &'static str {
        "latin1"
    }

    fn row_bytes_max(&self) -> usize {
        ROW_BYTES_MAX
    }

    fn writer(&self, style: Style) -> Writer<'_> {
        let rows = Rows::new(self.data, self.number, style);
        Box::new(move |id, out| rows.push(id, out))
    }

    fn row_key(&self) -> Option<&RowKey> {
        Some(&self.key)
    }

    fn condition(&self, first: u64, last: u64) -> String {
        self.key.condition(first, last)
    }

    fn is_fixed(&self, _: &Found) -> bool {
        !self.data.changing
    }

    fn count(&self, connection: &mut Connection, exactly: bool) -> Result<u64, WorkerFault> {
        inspect::verify(connection, self.number, self.data, !exactly)
    }
}
