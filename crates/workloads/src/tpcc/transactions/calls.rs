//! The calls of the stored procedures, one for each transaction (see `procedures`).

use plimsoll_session::StatementId;

/// Where each call is among the statements.
#[derive(Clone, Copy)]
pub struct Calls {
    pub new_order: StatementId,
    pub payment: StatementId,
    pub order_status: StatementId,
    pub delivery: StatementId,
    pub stock_level: StatementId,
}

impl Calls {
    /// How many there are.
    pub const COUNT: u64 = 5;

    /// Adds their texts.
    pub fn new(mut add: impl FnMut(&str) -> StatementId) -> Self {
        Self {
            new_order: add("CALL plimsoll_new_order(?, ?, ?, ?, ?)"),
            payment: add("CALL plimsoll_payment(?, ?, ?, ?, ?, ?, ?)"),
            order_status: add("CALL plimsoll_order_status(?, ?, ?, ?)"),
            delivery: add("CALL plimsoll_delivery(?, ?)"),
            stock_level: add("CALL plimsoll_stock_level(?, ?, ?)"),
        }
    }
}
