//! Which server of a group takes the transactions that only read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the transactions of a group that only read are spread over its replicas. All others run on the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReadsPlan {
    /// Which replica is chosen.
    pub policy: ReadPolicy,
    /// How often one is chosen.
    pub per: ReadsPer,
    /// Whether a connection sees what it wrote.
    pub read_your_writes: ReadYourWrites,
    /// A read waits for a write of its connection at most so long, milliseconds; then it runs on the source.
    pub wait_timeout_ms: u32,
}

impl Default for ReadsPlan {
    fn default() -> Self {
        Self {
            policy: ReadPolicy::default(),
            per: ReadsPer::default(),
            read_your_writes: ReadYourWrites::default(),
            wait_timeout_ms: 1_000,
        }
    }
}

/// Which replica is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadPolicy {
    /// Each in turn.
    #[default]
    RoundRobin,
    /// The one on which the fewest reads of this engine are running.
    LeastOutstanding,
}

/// How often a replica is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadsPer {
    /// For each transaction; each connection of the group is one to every server.
    #[default]
    Transaction,
    /// Once; each connection of the group is one to the source and one to its replica.
    Connection,
}

/// Whether a connection sees what it wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadYourWrites {
    /// It may not: a read goes to a replica at once.
    #[default]
    Off,
    /// A read waits until the replica has applied the connection's last write, which is known by its GTID.
    Wait,
    /// After a write the connection reads from the source until the replica's heartbeat shows that it has the write.
    Pin,
}
