//! The report of a test that has none of its own.

use super::{Stat, blocks};
use crate::log::{Level, Log};

/// One line for a stretch, and one more where events come at a rate.
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
    queue(stat, "", log);
}

/// The second line of a stretch where events come at a rate; sysbench has a comma in it where a test talks to a server.
pub fn queue(stat: &Stat, comma: &str, log: &Log) {
    if stat.has_rate {
        log.line(
            Level::Notice,
            format_args!(
                "[ {:.0}s ] queue length: {}{comma} concurrency: {}",
                stat.time_total_s, stat.queue_length, stat.concurrency
            ),
        );
    }
}

/// The whole.
pub fn cumulative(stat: &Stat, log: &Log) {
    after("", stat, log);
}

/// The whole after lines of the test's own, and an empty one.
pub fn after(own: &str, stat: &Stat, log: &Log) {
    ending(&format!("{own}\n{}", blocks::throughput(stat)), stat, log);
}

/// A test's own part, then response times and how evenly the threads worked.
pub fn ending(own: &str, stat: &Stat, log: &Log) {
    let text = [own, &blocks::latency(stat), &blocks::fairness(stat)].concat();
    log.lines(Level::Notice, text);
}

/// `lat (ms,95%): 1.23`.
pub fn latency(stat: &Stat) -> String {
    let percent = stat.percentiles.first().copied().unwrap_or_default();
    format!("lat (ms,{percent}%): {:.2}", stat.latency_pct_s() * 1e3)
}
