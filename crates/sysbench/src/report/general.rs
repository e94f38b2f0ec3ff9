//! The report of a test that has none of its own.

use super::Stat;
use crate::log::{Level, Log};

/// One line for a stretch.
pub fn intermediate(stat: &Stat, log: &Log) {
    log.line(
        Level::Notice,
        format_args!(
            "[ {:.0}s ] thds: {} eps: {:.2} {}",
            stat.time_total_s,
            stat.threads_running,
            stat.per_s(stat.events),
            latency(stat),
        ),
    );
}

/// Placeholder of the whole.
pub fn cumulative(_stat: &Stat, _log: &Log) {}

/// `lat (ms,95%): 1.23`.
pub fn latency(stat: &Stat) -> String {
    let percent = stat.percentiles.first().copied().unwrap_or_default();
    format!("lat (ms,{percent}%): {:.2}", stat.latency_pct_s() * 1e3)
}
