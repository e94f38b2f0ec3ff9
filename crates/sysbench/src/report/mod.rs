//! Reports: what happened, and how it is printed.

pub mod general;
mod stat;

pub use stat::{Share, Stat};
