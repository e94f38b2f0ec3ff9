//! Errors as MySQL's client library would tell them, and how they count.

use std::time::Duration;

use plimsoll_core::fault::FaultKind;
use plimsoll_core::snapshot::ErrorClass;
use plimsoll_wire::fault::{client, client_code};
use plimsoll_wire::{Cause, WireError};

/// How long the other machine may say nothing although it was asked. How long a statement takes is not limited.
pub(super) const NETWORK_TIMEOUT: Duration = Duration::from_secs(30);

/// An error as MySQL's client library would tell it.
pub struct Failure {
    pub code: u16,
    kind: FaultKind,
    pub state: String,
    pub message: String,
    /// The connection is of no more use.
    pub is_lost: bool,
    /// How long nothing had come before that was noticed.
    pub(super) silence: Duration,
}

impl From<&WireError> for Failure {
    fn from(error: &WireError) -> Self {
        let code = client_code(error.cause());
        let said = |message: &str| ("HY000".to_owned(), message.to_owned());
        let (state, message) = match error.cause() {
            Cause::Server(error) => (error.sqlstate.clone(), error.message.clone()),
            Cause::Lost { .. } => said("Lost connection to MySQL server during query"),
            Cause::Closed { .. } => said("MySQL server has gone away"),
            other => said(&other.to_string()),
        };
        Self {
            code,
            kind: error.kind(),
            state,
            message,
            is_lost: error.is_connection_lost() || client::LOST_ALL.contains(&code),
            silence: error.silence().map_or(Duration::ZERO, |_| NETWORK_TIMEOUT),
        }
    }
}

impl Failure {
    /// How it counts.
    pub(super) fn class(&self) -> ErrorClass {
        if self.is_lost {
            ErrorClass::Connection
        } else if self.kind.asks_for_repetition() {
            ErrorClass::Retryable
        } else {
            ErrorClass::Statement
        }
    }
}
