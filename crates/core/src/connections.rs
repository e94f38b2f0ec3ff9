//! What became of a trial's connections: those that did not come, and outages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::plan::Role;

/// Connections of one group that could not be opened, for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConnectFailure {
    /// Name of the server, as in the plan.
    pub instance: String,
    /// Of the server that did not let them in; where it was this machine, the source.
    #[serde(default)]
    pub role: Role,
    /// MySQL's error number, where a server answered with one.
    pub code: Option<u16>,
    /// How many.
    pub count: u64,
    /// What was said to the first of them.
    pub message: String,
}

/// From the first connection of a group to one server that was lost until they are back: all, or the share that the plan asks
/// for.
/// Times are nanoseconds since trial start, as the client saw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outage {
    /// Name of the server, as in the plan.
    pub instance: String,
    /// Of the server.
    #[serde(default)]
    pub role: Role,
    /// When the first connection was lost, or fell silent.
    pub from_ns: u64,
    /// When they were back; null when they were not before the trial ended.
    pub to_ns: Option<u64>,
    /// Connections that were lost. One that was lost twice counts once.
    pub connections_count: u64,
    /// Transactions that failed because their connection was lost.
    pub lost_count: u64,
}
