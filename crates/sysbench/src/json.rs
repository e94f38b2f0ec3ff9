//! Reports as JSON, for `--report-json`.

use std::fs;

use serde_json::{Map, Value, json};

use crate::exit::Exit;
use crate::log::{Level, Log};
use crate::report::Stat;
use crate::settings::Settings;

/// Version of the document. It grows with every change that an older reader would misunderstand.
const FORMAT: u32 = 1;

/// Intermediate reports, to be written with the last one.
#[derive(Default)]
pub struct JsonReports {
    intermediate: Vec<Value>,
}

impl JsonReports {
    /// Keeps an intermediate report.
    pub fn add(&mut self, stat: &Stat) {
        self.intermediate.push(document(stat));
    }

    /// Writes all reports, where the user wants them.
    ///
    /// # Errors
    /// When the file cannot be written; said in the log.
    pub fn write(&self, last: &Stat, settings: &Settings, log: &Log) -> Result<(), Exit> {
        let Some(path) = &settings.json else {
            return Ok(());
        };
        let whole = json!({
            "format": FORMAT,
            "threads": settings.threads,
            "rate_per_s": settings.rate,
            "warm_up_s": settings.warm_up_s,
            "seed": settings.seed,
            "intermediate": self.intermediate,
            "cumulative": document(last),
        });
        fs::write(path, format!("{whole:#}\n")).map_err(|error| {
            log.text(Level::Fatal, format_args!("--report-json={path}: {error}"));
            Exit::FAILED
        })
    }
}

/// Times in seconds, counts of the stretch.
fn document(stat: &Stat) -> Value {
    let percentiles: Map<String, Value> = stat
        .percentiles
        .iter()
        .map(|one| (one.to_string(), json!(stat.percentile_s(*one))))
        .collect();
    let errors: Vec<Value> = stat
        .errors_by_code
        .iter()
        .map(|error| json!({ "class": error.class, "code": error.code, "count": error.count }))
        .collect();
    json!({
        "time_s": stat.time_total_s,
        "interval_s": stat.time_interval_s,
        "threads": stat.threads_running,
        "events": stat.events,
        "reads": stat.reads,
        "writes": stat.writes,
        "other": stat.other,
        "errors": stat.errors,
        "reconnects": stat.reconnects,
        "errors_by_code": errors,
        "queue_length": stat.has_rate.then_some(stat.queue_length),
        "concurrency": stat.has_rate.then_some(stat.concurrency),
        "unfinished": stat.unfinished,
        "latency_s": {
            "min": stat.latency_min_s(),
            "avg": stat.latency_avg_s(),
            "max": stat.latency_max_s(),
            "sum": stat.latency_sum_s(),
            "percentiles": percentiles,
        },
    })
}
