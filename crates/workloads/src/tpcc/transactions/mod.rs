//! The five transactions of clause 2, each as ordinary statements of a client or as one call, and who runs them.
//!
//! Autocommit is off, so that a transaction begins with its first statement and needs no round trip for that.

mod answer;
mod calls;
mod choice;
mod client;
mod delivery;
mod input;
mod list;
mod new_order;
mod order_status;
mod payment;
mod statements;
mod stock_level;
mod terminals;
mod worker;

pub use choice::faults as mix_faults;
pub use statements::Catalogue;
pub use terminals::Times;
pub use worker::TpccFactory;
