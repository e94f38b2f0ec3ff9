//! The Lua host: sysbench's scripts on LuaJIT, our engine and our wire.
//!
//! Each thread has a Lua state of its own. Scripts reach Rust through the interpreter's foreign functions (`exports`), so that
//! its compiler can compile what they do, and never the other way round: no Rust frame lies between two of Lua's.
//! Deliberately not here: the loop over arrivals (the engine), and reports that are not the script's own.

#[allow(unsafe_code)] // Lua calls it
mod allocator;
mod cuts;
#[allow(unsafe_code)] // Lua calls them, with pointers
mod exports;
#[allow(unsafe_code)] // Lua writes there
mod fixed;
mod histogram;
#[allow(unsafe_code)] // found again by a pointer from functions that Lua calls
mod host;
#[allow(unsafe_code)] // the same
mod lent_gate;
#[doc(hidden)]
pub mod memory;
mod modules;
mod rand;
#[allow(unsafe_code)] // mlua lends a state of our own making
mod raw_state;
mod reports;
mod shared;
mod slab;
mod sql;
mod state;
mod test;
mod thread_context;
mod worker;

pub use raw_state::luajit_version;
pub use shared::CommandLine;
pub use test::{LuaTest, Script};
