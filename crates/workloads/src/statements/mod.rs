//! Workloads that users wrote: their statements, and the tables that belong to them.
//!
//! Everything is compiled at start, names into places: running a transaction looks nothing up and allocates nothing.

mod choice;
pub mod data;
mod faults;
mod generate;
mod pauses;
mod plan;
mod preflight;
mod rows;
mod shown;
mod table;
mod worker;

pub use faults::faults;
pub use pauses::Pauses;
pub use preflight::preflight;
pub use worker::StatementsFactory;
