//! The trial while the load runs: intervals on their grid, the end, the grace, the cut.

mod turn_taking;

use plimsoll_core::message::{ClientCpu, EndReason, EngineWarning, GroupInterval, Interval, Message, TurnPart};

use super::worker_group::WorkerGroup;
use super::{Observer, Trial};
use crate::clock::TrialClock;
use crate::fault::WorkerFault;
use crate::lifecycle::{Release, State};
use crate::recorder::{Cells, InFlight};
use crate::run_delay::RunDelay;
use crate::server_record::ServerRecord;
use crate::usage::{client_cpu, cpu_between};
use turn_taking::TurnTaking;

/// How often connections are cut again: a worker may just have been reconnecting.
const CUT_AGAIN_NS: u64 = 100_000_000;

/// How long after the cut workers are waited for.
const GIVE_UP_NS: u64 = 2_000_000_000;

/// What the load was, apart from its intervals.
pub(super) struct Measured {
    pub(super) reason: EndReason,
    pub(super) duration_ns: u64,
    pub(super) client: ClientCpu,
}

/// What comes next for the load. Times are nanoseconds since trial start.
#[derive(Clone, Copy)]
enum Phase {
    /// It runs until `until_ns`.
    Running { until_ns: u64 },
    /// No transaction begins; those that run may end until `cut_ns`.
    Ending { cut_ns: u64 },
    /// Connections are cut, again at `again_ns`, and workers waited for until `give_up_ns`.
    Cutting { again_ns: u64, give_up_ns: u64 },
    /// All workers have ended, or were given up.
    Over,
}

/// Releases the workers and follows the load until all of them have ended.
pub(super) fn run(trial: &Trial, clock: TrialClock, observer: &mut dyn Observer) -> Result<Measured, WorkerFault> {
    let mut leader = Leader::new(trial, clock, observer);
    trial.lifecycle.release(Release::Run(clock));
    if let Some(turns) = &leader.turns {
        leader.observer.on(&turns.handover());
    }
    while !matches!(leader.phase, Phase::Over) {
        leader.step();
    }
    leader.finish()
}

struct Leader<'t> {
    trial: &'t Trial,
    clock: TrialClock,
    observer: &'t mut dyn Observer,
    /// One for each server of each group, see [`Recorder::take`](crate::recorder::Recorder::take).
    spares: Vec<Cells>,
    in_flight: InFlight,
    phase: Phase,
    reason: EndReason,
    interval_index: u64,
    /// Intervals that were handed over a whole interval late or more, see [`Recorder`](crate::recorder::Recorder).
    late_count: u64,
    from_ns: u64,
    cpu_begin: ClientCpu,
    cpu_last: ClientCpu,
    run_delay: Option<RunDelay>,
    turns: Option<TurnTaking>,
    /// Of a turn, that the next interval is.
    part: Option<TurnPart>,
}

/// How the workers are after a wait.
struct WorkersState {
    running_count: usize,
    is_stop_wanted: bool,
    is_faulty: bool,
    /// What the current turn waits for has happened.
    is_turn_ready: bool,
}

impl<'t> Leader<'t> {
    fn new(trial: &'t Trial, clock: TrialClock, observer: &'t mut dyn Observer) -> Self {
        let cpu = client_cpu();
        Self {
            trial,
            clock,
            observer,
            spares: servers(trial).map(|(_, one)| one.recorder.spare()).collect(),
            in_flight: InFlight::new(),
            phase: Phase::Running {
                until_ns: trial.options.duration_ms * 1_000_000,
            },
            reason: EndReason::Completed,
            interval_index: 0,
            late_count: 0,
            from_ns: 0,
            cpu_begin: cpu,
            cpu_last: cpu,
            run_delay: RunDelay::watch(),
            turns: trial.turns.clone().map(TurnTaking::new),
            part: None,
        }
    }

    /// Waits for the next thing to happen or to be due, and does it.
    fn step(&mut self) {
        let workers = self.wait();
        let now_ns = self.clock.now_ns();
        match self.turns.take() {
            Some(turns) if self.is_running() => {
                self.turns = Some(self.take_turns(turns, workers.is_turn_ready, now_ns));
            }
            _ => self.emit_due(now_ns),
        }
        self.phase = if workers.running_count == 0 {
            Phase::Over
        } else {
            self.next_phase(&workers, now_ns)
        };
    }

    fn wait(&self) -> WorkersState {
        let worker_count = self.trial.worker_count();
        let is_running = self.is_running();
        let turns = self.turns.as_ref().filter(|_| is_running);
        let usual_ns = self.next_boundary_ns();
        let boundary_ns = turns.map_or(usual_ns, |turns| turns.deadline_ns(usual_ns));
        let until_ns = boundary_ns.min(self.phase.deadline_ns());
        let is_turn_ready =
            |state: &State| turns.is_some_and(|turns| turns.is_ready(state, &self.trial.lifecycle.turns));
        let state = self
            .trial
            .lifecycle
            .wait(Some(self.clock.monotonic_at(until_ns)), |state| {
                let is_asked = is_running && (state.is_stop_wanted || state.fault.is_some());
                state.ended_count == worker_count || is_asked || is_turn_ready(state)
            });
        WorkersState {
            running_count: worker_count - state.ended_count,
            is_stop_wanted: state.is_stop_wanted,
            is_faulty: state.fault.is_some(),
            is_turn_ready: is_turn_ready(&state),
        }
    }

    fn is_running(&self) -> bool {
        matches!(self.phase, Phase::Running { .. })
    }

    /// Whether the load has done all that was planned.
    fn is_complete(&self, until_ns: u64, now_ns: u64) -> bool {
        now_ns >= until_ns || self.turns.as_ref().is_some_and(TurnTaking::is_over)
    }

    fn next_phase(&mut self, workers: &WorkersState, now_ns: u64) -> Phase {
        match self.phase {
            Phase::Running { until_ns }
                if self.is_complete(until_ns, now_ns)
                    || workers.is_stop_wanted
                    || workers.is_faulty
                    || self.is_given_up(now_ns) =>
            {
                if !self.is_complete(until_ns, now_ns) {
                    self.reason = self.reason_now(workers);
                }
                self.trial.lifecycle.end();
                self.trial.groups.iter().for_each(|group| group.close(now_ns));
                Phase::Ending {
                    cut_ns: now_ns + self.trial.options.grace_ms * 1_000_000,
                }
            }
            Phase::Ending { cut_ns } if now_ns >= cut_ns => self.cut(now_ns, now_ns + GIVE_UP_NS),
            Phase::Cutting { give_up_ns, .. } if now_ns >= give_up_ns => {
                self.warn_given_up(workers.running_count);
                Phase::Over
            }
            Phase::Cutting { again_ns, give_up_ns } if now_ns >= again_ns => self.cut(now_ns, give_up_ns),
            unchanged => unchanged,
        }
    }

    /// Whether a group has been without a connection for too long.
    fn is_given_up(&self, now_ns: u64) -> bool {
        self.trial.groups.iter().any(|group| group.is_given_up(now_ns))
    }

    /// Why it ends before its time.
    fn reason_now(&self, workers: &WorkersState) -> EndReason {
        match workers {
            workers if workers.is_stop_wanted => EndReason::Stopped,
            workers if workers.is_faulty => self.reason, // the fault takes the account's place
            _ => EndReason::Outage,
        }
    }

    fn cut(&self, now_ns: u64, give_up_ns: u64) -> Phase {
        self.trial.lifecycle.cut();
        Phase::Cutting {
            again_ns: now_ns + CUT_AGAIN_NS,
            give_up_ns,
        }
    }

    fn warn_given_up(&mut self, running_count: usize) {
        let seconds = GIVE_UP_NS / 1_000_000_000;
        self.observer.on(&Message::Warning(EngineWarning {
            code: "connections-stuck".to_owned(),
            evidence: format!("{running_count} connections had not ended {seconds} s after they were cut"),
            advice: "Their transactions count as unfinished. Look at the network to the server, and report this if \
                     it happens again."
                .to_owned(),
        }));
    }

    fn warn_late(&mut self) {
        self.observer.on(&Message::Warning(EngineWarning {
            code: "intervals-late".to_owned(),
            evidence: format!(
                "{} of {} intervals of {} ms were taken late by a whole interval or more",
                self.late_count, self.interval_index, self.trial.options.interval_ms
            ),
            advice: "Give the client more processor time, read what it writes without delay, or use longer intervals."
                .to_owned(),
        }));
    }

    fn next_boundary_ns(&self) -> u64 {
        self.from_ns + self.trial.options.interval_ms * 1_000_000
    }

    fn emit(&mut self, to_ns: u64) {
        let cpu = client_cpu();
        let (trial, in_flight) = (self.trial, &mut self.in_flight);
        let groups = servers(trial).zip(&mut self.spares);
        let interval = Interval {
            index: self.interval_index,
            from_ns: self.from_ns,
            to_ns,
            client: cpu_between(self.cpu_last, cpu),
            run_delay_ns: self.run_delay.as_mut().map(RunDelay::since_last_ns),
            groups: groups
                .map(|((group, one), spare)| {
                    let is_first = std::ptr::eq(one, group.servers.source());
                    GroupInterval {
                        instance: one.server.instance.clone().unwrap_or_else(|| group.instance.clone()),
                        role: one.server.role,
                        backlog_count: if is_first {
                            group.probe_in_flight(to_ns, in_flight)
                        } else {
                            0
                        },
                        connected_count: one.outages.connected_count(),
                        snapshot: one.recorder.take(spare),
                        in_flight: in_flight.take(),
                        replication: one.server.replica.as_ref().map(|replica| replica.take()),
                    }
                })
                .collect(),
            turn: self.part,
        };
        self.cpu_last = cpu;
        self.interval_index += 1;
        self.from_ns = to_ns;
        self.observer.on(&Message::Interval(interval));
    }

    /// Lets the next interval begin now; what was since the last one is part of none.
    fn pass_over(&mut self) {
        self.from_ns = self.clock.now_ns();
        self.cpu_last = client_cpu();
        if let Some(delay) = &mut self.run_delay {
            delay.since_last_ns();
        }
    }

    /// Hands over the intervals that are over. Of several the last ones are late: what ended in them counts before them.
    fn emit_due(&mut self, now_ns: u64) {
        let due_count = (now_ns - self.from_ns) / (self.trial.options.interval_ms * 1_000_000);
        for _ in 0..due_count {
            self.emit(self.next_boundary_ns());
        }
        self.late_count += due_count.saturating_sub(1);
    }

    /// Hands over the last, shorter interval.
    fn finish(mut self) -> Result<Measured, WorkerFault> {
        let now_ns = self.clock.now_ns();
        self.emit_due(now_ns);
        if now_ns > self.from_ns {
            self.emit(now_ns);
        }
        if self.late_count > 0 {
            self.warn_late();
        }
        self.trial.groups.iter().for_each(|group| group.leave_backlog(now_ns));
        if let Some(fault) = self.trial.lifecycle.take_fault() {
            return Err(fault);
        }
        Ok(Measured {
            reason: self.reason,
            duration_ns: self.from_ns,
            client: cpu_between(self.cpu_begin, self.cpu_last),
        })
    }
}

/// Each server of each group.
fn servers(trial: &Trial) -> impl Iterator<Item = (&WorkerGroup, &ServerRecord)> {
    let groups = trial.groups.iter();
    groups.flat_map(|group| group.servers.iter().map(move |one| (&**group, one)))
}

impl Phase {
    fn deadline_ns(self) -> u64 {
        match self {
            Self::Running { until_ns } => until_ns,
            Self::Ending { cut_ns } => cut_ns,
            Self::Cutting { again_ns, give_up_ns } => again_ns.min(give_up_ns),
            Self::Over => 0,
        }
    }
}
