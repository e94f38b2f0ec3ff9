//! The numbers of one report.

use plimsoll_core::histogram::{Histogram, bucket_range_ns};
use plimsoll_core::snapshot::ErrorCount;

use crate::compat::Compat;

/// What one thread did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Share {
    /// Events that it ended.
    pub events: u64,
    /// How long its events took, seconds.
    pub time_s: f64,
}

/// What happened in a stretch of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stat {
    /// Whose report it is to look like.
    pub compat: Compat,
    /// Whether events come at a rate.
    pub has_rate: bool,
    /// Threads that work.
    pub threads_running: u32,
    /// Length of the stretch, seconds.
    pub time_interval_s: f64,
    /// From the begin of the run, warm-up not counted, to the end of the stretch, seconds.
    pub time_total_s: f64,
    /// Percentiles that were asked for, in percent; empty for none.
    pub percentiles: Vec<f64>,
    /// Response times of the events, nanoseconds.
    pub latency: Histogram,
    /// Events that ended.
    pub events: u64,
    /// Statements with a result set.
    pub reads: u64,
    /// Statements that changed rows.
    pub writes: u64,
    /// Other statements.
    pub other: u64,
    /// Errors that were lived with, lost connections not counted.
    pub errors: u64,
    /// Connections that were opened again.
    pub reconnects: u64,
    /// All errors by code.
    pub errors_by_code: Vec<ErrorCount>,
    /// Events that are due and wait for a thread; 0 without a rate.
    pub queue_length: u64,
    /// Events that run; 0 without a rate.
    pub concurrency: u64,
    /// Events that a forced end left running.
    pub unfinished: Option<u64>,
    /// What each thread did. Empty in intermediate reports.
    pub shares: Vec<Share>,
}

impl Stat {
    /// Response time of a percentile (0 to 100), seconds; 0 when nothing ended.
    pub fn percentile_s(&self, percent: f64) -> f64 {
        self.latency.quantile_ns(percent / 100.0).map_or(0.0, seconds)
    }

    /// The first percentile that was asked for, seconds; 0 when there is none.
    pub fn latency_pct_s(&self) -> f64 {
        self.percentiles
            .first()
            .map_or(0.0, |percent| self.percentile_s(*percent))
    }

    /// The shortest response time, seconds, to 0.1 %.
    pub fn latency_min_s(&self) -> f64 {
        let lowest = self.latency.buckets.first();
        lowest.map_or(0.0, |bucket| seconds(bucket_range_ns(*bucket as usize).0))
    }

    /// The mean response time, seconds.
    pub fn latency_avg_s(&self) -> f64 {
        match self.latency.count() {
            0 => 0.0,
            count => self.latency_sum_s() / count as f64,
        }
    }

    /// The longest response time, seconds.
    pub fn latency_max_s(&self) -> f64 {
        seconds(self.latency.max_ns)
    }

    /// All response times together, seconds.
    pub fn latency_sum_s(&self) -> f64 {
        seconds(self.latency.sum_ns)
    }

    /// So many in the stretch, as a rate per second.
    pub fn per_s(&self, count: u64) -> f64 {
        if self.time_interval_s > 0.0 {
            count as f64 / self.time_interval_s
        } else {
            0.0
        }
    }

    /// Statements of all kinds.
    pub fn queries(&self) -> u64 {
        self.reads + self.writes + self.other
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
