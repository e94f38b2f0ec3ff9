//! What an error of the server means: for the transaction it hit, and for the person who has to act.
//!
//! Deliberately not here: doing anything about it (see `transaction`).

use std::fmt;
use std::time::Duration;

use plimsoll_core::fault::FaultKind;
use plimsoll_core::message::FailureClass;
use plimsoll_core::snapshot::ErrorClass;
use plimsoll_engine::WorkerFault;
use plimsoll_wire::{Cause, ConnectFailure, ServerError, Silence, WireError};

use crate::terms::Terms;

/// What a failed statement asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consequence {
    /// The whole transaction is repeated with the same values.
    Repeat,
    /// The connection is gone: the transaction failed, and a new connection is needed.
    Reconnect,
    /// The transaction failed; the next one may do better.
    Fail,
    /// It can never work: the run ends with one clear message.
    EndRun,
}

/// A statement that failed, and why.
#[derive(Debug)]
pub struct StatementError {
    error: WireError,
    /// No statement failed: a connection could not be opened.
    is_connecting: bool,
}

impl StatementError {
    /// Sorts an error of the wire.
    #[cold]
    pub fn new(error: WireError) -> Self {
        Self {
            error,
            is_connecting: false,
        }
    }

    /// Sorts an error of the wire that kept a connection from being opened again.
    pub(crate) fn connecting(error: WireError) -> Self {
        Self {
            error,
            is_connecting: true,
        }
    }

    /// What a workload itself found to be missing, counted as the server counts it.
    pub fn no_data(what: &str) -> Self {
        Self::new(ServerError::no_data(what).into())
    }

    /// MySQL's error number; 0 when the client noticed the error without one.
    pub fn code(&self) -> u16 {
        self.error.server_code().unwrap_or(0)
    }

    /// What it means.
    pub fn kind(&self) -> FaultKind {
        self.error.kind()
    }

    /// How long nothing had come from the server when this was noticed.
    pub(crate) fn silence(&self, terms: &Terms) -> Duration {
        match self.error.silence() {
            Some(Silence::Server) => terms.read_timeout.unwrap_or_default(),
            Some(Silence::Network) => terms.network_timeout,
            None => Duration::ZERO,
        }
    }

    /// How the error is counted. What a server itself asks to be tried again is so also where the plan does not do it.
    pub fn class(&self, terms: &Terms) -> ErrorClass {
        match self.consequence(terms) {
            Consequence::Reconnect if self.is_connecting => ErrorClass::Connect,
            Consequence::Repeat => ErrorClass::Retryable,
            Consequence::Reconnect => ErrorClass::Connection,
            Consequence::Fail if self.error.kind().asks_for_repetition() => ErrorClass::Retryable,
            Consequence::Fail | Consequence::EndRun => ErrorClass::Statement,
        }
    }

    /// What it asks for.
    pub fn consequence(&self, terms: &Terms) -> Consequence {
        if self.is_connecting || self.error.is_connection_lost() {
            return if terms.survives_loss {
                Consequence::Reconnect
            } else {
                Consequence::EndRun
            };
        }
        let Some(said) = self.error.server() else {
            return Consequence::EndRun;
        };
        match said.kind() {
            _ if terms.repeats(said.code) => Consequence::Repeat,
            _ if terms.is_strict => Consequence::EndRun,
            // It did work, and the server was made read-only since.
            FaultKind::ReadOnly if terms.has_worked() => Consequence::Fail,
            kind if kind.never_works() => Consequence::EndRun,
            _ => Consequence::Fail,
        }
    }

    /// The error as what ends a run, with its cure.
    pub fn into_fault(self, doing: &str) -> WorkerFault {
        worker_fault(&self.error, doing)
    }
}

impl fmt::Display for StatementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

/// An error of the wire as what ends a run: what was being done, what the server said, and the cure where one is known.
/// Errors that no server sent name their endpoint themselves.
pub fn worker_fault(error: &WireError, doing: &str) -> WorkerFault {
    let spec = |thing: &str, fault: &str| WorkerFault::new(FailureClass::Spec, format!("{thing}: {fault}"));
    match error.cause() {
        Cause::Server(said) => WorkerFault {
            code: Some(said.code),
            sqlstate: Some(said.sqlstate.clone()),
            ..WorkerFault::new(FailureClass::Target, format!("{doing}: {error}"))
        },
        Cause::Connect {
            failure: ConnectFailure::TlsFile(fault),
            ..
        } => spec("tls", fault),
        Cause::Connect {
            failure: ConnectFailure::ServerKeyFile(fault),
            ..
        } => spec("server_public_key_path", fault),
        _ => WorkerFault::new(FailureClass::Target, error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::{Tolerance, default_retry};
    use plimsoll_core::plan::{ReconnectPlan, RetryRule};

    fn said(code: u16) -> StatementError {
        let error = ServerError {
            code,
            sqlstate: "HY000".to_owned(),
            message: "no".to_owned(),
        };
        StatementError::new(error.into())
    }

    fn closed() -> StatementError {
        let endpoint = "db:3306".to_owned();
        StatementError::new(Cause::Closed { endpoint }.into())
    }

    fn terms(retry: &[RetryRule]) -> Terms {
        Terms::new(retry, &ReconnectPlan::default()).unwrap()
    }

    fn sorted(error: &StatementError, terms: &Terms) -> (Consequence, ErrorClass) {
        (error.consequence(terms), error.class(terms))
    }

    #[test]
    fn errors_are_sorted_by_what_they_ask_for() {
        let terms = Terms::default();
        for code in [1213, 1205, 1020] {
            let expected = (Consequence::Repeat, ErrorClass::Retryable);
            assert_eq!(sorted(&said(code), &terms), expected);
        }
        for lost in [said(1053), said(1927), closed()] {
            let expected = (Consequence::Reconnect, ErrorClass::Connection);
            assert_eq!(sorted(&lost, &terms), expected);
        }
        assert_eq!(sorted(&said(1062), &terms), (Consequence::Fail, ErrorClass::Statement));
        assert_eq!(
            sorted(&said(1146), &terms),
            (Consequence::EndRun, ErrorClass::Statement)
        );
        assert_eq!((said(1213).code(), closed().code()), (1213, 0));
        assert_eq!(StatementError::no_data("row").consequence(&terms), Consequence::Fail);
    }

    #[test]
    fn strict_terms_end_the_run_at_what_is_not_tolerated() {
        let strict = |lost_connections| {
            Terms::strict(Tolerance {
                codes: vec![1213],
                lost_connections,
                ..Tolerance::default()
            })
        };
        assert_eq!(said(1213).consequence(&strict(false)), Consequence::Repeat);
        assert_eq!(said(1062).consequence(&strict(true)), Consequence::EndRun);
        assert_eq!(closed().consequence(&strict(false)), Consequence::EndRun);
        assert_eq!(closed().consequence(&strict(true)), Consequence::Reconnect);
    }

    #[test]
    fn what_is_said_to_a_new_connection_only_keeps_it_from_coming() {
        let terms = Terms::default();
        for code in [1040, 1045, 1213] {
            let error = StatementError::connecting(said(code).error);
            assert_eq!(sorted(&error, &terms), (Consequence::Reconnect, ErrorClass::Connect));
        }
    }

    #[test]
    fn the_plan_says_what_is_repeated() {
        let none = terms(&[]);
        assert_eq!(sorted(&said(1213), &none), (Consequence::Fail, ErrorClass::Retryable));
        let rule = RetryRule {
            codes: vec![1062, 1146],
            ..default_retry().remove(0)
        };
        let own = terms(&[rule]);
        for code in [1062, 1146] {
            let expected = (Consequence::Repeat, ErrorClass::Retryable);
            assert_eq!(sorted(&said(code), &own), expected);
        }
    }

    #[test]
    fn a_server_that_became_read_only_is_no_misuse() {
        let terms = terms(&[]);
        assert_eq!(said(1290).consequence(&terms), Consequence::EndRun);
        terms.worked();
        assert_eq!(said(1290).consequence(&terms), Consequence::Fail);
        assert_eq!(said(1146).consequence(&terms), Consequence::EndRun);
    }

    #[test]
    fn a_file_that_cannot_be_used_is_the_users_to_mend() {
        let cause = Cause::Connect {
            endpoint: "db:3306".to_owned(),
            failure: ConnectFailure::TlsFile("/ca.pem cannot be read".to_owned()),
        };
        let fault = worker_fault(&cause.into(), "connect");
        let expect = (FailureClass::Spec, "tls: /ca.pem cannot be read");
        assert_eq!((fault.class, fault.message.as_str()), expect);
    }

    #[test]
    fn a_fault_names_the_cure_and_keeps_what_the_server_said() {
        let fault = said(1146).into_fault("run on db:3306");
        assert!(
            fault.message.starts_with("run on db:3306: no (error 1146"),
            "{}",
            fault.message
        );
        assert!(
            fault.message.ends_with("with the same number of tables and rows"),
            "{}",
            fault.message
        );
        assert_eq!((fault.code, fault.sqlstate.as_deref()), (Some(1146), Some("HY000")));
        assert_eq!(
            closed().into_fault("run").message,
            "the connection to db:3306 is closed"
        );
    }
}
