//! What is known of a statement: its text and how often it is sent, and what is counted of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a server answered to one successful statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatementResult {
    /// Whether it answered with a result set, an empty one included.
    pub has_result_set: bool,
    /// Rows in the result set.
    pub rows_returned: u64,
    /// Rows that it said were changed.
    pub rows_affected: u64,
}

/// A statement that a transaction sends. Of those that are alike but for a table or the length of a list it is the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SentStatement {
    /// Type of the transaction.
    pub transaction: String,
    /// With a question mark for each value.
    pub sql: String,
    /// How often in a transaction; null where that differs.
    pub times: Option<u32>,
}
