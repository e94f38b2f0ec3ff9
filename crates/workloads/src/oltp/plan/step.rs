//! The steps of a transaction, each some statements of one kind.

use plimsoll_session::StatementId;

use super::texts::ForTable;

/// Some statements on one table, or one without a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A statement without values: BEGIN, COMMIT, and locks.
    Alone(StatementId),
    /// A call of a procedure with the number of the connection and how many there are.
    Call(StatementId),
    /// Selects, updates or deletes of one row by its number only.
    ByRow { statement: ForTable, count: u32 },
    /// Selects of rows that follow each other.
    ByRange {
        statement: ForTable,
        count: u32,
        /// How far the last row is from the first.
        beyond: i64,
        /// A first row above this one is moved down to it.
        first_max: i64,
    },
    /// Updates of one row with a new text.
    Rewrites {
        statement: ForTable,
        count: u32,
        text: Text,
    },
    /// Deletes of a row, each followed by an insert of a row of the same number.
    Replacements {
        delete: ForTable,
        insert: ForTable,
        count: u32,
        /// The new row gets values of its own; otherwise they stand in the statement.
        renewed: bool,
    },
    /// An insert of a new row.
    Insert { statement: ForTable, id: NewId, text: Text },
    /// A delete of a row that no other transaction deletes.
    DeleteOnce(ForTable),
    /// A select with a list of so many values of k, within the connection's own part of the values.
    PointList { statement: ForTable, count: usize },
    /// A count over so many ranges of k, of this width, within the connection's own part of the values.
    RangeList {
        statement: ForTable,
        count: usize,
        delta: i64,
    },
    /// One insert of many rows, as text.
    BulkInsert,
}

/// How the texts of new rows look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// Groups of eleven digits, as in sysbench 1.
    Groups,
    /// Whole numbers of up to ten digits, as in sysbench 0.4.
    Integers,
}

/// Where the number of a new row comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewId {
    /// The server counts.
    Server,
    /// A number that comes once in 2^32 transactions, plus this.
    Scattered(i64),
}

/// What a transaction consists of, before statements for BEGIN and COMMIT are put around it.
pub struct Body {
    pub steps: Vec<Step>,
    pub writes: bool,
    /// What stands before and after it; `None` where nothing ever does.
    pub around: Option<(String, &'static str)>,
}

impl Body {
    /// One step, with nothing around it.
    pub fn single(step: Step, writes: bool) -> Self {
        Self {
            steps: vec![step],
            writes,
            around: None,
        }
    }
}

/// A step, unless it would do nothing.
pub fn some(count: u32, step: impl FnOnce() -> Step) -> Option<Step> {
    (count > 0).then(step)
}

/// A number of rows, which was checked to fit, as statements take it.
pub fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
