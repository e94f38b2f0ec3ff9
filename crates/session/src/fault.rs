//! What an error of the server means: for the transaction it hit, and for the person who has to act.
//!
//! Deliberately not here: doing anything about it (see `transaction`).

use std::time::Duration;

use plimsoll_core::message::FailureClass;
use plimsoll_core::plan::RetryRule;
use plimsoll_core::snapshot::ErrorClass;
use plimsoll_engine::WorkerFault;
use plimsoll_wire::{ConnectFailure, ServerError, Silence, WireError};

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

    /// What a workload itself found to be missing: counted as the server counts it, error 1329, "no data".
    pub fn no_data(what: &str) -> Self {
        let error = ServerError {
            code: 1329,
            sqlstate: "02000".to_owned(),
            message: what.to_owned(),
        };
        Self::new(WireError::Server(error))
    }

    /// MySQL's error number; 0 when the client noticed the error without one.
    pub fn code(&self) -> u16 {
        self.error.server_code().unwrap_or(0)
    }

    /// Whether the connection is gone.
    pub(crate) fn is_connection_lost(&self) -> bool {
        self.error.is_connection_lost()
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
            Consequence::Fail if RetryRule::ASKED_FOR.contains(&self.code()) => ErrorClass::Retryable,
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
        match self.error.server_code() {
            Some(code) if terms.repeats(code) => Consequence::Repeat,
            _ if terms.is_strict => Consequence::EndRun,
            Some(code) if !never_works(code) => Consequence::Fail,
            // It did work, and the server was made read-only since.
            Some(code) if READ_ONLY.contains(&code) && terms.has_worked() => Consequence::Fail,
            Some(_) | None => Consequence::EndRun,
        }
    }

    /// The error as what ends a run, with its cure.
    pub fn into_fault(self, doing: &str) -> WorkerFault {
        worker_fault(&self.error, doing)
    }
}

const GRANT: &str = "grant the account what it needs: GRANT SELECT, INSERT, UPDATE, DELETE ON its database";
const OTHER_SHAPE: &str = "the table has another shape: remove it, then make the data with `plimsoll prepare`";

/// A server that takes no writes: by an option, in a read-only transaction, or as a replica.
const READ_ONLY: [u16; 3] = [1290, 1792, 1836];

/// Errors that every transaction of the workload would meet again, and what to do about each.
const CURES: [(u16, &str); 16] = [
    (1044, GRANT),
    (
        1045,
        "check the account's name and password, and that it may connect from this host",
    ),
    (1046, "name a database in the target: mysql://user@host:port/database"),
    (
        1049,
        "create it with CREATE DATABASE, or name another one in the target",
    ),
    (1054, OTHER_SHAPE),
    (
        1064,
        "the server does not know this syntax: is it of the MySQL family, and what is its sql_mode?",
    ),
    (1136, OTHER_SHAPE),
    (1142, GRANT),
    (1143, GRANT),
    (
        1146,
        "make the data with `plimsoll prepare`, with the same number of tables and rows",
    ),
    (1227, "grant the account the privilege"),
    (
        1290,
        "the server runs with an option that forbids this: start it without, or use a read-only workload",
    ),
    (
        1461,
        "raise max_prepared_stmt_count, use fewer connections or tables, or send statements as text",
    ),
    (1698, "the account does not log in by password: use another one"),
    (
        1792,
        "transactions are read-only here: set transaction_read_only=0, or use a read-only workload",
    ),
    (
        1836,
        "the server is read-only: set read_only=0, or use a read-only workload, or the source",
    ),
];

fn never_works(code: u16) -> bool {
    CURES.iter().any(|(known, _)| *known == code)
}

fn cure(code: u16) -> Option<&'static str> {
    CURES.iter().find(|(known, _)| *known == code).map(|(_, cure)| *cure)
}

/// An error of the wire as what ends a run: what was being done, what the server said, and the cure where one is known.
/// Errors that no server sent name their endpoint themselves.
pub fn worker_fault(error: &WireError, doing: &str) -> WorkerFault {
    let said = match error {
        WireError::Server(said) => said,
        WireError::Connect {
            failure: ConnectFailure::TlsFile(fault),
            ..
        } => return WorkerFault::new(FailureClass::Spec, format!("tls: {fault}")),
        WireError::Connect {
            failure: ConnectFailure::ServerKeyFile(fault),
            ..
        } => return WorkerFault::new(FailureClass::Spec, format!("server_public_key_path: {fault}")),
        other => return WorkerFault::new(FailureClass::Target, other.to_string()),
    };
    let message = match cure(said.code) {
        Some(cure) => format!("{doing}: {said}; {cure}"),
        None => format!("{doing}: {error}"),
    };
    WorkerFault {
        class: FailureClass::Target,
        code: Some(said.code),
        sqlstate: Some(said.sqlstate.clone()),
        server: None,
        message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::Tolerance;
    use plimsoll_core::plan::ReconnectPlan;

    fn said(code: u16) -> StatementError {
        StatementError::new(WireError::Server(ServerError {
            code,
            sqlstate: "HY000".to_owned(),
            message: "no".to_owned(),
        }))
    }

    fn closed() -> StatementError {
        StatementError::new(WireError::Closed {
            endpoint: "db:3306".to_owned(),
        })
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
            ..RetryRule::defaults().remove(0)
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
        let fault = worker_fault(
            &WireError::Connect {
                endpoint: "db:3306".to_owned(),
                failure: ConnectFailure::TlsFile("/ca.pem cannot be read".to_owned()),
            },
            "connect",
        );
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
