//! Reports that a script writes in place of ours.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::shared::Shared;
use super::state::{Kind, State};
use crate::exit::Exit;
use crate::log::{Level, Log};
use crate::report::{Stat, general, sql};

const INTERMEDIATE: &str = "report_intermediate";
const CUMULATIVE: &str = "report_cumulative";

/// Which reports a script writes, and the state that writes those of stretches.
pub struct Reports {
    is_intermediate: bool,
    is_cumulative: bool,
    state: Option<State>,
    is_failed: bool,
}

impl Reports {
    /// Looks once which hooks there are.
    pub fn new(master: &State) -> Self {
        let has = |name: &str| master.call("has_hook", name).unwrap_or(false);
        Self {
            is_intermediate: has(INTERMEDIATE),
            is_cumulative: has(CUMULATIVE),
            state: None,
            is_failed: false,
        }
    }

    /// Tells about a stretch.
    pub fn intermediate(&mut self, shared: &Arc<Shared>, stat: &Stat, log: &Log) {
        if !self.is_intermediate {
            let print = if talks(shared) {
                sql::intermediate
            } else {
                general::intermediate
            };
            return print(stat, log);
        }
        if self.state.is_none() && !self.is_failed {
            let threads = shared.config.get().map_or(0, |config| config.context.threads());
            match State::load(shared, Kind::Master, threads) {
                Ok(state) => self.state = Some(state),
                Err(text) => self.fail(log, INTERMEDIATE, &text),
            }
        }
        let told = self.state.as_ref().map(|state| {
            let mut fields = common(stat);
            fields.extend([
                ("queue_length", stat.queue_length as f64),
                ("concurrency", stat.concurrency as f64),
            ]);
            tell(state, INTERMEDIATE, &fields)
        });
        if let Some(Err(text)) = told {
            self.fail(log, INTERMEDIATE, &text);
        }
    }

    /// Tells about all since the begin, or the last checkpoint.
    pub fn cumulative(&mut self, master: &State, stat: &Stat, log: &Log) {
        if !self.is_cumulative {
            let print = if talks(&master.host.shared) {
                sql::cumulative
            } else {
                general::cumulative
            };
            return print(stat, log);
        }
        let mut fields = common(stat);
        fields.extend([
            ("latency_min", stat.latency_min_s()),
            ("latency_max", stat.latency_max_s()),
            ("latency_avg", stat.latency_avg_s()),
            ("latency_sum", stat.latency_sum_s()),
        ]);
        if let Err(text) = tell(master, CUMULATIVE, &fields) {
            self.fail(log, CUMULATIVE, &text);
        }
    }

    /// Closes the state, and tells whether all reports were written.
    pub fn end(&mut self) -> Result<(), Exit> {
        self.state = None;
        if self.is_failed { Err(Exit::FAILED) } else { Ok(()) }
    }

    fn fail(&mut self, log: &Log, name: &str, text: &str) {
        self.is_failed = true;
        log.text(
            Level::Fatal,
            format_args!("`sysbench.hooks.{name}' function failed: {text}"),
        );
    }
}

/// Whether the script has to do with a server.
fn talks(shared: &Shared) -> bool {
    shared.has_driver.load(Ordering::Relaxed)
}

fn tell(state: &State, name: &str, fields: &[(&str, f64)]) -> Result<(), String> {
    state.call::<()>("hook", (name, state.table(fields)?))
}

/// Times are seconds.
fn common(stat: &Stat) -> Vec<(&'static str, f64)> {
    vec![
        ("threads_running", f64::from(stat.threads_running)),
        ("time_interval", stat.time_interval_s),
        ("time_total", stat.time_total_s),
        ("latency_pct", stat.latency_pct_s()),
        ("events", stat.events as f64),
        ("reads", stat.reads as f64),
        ("writes", stat.writes as f64),
        ("other", stat.other as f64),
        ("errors", stat.errors as f64),
        ("reconnects", stat.reconnects as f64),
    ]
}
