//! The rows of one statement, decoded into memory that is used again.

use plimsoll_session::{Captured, Results, StatementError};

use crate::tpcc::decimal;

/// Rows of the last statement that was asked.
#[derive(Default)]
pub struct Answer {
    bytes: Vec<u8>,
    /// Where each value ends in `bytes`, row by row.
    ends: Vec<usize>,
    columns: usize,
    /// A value while it is decoded.
    value: Captured,
}

impl Answer {
    /// Takes the rows of a result.
    ///
    /// # Errors
    /// When the server sent something that is no row.
    pub fn take(&mut self, results: &Results) -> Result<(), StatementError> {
        self.bytes.clear();
        self.ends.clear();
        let Some(set) = results.sets().first() else {
            return Ok(());
        };
        self.columns = set.columns();
        let Self { bytes, ends, value, .. } = self;
        for row in 0..set.rows() {
            set.row(row, value, |text| {
                bytes.extend_from_slice(text.unwrap_or_default());
                ends.push(bytes.len());
            })
            .map_err(|error| StatementError::new(error.into()))?;
        }
        Ok(())
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.ends.len().checked_div(self.columns).unwrap_or(0)
    }

    /// A value as text, empty for NULL and for what is not there.
    pub fn text(&self, row: usize, column: usize) -> &[u8] {
        let position = row * self.columns + column;
        let Some(end) = self.ends.get(position).filter(|_| column < self.columns) else {
            return &[];
        };
        let begin = if position == 0 { 0 } else { self.ends[position - 1] };
        &self.bytes[begin..*end]
    }

    /// A whole number; 0 for NULL.
    pub fn number(&self, row: usize, column: usize) -> i64 {
        self.hundredths(row, column) / 100
    }

    /// A decimal number; 0 for NULL.
    pub fn ratio(&self, row: usize, column: usize) -> f64 {
        let text = std::str::from_utf8(self.text(row, column)).unwrap_or_default();
        text.parse().unwrap_or(0.0)
    }

    /// A decimal number in hundredths; 0 for NULL.
    pub fn hundredths(&self, row: usize, column: usize) -> i64 {
        decimal::hundredths(self.text(row, column))
    }
}
