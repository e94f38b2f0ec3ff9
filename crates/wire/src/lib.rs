//! MySQL client protocol: a codec without I/O, authentication, and a thin blocking connection over TCP or a unix socket,
//! in plain or under TLS.
//!
//! Made for driving load: a successful statement whose rows fit the buffer allocates nothing, costs one write, and its
//! rows are counted by their packet headers, not parsed, unless a first row is kept. Whatever bytes a server sends, the
//! answer is a value or an error, never a panic and never memory without bound.
//!
//! Deliberately not here: retries, pools, any knowledge of trials or workloads, server-side cursors,
//! compression.

mod auth;
mod buffer;
mod channel;
pub mod codec;
mod connection;
mod connector;
mod dial;
mod error;
mod first_row;
#[doc(hidden)]
pub mod fuzz_entry;
mod interrupter;
mod login;
mod lookup;
mod patience;
mod replies;
mod results;
mod server_key;
mod socket;
mod tls;
mod tls_trust;
mod transport;
mod watch;

pub use codec::greeting::{Flavour, ServerInfo};
pub use codec::kept::Kept;
pub use codec::reply::ServerError;
pub use codec::row::TextRow;
pub use codec::statement::{Statement, Value};
pub use codec::{ProtocolError, ROWS_BYTES_MAX};
pub use connection::{ConnectOptions, Connection};
pub use connector::Connector;
pub use error::{ConnectFailure, Silence, WireError};
pub use first_row::FirstRow;
pub use interrupter::Interrupter;
pub use patience::patiently;
pub use replies::Reply;
pub use results::{ResultSet, Results};
pub use tls::Encryption;
pub use watch::Watch;
