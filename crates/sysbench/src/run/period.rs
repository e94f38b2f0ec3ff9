//! What happened since some point of a run.

use plimsoll_core::histogram::Histogram;
use plimsoll_core::snapshot::{ErrorClass, ErrorCount, Measure, Snapshot};
use plimsoll_engine::WorkerShare;

use crate::report::{Share, Stat};

/// A stretch that grows by intervals.
#[derive(Default)]
pub struct Period {
    from_ns: u64,
    snapshot: Snapshot,
    shares: Vec<WorkerShare>,
    reconnects: u64,
}

impl Period {
    /// One that begins here, when each worker had done so much and so many planned reconnects were counted.
    pub fn begin(from_ns: u64, shares: Vec<WorkerShare>, reconnects: u64) -> Self {
        Self {
            from_ns,
            snapshot: Snapshot::default(),
            shares,
            reconnects,
        }
    }

    /// Adds an interval.
    pub fn add(&mut self, snapshot: &Snapshot) {
        self.snapshot = self.snapshot.merge(snapshot);
    }

    /// What happened up to `to_ns`, the workers having done so much by then; `latency` is what is called so.
    pub fn stat(&self, to_ns: u64, shares: &[WorkerShare], reconnects: u64, latency: Measure) -> Stat {
        let counts = self.snapshot.counts();
        let errors = |wanted: &[ErrorClass]| -> u64 {
            let of_class = self
                .snapshot
                .errors
                .iter()
                .filter(|error| wanted.contains(&error.class));
            of_class.map(|error| error.count).sum()
        };
        Stat {
            time_interval_s: (to_ns.saturating_sub(self.from_ns)) as f64 / 1e9,
            latency: self.durations(latency),
            events: counts.completed,
            reads: counts.reads,
            writes: counts.writes,
            other: counts.others,
            errors: errors(&[ErrorClass::Retryable, ErrorClass::Statement]),
            reconnects: errors(&[ErrorClass::Connection]) + reconnects - self.reconnects,
            errors_by_code: self.seen_errors(),
            shares: shares
                .iter()
                .zip(&self.shares)
                .map(|(now, then)| share(*now, *then, latency))
                .collect(),
            ..Stat::default()
        }
    }

    fn durations(&self, measure: Measure) -> Histogram {
        let measured = self.snapshot.transactions.values();
        let durations = measured.filter_map(|one| one.histograms.get(&measure));
        Histogram::sum(&durations.collect::<Vec<_>>())
    }

    /// Those that were seen. What a script counted as an error by hand has no number, and may be none.
    fn seen_errors(&self) -> Vec<ErrorCount> {
        let all = self.snapshot.errors.iter();
        let seen = all.filter(|error| error.code != 0 || error.class != ErrorClass::Statement);
        seen.cloned().collect()
    }
}

fn share(now: WorkerShare, then: WorkerShare, latency: Measure) -> Share {
    let sum_ns = |share: WorkerShare| {
        if latency == Measure::Response {
            share.response_sum_ns
        } else {
            share.service_sum_ns
        }
    };
    Share {
        events: now.ended_count - then.ended_count,
        time_s: (sum_ns(now) - sum_ns(then)) as f64 / 1e9,
    }
}
