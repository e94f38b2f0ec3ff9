//! Reports in the words of sysbench 0.4.

use std::fmt::Write as _;

use crate::log::{Level, Log};
use crate::report::{Stat, blocks};

/// One line for a stretch.
pub fn intermediate(stat: &Stat, log: &Log) {
    let percent = stat.percentiles.first().copied().unwrap_or_default();
    log.line(
        Level::Notice,
        format_args!(
            "[{:4.0}s] threads: {}, tps: {:.2}, reads/s: {:.2}, writes/s: {:.2} response time: {:.2}ms ({percent}%)",
            stat.time_total_s,
            stat.threads_running,
            stat.per_s(stat.events),
            stat.per_s(stat.reads),
            stat.per_s(stat.writes),
            stat.latency_pct_s() * 1e3,
        ),
    );
}

/// The whole.
pub fn cumulative(stat: &Stat, log: &Log) {
    let text = [statements(stat), general(stat), blocks::fairness(stat)].concat();
    log.lines(Level::Notice, text);
}

fn statements(stat: &Stat) -> String {
    let rate = |count: u64| format!("{count:<6} ({:.2} per sec.)", stat.per_s(count));
    let lines = [
        ("        read:", stat.reads.to_string()),
        ("        write:", stat.writes.to_string()),
        ("        other:", stat.other.to_string()),
        ("        total:", stat.queries().to_string()),
        ("    transactions:", rate(stat.events)),
        ("    deadlocks:", rate(stat.errors)),
        ("    read/write requests:", rate(stat.reads + stat.writes)),
        ("    other operations:", rate(stat.other)),
    ];
    let lines = lines.map(|(label, value)| format!("{label:<41}{value}\n"));
    format!("OLTP test statistics:\n    queries performed:\n{}\n", lines.concat())
}

fn general(stat: &Stat) -> String {
    let time = |seconds: f64| format!("{:>10.2}ms", seconds * 1e3);
    let mut text = format!(
        "General statistics:\n    total time:                          {:.4}s\n    total number of events:              \
         {}\n    total time taken by event execution: {:.4}\n    response time:\n         min:                            \
         {}\n         avg:                            {}\n         max:                            {}\n",
        stat.time_interval_s,
        stat.events,
        stat.latency_sum_s(),
        time(stat.latency_min_s()),
        time(stat.latency_avg_s()),
        time(stat.latency_max_s()),
    );
    for percent in &stat.percentiles {
        let value = time(stat.percentile_s(*percent));
        let _ = writeln!(text, "         approx. {percent:>3} percentile:         {value}");
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::tests::log;

    #[test]
    fn the_report_is_that_of_old_logs() {
        let (log, out, _) = log();
        let stat = Stat {
            percentiles: vec![95.0],
            events: 10_000,
            reads: 140_000,
            writes: 40_000,
            other: 20_000,
            time_interval_s: 50.0,
            ..Stat::default()
        };
        cumulative(&stat, &log);
        let text = out.text();
        for line in [
            "        read:                            140000",
            "    transactions:                        10000  (200.00 per sec.)",
            "    deadlocks:                           0      (0.00 per sec.)",
            "    read/write requests:                 180000 (3600.00 per sec.)",
            "    other operations:                    20000  (400.00 per sec.)",
            "         approx.  95 percentile:               0.00ms",
        ] {
            assert!(text.lines().any(|one| one == line), "{line:?} is not in\n{text}");
        }
    }
}
