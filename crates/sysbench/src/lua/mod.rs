//! The Lua host: sysbench's scripts on LuaJIT, our engine and our wire.
//!
//! Each thread has a Lua state of its own. Scripts reach Rust through the interpreter's foreign functions (`exports`), so that
//! its compiler can compile what they do, and never the other way round: no Rust frame lies between two of Lua's.
//! Deliberately not here: the loop over arrivals (the engine), and reports that are not the script's own.

mod cuts;
mod exports;
mod histogram;
mod host;
#[doc(hidden)]
pub mod memory;
mod modules;
mod rand;
mod reports;
mod shared;
mod slab;
mod sql;
mod state;
mod test;
mod worker;

pub use shared::CommandLine;
pub use test::{LuaTest, Script};
