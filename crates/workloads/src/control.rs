//! Connections that look or make, as opposed to those that are measured.

use std::str::FromStr;
use std::time::Duration;

use plimsoll_core::message::FailureClass;
use plimsoll_core::plan::Target;
use plimsoll_engine::WorkerFault;
use plimsoll_session::{MachineClock, retry_while_full, worker_fault};
use plimsoll_wire::{ConnectOptions, Connection};

/// How long connecting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long the other machine may say nothing although it was asked, or take nothing: a server that flushes may leave rows in
/// the network for minutes.
const NETWORK_TIMEOUT: Duration = Duration::from_secs(600);

/// Rows that a query of a catalogue may return: a bound against hostile servers, far above what is needed.
pub const CATALOGUE_ROWS_MAX: usize = 10_000_000;

/// The same of a query that lists columns, indexes or constraints by their names.
pub const NAMES_MAX: usize = 1_000_000;

/// Opens a connection, which may send rows by LOAD DATA LOCAL.
///
/// # Errors
/// When no database is named, the server cannot be reached, or it does not let us in.
pub fn open(target: &Target) -> Result<Connection, WorkerFault> {
    if target.database.is_empty() {
        let message = "target: names no database; name one: mysql://user@host:port/database";
        return Err(WorkerFault::new(FailureClass::Spec, message));
    }
    let options = ConnectOptions {
        connect_timeout: CONNECT_TIMEOUT,
        network_timeout: NETWORK_TIMEOUT,
        local_infile: true,
        ..ConnectOptions::default()
    };
    retry_while_full(&MachineClock, || Connection::open(target, &options))
        .map_err(|error| worker_fault(&error, &format!("connect to {} as {}", target.endpoint, target.user)))
}

/// The number in a column of a row; `None` for NULL and for what is none.
pub fn number<T: FromStr>(row: &[Option<String>], column: usize) -> Option<T> {
    row.get(column)?.as_ref()?.parse().ok()
}

/// The number in a column of the first row.
pub fn first_number<T: FromStr>(rows: &[Vec<Option<String>>], column: usize) -> Option<T> {
    number(rows.first()?, column)
}

/// How a connection to a server is encrypted: version and cipher suite, or `None` for one in plain.
///
/// # Errors
/// As every connection to it: it cannot be reached, or it does not let us in.
pub fn encryption(target: &Target) -> Result<Option<String>, WorkerFault> {
    let connection = open(target)?;
    let encryption = connection.encryption().map(|encryption| encryption.to_string());
    connection.close();
    Ok(encryption)
}
