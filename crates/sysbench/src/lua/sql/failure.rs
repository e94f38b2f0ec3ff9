//! What is done about errors of statements: some are lived with, some mean a new connection, the others end the run.

use std::time::Duration;

use plimsoll_core::plan::RetryRule;
use plimsoll_core::snapshot::ErrorClass;
use plimsoll_engine::Gate;
use plimsoll_wire::{ConnectFailure, WireError};

use super::Verdict;
use super::connection::{Connection, NETWORK_TIMEOUT};
use crate::log::{Level, MESSAGE_BYTES_MAX};
use crate::lua::host::Host;
use crate::mysql::LOST;

/// An error as MySQL's client library would tell it.
pub struct Failure {
    pub code: u16,
    pub state: String,
    pub message: String,
    /// The connection is of no more use.
    pub is_lost: bool,
    /// How long nothing had come before that was noticed.
    silence: Duration,
}

impl From<&WireError> for Failure {
    fn from(error: &WireError) -> Self {
        let (code, state, message) = match error {
            WireError::Server(error) => (error.code, error.sqlstate.clone(), error.message.clone()),
            WireError::Lost { .. } => said(2013, "Lost connection to MySQL server during query"),
            WireError::Closed { .. } => said(2006, "MySQL server has gone away"),
            other => said(client_code(other), &other.to_string()),
        };
        Self {
            code,
            state,
            message,
            is_lost: error.is_connection_lost() || LOST.contains(&code),
            silence: error.silence().map_or(Duration::ZERO, |_| NETWORK_TIMEOUT),
        }
    }
}

/// An error that the client tells.
fn said(code: u16, message: &str) -> (u16, String, String) {
    (code, "HY000".to_owned(), message.to_owned())
}

/// The number that MySQL's client library has for it.
fn client_code(error: &WireError) -> u16 {
    match error {
        WireError::Connect { failure, .. } => match failure {
            ConnectFailure::NoSocket => 2002,
            ConnectFailure::UnknownHost(_) | ConnectFailure::NoName(_) => 2005,
            ConnectFailure::NoTls(_) | ConnectFailure::Tls(_) | ConnectFailure::TlsFile(_) => 2026,
            ConnectFailure::NoServerKey | ConnectFailure::ServerKeyFile(_) => 2061,
            ConnectFailure::HungUp | ConnectFailure::Silent(_) => 2013,
            _ => 2003,
        },
        WireError::NotMySql { .. } => 2007,
        WireError::Method { .. } => 2059,
        WireError::Protocol(_) => 2027,
        WireError::RowsMax { .. } => 2008,
        WireError::ParameterCount { .. } => 2031,
        WireError::StatementTooLong { .. } => 2020,
        _ => 2000,
    }
}

impl Connection {
    /// Does what is to be done about an error, and shows it to the script.
    pub(super) fn fail(&mut self, host: &Host, failure: &Failure, what: &str, sql: &[u8]) {
        if host.is_cut_off() {
            return self.show_error(Verdict::Fatal, failure); // the run is over, nobody has to know
        }
        let Failure { code, message, .. } = failure;
        let shown = String::from_utf8_lossy(&sql[..sql.len().min(MESSAGE_BYTES_MAX)]); // the log cuts it to the letter
        let said = format!("{what} returned error {code} ({message}) for query '{shown}'");
        if !is_ignored(host, *code) {
            host.error(class(failure), *code);
            host.log(Level::Fatal, said);
            return self.show_error(Verdict::Fatal, failure);
        }
        host.log(Level::Debug, said);
        host.error(class(failure), *code);
        if failure.is_lost && !self.come_back(host, failure.silence) {
            return self.show_error(Verdict::Fatal, failure);
        }
        self.show_error(Verdict::Ignorable, failure);
    }

    fn come_back(&mut self, host: &Host, silence: Duration) -> bool {
        host.gate(|gate: &mut Gate<'_>| gate.connection_lost(silence));
        let is_back = self.connect_again(host);
        if is_back {
            host.gate(|gate: &mut Gate<'_>| gate.connection_back());
        }
        is_back
    }
}

fn is_ignored(host: &Host, code: u16) -> bool {
    host.shared.config.ignored.contains(code)
}

fn class(failure: &Failure) -> ErrorClass {
    if failure.is_lost {
        ErrorClass::Connection
    } else if RetryRule::ASKED_FOR.contains(&failure.code) {
        ErrorClass::Retryable
    } else {
        ErrorClass::Statement
    }
}
