//! Made-up workers with known behaviour, and a trial run from start to account with its books checked.
#![allow(dead_code)] // each test file uses a part of it

use std::sync::{Arc, Condvar, Mutex};

use plimsoll_core::histogram::Histogram;
use plimsoll_core::message::{ClientCpu, Done, GroupInterval, Interval, Message};
use plimsoll_core::plan::{ArrivalProcess, RateStepPlan};
use plimsoll_core::snapshot::{Measure, Snapshot};
use plimsoll_engine::{
    Arrival, Arrivals, ClosedLoop, ConnectionTerms, Gate, GroupRun, Interrupter, Observer, OpenLoop, OpenLoopOptions,
    Outcome, StatementResult, Trial, TrialHandle, TrialOptions, Worker, WorkerFactory, WorkerFault,
};

/// A statement that returns one row.
pub const ONE_ROW: StatementResult = StatementResult {
    has_result_set: true,
    rows_returned: 1,
    rows_affected: 0,
};

/// What a made-up worker does for one arrival.
pub trait Script: FnMut(&mut Gate<'_>, Arrival) -> Result<(), WorkerFault> {}
impl<T: FnMut(&mut Gate<'_>, Arrival) -> Result<(), WorkerFault>> Script for T {}

struct Scripted<S> {
    script: S,
    wall: Wall,
}

impl<S: Script> Worker for Scripted<S> {
    fn run(&mut self, gate: &mut Gate<'_>) -> Result<(), WorkerFault> {
        while let Some(arrival) = gate.next() {
            (self.script)(gate, arrival)?;
        }
        Ok(())
    }

    fn interrupter(&self) -> Interrupter {
        let wall = self.wall.clone();
        Interrupter::new(move || wall.fall())
    }
}

/// Something that workers can wait at until their connections are cut.
#[derive(Clone, Default)]
pub struct Wall(Arc<(Mutex<AtWall>, Condvar)>);

#[derive(Default)]
struct AtWall {
    has_fallen: bool,
    came_count: u64,
}

impl Wall {
    pub fn wait(&self) {
        let (state, changed) = &*self.0;
        let mut state = state.lock().unwrap();
        state.came_count += 1;
        drop(changed.wait_while(state, |state| !state.has_fallen).unwrap());
    }

    pub fn fall(&self) {
        self.0.0.lock().unwrap().has_fallen = true;
        self.0.1.notify_all();
    }

    /// How many have come to it so far.
    pub fn came_count(&self) -> u64 {
        self.0.0.lock().unwrap().came_count
    }
}

/// Builds workers by calling a function with their number.
pub struct Factory<B> {
    pub build: B,
    pub wall: Wall,
}

impl<B, S> WorkerFactory for Factory<B>
where
    B: Fn(u32) -> Result<S, WorkerFault> + Send + Sync,
    S: Script + 'static,
{
    fn transaction_names(&self) -> Vec<String> {
        vec!["first".to_owned(), "second".to_owned()]
    }

    fn build(&self, worker: u32) -> Result<Box<dyn Worker>, WorkerFault> {
        let script = (self.build)(worker)?;
        let wall = self.wall.clone();
        Ok(Box::new(Scripted { script, wall }))
    }
}

/// A group of workers in a closed loop.
pub fn closed<B, S>(connections: u32, build: B) -> GroupRun
where
    B: Fn(u32) -> Result<S, WorkerFault> + Send + Sync + 'static,
    S: Script + 'static,
{
    group(connections, ClosedLoop::new(connections, None), build, Wall::default())
}

/// A schedule at one rate.
pub fn open_loop(process: ArrivalProcess, rate_tps: f64, backlog_max: u64) -> OpenLoop {
    let steps = vec![RateStepPlan {
        duration_ms: 1_000,
        from_tps: rate_tps,
        to_tps: rate_tps,
    }];
    OpenLoop::new(&OpenLoopOptions {
        process,
        steps,
        backlog_max,
        seed: 1,
    })
}

/// A group of workers with arrivals of any kind. Cutting their connections makes `wall` fall.
pub fn group<B, S>(connections: u32, arrivals: impl Arrivals + 'static, build: B, wall: Wall) -> GroupRun
where
    B: Fn(u32) -> Result<S, WorkerFault> + Send + Sync + 'static,
    S: Script + 'static,
{
    GroupRun {
        instance: "one".to_owned(),
        factory: Box::new(Factory { build, wall }),
        arrivals: Box::new(arrivals),
        connections,
        terms: ConnectionTerms::default(),
    }
}

/// One transaction of the first type with one statement in it, which takes as long as `work`.
pub fn transact(gate: &mut Gate<'_>, work: impl FnOnce()) {
    gate.sent();
    work();
    gate.statement(ONE_ROW);
    gate.finish(0, Outcome::Completed);
}

/// What a trial told.
pub struct Told {
    pub events: Vec<Message>,
    pub result: Result<Done, WorkerFault>,
}

impl Told {
    pub fn intervals(&self) -> impl Iterator<Item = &Interval> {
        self.events.iter().filter_map(|event| match event {
            Message::Interval(interval) => Some(interval),
            _ => None,
        })
    }

    /// All intervals and groups as one.
    pub fn total(&self) -> Snapshot {
        let groups = self.intervals().flat_map(|interval| &interval.groups);
        groups.fold(Snapshot::default(), |sum, group| sum.merge(&group.snapshot))
    }

    pub fn is_ready(&self) -> bool {
        matches!(self.events.first(), Some(Message::Ready(_)))
    }

    /// The account, after checking that it is exact and that intervals lie on their grid.
    pub fn checked(&self, interval_ms: u64) -> &Done {
        let done = self.result.as_ref().expect("the trial has an account");
        assert_eq!(self.events.last(), Some(&Message::Done(done.clone())));
        let counts = self.total().counts();
        let ended = counts.completed + counts.failed + counts.dropped;
        assert_eq!(done.offered_count, ended + done.unfinished_count, "{counts:?} {done:?}");
        self.check_grid(interval_ms * 1_000_000, done);
        self.intervals().for_each(check_histograms);
        let last = self.intervals().last();
        let under_way = last.map_or(0, |last| {
            last.groups
                .iter()
                .map(|group| in_flight(group, Measure::Response).count())
                .sum()
        });
        assert_eq!(
            done.unfinished_count, under_way,
            "what never ended is in flight at the end"
        );
        done
    }

    fn check_grid(&self, interval_ns: u64, done: &Done) {
        let (mut end_ns, mut client) = (0, ClientCpu::default());
        for (index, interval) in self.intervals().enumerate() {
            assert_eq!(interval.index, index as u64);
            assert_eq!(
                (interval.from_ns, interval.from_ns % interval_ns),
                (end_ns, 0),
                "off the grid"
            );
            assert!(interval.to_ns - interval.from_ns <= interval_ns && interval.to_ns > interval.from_ns);
            end_ns = interval.to_ns;
            client.user_ns += interval.client.user_ns;
            client.system_ns += interval.client.system_ns;
        }
        assert_eq!((done.duration_ns, done.client), (end_ns, client));
    }
}

/// How long what a group had in flight at the end of an interval had lasted.
pub fn in_flight(group: &GroupInterval, measure: Measure) -> Histogram {
    group.in_flight.get(&measure).cloned().unwrap_or_default()
}

/// All that a transaction did lies in one interval: each measure was taken once for each completed one.
fn check_histograms(interval: &Interval) {
    for snapshot in interval
        .groups
        .iter()
        .flat_map(|group| group.snapshot.transactions.values())
    {
        let sum_ns = |measure| snapshot.histograms[&measure].sum_ns;
        for measure in Measure::ALL {
            assert_eq!(
                snapshot.histograms[&measure].count(),
                snapshot.counts.completed,
                "{measure:?}"
            );
        }
        let parts = sum_ns(Measure::PoolWait) + sum_ns(Measure::DispatchDelay) + sum_ns(Measure::Service);
        assert_eq!(sum_ns(Measure::Response), parts);
    }
}

/// Remembers what it is told, and does something about it.
struct Witness<A> {
    events: Vec<Message>,
    handle: TrialHandle,
    action: A,
}

impl<A: FnMut(&Message, &TrialHandle)> Observer for Witness<A> {
    fn on(&mut self, event: &Message) {
        self.events.push(event.clone());
        (self.action)(event, &self.handle);
    }
}

/// The time of a trial that something else ends.
pub const LONG_MS: u64 = 300_000;

/// Runs a trial that starts when it is ready, and stops it after the first interval of which `is_over` says so: however slow
/// the machine is, what the test is about has happened by then.
pub fn run_until(options: TrialOptions, groups: Vec<GroupRun>, mut is_over: impl FnMut(&Interval) -> bool) -> Told {
    run_with(options, groups, |event, handle| match event {
        Message::Ready(_) => handle.start(None),
        Message::Interval(interval) if is_over(interval) => handle.stop(),
        _ => {}
    })
}

/// Runs a trial that starts when it is ready.
pub fn run(options: TrialOptions, groups: Vec<GroupRun>) -> Told {
    run_with(options, groups, |event, handle| {
        if matches!(event, Message::Ready(_)) {
            handle.start(None);
        }
    })
}

/// Runs a trial with somebody who acts on what it tells.
pub fn run_with(options: TrialOptions, groups: Vec<GroupRun>, action: impl FnMut(&Message, &TrialHandle)) -> Told {
    let trial = Trial::new(options, groups).expect("a sensible plan");
    let handle = trial.handle();
    let events = Vec::new();
    let mut witness = Witness { events, handle, action };
    let result = trial.run(&mut witness);
    Told {
        events: witness.events,
        result,
    }
}
