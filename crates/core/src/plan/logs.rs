//! Logs of a production server that are read into tables.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

/// Logs of one server, in the order in which they were written, and the folder for what is found in them.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogsPlan {
    /// Version of the engine protocol that this plan is written in.
    pub protocol: u32,
    /// Folder for the tables. It must exist and have none of their files.
    pub to: PathBuf,
    /// Format of all inputs.
    #[serde(default)]
    pub format: LogFormat,
    /// The logs, oldest first.
    pub inputs: Vec<LogInput>,
    /// What local times are ahead of UTC, seconds: MariaDB and old servers write local time.
    #[serde(default)]
    pub time_zone_offset_s: i32,
    /// Slow logs: times that are whole seconds are those of the end of a statement. Servers that were checked write those of
    /// the start.
    #[serde(default)]
    pub seconds_are_ends: bool,
    /// Whose literals are written.
    #[serde(default)]
    pub literals: LiteralsPlan,
}

/// One log.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogInput {
    /// File, pipe or `/dev/fd/N`, not compressed; `-` for what follows the plan on standard input.
    pub path: PathBuf,
    /// What people call it.
    pub name: String,
}

/// Format of logs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// Slow log, general log or binary log, told by the begin of each input.
    #[default]
    Auto,
    /// Slow log of MySQL, Percona Server or MariaDB.
    Slow,
    /// General log of MySQL or MariaDB.
    General,
    /// Binary log of MySQL or MariaDB.
    Binlog,
    /// Audit log with values between separators.
    Audit(AuditPlan),
}

/// Where the values of an audit log stand. Positions of columns count from 0.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditPlan {
    /// How many a record has.
    pub columns: u32,
    /// Between two columns.
    #[serde(default = "comma")]
    pub separator: String,
    /// Around values that may hold the separator or line ends; empty for none.
    #[serde(default)]
    pub quote: String,
    /// How a quote is written within quotes.
    #[serde(default)]
    pub escape: AuditEscape,
    /// Column of the connection's id.
    pub session: u32,
    /// Column of the time.
    pub time: u32,
    /// Column of the statement's text.
    pub sql: u32,
    /// How times are written.
    #[serde(default)]
    pub time_format: AuditTime,
    /// The time is that of the end of the statement, not that of its start.
    #[serde(default)]
    pub time_is_end: bool,
    /// Column of the duration.
    pub query_time: Option<u32>,
    /// Microseconds in a unit of the duration: 1, 1,000 or 1,000,000.
    #[serde(default = "one")]
    pub query_unit_us: u32,
    /// Column of the user.
    pub user: Option<u32>,
    /// Column of the client's host.
    pub client: Option<u32>,
    /// Column of the default schema.
    pub schema: Option<u32>,
    /// Column of the operation. Records with another one than `QUERY`, `EXECUTE`, `PREPARE`, `CONNECT`, `DISCONNECT` and `QUIT`
    /// are left out.
    pub operation: Option<u32>,
    /// Column of the error number.
    pub errno: Option<u32>,
    /// Column of the number of rows sent.
    pub rows_sent: Option<u32>,
    /// Column of the number of rows examined.
    pub rows_examined: Option<u32>,
    /// Column of the number of rows affected.
    pub rows_affected: Option<u32>,
}

impl AuditPlan {
    /// One with so many columns between commas, and these of the connection's id, the time and the statement.
    pub fn of(columns: u32, session: u32, time: u32, sql: u32) -> Self {
        Self {
            columns,
            separator: comma(),
            quote: String::new(),
            escape: AuditEscape::default(),
            session,
            time,
            sql,
            time_format: AuditTime::default(),
            time_is_end: false,
            query_time: None,
            query_unit_us: one(),
            user: None,
            client: None,
            schema: None,
            operation: None,
            errno: None,
            rows_sent: None,
            rows_examined: None,
            rows_affected: None,
        }
    }
}

/// How a quote is written within quotes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuditEscape {
    /// Twice.
    #[default]
    Doubled,
    /// After a backslash.
    Backslash,
}

/// How times are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuditTime {
    /// `2026-11-23 10:00:00`, `20261123 10:00:00` or `2026-11-23T10:00:00Z`, with any number of decimal places.
    #[default]
    DateTime,
    /// Seconds since 1970.
    UnixS,
    /// Milliseconds since 1970.
    UnixMs,
    /// Microseconds since 1970.
    UnixUs,
}

/// Whose literals are written.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LiteralsPlan {
    /// Share of sessions, chosen by their numbers, 0..1.
    pub sessions_share: f64,
}

impl Default for LiteralsPlan {
    fn default() -> Self {
        Self { sessions_share: 1.0 }
    }
}

fn comma() -> String {
    ",".to_owned()
}

fn one() -> u32 {
    1
}
