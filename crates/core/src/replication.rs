//! How far a replica was behind its source in one interval, and what that meant for those who read from it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What became of reads on one replica in one interval, and how far it was behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplicationInterval {
    /// The largest lag within the interval, nanoseconds: from when a heartbeat was sent to the source until the replica showed
    /// it. Null where nobody knows: no heartbeat came, or another engine writes them.
    pub lag_ns: Option<u64>,
    /// The lag at the end of the interval, nanoseconds.
    pub lag_end_ns: Option<u64>,
    /// Transactions that were sent to the replica because they only read.
    pub reads_count: u64,
    /// Those of them whose connection had written within the replica's lag: they may have missed that write.
    pub stale_count: u64,
    /// Waits for a write of the connection, those that were given up included.
    pub waits_count: u64,
    /// How long these took together, nanoseconds; part of the response time.
    pub wait_ns: u64,
    /// Waits that were given up: the read ran on the source.
    pub wait_timeouts_count: u64,
}
