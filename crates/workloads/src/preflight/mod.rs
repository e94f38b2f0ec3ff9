//! What the preflights of all workloads share: a probe of the server, and its limits.
//!
//! Deliberately not here: tables and rows, which each kind of workload knows for itself.

mod limits;
pub mod probe;
