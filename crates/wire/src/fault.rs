//! What the error numbers of MySQL and MariaDB mean, and what a person can do about them: the only place that knows them.
//! Numbers are from both servers' reference manuals, checked against the servers by the tests of this crate and of workloads.

use plimsoll_core::fault::FaultKind::{
    self, Deadlock, Denied, DiskFull, Duplicate, DuplicateIndex, Full, Gone, Limit, LocalFileRefused, LockWait, NoData,
    Other, ReadOnly, RowChanged, Schema, Shutdown, Syntax, TextOnly,
};

use crate::codec::reply::ServerError;
use crate::error::{Cause, ConnectFailure};

/// Numbers of MySQL's client library, for what no server answered.
pub mod client {
    /// No connection by a socket.
    pub const NO_SOCKET: u16 = 2002;
    /// No connection by TCP.
    pub const NO_HOST: u16 = 2003;
    /// The connection was lost while an answer was due.
    pub const LOST: u16 = 2013;

    /// Anything that has no other number.
    pub(super) const UNKNOWN: u16 = 2000;
    pub(super) const UNKNOWN_HOST: u16 = 2005;
    /// The connection was used after it had ended.
    pub(super) const GONE: u16 = 2006;
    pub(super) const OTHER_VERSION: u16 = 2007;
    pub(super) const OUT_OF_MEMORY: u16 = 2008;
    pub(super) const TLS: u16 = 2026;
    pub(super) const MALFORMED_PACKET: u16 = 2027;
    pub(super) const PACKET_TOO_LARGE: u16 = 2020;
    pub(super) const PARAMETERS_NOT_BOUND: u16 = 2031;
    pub(super) const UNKNOWN_METHOD: u16 = 2059;
    pub(super) const LOGIN_REFUSED: u16 = 2061;

    /// All by which it says that a connection is lost: gone, lost within TCP or while an answer was due, lost with a reason.
    pub const LOST_ALL: [u16; 4] = [GONE, 2011, LOST, 2055];
}

/// SQLSTATE of a transaction that was undone since others were under way: the standard asks for it to be tried again.
const SERIALIZATION_FAILURE: &str = "40001";

/// In texts of errors of many numbers: what the operating system says of a full disk.
const DISK_FULL_TEXTS: [&str; 3] = ["No space left on device", "error 28 ", "errno: 28"];

const GRANT: &str = "grant the account what it needs: GRANT SELECT, INSERT, UPDATE, DELETE ON its database";
const LOCAL_INFILE: &str = "set local_infile=ON on the server";
const MAKE_SPACE: &str = "free space where it keeps its data, temporary files and binary logs";
const OTHER_SHAPE: &str = "the table has another shape: remove it, then make the data with `plimsoll prepare`";
const OTHER_LIMIT: &str = "use fewer connections or raise the account's limit";

/// Number, what it means, and what a person can do about it, which may be nothing.
const KNOWN: &[(u16, FaultKind, &str)] = &[
    (3, DiskFull, MAKE_SPACE),
    (1020, RowChanged, ""),
    (1021, DiskFull, MAKE_SPACE),
    (1026, DiskFull, MAKE_SPACE),
    (
        1040,
        Full,
        "use fewer connections or raise the server's max_connections",
    ),
    (1041, DiskFull, MAKE_SPACE), // "out of resources"
    (1044, Denied, GRANT),
    (
        1045,
        Denied,
        "check the account's name and password, and that it may connect from this host",
    ),
    (
        1046,
        Schema,
        "name a database in the target: mysql://user@host:port/database",
    ),
    (
        1049,
        Schema,
        "create it with CREATE DATABASE, or name another one in the target",
    ),
    (1053, Shutdown, ""),
    (1054, Schema, OTHER_SHAPE),
    (1061, DuplicateIndex, ""),
    (1062, Duplicate, ""),
    (
        1064,
        Syntax,
        "the server does not know this syntax: is it of the MySQL family, and what is its sql_mode?",
    ),
    (1077, Shutdown, ""),
    (1079, Shutdown, ""),
    (1080, Gone, ""),
    (1114, DiskFull, MAKE_SPACE),
    (1130, Denied, "the server lets no account in from this host"),
    (1136, Schema, OTHER_SHAPE),
    (1142, Denied, GRANT),
    (1143, Denied, GRANT),
    (
        1146,
        Schema,
        "make the data with `plimsoll prepare`, with the same number of tables and rows",
    ),
    (1148, LocalFileRefused, LOCAL_INFILE), // MySQL before 8, MariaDB
    (1152, Gone, ""),
    (1153, Gone, "raise the server's max_allowed_packet"),
    (1154, Gone, ""),
    (1155, Gone, ""),
    (1156, Gone, ""),
    (1157, Gone, ""),
    (1158, Gone, ""),
    (1159, Gone, ""),
    (1160, Gone, ""),
    (1161, Gone, ""),
    (1184, Gone, ""),
    (1203, Full, OTHER_LIMIT), // of connections at the same time
    (1205, LockWait, ""),
    (1213, Deadlock, ""),
    (1226, Full, OTHER_LIMIT), // of the account's resources
    (1227, Denied, "grant the account the privilege"),
    (
        1290,
        ReadOnly,
        "the server runs with an option that forbids this: start it without, or use a read-only workload",
    ),
    (1295, TextOnly, ""),
    (1329, NoData, ""),
    (
        1461,
        Limit,
        "raise max_prepared_stmt_count, use fewer connections or tables, or send statements as text",
    ),
    (1698, Denied, "the account does not log in by password: use another one"),
    (
        1792,
        ReadOnly,
        "transactions are read-only here: set transaction_read_only=0, or use a read-only workload",
    ),
    (
        1836,
        ReadOnly,
        "the server is read-only: set read_only=0, or use a read-only workload, or the source",
    ),
    (1878, DiskFull, MAKE_SPACE),
    (1927, Gone, ""), // MariaDB: killed
    (2068, LocalFileRefused, LOCAL_INFILE),
    (3169, Gone, ""),
    (3948, LocalFileRefused, LOCAL_INFILE),
    (4031, Gone, ""), // MySQL: idle for too long
    (4166, LocalFileRefused, LOCAL_INFILE),
    (6413, TextOnly, ""), // parameters in statements like HANDLER, since MySQL 9
];

/// What a plan that says nothing tries again: what servers ask to be repeated, in rising order.
pub fn repeated_codes() -> Vec<u16> {
    let repeated = KNOWN.iter().filter(|(_, kind, _)| kind.asks_for_repetition());
    repeated.map(|(code, ..)| *code).collect()
}

fn known(code: u16) -> Option<(FaultKind, &'static str)> {
    let place = KNOWN.binary_search_by_key(&code, |(number, ..)| *number).ok()?;
    let (_, kind, cure) = KNOWN[place];
    Some((kind, cure))
}

/// What an error of this number means.
fn kind_of(code: u16) -> FaultKind {
    known(code).map_or(Other, |(kind, _)| kind)
}

impl ServerError {
    /// What it means. An unknown number is judged by its SQLSTATE and its text.
    pub fn kind(&self) -> FaultKind {
        match kind_of(self.code) {
            Other if self.sqlstate == SERIALIZATION_FAILURE => Deadlock,
            Other if DISK_FULL_TEXTS.iter().any(|text| self.message.contains(text)) => DiskFull,
            kind => kind,
        }
    }

    /// What to do about it, where that is known.
    pub fn cure(&self) -> Option<&'static str> {
        match self.kind() {
            DiskFull => Some(MAKE_SPACE),
            _ => known(self.code).map(|(_, cure)| cure).filter(|cure| !cure.is_empty()),
        }
    }

    /// What a client found to be missing, as a server says it.
    pub fn no_data(what: &str) -> Self {
        Self {
            code: 1329,
            sqlstate: "02000".to_owned(),
            message: what.to_owned(),
        }
    }
}

/// The number that MySQL's client library has for what no server answered; the server's own where one did.
pub fn client_code(cause: &Cause) -> u16 {
    match cause {
        Cause::Server(error) => error.code,
        Cause::Lost { .. } => client::LOST,
        Cause::Closed { .. } => client::GONE,
        Cause::Connect { failure, .. } => match failure {
            ConnectFailure::NoSocket => client::NO_SOCKET,
            ConnectFailure::UnknownHost(_) | ConnectFailure::NoName(_) => client::UNKNOWN_HOST,
            ConnectFailure::NoTls(_) | ConnectFailure::Tls(_) | ConnectFailure::TlsFile(_) => client::TLS,
            ConnectFailure::NoServerKey | ConnectFailure::ServerKeyFile(_) => client::LOGIN_REFUSED,
            ConnectFailure::HungUp | ConnectFailure::Silent(_) => client::LOST,
            ConnectFailure::Refused
            | ConnectFailure::Interrupted
            | ConnectFailure::TimedOut(_)
            | ConnectFailure::Other(_) => client::NO_HOST,
        },
        Cause::NotMySql { .. } => client::OTHER_VERSION,
        Cause::Method { .. } => client::UNKNOWN_METHOD,
        Cause::Protocol(_) => client::MALFORMED_PACKET,
        Cause::RowsMax { .. } => client::OUT_OF_MEMORY,
        Cause::ParameterCount { .. } => client::PARAMETERS_NOT_BOUND,
        Cause::StatementTooLong { .. } => client::PACKET_TOO_LARGE,
        Cause::LocalFileAsked { .. } | Cause::NoColumn { .. } => client::UNKNOWN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::{Path, PathBuf};

    #[test]
    fn numbers_rise_so_that_each_is_found() {
        assert!(KNOWN.is_sorted_by(|before, after| before.0 < after.0));
        assert!(
            KNOWN
                .iter()
                .all(|(code, kind, _)| kind_of(*code) == *kind && *kind != Other)
        );
    }

    #[test]
    fn a_plan_that_says_nothing_repeats_changed_rows_lock_waits_and_deadlocks() {
        assert_eq!(repeated_codes(), [1020, 1205, 1213]);
    }

    #[test]
    fn unknown_numbers_are_judged_by_sqlstate_and_text() {
        let error = |code, sqlstate: &str, message: &str| ServerError {
            code,
            sqlstate: sqlstate.to_owned(),
            message: message.to_owned(),
        };
        let full = "Got error 28 from storage engine (errno: 28 \"No space left on device\")";
        for (error, kind) in [
            (error(9007, "40001", "write conflict"), Deadlock),
            (error(9007, "HY000", "write conflict"), Other),
            (error(1030, "HY000", full), DiskFull),
            (
                error(1062, "23000", "Duplicate entry 'errno: 28' for key 'PRIMARY'"),
                Duplicate,
            ),
        ] {
            assert_eq!(error.kind(), kind, "{error}");
        }
        assert_eq!(error(1030, "HY000", full).cure(), Some(MAKE_SPACE));
    }

    /// Every error that a person must act on has a cure.
    #[test]
    fn what_never_works_has_a_cure() {
        let without = KNOWN
            .iter()
            .filter(|(_, kind, cure)| kind.never_works() && cure.is_empty());
        assert_eq!(without.count(), 0);
    }

    /// Elsewhere nobody decides by a number: what is a number there is a user's, or shown to one.
    #[test]
    fn no_other_source_has_one_of_these_numbers() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut files: Vec<PathBuf> = read_dir(crates).map(|folder| folder.join("src")).collect();
        let mut found = Vec::new();
        while let Some(path) = files.pop() {
            if path.is_dir() {
                files.extend(read_dir(&path));
            } else if path.extension().is_some_and(|end| end == "rs") && !is_exempt(&path) {
                let text = fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]").next().unwrap();
                let code = code.lines().map(|line| line.split("//").next().unwrap());
                let words = code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && !"_.,\"".contains(c)));
                let is_known = |word: &str| word.parse().is_ok_and(|code| code > 1_000 && kind_of(code) != Other);
                let known = words
                    .map(|word| word.trim_end_matches(','))
                    .filter(|word| is_known(word));
                found.extend(known.map(|word| format!("{}: {word}", path.display())));
            }
        }
        assert_eq!(found, <Vec<String>>::new());
    }

    fn read_dir(path: &Path) -> impl Iterator<Item = PathBuf> {
        fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path())
    }

    /// This table, and what plays a server.
    fn is_exempt(path: &Path) -> bool {
        path.ends_with("wire/src/fault.rs")
            || path.ends_with("tests.rs")
            || path.components().any(|part| part.as_os_str() == "sim")
    }
}
