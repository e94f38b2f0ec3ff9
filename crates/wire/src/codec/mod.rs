//! The protocol's packets as types: pure functions from bytes to a packet or an error, and from a packet to bytes.
//!
//! Deliberately not here: any I/O, any state of a connection beyond what a decoder needs to go on. Facts are from
//! MySQL's documentation of its client/server protocol and MariaDB's knowledge base, checked against both servers.

pub mod captured;
pub mod column;
pub mod cursor;
pub mod definitions;
pub mod greeting;
pub mod login;
pub mod packet;
pub mod reply;
pub mod row;
pub mod session_track;
pub mod statement;

use thiserror::Error;

/// A packet that must be read whole (anything but a row) may have so many bytes. Servers stay far below: the longest,
/// a column definition, has six names of at most 256 bytes each.
pub const CONTROL_PACKET_BYTES_MAX: usize = 128 * 1024;

/// All rows of a control query together may have so many bytes.
pub const ROWS_BYTES_MAX: usize = 64 * 1024 * 1024;

/// One statement may change so many rows: more than a table of either server can hold in practice.
pub const ROWS_AFFECTED_MAX: u64 = 1 << 40;

/// A result set may have so many columns: the limit of both servers.
pub const COLUMNS_MAX: u64 = 4096;

/// A statement may have so many bytes: the servers' own upper limit of `max_allowed_packet`.
pub const STATEMENT_BYTES_MAX: usize = 1024 * 1024 * 1024;

/// Capability bits of the handshake that this client knows.
pub mod capability {
    /// The old "long password" bit; MariaDB takes it as "speaks MySQL's dialect", without the bits from 32 on.
    pub const LONG_PASSWORD: u64 = 1;
    /// Column flags have two bytes.
    pub const LONG_FLAG: u64 = 1 << 2;
    /// The login names a database.
    pub const CONNECT_WITH_DB: u64 = 1 << 3;
    /// The client answers LOAD DATA LOCAL.
    pub const LOCAL_FILES: u64 = 1 << 7;
    /// The protocol since MySQL 4.1.
    pub const PROTOCOL_41: u64 = 1 << 9;
    /// The connection goes on under TLS.
    pub const SSL: u64 = 1 << 11;
    /// OK packets carry status flags.
    pub const TRANSACTIONS: u64 = 1 << 13;
    /// Authentication by challenge since MySQL 4.1.
    pub const SECURE_CONNECTION: u64 = 1 << 15;
    /// A query may be several statements, with semicolons between them.
    pub const MULTI_STATEMENTS: u64 = 1 << 16;
    /// A query may have several result sets.
    pub const MULTI_RESULTS: u64 = 1 << 17;
    /// An executed statement may have several result sets.
    pub const PS_MULTI_RESULTS: u64 = 1 << 18;
    /// Authentication methods are named.
    pub const PLUGIN_AUTH: u64 = 1 << 19;
    /// OK packets tell what changed in the session.
    pub const SESSION_TRACK: u64 = 1 << 23;
    /// MariaDB's own: column definitions that a prepared statement's client has seen already are not sent again.
    pub const CACHE_METADATA: u64 = 1 << 36;
}

/// Bytes that are not the protocol, or break one of its rules.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProtocolError {
    /// A packet ends inside a field.
    #[error("{what} is cut short")]
    Truncated {
        /// The field or packet.
        what: &'static str,
    },
    /// Packets of one exchange are numbered without gaps; this one was not.
    #[error("packet number {got} came where {expected} was due")]
    Sequence {
        /// The number due.
        expected: u8,
        /// The number that came.
        got: u8,
    },
    /// A size or count above what is possible or allowed here.
    #[error("{what} is {size}, the limit is {limit}")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Its size or count.
        size: u64,
        /// The largest allowed.
        limit: u64,
    },
    /// A byte that has no meaning at this place.
    #[error("{what} cannot have 0x{byte:02x} here")]
    Unexpected {
        /// The field or packet.
        what: &'static str,
        /// The byte.
        byte: u8,
    },
    /// Something that must hold does not.
    #[error("{what}")]
    Invalid {
        /// What is wrong.
        what: &'static str,
    },
}

/// Server text made safe to show: UTF-8, without control characters, at most 1,000 characters.
pub(crate) fn printable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.chars()
        .take(1000)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}
