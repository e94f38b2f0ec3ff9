//! The parts of a cumulative report that all tests share, as text.

use std::fmt::Write as _;

use plimsoll_core::snapshot::ErrorClass;

use super::Stat;
use crate::compat::Compat;

/// How many events in what time. After a checkpoint 1.0 shows the time since the begin all the same.
pub fn throughput(stat: &Stat) -> String {
    if stat.compat < Compat::V11 {
        return format!(
            "General statistics:\n    total time:                          {:.4}s\n    total number of events:              \
             {}\n\n",
            stat.time_total_s, stat.events
        );
    }
    format!(
        "Throughput:\n    events/s (eps):                      {:.4}\n    time elapsed:                        {:.4}s\n    \
         total number of events:              {}\n\n",
        stat.per_s(stat.events),
        stat.time_interval_s,
        stat.events
    )
}

/// Response times, milliseconds.
pub fn latency(stat: &Stat) -> String {
    let ms = 1e3;
    let mut text = format!(
        "Latency (ms):\n         min: {:39.2}\n         avg: {:39.2}\n         max: {:39.2}\n",
        stat.latency_min_s() * ms,
        stat.latency_avg_s() * ms,
        stat.latency_max_s() * ms
    );
    for percent in &stat.percentiles {
        let _ = writeln!(
            text,
            "{percent:>11}th percentile: {:27.2}",
            stat.percentile_s(*percent) * ms
        );
    }
    if stat.percentiles.is_empty() {
        text.push_str("         percentile stats:               disabled\n");
    }
    let _ = write!(text, "         sum: {:39.2}\n\n", stat.latency_sum_s() * ms);
    text
}

/// How evenly the threads worked.
pub fn fairness(stat: &Stat) -> String {
    let (events, events_spread) = mean_and_deviation(stat, |share| share.events as f64);
    let (time, time_spread) = mean_and_deviation(stat, |share| share.time_s);
    format!(
        "Threads fairness:\n    events (avg/stddev):           {events:.4}/{events_spread:3.2}\n    execution time \
         (avg/stddev):   {time:.4}/{time_spread:3.2}\n\n"
    )
}

/// Which errors there were, by MySQL's number; empty when there were none.
pub fn errors(stat: &Stat) -> String {
    if stat.errors_by_code.is_empty() {
        return String::new();
    }
    // Scripts look for lines that begin with `error`, in whatever case, and take them for the end of a run that failed.
    let mut text = "MySQL errors by code:\n".to_owned();
    for error in &stat.errors_by_code {
        let label = match (error.code, error.class) {
            (0, _) => "connection lost:".to_owned(),
            (code, ErrorClass::Connection | ErrorClass::Connect) => format!("{code} (connection):"),
            (code, ErrorClass::Retryable) => format!("{code} (repeated):"),
            (code, ErrorClass::Statement) => format!("{code}:"),
        };
        let per_s = stat.per_s(error.count);
        let _ = writeln!(text, "    {label:<36} {:<6} ({per_s:.2} per sec.)", error.count);
    }
    text.push('\n');
    text
}

/// What a forced end left behind; empty when there was none.
pub fn unfinished(stat: &Stat) -> String {
    stat.unfinished.map_or(String::new(), |count| {
        format!("\nNumber of unfinished transactions on forced shutdown: {count}\n")
    })
}

/// What each thread did, for `--debug`.
pub fn threads(stat: &Stat) -> String {
    let mut text = "DEBUG: Verbose per-thread statistics:\n\n".to_owned();
    for (number, share) in stat.shares.iter().enumerate() {
        let mean_s = if share.events > 0 {
            share.time_s / share.events as f64
        } else {
            0.0
        };
        let _ = writeln!(
            text,
            "DEBUG:     thread #{number:3}: avg: {mean_s:.4}s  events: {}\nDEBUG:                  total time taken by event \
             execution: {:.4}s",
            share.events, share.time_s
        );
    }
    text.push('\n');
    text
}

/// Over all threads, as a whole population.
fn mean_and_deviation(stat: &Stat, value: impl Fn(&super::Share) -> f64) -> (f64, f64) {
    let count = stat.shares.len().max(1) as f64;
    let sum = |of: &dyn Fn(&super::Share) -> f64| stat.shares.iter().fold(0.0, |sum, share| sum + of(share));
    let mean = sum(&value) / count;
    let variance = sum(&|share| (value(share) - mean).powi(2)) / count;
    (mean, variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Share;
    use plimsoll_core::histogram::Histogram;
    use plimsoll_core::snapshot::ErrorCount;

    fn stat() -> Stat {
        let mut latency = Histogram::default();
        (1..=100).for_each(|ms| latency.record(ms * 1_000_000));
        Stat {
            time_interval_s: 2.0,
            time_total_s: 5.0,
            events: 100,
            percentiles: vec![95.0, 99.9],
            latency,
            shares: vec![
                Share {
                    events: 60,
                    time_s: 2.0,
                },
                Share {
                    events: 40,
                    time_s: 1.0,
                },
            ],
            ..Stat::default()
        }
    }

    #[test]
    fn values_stand_where_parsers_look_for_them() {
        let text = latency(&stat());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "         min:                                    1.00");
        assert_eq!(lines[4], "         95th percentile:                       94.99");
        assert!(
            lines[5].starts_with("       99.9th percentile:") && lines[5].len() == 53,
            "{}",
            lines[5]
        );
        assert_eq!(lines[6], "         sum:                                 5050.00");
    }

    #[test]
    fn fairness_is_over_threads() {
        assert_eq!(
            fairness(&stat()),
            "Threads fairness:\n    events (avg/stddev):           50.0000/10.00\n    execution time (avg/stddev):   \
             1.5000/0.50\n\n"
        );
    }

    #[test]
    fn versions_differ_in_the_general_part() {
        let of = |compat| throughput(&Stat { compat, ..stat() });
        assert!(of(Compat::V11).contains("events/s (eps):                      50.0000\n"));
        assert!(of(Compat::V10).contains("    total time:                          5.0000s\n"));
        assert!(of(Compat::V11).contains("    time elapsed:                        2.0000s\n"));
    }

    #[test]
    fn errors_are_told_by_code_where_there_are_any() {
        assert_eq!(errors(&stat()), "");
        let error = ErrorCount {
            transaction: None,
            class: ErrorClass::Retryable,
            code: 1213,
            count: 4,
        };
        let text = errors(&Stat {
            errors_by_code: vec![error],
            ..stat()
        });
        assert_eq!(
            text,
            "MySQL errors by code:\n    1213 (repeated):                     4      (2.00 per sec.)\n\n"
        );
    }
}
