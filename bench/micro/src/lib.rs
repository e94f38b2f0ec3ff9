//! Nothing but benches.

#![forbid(unsafe_code)]
