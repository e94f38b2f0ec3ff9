//! Isolation levels as servers take them.

use plimsoll_core::plan::Isolation;

/// What a connection runs to have this level for all its transactions; `None` for that of the server.
pub fn session_sql(isolation: Isolation) -> Option<String> {
    level(isolation).map(|level| format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}"))
}

/// What it runs to have this level for the next transaction; `None` for that of the server.
pub fn next_transaction_sql(isolation: Isolation) -> Option<String> {
    level(isolation).map(|level| format!("SET TRANSACTION ISOLATION LEVEL {level}"))
}

fn level(isolation: Isolation) -> Option<&'static str> {
    match isolation {
        Isolation::ServerDefault => None,
        Isolation::ReadUncommitted => Some("READ UNCOMMITTED"),
        Isolation::ReadCommitted => Some("READ COMMITTED"),
        Isolation::RepeatableRead => Some("REPEATABLE READ"),
        Isolation::Serializable => Some("SERIALIZABLE"),
    }
}
