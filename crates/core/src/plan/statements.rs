//! Workloads that users wrote themselves: their tables, their statements, and where values come from.
//!
//! What a person writes is richer (names of tables instead of ranges, templates as text, `:name` in SQL): the Python side
//! resolves that, so that everything here can be compiled without looking anything up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::distribution::Distribution;

/// Transactions of a user's own statements.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatementsPlan {
    /// Tables that must be there.
    pub tables: Vec<String>,
    /// What connections do, chosen by weight.
    pub transactions: Vec<TransactionPlan>,
    /// Statements are prepared once for each connection and run in the binary protocol; otherwise sent as text.
    pub prepared: bool,
}

impl StatementsPlan {
    /// Whether connections pause after any of its transactions.
    pub fn has_own_pace(&self) -> bool {
        let mut ranges = self.transactions.iter().filter_map(|one| one.think_time);
        ranges.any(|range| range.max_ms > 0.0)
    }
}

/// One type of transaction.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TransactionPlan {
    /// Its name in all results.
    pub name: String,
    /// How often it is chosen, relative to the others.
    pub weight: u32,
    /// BEGIN before its statements and COMMIT after them; otherwise each commits by itself.
    pub begin: bool,
    /// Its isolation level, set before BEGIN.
    pub isolation: Isolation,
    /// Values drawn before its first statement.
    pub values: Vec<ValuePlan>,
    /// What it does, in this order.
    pub statements: Vec<StatementPlan>,
    /// The connection pauses for so long after it, milliseconds. For closed loops only, and without a think time of theirs.
    pub think_time: Option<ThinkRange>,
}

/// Isolation levels of SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// Whatever the server gives.
    ServerDefault,
    /// Sees what others have not committed.
    ReadUncommitted,
    /// Each statement sees what was committed before it.
    ReadCommitted,
    /// All statements see the same.
    RepeatableRead,
    /// Reads lock.
    Serializable,
}

/// A pause, evenly distributed between two lengths.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThinkRange {
    /// The shortest, milliseconds.
    pub min_ms: f64,
    /// The longest, milliseconds.
    pub max_ms: f64,
}

/// One statement of a transaction.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatementPlan {
    /// Its text with `?` where values go, and with no other `?`, not even quoted.
    pub sql: String,
    /// The names of the values, one for each `?`.
    pub parameters: Vec<String>,
    /// Values drawn each time before it runs.
    pub values: Vec<ValuePlan>,
    /// Columns of its first row that later statements use.
    pub keep: Vec<KeepPlan>,
    /// The name under which later statements use the first `AUTO_INCREMENT` value that it generated.
    pub keep_insert_id: Option<String>,
    /// What happens when it gave no row, or, without a result set, changed none.
    pub no_row: NoRow,
    /// It runs at least so often,
    pub repeat_min: u32,
    /// and at most so often; each number is equally likely.
    pub repeat_max: u32,
}

/// A column whose value in the first row is kept.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeepPlan {
    /// The column of the result.
    pub column: String,
    /// The name of the value.
    pub name: String,
}

/// What a transaction does when a statement found nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoRow {
    /// It goes on; what was to be kept is NULL.
    Continue,
    /// It leaves the rest out, commits, and counts as completed.
    Skip,
    /// It is rolled back and counts as failed.
    Fail,
}

/// A value with a name.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ValuePlan {
    /// How statements call it.
    pub name: String,
    /// Where it comes from.
    pub source: ValueSource,
}

/// Where the value of a parameter comes from.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ValueSource {
    /// It is drawn.
    Drawn {
        /// From what.
        generator: Generator,
        /// So often it is NULL instead, 0 to 1.
        null_ratio: f64,
    },
    /// It is an earlier value of the same transaction, an integer, plus a constant.
    Sum {
        /// The earlier value.
        value: String,
        /// The constant.
        add: i64,
    },
}

/// Makes values: of rows when tables are filled, of parameters when statements run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Generator {
    /// `first`, `first + step`, … by the number of the row. For rows only.
    Sequence {
        /// In the first row.
        first: i64,
        /// From row to row.
        step: i64,
    },
    /// One of `count` integers: `first`, `first + step`, …
    Integer {
        /// The smallest.
        first: i64,
        /// The distance between neighbours.
        step: i64,
        /// How many there are.
        count: u64,
        /// How they are chosen.
        distribution: Distribution,
    },
    /// One of `count` decimal numbers with `scale` digits after the point: `first`, `first + 1`, … of its last digit.
    Decimal {
        /// The smallest, in units of the last digit.
        first: i64,
        /// How many there are.
        count: u64,
        /// Digits after the point.
        scale: u32,
        /// How they are chosen.
        distribution: Distribution,
    },
    /// Random characters.
    Characters {
        /// Which.
        alphabet: Alphabet,
        /// At least so many,
        length_min: u32,
        /// and at most so many; each length is equally likely.
        length_max: u32,
    },
    /// Pieces one after the other.
    Template {
        /// The pieces.
        parts: Vec<TemplatePart>,
    },
    /// One of `count` points in time: `first`, `first + step`, …
    Timestamp {
        /// The earliest, microseconds since 1970-01-01 00:00:00 on the calendar, without time zone.
        first_us: i64,
        /// The distance between neighbours, microseconds.
        step_us: i64,
        /// How many there are.
        count: u64,
        /// How they are chosen.
        distribution: Distribution,
    },
    /// `first`, `first + step`, … by the number of the row. For rows only.
    TimestampSequence {
        /// In the first row, microseconds since 1970-01-01 00:00:00.
        first_us: i64,
        /// From row to row, microseconds.
        step_us: i64,
    },
    /// One of a few values.
    Choice {
        /// The values.
        values: Vec<Constant>,
        /// How often each is chosen, relative to the others.
        weights: Vec<f64>,
    },
}

/// A value that is written out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Constant {
    /// An integer.
    Int(i64),
    /// Text; numbers with a point too.
    Text(String),
}

/// What random characters are taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Alphabet {
    /// 0 to 9.
    Digits,
    /// a to z.
    Letters,
    /// 0 to 9 and a to f.
    Hexadecimal,
}

/// A piece of a template.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum TemplatePart {
    /// As it stands.
    Text(String),
    /// Generated; another template it cannot be.
    Generated(Generator),
}

/// The tables of a user's own workload.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatementsData {
    /// The tables.
    pub tables: Vec<TablePlan>,
    /// All content follows from it.
    pub seed: u64,
    /// A check takes any number of rows, since workloads insert or delete.
    #[serde(default)]
    pub changing: bool,
}

/// A table with its rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TablePlan {
    /// Its name.
    pub name: String,
    /// How many rows are made.
    pub rows: u64,
    /// Its columns, in this order.
    pub columns: Vec<ColumnPlan>,
    /// The columns of its primary key; none if empty.
    pub primary_key: Vec<String>,
    /// Its other indexes, made after the rows.
    pub indexes: Vec<IndexPlan>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ColumnPlan {
    /// Its name.
    pub name: String,
    /// Its type in SQL, such as `VARCHAR(40)`: letters, digits, spaces, `_`, `,` and parentheses.
    pub sql_type: String,
    /// NULL is allowed.
    pub nullable: bool,
    /// The server numbers new rows itself.
    pub auto_increment: bool,
    /// So many of its values are NULL, 0 to 1.
    pub null_ratio: f64,
    /// What its values are.
    pub generator: Generator,
}

/// An index of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IndexPlan {
    /// Its name.
    pub name: String,
    /// Its columns, in this order.
    pub columns: Vec<String>,
    /// No two rows are alike in them.
    pub unique: bool,
}
