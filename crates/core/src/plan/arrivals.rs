//! When transactions are wanted.

use schemars::JsonSchema;
use serde::Deserialize;

/// When transactions are wanted.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ArrivalsPlan {
    /// Each connection starts the next transaction when the last one is done.
    Closed {
        /// Ends the trial after so many transactions; without it only time or `stop` ends it.
        transactions_max: Option<u64>,
        /// The pause before the next transaction is due; none if absent.
        think_time: Option<ThinkTimePlan>,
    },
    /// Transactions are wanted at a rate, whether or not a connection is free.
    Open {
        /// How they follow each other.
        process: ArrivalProcess,
        /// The rate over time, from trial start. After the last step its final rate goes on.
        steps: Vec<RateStepPlan>,
        /// How many may wait for a connection; what falls due beyond that is dropped.
        backlog_max: u64,
    },
}

/// How long connections pause after a transaction. Before its first transaction a connection waits for what is left of a
/// pause that it is found in, so that not all begin at once.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ThinkTimePlan {
    /// Exponentially distributed, as pauses of independent users are.
    Exponential {
        /// The mean, milliseconds.
        mean_ms: f64,
    },
    /// Evenly distributed; always the same when both are equal.
    Uniform {
        /// The shortest, milliseconds.
        min_ms: f64,
        /// The longest, milliseconds.
        max_ms: f64,
    },
}

/// How arrivals follow each other at one and the same rate.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ArrivalProcess {
    /// Independently of each other, as those of many users do.
    Poisson,
    /// The same in bursts: the rate goes back and forth between a high and a low value (a Markov-modulated Poisson process
    /// of two states).
    Bursty {
        /// Index of dispersion of counts over windows much longer than a burst: variance over mean. 1 is a Poisson process.
        dispersion: f64,
        /// How long the rate stays high, and low, on average, at the highest rate of the steps, milliseconds. Stays are
        /// longer where the dispersion needs that.
        stay_ms: f64,
    },
    /// Evenly.
    Uniform,
}

/// A stretch of time in which the rate goes from one value to another in a straight line.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateStepPlan {
    /// How long it takes, milliseconds.
    pub duration_ms: u64,
    /// Transactions per second at its begin.
    pub from_tps: f64,
    /// Transactions per second at its end.
    pub to_tps: f64,
}
