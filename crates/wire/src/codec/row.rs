//! Rows of the text protocol, for the few control queries whose values are read.
//!
//! Deliberately not here: rows of the binary protocol, which are counted, or kept for a moment (`kept`).

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
        if let Some((0xFB, _)) = cursor.rest().split_first() {
            cursor.u8("a row")?;
            row.push(None);
        } else {
            row.push(Some(
                String::from_utf8_lossy(cursor.lenenc_bytes("a row")?).into_owned(),
            ));
        }
    }
    if cursor.rest().is_empty() {
        Ok(row)
    } else {
        Err(ProtocolError::Invalid {
            what: "a row has more values than columns",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
