//! The TPC-C-derived workload: nine tables by clause 4.3 of TPC-C revision 5.11, their rows, five transactions by clause 2,
//! and whether the tables are consistent by clause 3.3.2.
//!
//! What is measured with it is no TPC-C result: `docs/tpcc.md` says where it departs.

pub mod data;
mod decimal;
mod deviations;
mod preflight;
mod procedures;
mod random;
mod scale;
mod tables;
mod transactions;

pub use preflight::{faults, pace_fault, preflight};
pub use transactions::{Times, TpccFactory};
