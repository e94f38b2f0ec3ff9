//! Reports: what happened, and how it is printed.

pub mod blocks;
pub mod general;
mod log_histogram;
pub mod sql;
mod stat;

pub use log_histogram::LogHistogram;
pub use stat::{Share, Stat};
