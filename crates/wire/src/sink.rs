//! Where the rows of a statement go.

use crate::codec::ROWS_BYTES_MAX;
use crate::codec::row::TextRow;
use crate::error::{Cause, WireError};
use crate::first_row::FirstRow;
use crate::results::Results;

/// What becomes of the rows of a statement, whether it is text or prepared. All but what outgrows its memory goes without
/// allocation.
pub enum Sink<'a> {
    /// They are counted.
    Count,
    /// They are counted, and values of the first one captured.
    First(&'a mut FirstRow),
    /// They are captured, as all other results of the statement.
    Whole(&'a mut Results),
}

impl Sink<'_> {
    /// Makes room for the rows of a statement, in the binary protocol or in text.
    #[inline]
    pub(crate) fn begin(&mut self, is_binary: bool) {
        match self {
            Self::Count => {}
            Self::First(row) => row.begin(is_binary),
            Self::Whole(results) => results.begin(is_binary),
        }
    }

    /// The same as what is done with rows.
    #[inline]
    pub(crate) fn take(&mut self) -> Take<'_> {
        match self {
            Self::Count => Take::Nothing,
            Self::First(row) => Take::First(row),
            Self::Whole(results) => Take::Whole(results),
        }
    }

    /// Whether all came that was wanted.
    #[inline]
    pub(crate) fn complete(self) -> Result<(), WireError> {
        match self {
            Self::Count => Ok(()),
            Self::First(row) => row.complete(),
            Self::Whole(results) => results.complete(),
        }
    }
}

/// What is done with rows and with requests for a local file.
pub enum Take<'a> {
    Nothing,
    Rows(&'a mut TextRows),
    Each(&'a mut dyn FnMut(&TextRow<'_>)),
    First(&'a mut FirstRow),
    File(&'a mut dyn FnMut(&mut Vec<u8>) -> bool),
    Whole(&'a mut Results),
}

/// Rows of a control query, bounded.
pub struct TextRows {
    pub rows: Vec<Vec<Option<String>>>,
    rows_max: usize,
    bytes: usize,
    exceeded: Option<WireError>,
}

impl TextRows {
    /// Room for at most so many rows.
    pub fn new(rows_max: usize) -> Self {
        Self {
            rows: Vec::new(),
            rows_max,
            bytes: 0,
            exceeded: None,
        }
    }

    /// The rows, or why there is not room for all.
    pub fn into_rows(self) -> Result<Vec<Vec<Option<String>>>, WireError> {
        self.exceeded.map_or(Ok(self.rows), Err)
    }

    /// Whether another row may be captured; if so its memory is counted, else the reason is remembered.
    pub fn has_room(&mut self, payload_bytes: usize, columns: usize) -> bool {
        self.bytes += payload_bytes + columns * size_of::<Option<String>>();
        if self.rows.len() >= self.rows_max {
            let (what, limit) = ("rows", self.rows_max);
            self.exceeded = Some(Cause::RowsMax { what, limit }.into());
        } else if self.bytes > ROWS_BYTES_MAX {
            let (what, limit) = ("bytes of rows", ROWS_BYTES_MAX);
            self.exceeded = Some(Cause::RowsMax { what, limit }.into());
        }
        self.exceeded.is_none()
    }
}
