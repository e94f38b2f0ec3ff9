//! Errors as MySQL's client library would tell them, and how they count.

use std::time::Duration;

use plimsoll_core::plan::RetryRule;
use plimsoll_core::snapshot::ErrorClass;
use plimsoll_wire::{ConnectFailure, WireError};

use crate::mysql::LOST;

/// How long the other machine may say nothing although it was asked. How long a statement takes is not limited.
pub(super) const NETWORK_TIMEOUT: Duration = Duration::from_secs(30);

/// An error as MySQL's client library would tell it.
pub struct Failure {
    pub code: u16,
    pub state: String,
    pub message: String,
    /// The connection is of no more use.
    pub is_lost: bool,
    /// How long nothing had come before that was noticed.
    pub(super) silence: Duration,
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

impl Failure {
    /// How it counts.
    pub(super) fn class(&self) -> ErrorClass {
        if self.is_lost {
            ErrorClass::Connection
        } else if RetryRule::ASKED_FOR.contains(&self.code) {
            ErrorClass::Retryable
        } else {
            ErrorClass::Statement
        }
    }
}
