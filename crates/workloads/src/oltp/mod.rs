//! The OLTP workloads: selects, updates, deletes and inserts on tables as sysbench shapes them.

mod bulk;
mod faults;
mod place;
mod plan;
mod preflight;
mod run;
pub mod tables;
mod worker;

pub use faults::faults;
pub use plan::isolation_sql;
pub use preflight::preflight;
pub use worker::OltpFactory;
