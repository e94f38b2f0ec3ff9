//! A worker's connections by role: statements prepared when first used, transactions repeated as the plan says,
//! connections opened again after they were lost, faults with their cures.
//!
//! Deliberately not here: what a transaction does (that is a workload), when it starts (that is the engine), how bytes
//! look on the wire.

mod fault;
mod lifeline;
mod prepared;
mod role_connection;
mod session;
mod statement;
mod terms;
mod transaction;

pub use fault::{Consequence, StatementError, worker_fault};
pub use plimsoll_wire::{FirstRow, Kept, Reply, Results, Value};
pub use role_connection::RoleConnection;
pub use session::{Session, Sessions};
pub use statement::{StatementId, Statements};
pub use terms::{Terms, Tolerance};
pub use transaction::transact;
