//! Tables of what was read, as CSV.

mod csv;
mod names;
mod writers;

pub use writers::{Tables, Template, Writers};
