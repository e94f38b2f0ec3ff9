//! Workloads that users wrote themselves: their tables, their statements, and where values come from.
//!
//! What a person writes is richer (names of tables instead of ranges, templates as text, `:name` in SQL): the Python side
//! resolves that, so that everything here can be compiled without looking anything up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::counts::TimesPlan;
use super::distribution::ValueDistribution;

/// Transactions of a user's own statements.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatementsPlan {
    /// Tables that must be there.
    pub tables: Vec<String>,
    /// Columns whose keys are counted on.
    #[serde(default)]
    pub counters: Vec<CounterPlan>,
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

/// A column of integers whose keys rise: the load asks for the largest when it begins, and knows the newest from then on.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CounterPlan {
    /// The table.
    pub table: String,
    /// The column.
    pub column: String,
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
    /// It runs on the source, also where it only reads.
    #[serde(default)]
    pub on_source: bool,
    /// Its isolation level, set before BEGIN.
    pub isolation: Isolation,
    /// Values drawn before its first statement.
    pub values: Vec<ValuePlan>,
    /// What it does, in this order.
    pub statements: Vec<StatementPlan>,
    /// Statements that are run several times together, in their order; they do not overlap.
    #[serde(default)]
    pub loops: Vec<LoopPlan>,
    /// So many of those that completed end by ROLLBACK instead of COMMIT, 0 to 1; never if absent. It needs `begin`.
    #[serde(default)]
    pub rollback_ratio: Option<f64>,
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
    /// The counter that follows the `AUTO_INCREMENT` values that it is given.
    #[serde(default)]
    pub given: Option<usize>,
    /// What happens when it gave no row, or, without a result set, changed none.
    pub no_row: NoRow,
    /// How often it runs, each time after another.
    #[serde(default)]
    pub repeat: TimesPlan,
    /// A part of it is there several times, once for each row, with values drawn for each.
    #[serde(default)]
    pub rows: Option<RowsPlan>,
    /// What is sent instead of `sql` where it has rows or lists: one text for each combination of how many rows and items there
    /// are. The number of rows changes slowest, then that of the list that `parameters` name first; all rise.
    #[serde(default)]
    pub variants: Vec<String>,
    /// It is one of several statements with the same parameters, and a value says which. The texts of the first come first among
    /// the variants.
    #[serde(default)]
    pub by: Option<ByPlan>,
}

/// The value that says which of several statements runs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ByPlan {
    /// An integer from 1.
    pub value: String,
    /// How many statements there are.
    pub choices: u32,
}

/// The part of a statement that is there once for each row.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RowsPlan {
    /// The position of its first parameter, counted from 0.
    pub first: usize,
    /// How many parameters each row has.
    pub count: usize,
    /// How many rows there are.
    pub rows: TimesPlan,
}

/// Consecutive statements of a transaction that are run several times, in their order.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoopPlan {
    /// The position of the first, counted from 0.
    pub first: usize,
    /// How many they are.
    pub count: usize,
    /// How often they run.
    pub repeat: TimesPlan,
}

/// A column whose value in the first row is captured.
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
    /// It goes on; what was to be captured is NULL.
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
    /// In a share of its draws it is an earlier value instead.
    #[serde(default)]
    pub same: Option<SamePlan>,
    /// It is a list of so many values, each of which comes from there.
    #[serde(default)]
    pub items: Option<TimesPlan>,
    /// Of a list: its items rise. Numbers are compared as numbers, all else byte by byte, and NULL comes first.
    #[serde(default)]
    pub sorted: bool,
    /// Of a list: an item that is there already is drawn again, up to 100 times.
    #[serde(default)]
    pub distinct: bool,
}

/// A value that often is an earlier one of the same transaction.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SamePlan {
    /// The earlier value. For a list, one that is drawn before the first statement: it is that list then, item by item.
    pub value: String,
    /// In which share of the draws, 0 to 1.
    pub ratio: f64,
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
    /// It is the number of the row in its statement, from 1.
    RowNumber {},
    /// It is an item of a list of the transaction: the first in the first row of a statement with rows, otherwise when a statement
    /// with a repeat runs first, otherwise in the first round of a loop; and so on. Behind the last item comes the first.
    ItemOf {
        /// The list.
        list: String,
    },
    /// The key behind all that a counter knows of: no row has it, and no other value is it.
    Next {
        /// The position of the counter.
        counter: usize,
    },
    /// One of the newest keys of a counter.
    Recent {
        /// The position of the counter.
        counter: usize,
        /// From how many it is chosen; from all that there are when the load begins if absent.
        #[serde(default)]
        within: Option<u32>,
        /// How they are chosen: the first is the newest.
        distribution: ValueDistribution,
    },
}

/// Makes values: of rows when tables are filled, of parameters when statements run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Generator {
    /// `first + step * ((row / each) mod cycle)` by the number of the row, from 0. For rows only.
    Sequence {
        /// In the first row.
        first: i64,
        /// From value to value.
        step: i64,
        /// So many rows in turn have the same value.
        #[serde(default = "one", skip_serializing_if = "is_one")]
        each: u64,
        /// After so many values it begins again; never without.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cycle: Option<u64>,
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
        distribution: ValueDistribution,
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
        distribution: ValueDistribution,
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
        distribution: ValueDistribution,
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

fn one() -> u64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_one(number: &u64) -> bool {
    *number == 1
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
