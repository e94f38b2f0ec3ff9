//! The statements of a transaction, one of each for each table.

use plimsoll_core::plan::Layout;
use plimsoll_session::{StatementId, Statements};

use crate::oltp::tables::{self, Numbers};

/// One kind of statement, for any of some tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForTable {
    first: usize,
    tables: u32,
}

impl ForTable {
    /// How many tables there are to choose from.
    pub fn tables(self) -> u64 {
        u64::from(self.tables)
    }

    /// The statement for a table, counted from 0.
    pub fn at(self, table: usize) -> StatementId {
        StatementId(self.first + table)
    }
}

/// Collects statements.
pub struct Texts {
    tables: Vec<String>,
    texts: Vec<String>,
}

impl Texts {
    /// No statements yet, for the tables of a layout.
    pub fn new(layout: Layout, tables: u32) -> Self {
        Self {
            tables: Numbers::new(layout, tables).iter().map(tables::name).collect(),
            texts: Vec::new(),
        }
    }

    /// A statement without a table.
    pub fn alone(&mut self, text: String) -> StatementId {
        self.texts.push(text);
        StatementId(self.texts.len() - 1)
    }

    /// A statement for each table: the text before its name, and the text after it.
    pub fn each(&mut self, before: &str, after: &str) -> ForTable {
        self.some(self.tables.len(), before, after)
    }

    /// A statement for the first table only.
    pub fn first(&mut self, before: &str, after: &str) -> ForTable {
        self.some(1, before, after)
    }

    fn some(&mut self, count: usize, before: &str, after: &str) -> ForTable {
        let first = self.texts.len();
        let texts = self.tables[..count].iter().map(|name| format!("{before}{name}{after}"));
        self.texts.extend(texts);
        ForTable {
            first,
            tables: count as u32,
        }
    }

    /// All that was collected.
    pub fn into_statements(self, prepared: bool) -> Statements {
        Statements::new(self.texts, prepared)
    }
}
