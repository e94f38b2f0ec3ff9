//! Rows of the text protocol: those of control queries as strings of their own, others where they lie in the packet.
//!
//! Deliberately not here: rows of the binary protocol, which are counted, or captured (`captured`).

use super::ProtocolError;
use super::cursor::Cursor;

/// Reads one row of `columns` values; NULL is `None`. Bytes that are not UTF-8 become U+FFFD.
///
/// # Errors
/// When it is cut short or longer than its values.
pub fn decode_text_row(payload: &[u8], columns: usize) -> Result<Vec<Option<String>>, ProtocolError> {
    let mut cursor = Cursor::new(payload);
    // Each value takes at least one byte, so a hostile number of columns reserves no more than the packet's size.
    let mut row = Vec::with_capacity(columns.min(payload.len()));
    for _ in 0..columns {
        let value = text_value(&mut cursor)?;
        row.push(value.map(|text| String::from_utf8_lossy(text).into_owned()));
    }
    end_row(&cursor)?;
    Ok(row)
}

/// Reads the next value of a row; NULL is `None`.
#[inline]
pub(crate) fn text_value<'a>(row: &mut Cursor<'a>) -> Result<Option<&'a [u8]>, ProtocolError> {
    if let Some(0xFB) = row.rest().first() {
        row.u8("a row")?;
        return Ok(None);
    }
    row.lenenc_bytes("a row").map(Some)
}

fn end_row(row: &Cursor<'_>) -> Result<(), ProtocolError> {
    if row.rest().is_empty() {
        return Ok(());
    }
    Err(ProtocolError::Invalid {
        what: "a row has more values than columns",
    })
}

/// A row whose values lie in its packet.
#[derive(Clone, Copy, Debug)]
pub struct TextRow<'a> {
    values: [Option<&'a [u8]>; TextRow::COLUMNS_MAX],
}

impl<'a> TextRow<'a> {
    /// Most values of such a row.
    pub const COLUMNS_MAX: usize = 16;

    /// Reads one row of `columns` values.
    ///
    /// # Errors
    /// When it is cut short, longer than its values, or has too many of them.
    pub(crate) fn decode(payload: &'a [u8], columns: usize) -> Result<Self, ProtocolError> {
        let too_many = ProtocolError::TooLarge {
            what: "the number of columns",
            size: columns as u64,
            limit: Self::COLUMNS_MAX as u64,
        };
        let (mut cursor, mut values) = (Cursor::new(payload), [None; Self::COLUMNS_MAX]);
        for value in values.get_mut(..columns).ok_or(too_many)? {
            *value = text_value(&mut cursor)?;
        }
        end_row(&cursor)?;
        Ok(Self { values })
    }

    /// The value of a column, counted from 0; `None` for NULL and for a column that is not there.
    pub fn value(&self, column: usize) -> Option<&'a [u8]> {
        self.values.get(column).copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_lie_in_the_packet() {
        let row = TextRow::decode(b"\x02ab\xfb\x00", 3).unwrap();
        assert_eq!(
            [0, 1, 2, 3].map(|at| row.value(at)),
            [Some(&b"ab"[..]), None, Some(b""), None]
        );
        assert!(TextRow::decode(b"\x02ab\x00", 1).is_err());
        assert!(TextRow::decode(b"\x02a", 1).is_err());
        assert!(TextRow::decode(&[0; 17], 17).is_err());
    }

    #[test]
    fn values_and_nulls() {
        let row = decode_text_row(b"\x02ab\xfb\x00", 3).unwrap();
        assert_eq!(row, [Some("ab".to_owned()), None, Some(String::new())]);
    }

    #[test]
    fn wrong_sizes_are_errors() {
        for (payload, columns) in [
            (&b"\x02ab"[..], 2),
            (b"\x02ab\x00", 1),
            (b"\x03ab", 1),
            (b"", usize::MAX),
        ] {
            assert!(decode_text_row(payload, columns).is_err(), "{payload:02x?}");
        }
    }
}
