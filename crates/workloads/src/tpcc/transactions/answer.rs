//! The rows of one statement, decoded into memory that is used again.

use plimsoll_session::{Captured, Results, StatementError, Value};

use crate::tpcc::decimal;

/// Rows of the last statement that was asked.
#[derive(Default)]
pub struct Answer {
    /// All values, row by row.
    values: Vec<Held>,
    /// The texts of those that are texts.
    bytes: Vec<u8>,
    columns: usize,
    /// A value while it is decoded.
    decoded: Captured,
}

/// A value, of which a text lies in the bytes of the answer.
#[derive(Clone, Copy)]
enum Held {
    Null,
    Int(i64),
    Text { begin: usize, end: usize },
}

impl Answer {
    /// Takes the rows of a result.
    ///
    /// # Errors
    /// When the server sent something that is no row.
    pub fn take(&mut self, results: &Results) -> Result<(), StatementError> {
        self.bytes.clear();
        self.values.clear();
        let Some(set) = results.sets().first() else {
            return Ok(());
        };
        self.columns = set.columns();
        let Self {
            values, bytes, decoded, ..
        } = self;
        for row in 0..set.rows() {
            set.values(row, decoded, |value| {
                values.push(match value {
                    Value::Int(int) => Held::Int(int),
                    Value::Text(text) => hold(text.as_bytes(), bytes),
                    Value::Bytes(text) => hold(text, bytes),
                    Value::Null | Value::Double(_) => Held::Null, // no row has a double: servers' are text
                });
            })
            .map_err(|error| StatementError::new(error.into()))?;
        }
        Ok(())
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.values.len().checked_div(self.columns).unwrap_or(0)
    }

    /// NULL for what is not there.
    fn value(&self, row: usize, column: usize) -> Held {
        let value = self.values.get(row * self.columns + column);
        value.filter(|_| column < self.columns).copied().unwrap_or(Held::Null)
    }

    /// A text; empty for NULL and for a number.
    pub fn text(&self, row: usize, column: usize) -> &[u8] {
        match self.value(row, column) {
            Held::Text { begin, end } => &self.bytes[begin..end],
            Held::Null | Held::Int(_) => &[],
        }
    }

    /// A whole number, of a decimal one the part before the point; 0 for NULL.
    pub fn number(&self, row: usize, column: usize) -> i64 {
        match self.value(row, column) {
            Held::Int(int) => int,
            Held::Text { .. } => self.hundredths(row, column) / 100,
            Held::Null => 0,
        }
    }

    /// A decimal number; 0 for NULL.
    pub fn ratio(&self, row: usize, column: usize) -> f64 {
        let text = std::str::from_utf8(self.text(row, column)).unwrap_or_default();
        text.parse().unwrap_or(0.0)
    }

    /// A decimal number in hundredths; 0 for NULL.
    pub fn hundredths(&self, row: usize, column: usize) -> i64 {
        match self.value(row, column) {
            Held::Int(int) => int.saturating_mul(100),
            Held::Text { begin, end } => decimal::hundredths(&self.bytes[begin..end]),
            Held::Null => 0,
        }
    }
}

fn hold(text: &[u8], bytes: &mut Vec<u8>) -> Held {
    let begin = bytes.len();
    bytes.extend_from_slice(text);
    Held::Text {
        begin,
        end: bytes.len(),
    }
}
