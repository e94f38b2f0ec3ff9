//! One entry for each decoder, taking any bytes. The fuzz targets and the tests drive the same entries; none may panic,
//! hang, or use memory beyond a small multiple of its input.

use crate::auth::encrypt_password;
use crate::codec::captured::Captured;
use crate::codec::column::Column;
use crate::codec::greeting::Greeting;
use crate::codec::login::LoginReply;
use crate::codec::packet::{SkipUntil, Skipped, Skipper};
use crate::codec::reply::{ReplyHead, RowsEnd, ServerError};
use crate::codec::row::{TextRow, decode_text_row};
use crate::codec::session_track::gtid;
use crate::codec::statement::PrepareOk;
use crate::first_row::FirstRow;
use crate::results::Results;

/// A decoder under test.
pub type Entry = fn(&[u8]);

/// All decoders by name.
pub const ENTRIES: [(&str, Entry); 11] = [
    ("greeting", greeting),
    ("login_reply", login_reply),
    ("reply_head", reply_head),
    ("rows_end", rows_end),
    ("prepare_ok", prepare_ok),
    ("text_row", text_row),
    ("captured_row", captured_row),
    ("whole_row", whole_row),
    ("skipper", skipper),
    ("rsa_key", rsa_key),
    ("session_track", session_track),
];

/// The server's greeting.
pub fn greeting(bytes: &[u8]) {
    let _ = Greeting::decode(bytes);
}

/// Packets of the login.
pub fn login_reply(bytes: &[u8]) {
    let _ = LoginReply::decode(bytes);
}

/// The first packet of a reply.
pub fn reply_head(bytes: &[u8]) {
    let _ = ReplyHead::decode(bytes, false);
    let _ = ReplyHead::decode(bytes, true);
    let _ = ServerError::decode(bytes);
}

/// The packet after the last row.
pub fn rows_end(bytes: &[u8]) {
    let _ = RowsEnd::decode(bytes);
}

/// The reply to a prepare.
pub fn prepare_ok(bytes: &[u8]) {
    let _ = PrepareOk::decode(bytes);
}

/// A row of values as text; the first two bytes say how many columns to expect.
pub fn text_row(bytes: &[u8]) {
    if let Some((columns, row)) = bytes.split_first_chunk() {
        let columns = usize::from(u16::from_le_bytes(*columns));
        let _ = decode_text_row(row, columns);
        let _ = TextRow::decode(row, columns);
    }
}

/// A row whose values are captured, in both protocols. The first byte is the length of the definition, which stands for
/// three columns.
pub fn captured_row(bytes: &[u8]) {
    let Some((length, rest)) = bytes.split_first() else {
        return;
    };
    let (definition, row) = rest.split_at(rest.len().min(usize::from(*length)));
    let _ = Column::decode(definition);
    for is_binary in [true, false] {
        let mut first = FirstRow::new(vec!["id".to_owned()]);
        first.begin(is_binary);
        let defined = (0..3).all(|_| first.define(definition).is_ok());
        first.payload.extend_from_slice(row);
        if defined {
            let _ = first.take();
        }
    }
}

/// The same for a row that is captured whole and decoded later, as text and typed: both take the same rows.
///
/// # Panics
/// When they do not.
pub fn whole_row(bytes: &[u8]) {
    let Some((length, rest)) = bytes.split_first() else {
        return;
    };
    let (definition, row) = rest.split_at(rest.len().min(usize::from(*length)));
    for is_binary in [true, false] {
        let mut results = Results::new(1 << 20);
        results.begin(is_binary);
        results.begin_set();
        let set = results.open_set();
        if (0..3).all(|_| set.define(definition).is_ok()) {
            set.payloads.extend_from_slice(row);
            set.ends.push(row.len());
            let (mut texts, mut values) = (0, 0);
            let as_text = set.row(0, &mut Captured::default(), |_| texts += 1);
            let typed = set.values(0, &mut Captured::default(), |_| values += 1);
            assert_eq!((as_text.is_ok(), texts), (typed.is_ok(), values));
            if typed.is_ok() {
                assert_eq!(values, 3);
            }
        }
    }
}

/// Walking over packets: at once and byte by byte must come to the same.
///
/// # Panics
/// When they do not.
pub fn skipper(bytes: &[u8]) {
    for until in [SkipUntil::RowsEnd, SkipUntil::Count(3)] {
        assert_eq!(skip(bytes, until, bytes.len().max(1)), skip(bytes, until, 1));
    }
}

/// Packets counted and bytes used, or `None` when the bytes broke a rule.
fn skip(bytes: &[u8], until: SkipUntil, piece: usize) -> Option<(u64, usize)> {
    let mut skipper = Skipper::new(until, 0);
    let (mut at, mut arrived) = (0, 0);
    loop {
        let (used, state) = skipper.advance(&bytes[at..arrived]).ok()?;
        at += used;
        if state == Skipped::Done || arrived == bytes.len() {
            return Some((skipper.packets(), at));
        }
        arrived = (arrived + piece).min(bytes.len());
    }
}

/// What an OK packet tells of the session.
pub fn session_track(bytes: &[u8]) {
    let _ = gtid(bytes);
}

/// The server's RSA key.
pub fn rsa_key(bytes: &[u8]) {
    let _ = encrypt_password("secret", &[7; 20], bytes);
}
