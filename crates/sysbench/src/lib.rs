//! A drop-in for sysbench: its command line, its reports, its Lua scripts, its host tests, on our engine and wire.
//!
//! Written from a description of what sysbench does, not from its sources. Deliberately not here: standard input and output,
//! which are handed in.

mod arrivals;
mod by_name;
pub mod command_line;
pub mod compat;
pub mod distributions;
pub mod exit;
#[doc(hidden)]
pub mod fuzz_entry;
pub mod host;
mod json;
pub mod log;
pub mod lua;
pub mod mysql;
pub mod native;

mod oltp04;
pub mod open;
pub mod options;
pub mod report;
pub mod run;
pub mod settings;
mod stand_in;
pub mod test;
