//! Opening the connections of a trial: so many at a time, at a pace where one is wanted, and what follows when some of
//! them do not come.

use std::sync::Arc;

use plimsoll_core::message::{EngineWarning, FailureClass, Message, Progress, Ready};

use super::worker_group::{self, WorkerGroup};
use super::{Observer, Trial};
use crate::clock::monotonic_ns;
use crate::fault::WorkerFault;
use crate::permits::CONNECTING_MAX;

/// How often it is told how far it is.
const REPORT_NS: u64 = 1_000_000_000;

/// Opens all connections, or as many as come, and tells so. False when a stop was wanted before.
pub(super) fn connect(trial: &Trial, observer: &mut dyn Observer) -> Result<bool, WorkerFault> {
    let begin_ns = monotonic_ns();
    let mut opening = Opening {
        trial,
        observer,
        launched_count: 0,
        report_ns: begin_ns + REPORT_NS,
    };
    if !opening.all()? {
        return Ok(false);
    }
    let ready = ready(trial, (monotonic_ns() - begin_ns) / 1_000_000)?;
    if ready.connections < ready.wanted_count {
        observer.on(&Message::Warning(missing(&ready)));
    }
    observer.on(&Message::Ready(ready));
    Ok(true)
}

struct Opening<'a> {
    trial: &'a Trial,
    observer: &'a mut dyn Observer,
    launched_count: usize,
    report_ns: u64,
}

impl Opening<'_> {
    fn all(&mut self) -> Result<bool, WorkerFault> {
        let trial = self.trial;
        for group in &trial.groups {
            if !self.one(group)? {
                return Ok(false);
            }
        }
        self.wait(0, 0)
    }

    fn one(&mut self, group: &Arc<WorkerGroup>) -> Result<bool, WorkerFault> {
        let begin_ns = monotonic_ns();
        let count = group.tallies.len() as u32;
        for worker in 0..count {
            let from_ns = group.terms.per_s.map_or(0, |per_s| {
                begin_ns.saturating_add((f64::from(worker) / per_s * 1e9) as u64)
            });
            if !self.wait(from_ns, CONNECTING_MAX - 1)? {
                return Ok(false);
            }
            if let Err(fault) = worker_group::launch(group, worker) {
                // No thread for this one, so none for those after it.
                self.launched_count += (count - worker) as usize;
                group.refuse(fault, u64::from(count - worker))?;
                break;
            }
            self.launched_count += 1;
        }
        Ok(true)
    }

    /// Waits until the clock shows `from_ns` and at most so many are connecting. False when a stop is wanted.
    fn wait(&mut self, from_ns: u64, connecting_max: usize) -> Result<bool, WorkerFault> {
        loop {
            let now_ns = monotonic_ns();
            let is_early = now_ns < from_ns;
            let until_ns = if is_early {
                from_ns.min(self.report_ns)
            } else {
                self.report_ns
            };
            let launched_count = self.launched_count;
            let mut state = self.trial.lifecycle.wait(Some(until_ns), |state| {
                let is_free = launched_count - state.settled_count() <= connecting_max;
                state.fault.is_some() || state.is_stop_wanted || !is_early && is_free
            });
            if let Some(fault) = state.fault.take() {
                return Err(fault);
            }
            if state.is_stop_wanted {
                return Ok(false);
            }
            let (built, settled) = (state.built_count, state.settled_count());
            drop(state);
            if !is_early && launched_count - settled <= connecting_max {
                return Ok(true);
            }
            self.report(built);
        }
    }

    fn report(&mut self, done_count: usize) {
        if monotonic_ns() < self.report_ns {
            return;
        }
        self.report_ns += REPORT_NS;
        self.observer.on(&Message::Progress(Progress {
            phase: "connect".to_owned(),
            done_count: done_count as u64,
            total_count: self.trial.worker_count() as u64,
        }));
    }
}

/// What came of it; a fault when a group has no connection at all.
fn ready(trial: &Trial, connect_ms: u64) -> Result<Ready, WorkerFault> {
    let mut ready = Ready {
        connections: 0,
        wanted_count: trial.worker_count() as u32,
        connect_ms,
        failures: Vec::new(),
        encryptions: Vec::new(),
        statements: Vec::new(),
    };
    for group in &trial.groups {
        let opened_count = group.servers.source().outages.connected_count();
        if opened_count == 0 {
            let none = || WorkerFault::new(FailureClass::Bug, "no connection was opened, and no reason was given");
            return Err(group.refusals.main_fault().unwrap_or_else(none));
        }
        ready.connections += opened_count as u32;
        ready
            .failures
            .extend(group.refusals.failures(&group.instance, &group.servers));
        for statement in group.statements() {
            if !ready.statements.contains(&statement) {
                ready.statements.push(statement);
            }
        }
    }
    Ok(ready)
}

fn missing(ready: &Ready) -> EngineWarning {
    let reasons = ready
        .failures
        .iter()
        .map(|one| format!("{} times: {}", one.count, one.message));
    EngineWarning {
        code: "connections-missing".to_owned(),
        evidence: format!(
            "{} of {} connections could be opened; {}.",
            ready.connections,
            ready.wanted_count,
            reasons.collect::<Vec<_>>().join("; ")
        ),
        advice: "Remove what limits connections, on the server or on this machine, and measure again; or take the \
                 figures as those of so many connections as came."
            .to_owned(),
    }
}
