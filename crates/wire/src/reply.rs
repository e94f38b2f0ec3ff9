//! What a server answered to one statement.

use plimsoll_core::statement::StatementResult;

/// What a successful statement did. Several results of one statement are added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// It gave a result set, be it empty.
    pub has_result_set: bool,
    /// Rows that came.
    pub rows_returned: u64,
    /// Rows changed, deleted or inserted.
    pub rows_affected: u64,
    /// The first `AUTO_INCREMENT` value generated, or 0.
    pub last_insert_id: u64,
    /// Number of warnings of the last result.
    pub warnings: u16,
}

impl From<Reply> for StatementResult {
    #[inline]
    fn from(reply: Reply) -> Self {
        Self {
            has_result_set: reply.has_result_set,
            rows_returned: reply.rows_returned,
            rows_affected: reply.rows_affected,
        }
    }
}
