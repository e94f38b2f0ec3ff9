//! What is counted of a statement.

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
