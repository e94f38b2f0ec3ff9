//! Servers that take turns.

use schemars::JsonSchema;
use serde::Deserialize;

/// Exactly one side runs at a time; the others wait, their connections open. At the end of a turn no transaction begins,
/// those in flight end, and the engine says `handover` and waits for `go`: whoever started it freezes and thaws servers in
/// between. After the last turn the load ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnsPlan {
    /// How long transactions begin in a turn, milliseconds.
    pub turn_ms: u64,
    /// The begin of each turn that is told apart, milliseconds: what waited on the server's side of a freeze is done then.
    pub lead_ms: u64,
    /// The side of each group of the plan, in their order: 0, 1, …
    pub sides: Vec<u32>,
    /// The side of each turn, in their order.
    pub order: Vec<u32>,
}
