//! What is known of the replicas of a group: whether they can be reached, how far they are behind, what reads met there.

mod beats;
mod heartbeat;
mod replica;

pub(crate) use beats::Beats;
pub use heartbeat::{Heartbeat, preflight};
pub(crate) use replica::Replica;
