//! Definitions of columns, as far as values of rows depend on them.
//!
//! Deliberately not here: tables, lengths, collations; nobody asks for them.

use super::ProtocolError;
use super::cursor::Cursor;

/// Flag bit: an integer without sign.
const UNSIGNED: u16 = 1 << 5;

/// How a column's values look in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnType {
    /// The protocol's number of the type.
    pub code: u8,
    /// Integers have no sign.
    pub unsigned: bool,
}

/// One column of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column<'a> {
    /// Its name, or the alias that the statement gave it.
    pub name: &'a [u8],
    /// How its values look.
    pub kind: ColumnType,
}

impl<'a> Column<'a> {
    /// Reads a definition's payload.
    ///
    /// # Errors
    /// When it is cut short.
    pub fn decode(payload: &'a [u8]) -> Result<Self, ProtocolError> {
        let what = "a column definition";
        let mut cursor = Cursor::new(payload);
        for _catalog_schema_table_original in 0..4 {
            cursor.lenenc_bytes(what)?;
        }
        let name = cursor.lenenc_bytes(what)?;
        cursor.lenenc_bytes(what)?; // its original name
        cursor.lenenc(what)?; // the length of what follows
        cursor.bytes(2 + 4, what)?; // collation, length
        let code = cursor.u8(what)?;
        let unsigned = cursor.u16(what)? & UNSIGNED != 0;
        let kind = ColumnType { code, unsigned };
        Ok(Self { name, kind })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFINITION: &[u8] = b"\x03def\x01d\x01t\x01t\x02id\x02ID\x0c\x3f\0\x14\0\0\0\x08\x23\x50\0\0\0";

    #[test]
    fn name_and_type_are_read() {
        let column = Column::decode(DEFINITION).unwrap();
        let kind = ColumnType {
            code: 8,
            unsigned: true,
        };
        assert_eq!(column, Column { name: b"id", kind });
    }

    #[test]
    fn a_definition_that_ends_early_is_an_error() {
        for length in 0..DEFINITION.len() - 3 {
            assert!(Column::decode(&DEFINITION[..length]).is_err(), "{length}");
        }
    }
}
