//! One trial: connect all workers, be ready, start, hand over intervals exactly on their grid, end, and give the
//! account. One operating-system thread for each connection; the caller's thread leads.
//!
//! Threads are not joined but counted: one that hangs in a call to a server that never answers is left behind rather
//! than waited for, and the account has its transaction as unfinished.

mod connect;
mod measure;
mod outage;
mod refusals;
mod worker_group;

use std::sync::Arc;

use plimsoll_core::message::{ClientCpu, Done, EndReason, FailureClass, Message};
use plimsoll_core::plan::TurnsPlan;

use crate::arrivals::Arrivals;
use crate::clock::{TrialClock, both_clocks_ns, sharpen_timers, unix_ns};
use crate::fault::WorkerFault;
use crate::lifecycle::{Lifecycle, Release, Start, TrialHandle};
use crate::recorder::{Tally, WorkerShare};
use crate::turns::Turns;
use crate::usage::memory_bytes_max;
use crate::worker::WorkerFactory;
use worker_group::WorkerGroup;

/// Longest interval: a bucket of 32 bits cannot overflow within it.
const INTERVAL_MS_MAX: u64 = 600_000;

/// Longest trial, about 31 years: no sum of times overflows.
const DURATION_MS_MAX: u64 = 1_000_000_000_000;

/// Most connections of one trial, all groups together: more than any server of the family takes.
pub const CONNECTIONS_MAX: u64 = 100_000;

/// Slowest opening of connections, per second.
const PER_S_MIN: f64 = 0.001;

/// Longest turn: whoever started the engine hears from it within a minute.
const TURN_MS_MAX: u64 = 30_000;

/// Most turns of one trial.
const TURNS_MAX: usize = 1_000_000;

/// How a trial is timed, milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrialOptions {
    /// Length of an interval, 1..=600,000.
    pub interval_ms: u64,
    /// The load ends after so long.
    pub duration_ms: u64,
    /// How long transactions that run at the end may take before their connections are cut.
    pub grace_ms: u64,
}

impl TrialOptions {
    /// Intervals and a duration, with a grace of two seconds.
    pub fn new(interval_ms: u64, duration_ms: u64) -> Self {
        Self {
            interval_ms,
            duration_ms,
            grace_ms: 2_000,
        }
    }
}

/// Connections that do the same thing on the same instance.
pub struct GroupRun {
    /// Name of the instance, repeated in all results.
    pub instance: String,
    /// Builds the workers.
    pub factory: Box<dyn WorkerFactory>,
    /// When transactions are wanted.
    pub arrivals: Box<dyn Arrivals>,
    /// How many workers.
    pub connections: u32,
    /// How they connect.
    pub terms: ConnectionTerms,
}

/// How the workers of a group connect, and when they count as gone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConnectionTerms {
    /// How many a second, above 0; as fast as they come if absent.
    pub per_s: Option<f64>,
    /// One that does not come ends the trial; otherwise it runs with those that came, at least one of each group.
    pub all_required: bool,
    /// An outage is over when so large a share of the connections is open, above 0 to 1.
    pub back_ratio: f64,
    /// After so long without a single connection the trial ends.
    pub give_up_ms: u64,
}

impl Default for ConnectionTerms {
    fn default() -> Self {
        Self {
            per_s: None,
            all_required: false,
            back_ratio: 1.0,
            give_up_ms: 60_000,
        }
    }
}

/// Takes what a trial tells: `Progress` once a second while workers connect, `Ready` when the start is awaited, then
/// `Interval` and `Warning`, and `Done` last when no fault ended it. Called from the thread that runs the trial, never while
/// a lock is held.
pub trait Observer {
    /// One message, in order.
    fn on(&mut self, message: &Message);
}

/// One measured run, not yet begun.
pub struct Trial {
    options: TrialOptions,
    groups: Vec<Arc<WorkerGroup>>,
    lifecycle: Arc<Lifecycle>,
    turns: Option<TurnsPlan>,
}

impl Trial {
    /// A trial of these groups, driven together.
    ///
    /// # Errors
    /// A fault of class `spec` when there is no group, a group has no connection, or a time is out of its range.
    pub fn new(options: TrialOptions, groups: Vec<GroupRun>) -> Result<Self, WorkerFault> {
        Self::taking_turns(options, groups, None)
    }

    /// A trial whose groups take turns, where `turns` says how; before each it says `Handover` and waits for
    /// [`TrialHandle::go`]. It ends after the last turn, and at the end of its duration at the latest.
    ///
    /// # Errors
    /// As [`new`](Self::new), and when a side of a turn has no group.
    pub fn taking_turns(
        options: TrialOptions,
        groups: Vec<GroupRun>,
        turns: Option<TurnsPlan>,
    ) -> Result<Self, WorkerFault> {
        check(options, &groups)?;
        if let Some(fault) = turns.as_ref().and_then(|turns| turns_fault(turns, groups.len())) {
            return Err(WorkerFault::new(FailureClass::Spec, fault));
        }
        let side_count = turns.as_ref().map_or(0, |_| groups.len());
        let lifecycle = Arc::new(Lifecycle::taking_turns(Turns::new(side_count)));
        let group = |(index, group)| {
            let side = turns.as_ref().map(|turns| turns.sides[index]);
            Arc::new(WorkerGroup::new(group, options, Arc::clone(&lifecycle), side))
        };
        Ok(Self {
            options,
            groups: groups.into_iter().enumerate().map(group).collect(),
            lifecycle,
            turns,
        })
    }

    /// Starts and stops this trial from any thread.
    pub fn handle(&self) -> TrialHandle {
        TrialHandle::new(Arc::clone(&self.lifecycle))
    }

    /// Tells what each worker did so far, group by group, from any thread and also after the trial.
    pub fn shares(&self) -> impl Fn() -> Vec<WorkerShare> + use<> {
        let groups = self.groups.clone();
        move || {
            groups
                .iter()
                .flat_map(|group| group.tallies.iter().map(Tally::share))
                .collect()
        }
    }

    /// Runs it to its end: connects, waits for [`TrialHandle::start`], measures. The account that is returned was
    /// told to the observer before.
    ///
    /// # Errors
    /// The first fault of a worker. Intervals up to then were observed, the account was not.
    pub fn run(self, observer: &mut dyn Observer) -> Result<Done, WorkerFault> {
        let result = self.lead(observer);
        self.lifecycle.end();
        self.lifecycle.release(Release::Abort); // for threads that still connect
        let done = result?;
        if let Some(warning) = outage::warning(&done) {
            observer.on(&Message::Warning(warning));
        }
        observer.on(&Message::Done(done.clone()));
        Ok(done)
    }

    fn lead(&self, observer: &mut dyn Observer) -> Result<Done, WorkerFault> {
        sharpen_timers();
        if self.lifecycle.is_stop_wanted() || !connect::connect(self, observer)? {
            return Ok(self.account(EndReason::Stopped, Span::default()));
        }
        let Some(start) = self.await_start()? else {
            return Ok(self.account(EndReason::Stopped, Span::default()));
        };
        let (clock, started_unix_ns) = clock_for(start);
        let measured = measure::run(self, clock, observer)?;
        let span = Span {
            started_unix_ns: Some(started_unix_ns),
            duration_ns: measured.duration_ns,
            client: measured.client,
        };
        Ok(self.account(measured.reason, span))
    }

    fn await_start(&self) -> Result<Option<Start>, WorkerFault> {
        let mut state = self.lifecycle.wait(None, |state| {
            state.start.is_some() || state.fault.is_some() || state.is_stop_wanted
        });
        match state.fault.take() {
            Some(fault) => Err(fault),
            None if state.is_stop_wanted => Ok(None),
            None => Ok(state.start),
        }
    }

    fn account(&self, reason: EndReason, span: Span) -> Done {
        let tallies = self
            .groups
            .iter()
            .flat_map(|group| group.tallies.iter().chain([&group.unclaimed]));
        let (offered_count, unfinished_count) = tallies
            .map(Tally::offered_and_unfinished)
            .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let (mut outages, mut outages_count) = (Vec::new(), 0);
        for one in self.groups.iter().flat_map(|group| group.servers.iter()) {
            let (captured, count) = one.outages.take();
            outages.extend(captured);
            outages_count += count;
        }
        Done {
            reason,
            started_unix_ns: span.started_unix_ns.unwrap_or_else(unix_ns),
            duration_ns: span.duration_ns,
            offered_count,
            unfinished_count,
            client: span.client,
            memory_bytes_max: memory_bytes_max(),
            rows_count: 0,
            outages,
            outages_count,
        }
    }

    fn worker_count(&self) -> usize {
        self.groups.iter().map(|group| group.tallies.len()).sum()
    }
}

/// From when to when, and what it cost; empty for a trial that was stopped before it started.
#[derive(Clone, Copy, Default)]
struct Span {
    started_unix_ns: Option<u64>,
    duration_ns: u64,
    client: ClientCpu,
}

/// The trial's clock, and the wall clock at its origin.
fn clock_for(start: Start) -> (TrialClock, u64) {
    let (monotonic, unix) = both_clocks_ns();
    let started_unix_ns = start.at_unix_ns.unwrap_or(unix).max(unix);
    let clock = TrialClock::starting_at(monotonic + (started_unix_ns - unix));
    (clock, started_unix_ns)
}

fn check(options: TrialOptions, groups: &[GroupRun]) -> Result<(), WorkerFault> {
    let spec = |message: String| Err(WorkerFault::new(FailureClass::Spec, message));
    if !(1..=INTERVAL_MS_MAX).contains(&options.interval_ms) {
        return spec(format!(
            "interval_ms: must be 1..={INTERVAL_MS_MAX}, is {}",
            options.interval_ms
        ));
    }
    if !(1..=DURATION_MS_MAX).contains(&options.duration_ms) {
        return spec(format!(
            "duration_ms: must be 1..={DURATION_MS_MAX}, is {}",
            options.duration_ms
        ));
    }
    if groups.is_empty() {
        return spec("groups: at least one is needed, there is none".to_owned());
    }
    for (index, group) in groups.iter().enumerate() {
        if group.connections == 0 {
            return spec(format!("groups[{index}].connections: must be at least 1, is 0"));
        }
        if let Some(fault) = terms_fault(group.terms) {
            return spec(format!("groups[{index}].{fault}"));
        }
    }
    Ok(())
}

fn terms_fault(terms: ConnectionTerms) -> Option<String> {
    if let Some(per_s) = terms.per_s.filter(|per_s| !(*per_s >= PER_S_MIN && per_s.is_finite())) {
        return Some(format!("connect.per_s: must be at least {PER_S_MIN}, is {per_s}"));
    }
    if !(terms.back_ratio > 0.0 && terms.back_ratio <= 1.0) {
        return Some(format!(
            "reconnect.back_ratio: must be above 0 and at most 1, is {}",
            terms.back_ratio
        ));
    }
    (terms.give_up_ms > DURATION_MS_MAX).then(|| {
        format!(
            "reconnect.give_up_ms: must be at most {DURATION_MS_MAX}, is {}",
            terms.give_up_ms
        )
    })
}

/// What makes no sense of the plan for so many groups.
fn turns_fault(plan: &TurnsPlan, group_count: usize) -> Option<String> {
    let TurnsPlan {
        turn_ms,
        lead_ms,
        sides,
        order,
    } = plan;
    if !(1..=TURN_MS_MAX).contains(turn_ms) {
        return Some(format!("turns.turn_ms: must be 1..={TURN_MS_MAX}, is {turn_ms}"));
    }
    if lead_ms >= turn_ms {
        return Some(format!("turns.lead_ms: must be below turn_ms, {turn_ms}, is {lead_ms}"));
    }
    if sides.len() != group_count {
        let count = sides.len();
        return Some(format!(
            "turns.sides: must be one for each of the {group_count} groups, are {count}"
        ));
    }
    if let Some(side) = sides.iter().find(|side| **side as usize >= group_count) {
        return Some(format!(
            "turns.sides: must be below {group_count}, the number of groups, is {side}"
        ));
    }
    if order.is_empty() || order.len() > TURNS_MAX {
        return Some(format!(
            "turns.order: must be 1..={TURNS_MAX} turns, are {}",
            order.len()
        ));
    }
    let unknown = order.iter().find(|side| !sides.contains(side));
    unknown.map(|side| format!("turns.order: side {side} has no group"))
}
