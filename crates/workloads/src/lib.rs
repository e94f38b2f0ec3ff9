//! What clients do, and the rows they do it on.
//!
//! * [`Workload`] is what each kind of workload is able to do, and [`workload_of`] a plan is one: [`factory`] compiles it into
//!   workers, its preflight probes the server before any of them connects.
//! * [`data`] makes, checks and removes the tables.
//! * [`ledger`] writes numbered transactions and notes which were acknowledged.
//!
//! `workload` and `data` tell the kinds of workloads apart, in one place each. Below them each kind (`oltp`, `tpcc`, and
//! `custom`, the users' own) has its transactions, its preflight and its data set, and knows nothing of the others. They stand
//! on `loading`, which knows tables and no workload, and `preflight`, which knows servers and no workload.
//!
//! Deliberately not here: connections and retries (session), schedules and recording (engine), standard input and
//! output.

#![forbid(unsafe_code)]

mod control;
mod custom;
pub mod data;
pub mod distribution;
mod fingerprint;
mod isolation;
pub mod ledger;
pub mod loading;
mod oltp;
pub mod preflight;
mod text;
mod tpcc;
mod workload;

pub use control::encryption;
pub use oltp::{misses_tables, preflight_as_sysbench};
pub use workload::{Background, ClosedUsers, Setting, Workload, closed_loop, factory, sessions_count, workload_of};
