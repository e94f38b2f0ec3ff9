//! Which format a log has, by its first lines.

use super::{binlog, general, header};

/// Bytes that are looked at, unless the log is shorter.
pub const BYTES_NEEDED: usize = 1 << 16;

/// A format that can be told from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detected {
    /// Slow log.
    Slow,
    /// General log.
    General,
    /// Binary log.
    Binlog,
}

/// The format of a log with this begin; `None` when it has an entry of none.
pub fn detect(begin: &[u8]) -> Option<Detected> {
    if begin.starts_with(binlog::MAGIC) {
        return Some(Detected::Binlog);
    }
    let lines = || begin.split(|&byte| byte == b'\n');
    let known = lines().find_map(|line| {
        if line.starts_with(b"# Time: ") || line.starts_with(b"# User@Host: ") {
            Some(Detected::Slow)
        } else {
            general::is_head(line).then_some(Detected::General)
        }
    });
    // a log that was opened and not written to: which one does not matter
    known.or_else(|| lines().any(header::is_opening).then_some(Detected::Slow))
}

/// How a file is compressed, by its first bytes.
pub fn compression(begin: &[u8]) -> Option<&'static str> {
    match begin {
        [0x1F, 0x8B, ..] => Some("gzip"),
        [0x28, 0xB5, 0x2F, 0xFD, ..] => Some("zstd"),
        [b'B', b'Z', b'h', b'1'..=b'9', 0x31, ..] => Some("bzip2"),
        [0xFD, b'7', b'z', b'X', b'Z', ..] => Some("xz"),
        _ => None,
    }
}
