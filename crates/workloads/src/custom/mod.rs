//! Workloads that users wrote: their statements, and the tables that belong to them.
//!
//! Everything is compiled at start, names into positions: running a transaction looks nothing up and allocates nothing.

mod choice;
mod compiled;
mod counts;
pub mod data;
mod drawing;
mod factory;
mod faults;
mod format;
mod generator;
mod keys;
mod lists;
mod preflight;
mod reading;
mod think_times;
mod values;
mod variants;
mod worker;

pub use factory::CustomFactory;
pub use faults::faults;
pub use preflight::preflight;
pub use think_times::ThinkTimes;
