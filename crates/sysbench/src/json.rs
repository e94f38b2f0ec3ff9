//! Reports as JSON, for `--plimsoll-report-json`.

use std::fs;

use serde_json::{Map, Value, json};

use crate::exit::Exit;
use crate::log::Log;
use crate::options::{self, Options};
use crate::report::Stat;
use crate::settings::Settings;

/// Version of the document. It grows with every change that an older reader would misunderstand.
const FORMAT: u32 = 1;

/// Intermediate reports, to be written with the last one.
#[derive(Default)]
pub struct JsonReports {
    test: String,
    options: Map<String, Value>,
    intermediate: Vec<Value>,
}

impl JsonReports {
    /// Reports of a run of this test with these options.
    pub fn new(test: String, options: &Options) -> Self {
        let shown = options.iter().filter(|(name, _)| !is_secret(name));
        Self {
            test,
            options: shown.map(|(name, value)| (name.to_owned(), option(value))).collect(),
            intermediate: Vec::new(),
        }
    }

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
            "test": self.test,
            "options": self.options,
            "threads": settings.threads,
            "rate_per_s": settings.rate,
            "warm_up_s": settings.warm_up_s,
            "seed": settings.seed,
            "intermediate": self.intermediate,
            "cumulative": document(last),
        });
        fs::write(path, format!("{whole:#}\n"))
            .map_err(|error| log.fatal(format_args!("--plimsoll-report-json={path}: {error}")))
    }
}

/// Passwords are written nowhere.
fn is_secret(name: &str) -> bool {
    name.contains("password")
}

fn option(value: &options::Value) -> Value {
    match value {
        options::Value::Bool(value) => json!(value),
        options::Value::Int(value) => json!(value),
        options::Value::Size(value) => json!(value),
        options::Value::Double(value) => json!(value),
        options::Value::String(value) | options::Value::File(value) => json!(value),
        options::Value::List(value) => json!(value),
        options::Value::Percentiles(value) => json!(value),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_not_among_the_options() {
        let mut options = Options::default();
        options.set("mysql-password", options::Value::String("secret".to_owned()));
        options.set("threads", options::Value::Int(3));
        let reports = JsonReports::new("cpu".to_owned(), &options);
        assert_eq!(Value::Object(reports.options), json!({ "threads": 3 }));
    }
}
