//! Reports that a script writes in place of ours.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::shared::Shared;
use super::state::{Kind, State};
use crate::log::{Level, Log};
use crate::report::{Stat, general, sql};

const INTERMEDIATE: &str = "report_intermediate";
const CUMULATIVE: &str = "report_cumulative";

/// Which reports a script writes, and the states that write them while the load runs. The last report is the master's.
pub struct Reports {
    is_intermediate: bool,
    is_cumulative: bool,
    stretches: Option<State>,
    checkpoints: Option<State>,
    /// How many there are still to come.
    checkpoints_count: usize,
}

impl Reports {
    /// Finds out once which hooks there are.
    pub fn new(master: &State) -> Self {
        let has = |name: &str| master.call("has_hook", name).unwrap_or(false);
        Self {
            is_intermediate: has(INTERMEDIATE),
            is_cumulative: has(CUMULATIVE),
            stretches: None,
            checkpoints: None,
            checkpoints_count: 0,
        }
    }

    /// Makes the states of those reports that will be written while the load runs.
    ///
    /// # Errors
    /// What went wrong, as Lua says it.
    pub fn begin(&mut self, shared: &Arc<Shared>, has_stretches: bool, checkpoints_count: usize) -> Result<(), String> {
        let state = |is_wanted: bool| {
            let load = || State::load(shared, Kind::Report, shared.config.threads);
            is_wanted.then(load).transpose()
        };
        self.stretches = state(self.is_intermediate && has_stretches)?;
        self.checkpoints = state(self.is_cumulative && checkpoints_count > 0)?;
        self.checkpoints_count = checkpoints_count;
        Ok(())
    }

    /// Whether the script writes any.
    pub fn are_any(&self) -> bool {
        self.is_intermediate || self.is_cumulative
    }

    /// Tells about a stretch.
    pub fn intermediate(&self, shared: &Shared, stat: &Stat, log: &Log) {
        let Some(state) = &self.stretches else {
            let print = if talks(shared) {
                sql::intermediate
            } else {
                general::intermediate
            };
            return print(stat, log);
        };
        let mut fields = common(stat, stat.threads_running);
        fields.extend([
            ("queue_length", stat.queue_length as f64),
            ("concurrency", stat.concurrency as f64),
        ]);
        tell(state, INTERMEDIATE, &fields);
    }

    /// Tells about all since the begin, or the last checkpoint.
    pub fn cumulative(&mut self, master: &State, stat: &Stat, log: &Log) {
        if !self.is_cumulative {
            let print = if talks(&master.host.thread.shared) {
                sql::cumulative
            } else {
                general::cumulative
            };
            return print(stat, log);
        }
        let threads_running = if self.checkpoints.is_some() {
            stat.threads_running
        } else {
            0
        };
        let mut fields = common(stat, threads_running);
        fields.extend([
            ("latency_min", stat.latency_min_s()),
            ("latency_max", stat.latency_max_s()),
            ("latency_avg", stat.latency_avg_s()),
            ("latency_sum", stat.latency_sum_s()),
        ]);
        tell(self.checkpoints.as_ref().unwrap_or(master), CUMULATIVE, &fields);
        self.checkpoints_count = self.checkpoints_count.saturating_sub(1);
        if self.checkpoints_count == 0 {
            self.checkpoints = None; // it writes what it has to at its end
        }
    }

    /// The load is over: what the states of its reports have to write at their end comes before the last report.
    pub fn end(&mut self) {
        self.stretches = None;
        self.checkpoints = None;
    }
}

/// Whether the script has to do with a server.
fn talks(shared: &Shared) -> bool {
    shared.has_driver.load(Ordering::Relaxed)
}

/// A report that fails is said and changes nothing else, as in sysbench.
fn tell(state: &State, name: &str, fields: &[(&str, f64)]) {
    let told = state
        .table(fields)
        .and_then(|stat| state.call::<()>("hook", (name, stat)));
    if let Err(text) = told {
        let log = &state.host.thread.shared.log;
        log.text(Level::Fatal, format_args!("`{name}' function failed: {text}"));
    }
}

/// Times are seconds.
fn common(stat: &Stat, threads_running: u32) -> Vec<(&'static str, f64)> {
    vec![
        ("threads_running", f64::from(threads_running)),
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
