//! A worker's connections, one to each server of its group; which of them takes a transaction: statements prepared when first used, transactions repeated as the plan says,
//! connections opened again after they were lost, faults with their cures.
//!
//! Deliberately not here: what a transaction does (that is a workload), when it starts (that is the engine), how bytes
//! look on the wire.

#![forbid(unsafe_code)]

mod cancel;
mod clock;
mod fault;
mod prepared;
mod replicas;
mod retry;
mod server_connection;
mod servers;
mod session;
mod shared;
mod spread;
mod statement;
mod terms;
mod transaction;

pub use clock::{Bell, Clock, Connect, MachineClock};
pub use fault::{Consequence, StatementError, worker_fault};
pub use plimsoll_wire::{Captured, FirstRow, Reply, Results, Sink, Value};
pub use replicas::{Heartbeat, preflight};
pub use retry::{retry_login, retry_while_full};
pub use server_connection::ServerConnection;
pub use servers::GroupServers;
pub use session::{Session, Sessions};
pub use statement::{StatementId, Statements};
pub use terms::{Terms, Tolerance, default_retry};
pub use transaction::transact;
