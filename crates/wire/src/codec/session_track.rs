//! What an OK packet tells of the session behind its numbers: the GTID of the transaction that was committed.
//!
//! Deliberately not here: all other changes of a session, which are passed over.

use super::ProtocolError;
use super::cursor::Cursor;

/// Status bit: the packet tells of the session.
const SESSION_STATE_CHANGED: u16 = 1 << 14;

/// Kind of change: a system variable. MariaDB tells its GTID so.
const SYSTEM_VARIABLE: u8 = 0;

/// Kind of change: GTIDs. MySQL tells them so.
const GTIDS: u8 = 3;

/// MariaDB's name of the variable.
const LAST_GTID: &[u8] = b"last_gtid";

/// Longest GTID that is taken, bytes: MySQL's are at most 90 with a tag.
const GTID_BYTES_MAX: usize = 256;

/// The GTID in an OK packet's payload; `None` when it tells of none.
///
/// # Errors
/// When what it tells is cut short, or the GTID is none: it becomes part of a statement, so nothing else is let through.
#[inline]
pub fn gtid(payload: &[u8]) -> Result<Option<&[u8]>, ProtocolError> {
    let what = "an OK packet";
    let mut cursor = Cursor::new(payload);
    cursor.u8(what)?;
    cursor.lenenc(what)?;
    cursor.lenenc(what)?;
    let status = cursor.u16(what)?;
    if status & SESSION_STATE_CHANGED == 0 {
        return Ok(None);
    }
    cursor.u16(what)?;
    cursor.lenenc_bytes(what)?;
    in_changes(cursor.lenenc_bytes(what)?)
}

fn in_changes(changes: &[u8]) -> Result<Option<&[u8]>, ProtocolError> {
    let what = "a change of the session";
    let mut cursor = Cursor::new(changes);
    let mut found = None;
    while !cursor.rest().is_empty() {
        let kind = cursor.u8(what)?;
        let mut change = Cursor::new(cursor.lenenc_bytes(what)?);
        let told = match kind {
            SYSTEM_VARIABLE => last_gtid(&mut change)?,
            GTIDS => {
                change.u8(what)?; // how the following is written; there is one way
                Some(change.lenenc_bytes(what)?)
            }
            _ => None,
        };
        found = told.filter(|gtid| !gtid.is_empty()).or(found);
    }
    match found {
        Some(gtid) if !is_gtid(gtid) => Err(ProtocolError::Invalid {
            what: "a GTID has other characters than GTIDs have",
        }),
        _ => Ok(found),
    }
}

/// The GTID among variables, each a name and a value.
fn last_gtid<'a>(variables: &mut Cursor<'a>) -> Result<Option<&'a [u8]>, ProtocolError> {
    let what = "a system variable of the session";
    let mut found = None;
    while !variables.rest().is_empty() {
        let (name, value) = (variables.lenenc_bytes(what)?, variables.lenenc_bytes(what)?);
        if name == LAST_GTID {
            found = Some(value);
        }
    }
    Ok(found)
}

fn is_gtid(text: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"-:,_".contains(byte);
    text.len() <= GTID_BYTES_MAX && text.iter().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An OK packet that tells of these changes.
    fn ok(changes: &[u8]) -> Vec<u8> {
        let mut payload = b"\x00\x01\x00\x02\x40\x00\x00\x00".to_vec();
        payload.push(changes.len() as u8);
        payload.extend_from_slice(changes);
        payload
    }

    #[test]
    fn each_flavour_tells_its_gtid() {
        let mysql = ok(b"\x03\x08\x00\x06abcd:5");
        assert_eq!(gtid(&mysql), Ok(Some(&b"abcd:5"[..])));
        let mariadb = ok(b"\x00\x12\x09last_gtid\x070-1-100");
        assert_eq!(gtid(&mariadb), Ok(Some(&b"0-1-100"[..])));
        let others = ok(b"\x01\x02\x01d\x00\x0f\x0aautocommit\x03OFF\x02\x02\x011");
        assert_eq!(gtid(&others), Ok(None));
        let cleared = ok(b"\x00\x0b\x09last_gtid\x00");
        assert_eq!(gtid(&cleared), Ok(None));
        assert_eq!(gtid(b"\x00\x01\x00\x02\x00\x00\x00"), Ok(None));
    }

    #[test]
    fn what_is_cut_short_or_no_gtid_is_refused() {
        let whole = ok(b"\x03\x08\x00\x06abcd:5");
        for length in 0..whole.len() {
            assert!(gtid(&whole[..length]).is_err(), "{length}");
        }
        assert!(gtid(&ok(b"\x03\x06\x00\x04a');")).is_err());
        assert!(gtid(&ok(b"\x03\xfe\xff\xff\xff\xff\xff\xff\xff\xff")).is_err());
        let mut long = b"\x03\xfc\x30\x01\x00\xfc\x2c\x01".to_vec();
        long.extend_from_slice(&[b'a'; 300]);
        assert!(in_changes(&long).is_err());
    }
}
