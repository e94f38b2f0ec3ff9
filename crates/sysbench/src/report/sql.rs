//! The report of a test that talks to a server.

use super::{Stat, blocks, general};
use crate::log::{Level, Log};

/// One line for a stretch, and one more where events come at a rate.
pub fn intermediate(stat: &Stat, log: &Log) {
    let per_s = |count| stat.per_s(count);
    log.line(
        Level::Notice,
        format_args!(
            "[ {:.0}s ] thds: {} tps: {:4.2} qps: {:4.2} (r/w/o: {:4.2}/{:4.2}/{:4.2}) {} err/s: {:4.2} reconn/s: {:4.2}",
            stat.time_total_s,
            stat.threads_running,
            per_s(stat.events),
            per_s(stat.queries()),
            per_s(stat.reads),
            per_s(stat.writes),
            per_s(stat.other),
            general::latency(stat),
            per_s(stat.errors),
            per_s(stat.reconnects),
        ),
    );
    general::queue(stat, ",", log);
}

/// The whole.
pub fn cumulative(stat: &Stat, log: &Log) {
    let own = [statements(stat), blocks::throughput(stat)].concat();
    general::ending(&own, stat, log);
}

fn statements(stat: &Stat) -> String {
    let rate = |count: u64| format!("{count:<6} ({:.2} per sec.)", stat.per_s(count));
    format!(
        "SQL statistics:\n    queries performed:\n        read:                            {}\n        write:                           \
         {}\n        other:                           {}\n        total:                           {}\n    transactions:                        \
         {}\n    queries:                             {}\n    ignored errors:                      {}\n    reconnects:                          \
         {}\n\n",
        stat.reads,
        stat.writes,
        stat.other,
        stat.queries(),
        rate(stat.events),
        rate(stat.queries()),
        rate(stat.errors),
        rate(stat.reconnects),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::tests::log;

    #[test]
    fn a_line_has_rates_of_its_stretch() {
        let (log, out, _) = log();
        let stat = Stat {
            threads_running: 4,
            time_total_s: 10.0,
            time_interval_s: 2.0,
            percentiles: vec![99.5],
            events: 10,
            reads: 140,
            has_rate: true,
            queue_length: 3,
            ..Stat::default()
        };
        intermediate(&stat, &log);
        assert_eq!(
            out.text(),
            "[ 10s ] thds: 4 tps: 5.00 qps: 70.00 (r/w/o: 70.00/0.00/0.00) lat (ms,99.5%): 0.00 err/s: 0.00 reconn/s: \
             0.00\n[ 10s ] queue length: 3, concurrency: 0\n"
        );
    }

    #[test]
    fn the_whole_begins_with_statements() {
        let (log, out, _) = log();
        cumulative(&Stat::default(), &log);
        assert!(
            out.text()
                .starts_with("SQL statistics:\n    queries performed:\n        read:                            0\n")
        );
        assert!(
            out.text()
                .contains("\n    transactions:                        0      (0.00 per sec.)\n")
        );
        assert!(out.text().ends_with("0.0000/0.00\n\n"), "{:?}", out.text());
    }
}
