//! Replies to commands: OK, error, the head of a result set, a request for a local file, and the end of rows.

use std::fmt;

use super::cursor::Cursor;
use super::{COLUMNS_MAX, ProtocolError, printable};

/// Status bit: another result follows this one.
const MORE_RESULTS: u16 = 1 << 3;

/// An error that the server reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerError {
    /// MySQL's error number.
    pub code: u16,
    /// Five characters; `HY000` when the server sent none, as it does before the login.
    pub sqlstate: String,
    /// The server's text.
    pub message: String,
}

impl ServerError {
    /// Reads an error packet's payload.
    ///
    /// # Errors
    /// When it is none or cut short.
    #[cold]
    pub fn decode(payload: &[u8]) -> Result<Self, ProtocolError> {
        let what = "an error packet";
        let mut cursor = Cursor::new(payload);
        let kind = cursor.u8(what)?;
        if kind != 0xFF {
            return Err(ProtocolError::Unexpected { what, byte: kind });
        }
        let code = cursor.u16(what)?;
        let (sqlstate, message) = match cursor.rest() {
            [b'#', rest @ ..] if rest.len() >= 5 => (printable(&rest[..5]), &rest[5..]),
            rest => ("HY000".to_owned(), rest),
        };
        Ok(Self {
            code,
            sqlstate,
            message: printable(message),
        })
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (error {}, SQLSTATE {})", self.message, self.code, self.sqlstate)
    }
}

/// An OK packet, or the EOF packet that ends rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OkPacket {
    /// Rows changed, deleted or inserted.
    pub rows_affected: u64,
    /// The first generated `AUTO_INCREMENT` value, or 0.
    pub last_insert_id: u64,
    /// Number of warnings.
    pub warnings: u16,
    /// Another result follows.
    pub more_results: bool,
}

impl OkPacket {
    /// Reads an OK packet's payload. What it tells of the session behind its numbers is not read.
    ///
    /// # Errors
    /// When it is none or cut short.
    #[inline]
    pub fn decode(payload: &[u8]) -> Result<Self, ProtocolError> {
        let what = "an OK packet";
        let mut cursor = Cursor::new(payload);
        let kind = cursor.u8(what)?;
        if kind != 0x00 {
            return Err(ProtocolError::Unexpected { what, byte: kind });
        }
        let rows_affected = cursor.lenenc(what)?;
        let last_insert_id = cursor.lenenc(what)?;
        let status = cursor.u16(what)?;
        let warnings = cursor.u16(what)?;
        Ok(Self {
            rows_affected,
            last_insert_id,
            warnings,
            more_results: status & MORE_RESULTS != 0,
        })
    }

    /// Reads an EOF packet's payload.
    ///
    /// # Errors
    /// When it is none or cut short.
    #[inline]
    pub fn decode_eof(payload: &[u8]) -> Result<Self, ProtocolError> {
        let what = "an EOF packet";
        let mut cursor = Cursor::new(payload);
        let kind = cursor.u8(what)?;
        if kind != 0xFE {
            return Err(ProtocolError::Unexpected { what, byte: kind });
        }
        let warnings = cursor.u16(what)?;
        let status = cursor.u16(what)?;
        Ok(Self {
            warnings,
            more_results: status & MORE_RESULTS != 0,
            ..Self::default()
        })
    }
}

/// The first packet of a reply to a query or an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplyHead<'a> {
    /// Done, without rows.
    Ok(OkPacket),
    /// Failed.
    Error(ServerError),
    /// A result set.
    Columns {
        /// How many columns it has, at least one.
        count: u64,
        /// Whether their definitions follow.
        has_definitions: bool,
    },
    /// The server wants this file of ours.
    LocalFile(&'a [u8]),
}

impl<'a> ReplyHead<'a> {
    /// Reads a payload; `caches_metadata` when the handshake agreed that definitions are not always sent.
    ///
    /// # Errors
    /// When it is cut short, of no known kind, or announces more columns than a server can have.
    #[inline]
    pub fn decode(payload: &'a [u8], caches_metadata: bool) -> Result<Self, ProtocolError> {
        let what = "the first packet of a reply";
        match payload.first() {
            None => Err(ProtocolError::Truncated { what }),
            Some(0x00) => Ok(Self::Ok(OkPacket::decode(payload)?)),
            Some(0xFF) => Ok(Self::Error(ServerError::decode(payload)?)),
            Some(0xFB) => Ok(Self::LocalFile(&payload[1..])),
            Some(_) => {
                let mut cursor = Cursor::new(payload);
                let columns = cursor.lenenc("the number of columns")?;
                if columns > COLUMNS_MAX {
                    let what = "the number of columns";
                    return Err(ProtocolError::TooLarge {
                        what,
                        size: columns,
                        limit: COLUMNS_MAX,
                    });
                }
                let has_definitions = match (cursor.rest(), caches_metadata) {
                    ([], false) => true,
                    (&[flag @ (0 | 1)], true) => flag == 1,
                    _ => {
                        return Err(ProtocolError::Invalid {
                            what: "other bytes than agreed on follow the number of columns",
                        });
                    }
                };
                Ok(Self::Columns {
                    count: columns,
                    has_definitions,
                })
            }
        }
    }
}

/// The packet after the last row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowsEnd {
    /// All rows have come.
    Ok(OkPacket),
    /// The statement failed on the way.
    Error(ServerError),
}

impl RowsEnd {
    /// Reads a payload.
    ///
    /// # Errors
    /// When it is cut short or no end.
    #[inline]
    pub fn decode(payload: &[u8]) -> Result<Self, ProtocolError> {
        match payload.first() {
            Some(0xFF) => Ok(Self::Error(ServerError::decode(payload)?)),
            _ => Ok(Self::Ok(OkPacket::decode_eof(payload)?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(payload: &[u8], expect: &Result<ReplyHead<'_>, ProtocolError>) {
        assert_eq!(&ReplyHead::decode(payload, false), expect, "{payload:02x?}");
    }

    #[test]
    fn heads() {
        let ok = OkPacket {
            rows_affected: 3,
            last_insert_id: 300,
            warnings: 2,
            more_results: true,
        };
        check(b"\x00\x03\xfc\x2c\x01\x0a\x00\x02\x00info", &Ok(ReplyHead::Ok(ok)));
        check(
            b"\x05",
            &Ok(ReplyHead::Columns {
                count: 5,
                has_definitions: true,
            }),
        );
        assert!(ReplyHead::decode(b"\x05\x01", false).is_err());
        check(b"\xfb/etc/passwd", &Ok(ReplyHead::LocalFile(b"/etc/passwd")));
        check(
            b"",
            &Err(ProtocolError::Truncated {
                what: "the first packet of a reply",
            }),
        );
        check(b"\x00\x03", &Err(ProtocolError::Truncated { what: "an OK packet" }));
        check(
            b"\x05\x06",
            &Err(ProtocolError::Invalid {
                what: "other bytes than agreed on follow the number of columns",
            }),
        );
        let what = "the number of columns";
        check(
            b"\xfd\x00\x00\x01",
            &Err(ProtocolError::TooLarge {
                what,
                size: 65536,
                limit: 4096,
            }),
        );
    }

    fn check_error(payload: &[u8], expect: &str) {
        assert_eq!(ServerError::decode(payload).unwrap().to_string(), expect);
    }

    #[test]
    fn definitions_that_were_seen_are_left_out_where_that_was_agreed_on() {
        for (flag, has_definitions) in [(0, false), (1, true)] {
            assert_eq!(
                ReplyHead::decode(&[3, flag], true),
                Ok(ReplyHead::Columns {
                    count: 3,
                    has_definitions
                })
            );
        }
        for payload in [&[3][..], &[3, 2], &[3, 0, 0]] {
            assert!(ReplyHead::decode(payload, true).is_err(), "{payload:?}");
        }
        assert!(matches!(
            ReplyHead::decode(b"\0\0\0\x02\0\0\0", true),
            Ok(ReplyHead::Ok(_))
        ));
    }

    #[test]
    fn errors() {
        check_error(
            b"\xff\x15\x04#28000Access denied for user 'x'@'localhost'",
            "Access denied for user 'x'@'localhost' (error 1045, SQLSTATE 28000)",
        );
        check_error(
            b"\xff\x10\x04Too many connections",
            "Too many connections (error 1040, SQLSTATE HY000)",
        );
        check_error(b"\xff\x10\x04#0800", "#0800 (error 1040, SQLSTATE HY000)");
        check_error(
            b"\xff\x10\x04\x1b[31m\xff",
            " [31m\u{fffd} (error 1040, SQLSTATE HY000)",
        );
        assert!(ServerError::decode(b"\xff\x10").is_err());
    }

    #[test]
    fn ends_of_rows() {
        let end = RowsEnd::Ok(OkPacket {
            warnings: 1,
            more_results: true,
            ..OkPacket::default()
        });
        assert_eq!(RowsEnd::decode(b"\xfe\x01\x00\x0a\x00"), Ok(end));
        assert!(RowsEnd::decode(b"\x05\x01\x00\x0a\x00").is_err());
        assert!(matches!(RowsEnd::decode(b"\xff\x25\x05#70100stop"), Ok(RowsEnd::Error(e)) if e.code == 1317));
    }
}
