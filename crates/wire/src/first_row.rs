//! Some columns of the first row of a result, captured for the next statement in memory that is used again.
//!
//! Deliberately not here: reading packets (`replies`).

use crate::codec::ProtocolError;
use crate::codec::captured::{BinaryRow, Captured, next_text};
use crate::codec::column::{Column, ColumnType};
use crate::codec::cursor::Cursor;
use crate::error::{Cause, WireError};

/// What of one statement is captured: give it to [`crate::Connection::run`] again and again, and nothing is allocated
/// but for values longer than any before.
#[derive(Clone, Debug, Default)]
pub struct FirstRow {
    names: Vec<String>,
    values: Vec<Captured>,
    is_there: bool,
    columns: Vec<(ColumnType, Option<usize>)>,
    pub(crate) payload: Vec<u8>,
    is_binary: bool,
}

impl FirstRow {
    /// Keeps the columns of these names, upper and lower case alike.
    pub fn new(names: Vec<String>) -> Self {
        let values = vec![Captured::default(); names.len()];
        Self {
            names,
            values,
            ..Self::default()
        }
    }

    /// The values in the order of the names; NULL where no row came.
    pub fn values_mut(&mut self) -> &mut [Captured] {
        &mut self.values
    }

    /// Whether there was a row.
    pub fn is_there(&self) -> bool {
        self.is_there
    }

    /// Whether the last result had all columns that are wanted.
    pub(crate) fn complete(&self) -> Result<(), WireError> {
        let has = |place: usize| self.columns.iter().any(|(_, wanted)| *wanted == Some(place));
        match (0..self.names.len()).find(|place| !has(*place)) {
            None => Ok(()),
            Some(place) => {
                let column = self.names[place].clone();
                Err(Cause::NoColumn { column }.into())
            }
        }
    }

    pub(crate) fn begin(&mut self, is_binary: bool) {
        self.is_binary = is_binary;
        self.is_there = false;
        self.columns.clear();
        self.values.iter_mut().for_each(Captured::set_null);
    }

    /// Takes the definition of the next column. Of two columns with one name the first is captured.
    pub(crate) fn define(&mut self, payload: &[u8]) -> Result<(), ProtocolError> {
        let column = Column::decode(payload)?;
        let is_free = |place: &usize| self.columns.iter().all(|(_, wanted)| *wanted != Some(*place));
        let same = |name: &String| name.as_bytes().eq_ignore_ascii_case(column.name);
        let wanted = self.names.iter().position(same).filter(is_free);
        self.columns.push((column.kind, wanted));
        Ok(())
    }

    /// Takes the row that lies in `payload`.
    pub(crate) fn take(&mut self) -> Result<(), ProtocolError> {
        self.is_there = true;
        let values = &mut self.values;
        if self.is_binary {
            let mut row = BinaryRow::new(&self.payload, self.columns.len())?;
            for (kind, wanted) in &self.columns {
                row.next(*kind, wanted.map(|place| &mut values[place]))?;
            }
        } else {
            let mut row = Cursor::new(&self.payload);
            for (kind, wanted) in &self.columns {
                next_text(&mut row, *kind, wanted.map(|place| &mut values[place]))?;
            }
        }
        Ok(())
    }
}
