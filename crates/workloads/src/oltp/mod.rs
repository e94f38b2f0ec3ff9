//! The OLTP workloads: selects, updates, deletes and inserts on tables as sysbench shapes them.

mod bulk;
pub mod data;
mod faults;
mod plan;
mod preflight;
mod run;
mod shared;
mod tables;
mod transaction_id;
mod worker;

pub use faults::faults;
pub use preflight::{TableSizes, misses_tables, preflight};
pub use worker::OltpFactory;
