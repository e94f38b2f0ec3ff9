//! Transactions that are noted once the server acknowledged them.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use super::target::Target;

/// Numbered transactions on tables of their own, and a ledger of those that were acknowledged.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LedgerPlan {
    /// Version of the engine protocol that this plan is written in.
    pub protocol: u32,
    /// What a transaction writes follows from this, its worker and its number.
    pub seed: u64,
    /// The server. The tables are made; there must be none of their names yet.
    pub target: Target,
    /// How many workers, each with a connection.
    pub connections: u32,
    /// File to be made: a line `worker number monotonic_ns` for each transaction, after the server's answer to its COMMIT;
    /// `worker number monotonic_ns code` for one that failed, with the number 0 for an attempt to connect.
    pub ledger: PathBuf,
}
