//! All results of one statement, captured whole as they came, in memory that is used again. Values are decoded when they are
//! asked for.
//!
//! Deliberately not here: reading packets (`replies`).

use crate::codec::ProtocolError;
use crate::codec::captured::{BinaryRow, Captured, next_text};
use crate::codec::column::{Column, ColumnType};
use crate::codec::cursor::Cursor;
use crate::codec::row::text_value;
use crate::codec::statement::Value;
use crate::error::{Cause, WireError};
use crate::reply::Reply;

/// One result of a statement: what it did, and its rows.
#[derive(Clone, Debug, Default)]
pub struct ResultSet {
    /// What this one did.
    pub reply: Reply,
    columns: Vec<ColumnType>,
    pub(crate) payloads: Vec<u8>,
    /// Where each row ends in `payloads`.
    pub(crate) ends: Vec<usize>,
    is_binary: bool,
}

impl ResultSet {
    /// Number of columns; 0 without a result set.
    pub fn columns(&self) -> usize {
        self.columns.len()
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.ends.len()
    }

    /// Decodes a row, which must be there: hands over its values from left to right as text, NULL as `None`. Each is decoded
    /// into `value`, which is memory that is used again.
    ///
    /// # Errors
    /// When the server sent something that is no row.
    pub fn row(
        &self,
        row: usize,
        value: &mut Captured,
        mut take: impl FnMut(Option<&[u8]>),
    ) -> Result<(), ProtocolError> {
        let payload = self.payload(row);
        if self.is_binary {
            self.binary_row(payload, value, |value| value.with_text(&mut take))
        } else {
            let mut cursor = Cursor::new(payload);
            for _ in &self.columns {
                take(text_value(&mut cursor)?);
            }
            Ok(())
        }
    }

    /// The same with values as they are: integers of 64 bits as such, all else as the text that the server takes.
    ///
    /// # Errors
    /// As [`Self::row`].
    pub fn values(
        &self,
        row: usize,
        value: &mut Captured,
        mut take: impl FnMut(Value<'_>),
    ) -> Result<(), ProtocolError> {
        let payload = self.payload(row);
        if self.is_binary {
            return self.binary_row(payload, value, |value| take(value.value()));
        }
        let mut cursor = Cursor::new(payload);
        for kind in &self.columns {
            next_text(&mut cursor, *kind, Some(value))?;
            take(value.value());
        }
        Ok(())
    }

    fn payload(&self, row: usize) -> &[u8] {
        let begin = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.payloads[begin..self.ends[row]]
    }

    fn binary_row(
        &self,
        payload: &[u8],
        value: &mut Captured,
        mut take: impl FnMut(&mut Captured),
    ) -> Result<(), ProtocolError> {
        let mut row = BinaryRow::new(payload, self.columns.len())?;
        for kind in &self.columns {
            row.next(*kind, Some(value))?;
            take(value);
        }
        Ok(())
    }

    /// Takes the definition of the next column.
    pub(crate) fn define(&mut self, payload: &[u8]) -> Result<(), ProtocolError> {
        self.columns.push(Column::decode(payload)?.kind);
        Ok(())
    }

    fn begin(&mut self, is_binary: bool) {
        self.reply = Reply::default();
        self.columns.clear();
        self.payloads.clear();
        self.ends.clear();
        self.is_binary = is_binary;
    }
}

/// All results of one statement. Give it to [`crate::Connection::run`] again and again, and nothing is allocated
/// but for results larger than any before.
#[derive(Debug)]
pub struct Results {
    sets: Vec<ResultSet>,
    count: usize,
    bytes_max: usize,
    bytes: usize,
    exceeded: Option<WireError>,
    is_binary: bool,
}

/// A buffer that grew beyond this is given back when the next statement begins.
const BUFFER_REUSED_BYTES: usize = 1024 * 1024;

/// What a row takes besides its bytes.
const ROW_BYTES: usize = size_of::<usize>();

impl Results {
    /// Room for so many bytes of rows, all results together.
    pub fn new(bytes_max: usize) -> Self {
        Self {
            sets: Vec::new(),
            count: 0,
            bytes_max,
            bytes: 0,
            exceeded: None,
            is_binary: false,
        }
    }

    /// The results in the order in which they came; those before an error are there too.
    pub fn sets(&self) -> &[ResultSet] {
        &self.sets[..self.count]
    }

    /// Forgets all of them before a statement whose rows come in the binary protocol, or in text.
    pub(crate) fn begin(&mut self, is_binary: bool) {
        self.clear();
        self.is_binary = is_binary;
    }

    /// Forgets all of them, and gives large buffers back.
    pub fn clear(&mut self) {
        self.count = 0;
        self.bytes = 0;
        self.exceeded = None;
        self.sets
            .retain(|set| set.payloads.capacity() + set.ends.capacity() * ROW_BYTES <= BUFFER_REUSED_BYTES);
    }

    pub(crate) fn begin_set(&mut self) {
        self.has_room(size_of::<ResultSet>()); // one that is too many is read and not captured
        if self.count == self.sets.len() {
            self.sets.push(ResultSet::default());
        }
        self.sets[self.count].begin(self.is_binary);
    }

    /// The one that is being read.
    pub(crate) fn open_set(&mut self) -> &mut ResultSet {
        &mut self.sets[self.count]
    }

    /// The one that is being read has come whole.
    pub(crate) fn end_set(&mut self, reply: Reply) {
        self.open_set().reply = reply;
        self.count += usize::from(self.exceeded.is_none());
    }

    /// Whether another row may be captured; if so its memory is counted, else the reason is remembered.
    pub(crate) fn has_room(&mut self, payload_bytes: usize) -> bool {
        self.bytes = self.bytes.saturating_add(payload_bytes + ROW_BYTES);
        if self.bytes > self.bytes_max && self.exceeded.is_none() {
            let (what, limit) = ("bytes of rows", self.bytes_max);
            self.exceeded = Some(Cause::RowsMax { what, limit }.into());
        }
        self.exceeded.is_none()
    }

    /// Where a row may end at most whose first `payload_bytes` were counted.
    pub(crate) fn row_end_max(&mut self, payload_bytes: usize) -> usize {
        let left = self.bytes_max.saturating_sub(self.bytes) + payload_bytes;
        left.saturating_add(self.open_set().payloads.len())
    }

    /// Counts what a row has beyond its first packet.
    pub(crate) fn count_rest(&mut self, rest_bytes: usize) {
        self.bytes = self.bytes.saturating_add(rest_bytes);
    }

    /// Whether there was room for all of them.
    pub(crate) fn complete(&mut self) -> Result<(), WireError> {
        self.exceeded.take().map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A column definition of this type; all that is not read is zero.
    fn definition(code: u8) -> Vec<u8> {
        [&[0; 6][..], &[0x0C, 0, 0, 0, 0, 0, 0, code, 0, 0, 0, 0, 0]].concat()
    }

    #[test]
    fn values_are_typed_and_the_same_in_both_protocols() {
        const LONGLONG: u8 = 8;
        const DECIMAL: u8 = 246;
        let text = &b"\x02-7\xfb\x041.50"[..];
        let binary = [&[0, 0b0000_1000][..], &(-7i64).to_le_bytes(), b"\x041.50"].concat();
        for (is_binary, payload) in [(false, text), (true, &binary)] {
            let mut results = Results::new(1 << 20);
            results.begin(is_binary);
            results.begin_set();
            let set = results.open_set();
            for code in [LONGLONG, LONGLONG, DECIMAL] {
                set.define(&definition(code)).unwrap();
            }
            set.payloads.extend_from_slice(payload);
            set.ends.push(payload.len());
            let (mut typed, mut texts) = (Vec::new(), Vec::new());
            let mut value = Captured::default();
            set.values(0, &mut value, |value| typed.push(format!("{value:?}")))
                .unwrap();
            assert_eq!(typed, ["Int(-7)", "Null", "Bytes([49, 46, 53, 48])"], "{is_binary}");
            set.row(0, &mut value, |text| texts.push(text.map(<[u8]>::to_vec)))
                .unwrap();
            assert_eq!(
                texts,
                [Some(b"-7".to_vec()), None, Some(b"1.50".to_vec())],
                "{is_binary}"
            );
        }
    }
}
