//! MySQL client protocol: a codec without I/O, authentication, and a thin blocking connection over TCP or a unix socket,
//! in plain or under TLS.
//!
//! Made for driving load: a successful statement whose rows fit the buffer allocates nothing, costs one write, and its
//! rows are counted by their packet headers, not parsed, unless a sink captures them. Whatever bytes a server sends, the
//! answer is a value or an error, never a panic and never memory without bound.
//!
//! Deliberately not here: retries, pools, any knowledge of trials or workloads, server-side cursors,
//! compression.

#![forbid(unsafe_code)]

mod auth;
mod buffer;
mod channel;
pub mod codec;
mod connection;
mod connector;
mod dial;
mod error;
pub mod fault;
mod first_row;
#[doc(hidden)]
pub mod fuzz_entry;
mod interrupter;
mod login;
mod lookup;
mod options;
mod replies;
mod reply;
mod results;
mod server_key;
mod sink;
mod socket;
mod statement;
mod tls;
mod tls_trust;
mod transport;
mod watch;

pub use codec::captured::Captured;
pub use codec::greeting::{Flavour, ServerInfo};
pub use codec::reply::ServerError;
pub use codec::row::TextRow;
pub use codec::statement::{PreparedStatement, Value};

pub use codec::{ProtocolError, ROWS_BYTES_MAX};
pub use connection::Connection;
pub use connector::Connector;
pub use error::{Cause, ConnectFailure, Silence, WireError};
pub use first_row::FirstRow;
pub use interrupter::Interrupter;
pub use options::ConnectOptions;
pub use reply::Reply;
pub use results::{ResultSet, Results};
pub use sink::Sink;
pub use statement::Statement;
pub use tls::Encryption;
pub use watch::Watch;
