//! What an error of a server means, whatever its product calls it.
//!
//! Deliberately not here: numbers and SQLSTATEs, which a wire knows, and what is done about an error, which a session knows.

/// What an error means for whoever met it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Transactions waited for each other, and this one was undone.
    Deadlock,
    /// A lock did not become free in time.
    LockWait,
    /// The row was changed since the transaction read it.
    RowChanged,
    /// A row with the same key is there.
    Duplicate,
    /// An index of that name is there.
    DuplicateIndex,
    /// What was looked for is not there.
    NoData,
    /// The server takes no writes: by an option, in a read-only transaction, or as a replica.
    ReadOnly,
    /// The server goes down, and the connection ends with it.
    Shutdown,
    /// The connection ended or never came about: killed, idle for too long, or broken.
    Gone,
    /// There is no room for another connection.
    Full,
    /// There is no room for what the workload needs on each connection.
    Limit,
    /// The disk is full, or the space that the server may take of it.
    DiskFull,
    /// The account may not do this, or may not log in.
    Denied,
    /// The database, a table or a column is missing, or has another shape.
    Schema,
    /// The server does not know this syntax.
    Syntax,
    /// The server takes this statement as text only.
    TextOnly,
    /// The server takes no rows from a file of the client's.
    LocalFileRefused,
    /// Anything else.
    Other,
}

impl FaultKind {
    /// Whether the connection is of no more use.
    pub fn ends_connection(self) -> bool {
        matches!(self, Self::Shutdown | Self::Gone)
    }

    /// Whether the server itself asks for the transaction to be repeated.
    pub fn asks_for_repetition(self) -> bool {
        matches!(self, Self::Deadlock | Self::LockWait | Self::RowChanged)
    }

    /// Whether every transaction of a workload would meet it again, until a person changes something.
    pub fn never_works(self) -> bool {
        matches!(
            self,
            Self::ReadOnly | Self::Limit | Self::Denied | Self::Schema | Self::Syntax
        )
    }
}
