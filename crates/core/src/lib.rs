//! The words of Plimsoll as types: what is planned, what happened to one transaction, how counts and histograms add
//! up, and the messages the engine exchanges with whoever started it.
//!
//! Deliberately not here: any input or output, any clock, any knowledge of MySQL's protocol. Everything is a value, except
//! `lock`, which the crates share.

#![forbid(unsafe_code)]

pub mod connections;
pub mod fault;
pub mod histogram;
pub mod lock;
pub mod message;
pub mod plan;
pub mod random;
pub mod replication;
pub mod snapshot;
pub mod statement;
pub mod timing;
