//! How connections are opened, and what they do about errors.

use schemars::JsonSchema;
use serde::Deserialize;

/// How the connections of a group are opened, before the load begins.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ConnectPlan {
    /// How many each second; as fast as they come if absent.
    pub per_s: Option<f64>,
    /// Ends the trial when one of them cannot be opened. Otherwise it runs with those that came, and says so; none of
    /// them ends it in any case.
    pub all_required: bool,
}

/// What is tried again, and how often. It repeats the whole transaction with the same values.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RetryRule {
    /// MySQL's error numbers.
    pub codes: Vec<u16>,
    /// How often one transaction is repeated after them, all of them together. After one more it has failed.
    pub limit: u32,
    /// The pause before the first repetition, milliseconds; each further one is twice as long.
    #[serde(default)]
    pub pause_ms: f64,
    /// The longest pause, milliseconds.
    #[serde(default = "RetryRule::default_pause_max_ms")]
    pub pause_max_ms: f64,
}

impl RetryRule {
    /// What `pause_max_ms` is where a plan does not say, milliseconds.
    pub fn default_pause_max_ms() -> f64 {
        1_000.0
    }
}

/// When connections count as lost, how they are opened again, and when they count as back.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReconnectPlan {
    /// The longest pause after the first attempt that failed, milliseconds; each further one is twice as long. Each is drawn
    /// between half of that and all of it, so that connections do not come back at the same time.
    pub pause_ms: f64,
    /// The longest pause, milliseconds.
    pub pause_max_ms: f64,
    /// A connection over TCP is lost when the other machine acknowledges nothing for so long, milliseconds: it is gone, or the
    /// way to it is.
    pub network_timeout_ms: u64,
    /// A connection is lost when the server sends no byte of an answer for so long, milliseconds; null waits for ever. It
    /// must be longer than any statement and any wait for a lock.
    pub read_timeout_ms: Option<u64>,
    /// An outage is over when so large a share of the group's connections is open, above 0 to 1.
    pub back_ratio: f64,
    /// When a group has had no connection for so long, the trial ends, milliseconds.
    pub give_up_ms: u64,
}

impl Default for ReconnectPlan {
    fn default() -> Self {
        Self {
            pause_ms: 10.0,
            pause_max_ms: 500.0,
            network_timeout_ms: 30_000,
            read_timeout_ms: Some(600_000),
            back_ratio: 1.0,
            give_up_ms: 60_000,
        }
    }
}
