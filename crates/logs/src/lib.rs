//! Logs of production servers as tables: statements with times and sessions, their templates, their literals.
//!
//! Deliberately not here: files and pipes (whoever owns them feeds bytes), and what the statements mean together.

#![forbid(unsafe_code)]

mod entry;
mod event;
mod facts;
mod formats;
pub mod fuzz_entry;
mod hash;
mod lines;
mod reader;
mod sessions;
mod statement;
mod tables;
mod time;

pub use entry::TEXT_BYTES_MAX;
pub use facts::{Facts, SourceFacts};
pub use reader::{LogReader, Options, ReadFault};
pub use tables::Writers;
