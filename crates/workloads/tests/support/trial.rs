//! One trial of a workload, run to its end within the test.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use plimsoll_core::connections::Outage;
use plimsoll_core::histogram::Histogram;
use plimsoll_core::message::{Done, EngineWarning, Interval, Message, Ready};
use plimsoll_core::plan::{ReconnectPlan, RetryRule, Role, RoleTarget, ThinkTimePlan};
use plimsoll_core::replication::ReplicationInterval;
use plimsoll_core::snapshot::{Counts, ErrorClass, Measure, Snapshot};
use plimsoll_engine::{
    ClosedLoop, ConnectionTerms, GroupRun, Observer, Thinking, Trial, TrialHandle, TrialOptions, WorkerFault,
};
use plimsoll_session::{GroupServers, Terms, default_retry};
use plimsoll_workloads::Workload;

/// What a trial did, all intervals together.
#[derive(Default)]
pub struct Summary {
    pub snapshot: Snapshot,
    /// The same by the role of the server, and by its name.
    pub by_role: BTreeMap<Role, Snapshot>,
    pub by_name: BTreeMap<String, Snapshot>,
    /// By the name of the replica, interval by interval.
    pub replication: BTreeMap<String, Vec<ReplicationInterval>>,
    /// Transactions that completed, interval by interval.
    pub completed: Vec<u64>,
    /// How long what was in flight at the end of each interval had lasted by then, by its end.
    pub in_flight: BTreeMap<u64, Histogram>,
    pub ready: Option<Ready>,
    pub warnings: Vec<EngineWarning>,
    pub done: Option<Done>,
}

impl Observer for Summary {
    fn on(&mut self, event: &Message) {
        match event {
            Message::Interval(interval) => {
                for group in &interval.groups {
                    let role = self.by_role.entry(group.role).or_default();
                    *role = role.merge(&group.snapshot);
                    let server = self.by_name.entry(group.instance.clone()).or_default();
                    *server = server.merge(&group.snapshot);
                    let replication = self.replication.entry(group.instance.clone()).or_default();
                    replication.extend(group.replication);
                }
                let groups = interval.groups.iter().map(|group| &group.snapshot);
                let all = groups.fold(Snapshot::default(), |sum, one| sum.merge(one));
                self.completed.push(all.counts().completed);
                let groups = interval.groups.iter();
                let ages = groups.filter_map(|group| group.in_flight.get(&Measure::Response));
                let under_way = ages.fold(Histogram::default(), |sum, one| sum.merge(one));
                self.in_flight.insert(interval.to_ns, under_way);
                self.snapshot = self.snapshot.merge(&all);
            }
            Message::Done(done) => self.done = Some(done.clone()),
            Message::Ready(ready) => self.ready = Some(ready.clone()),
            Message::Warning(warning) => self.warnings.push(warning.clone()),
            _ => {}
        }
    }
}

/// A summary that is made while somebody looks on.
struct Seen<'a> {
    summary: Summary,
    handle: TrialHandle,
    look: &'a mut dyn FnMut(&Message, &TrialHandle),
}

impl Observer for Seen<'_> {
    fn on(&mut self, event: &Message) {
        self.summary.on(event);
        (self.look)(event, &self.handle);
    }
}

impl Summary {
    /// The counts, after a check that the account is exact.
    pub fn counts(&self) -> Counts {
        let (counts, done) = (self.snapshot.counts(), self.done.as_ref().expect("it has ended"));
        let ended = counts.completed + counts.failed + counts.dropped;
        assert_eq!(done.offered_count, ended + done.unfinished_count, "{counts:?} {done:?}");
        let under_way = self.in_flight.last_key_value().map_or(0, |(_, last)| last.count());
        assert_eq!(done.unfinished_count, under_way, "in flight at the end");
        counts
    }

    /// How often an error of this class and code occurred.
    pub fn errors(&self, class: ErrorClass, code: u16) -> u64 {
        let same = self.snapshot.errors.iter();
        same.filter(|one| (one.class, one.code) == (class, code))
            .map(|one| one.count)
            .sum()
    }

    /// Errors of this class, whatever their code.
    pub fn errors_of(&self, class: ErrorClass) -> u64 {
        let same = self.snapshot.errors.iter().filter(|one| one.class == class);
        same.map(|one| one.count).sum()
    }

    /// Transactions that met a deadlock at the very end, where it is not tried again.
    pub fn untried_count(&self) -> u64 {
        self.errors_of(ErrorClass::Retryable) - self.counts().retries
    }

    /// Whether transactions completed in the last second of it.
    pub fn goes_on(&self) -> bool {
        self.completed.iter().rev().take(5).sum::<u64>() > 0
    }

    pub fn outages(&self) -> &[Outage] {
        &self.done.as_ref().expect("it has ended").outages
    }
}

/// When a trial ends.
#[derive(Clone, Copy)]
pub enum Until {
    Transactions(u64),
    Milliseconds(u64),
    /// When it goes on after what was done beside it, however long that takes: each server that had work before has work
    /// again, over all connections. It lasts so many milliseconds at least.
    ItGoesOn(u64),
}

impl Until {
    /// Most transactions, and how long it runs at most, milliseconds.
    pub fn limits(self) -> (Option<u64>, u64) {
        match self {
            Until::Transactions(count) => (Some(count), 600_000),
            Until::Milliseconds(duration_ms) => (None, duration_ms),
            Until::ItGoesOn(_) => (None, 86_400_000),
        }
    }
}

/// A closed loop.
#[derive(Clone, Copy)]
pub struct Load {
    pub connections: u32,
    pub until: Until,
    pub seed: u64,
}

/// Runs it to its end.
pub fn run(workload: &dyn Workload, targets: &[RoleTarget], load: Load) -> Result<Summary, WorkerFault> {
    run_spread(workload, &GroupServers::new(targets, None), load)
}

/// The same with a say about errors.
pub fn run_on(
    workload: &dyn Workload,
    targets: &[RoleTarget],
    load: Load,
    retry: &[RetryRule],
    terms: ConnectionTerms,
) -> Result<Summary, WorkerFault> {
    let servers = GroupServers::new(targets, None);
    let (group, duration_ms) = group_of(workload, &servers, load, (retry, terms))?;
    run_group(group, duration_ms, &mut |_, _| {})
}

/// The same on servers of which replicas take reads.
pub fn run_spread(workload: &dyn Workload, servers: &GroupServers, load: Load) -> Result<Summary, WorkerFault> {
    let terms = (&default_retry()[..], ConnectionTerms::default());
    let (group, duration_ms) = group_of(workload, servers, load, terms)?;
    run_group(group, duration_ms, &mut |_, _| {})
}

/// The same with one interval for all of it: what each interval takes is not in what is measured.
pub fn run_in_one_interval(
    workload: &dyn Workload,
    servers: &GroupServers,
    load: Load,
) -> Result<Summary, WorkerFault> {
    let terms = (&default_retry()[..], ConnectionTerms::default());
    let (group, duration_ms) = group_of(workload, servers, load, terms)?;
    run_by_intervals(group, duration_ms, duration_ms, &mut |_, _| {})
}

/// Runs a load, and something beside it once it is in flight: half a second after its begin, or later on a busy machine.
pub fn run_beside<T>(
    workload: &dyn Workload,
    targets: &[RoleTarget],
    load: Load,
    retry: &[RetryRule],
    action: impl FnOnce() -> T,
) -> (Summary, T) {
    run_spread_beside(workload, &GroupServers::new(targets, None), load, retry, action)
}

/// The same on servers of which replicas take reads.
pub fn run_spread_beside<T>(
    workload: &dyn Workload,
    servers: &GroupServers,
    load: Load,
    retry: &[RetryRule],
    action: impl FnOnce() -> T,
) -> (Summary, T) {
    let (group, _) = group_of(workload, servers, load, (retry, ConnectionTerms::default())).unwrap();
    run_group_beside(group, load.until, action)
}

/// The same with pauses after each transaction.
pub fn run_unhurried_beside<T>(
    workload: &dyn Workload,
    servers: &GroupServers,
    load: Load,
    action: impl FnOnce() -> T,
) -> (Summary, T) {
    let terms = (&default_retry()[..], ConnectionTerms::default());
    let (group, _) = group_of(workload, servers, load, terms).unwrap();
    let group = GroupRun {
        arrivals: Box::new(unhurried(load.connections, load.until.limits().0)),
        ..group
    };
    run_group_beside(group, load.until, action)
}

/// A closed loop with pauses of 5 ms, which leaves processors to others where throughput is not what a test is about.
pub fn unhurried(connections: u32, transactions_max: Option<u64>) -> ClosedLoop {
    let think_time = ThinkTimePlan::Uniform {
        min_ms: 4.0,
        max_ms: 6.0,
    };
    ClosedLoop::new(connections, transactions_max).with_pace(Thinking { think_time, seed: 1 })
}

/// The same with a group of the test's own.
pub fn run_group_beside<T>(group: GroupRun, until: Until, action: impl FnOnce() -> T) -> (Summary, T) {
    let (told, hears) = channel();
    let beside = Beside::default();
    scope(|scope| {
        let beside = &beside;
        let running = scope.spawn(move || {
            let mut going_on = GoingOn::new(until, beside);
            let mut seen = |event: &Message, handle: &TrialHandle| {
                let Message::Interval(interval) = event else { return };
                if is_in_flight(interval) {
                    let _ = told.send(()); // nobody listens after the first
                }
                if going_on.is_over(interval) {
                    handle.stop();
                }
            };
            let summary = run_group(group, until.limits().1, &mut seen).unwrap();
            let is_expected = matches!(until, Until::ItGoesOn(_));
            assert!(
                !is_expected || going_on.is_seen(),
                "it did not go on: {:?} {:?}",
                summary.completed,
                summary.outages()
            );
            summary
        });
        hears.recv().expect("the load begins");
        sleep(Duration::from_millis(300));
        let done = beside.act(action);
        (running.join().unwrap(), done)
    })
}

/// Whether transactions complete, or wait for what the test has made them wait for.
fn is_in_flight(interval: &Interval) -> bool {
    interval.groups.iter().any(|group| {
        let waits_ns = group.in_flight.get(&Measure::Response).map_or(0, |ages| ages.max_ns);
        group.snapshot.counts().completed > 0 || waits_ns > 1_000_000_000
    })
}

/// Where that stands which is done beside a load.
#[derive(Default)]
struct Beside {
    has_begun: AtomicBool,
    is_done: AtomicBool,
}

impl Beside {
    /// Does it; also where it panics the load hears that it is over.
    fn act<T>(&self, action: impl FnOnce() -> T) -> T {
        struct Ends<'a>(&'a AtomicBool);
        impl Drop for Ends<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::SeqCst);
            }
        }
        self.has_begun.store(true, Ordering::SeqCst);
        let _ends = Ends(&self.is_done);
        action()
    }
}

/// Looks for a load to go on after what was done beside it.
struct GoingOn<'a> {
    beside: &'a Beside,
    least_ns: Option<u64>,
    /// For each server its connections, and whether it had work, before.
    before: Vec<(u64, bool)>,
    done_since: Option<Instant>,
    /// Intervals in a row that are as they were before.
    restored_count: u32,
}

impl<'a> GoingOn<'a> {
    fn new(until: Until, beside: &'a Beside) -> Self {
        Self {
            beside,
            least_ns: match until {
                Until::ItGoesOn(least_ms) => Some(least_ms * 1_000_000),
                Until::Transactions(_) | Until::Milliseconds(_) => None,
            },
            before: Vec::new(),
            done_since: None,
            restored_count: 0,
        }
    }

    fn is_seen(&self) -> bool {
        self.restored_count >= 2
    }

    /// Whether the load may end with this interval: it goes on, or is not waited for any more.
    fn is_over(&mut self, interval: &Interval) -> bool {
        let Some(least_ns) = self.least_ns else { return false };
        let groups = interval.groups.iter();
        let now = groups.map(|group| (group.connected_count, group.snapshot.counts().completed > 0));
        if !self.beside.has_begun.load(Ordering::SeqCst) {
            self.before.resize(interval.groups.len(), (0, false));
            for ((connected, has_work), now) in self.before.iter_mut().zip(now) {
                *connected = now.0.max(*connected);
                *has_work |= now.1;
            }
            return false;
        }
        // The interval in which it was done is the last that is not as it should be.
        let Some(done_since) = self.done_since else {
            let is_done = self.beside.is_done.load(Ordering::SeqCst);
            self.done_since = is_done.then(Instant::now);
            return false;
        };
        if !self.is_seen() {
            let mut both = self.before.iter().zip(now);
            let is_restored = both.all(|(before, now)| now.0 >= before.0 && now.1 >= before.1);
            self.restored_count = if is_restored { self.restored_count + 1 } else { 0 };
        }
        self.is_seen() && interval.to_ns >= least_ns || done_since.elapsed() > Duration::from_secs(300)
    }
}

/// The connections of a load, and how long they run, milliseconds.
fn group_of(
    workload: &dyn Workload,
    servers: &GroupServers,
    load: Load,
    (retry, terms): (&[RetryRule], ConnectionTerms),
) -> Result<(GroupRun, u64), WorkerFault> {
    let connections = load.connections;
    let (transactions_max, duration_ms) = load.until.limits();
    let session = Terms::new(retry, &ReconnectPlan::default())?;
    let group = GroupRun {
        instance: "test".to_owned(),
        factory: plimsoll_workloads::factory(workload, servers, load.seed, connections, session)?,
        arrivals: plimsoll_workloads::closed_loop(workload, load.seed, connections, None, transactions_max)?,
        connections: plimsoll_workloads::sessions_count(workload, connections),
        terms,
    };
    Ok((group, duration_ms))
}

/// Runs a group, with somebody who sees all that happens.
fn run_group(
    group: GroupRun,
    duration_ms: u64,
    seen: &mut dyn FnMut(&Message, &TrialHandle),
) -> Result<Summary, WorkerFault> {
    run_by_intervals(group, 200, duration_ms, seen)
}

fn run_by_intervals(
    group: GroupRun,
    interval_ms: u64,
    duration_ms: u64,
    seen: &mut dyn FnMut(&Message, &TrialHandle),
) -> Result<Summary, WorkerFault> {
    let trial = Trial::new(TrialOptions::new(interval_ms, duration_ms), vec![group])?;
    trial.handle().start(None);
    let mut seen = Seen {
        summary: Summary::default(),
        handle: trial.handle(),
        look: seen,
    };
    trial.run(&mut seen)?;
    Ok(seen.summary)
}
