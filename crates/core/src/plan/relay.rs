//! A network delay in front of a server.

use schemars::JsonSchema;
use serde::Deserialize;

use super::target::Endpoint;

/// A relay on the loopback address that forwards connections to a server, each byte a fixed time after it came.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RelayPlan {
    /// Version of the engine protocol that this plan is written in.
    pub protocol: u32,
    /// Where connections lead.
    pub to: Endpoint,
    /// Each way, nanoseconds; at most a minute.
    pub delay_ns: u64,
}
