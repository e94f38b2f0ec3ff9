//! Outages, pauses and heartbeats by a clock that the test moves: minutes of them take no time, and every run is the same.

mod support;

use std::collections::HashMap;
use std::sync::Arc;
use std::thread::{self, ThreadId};

use plimsoll_core::message::{Done, Message};
use plimsoll_core::plan::{ReconnectPlan, Role};
use plimsoll_engine::{ClosedLoop, ConnectionTerms, GroupRun, Observer, Trial, TrialHandle, TrialOptions};
use plimsoll_session::{Clock, Connect, GroupServers, Heartbeat, Sessions, Statements, Terms, default_retry};
use plimsoll_sim::{Answer, Script, Sim};
use support::{Readers, SimulatedClock, UNIX_BEGIN_NS, Way, pair, target};

const MS: u64 = 1_000_000;

const S: u64 = 1_000 * MS;

const CONNECTIONS: u32 = 64;

const SLEEPERS: usize = CONNECTIONS as usize;

/// The account of a trial.
#[derive(Default)]
struct Account(Option<Done>);

impl Observer for Account {
    fn on(&mut self, event: &Message) {
        if let Message::Done(done) = event {
            self.0 = Some(done.clone());
        }
    }
}

/// Runs a load on a server until something was done beside it.
fn run_beside(servers: &GroupServers, act: impl FnOnce(&TrialHandle)) -> Done {
    let terms = Terms::new(&default_retry(), &ReconnectPlan::default()).unwrap();
    let statements = Arc::new(Statements::new(vec!["SELECT 1".to_owned()], false));
    let group = GroupRun {
        instance: "sim".to_owned(),
        factory: Box::new(Readers(Sessions::new(servers, statements, terms, 7))),
        arrivals: Box::new(ClosedLoop::new(CONNECTIONS, None)),
        connections: CONNECTIONS,
        terms: ConnectionTerms::default(),
    };
    let trial = Trial::new(TrialOptions::new(1_000, 86_400_000), vec![group]).unwrap();
    let handle = trial.handle();
    handle.start(None);
    thread::scope(|scope| {
        let running = scope.spawn(move || {
            let mut account = Account::default();
            trial.run(&mut account).unwrap();
            account.0.expect("it has ended")
        });
        act(&handle);
        running.join().unwrap()
    })
}

/// When each connection tried to come back during an outage of ten seconds, since its begin; and the account.
fn attempts_in_an_outage() -> (Vec<Vec<u64>>, Done) {
    let (sim, clock) = (Sim::start(Script::default()).unwrap(), SimulatedClock::new());
    let source = target(Role::Source, &sim);
    let way = Way::to(&source.target, &clock);
    let servers = GroupServers::with(&[source], None, Arc::clone(&clock) as Arc<dyn Clock>, &|_| {
        Arc::clone(&way) as Arc<dyn Connect>
    });
    let done = run_beside(&servers, |handle| {
        while way.opened_count() < SLEEPERS || sim.statements() < 10 * u64::from(CONNECTIONS) {
            thread::yield_now();
        }
        way.close(true);
        sim.disconnect_all();
        clock.advance_to(10 * S, SLEEPERS);
        // All that try from now on come back, one after the other.
        way.close(false);
        while way.opened_count() < 2 * SLEEPERS {
            clock.advance_if(2 * SLEEPERS - way.opened_count());
            thread::yield_now();
        }
        handle.stop();
    });
    let mut of_threads: HashMap<ThreadId, Vec<u64>> = HashMap::new();
    for (thread, at_ns) in way.attempts().into_iter().skip(SLEEPERS) {
        of_threads.entry(thread).or_default().push(at_ns);
    }
    let mut attempts: Vec<Vec<u64>> = of_threads.into_values().collect();
    attempts.sort_unstable();
    (attempts, done)
}

/// Pauses double from 10 to 500 ms; of each a random half is each connection's own, which follows from the seed. Without that all
/// would try at the same moments.
#[test]
fn connections_that_are_not_let_in_try_again_at_times_of_their_own() {
    let (attempts, done) = attempts_in_an_outage();
    assert_eq!(attempts.len(), SLEEPERS);
    for one in &attempts {
        assert_eq!(one[0], 0, "the first attempt waits for nothing");
        for (count, pair) in (0..).zip(one.windows(2)) {
            let longest_ns = ((10 * MS) << count.min(9)).min(500 * MS);
            let pause_ns = pair[1] - pair[0];
            assert!(
                (longest_ns / 2..=longest_ns).contains(&pause_ns),
                "{pause_ns} of {longest_ns}"
            );
        }
    }
    // From the first second on each pause is 250 to 500 ms. In step, all would come within five of these hundred tenths of a second.
    let tenths = (10..100).map(|tenth| (tenth * 100 * MS, (tenth + 1) * 100 * MS));
    let most = tenths.map(|(from_ns, to_ns)| {
        let within = attempts
            .iter()
            .flatten()
            .filter(|at_ns| (from_ns..to_ns).contains(*at_ns));
        within.count()
    });
    let most = most.max().unwrap();
    assert!(most < SLEEPERS / 2, "{most} within a tenth of a second");
    assert_eq!(done.outages.len(), 1, "{:?}", done.outages);
    let outage = &done.outages[0];
    assert_eq!((outage.connections_count, outage.lost_count), (64, 64));
    assert!(outage.to_ns.is_some());
    assert_eq!(attempts_in_an_outage().0, attempts, "it is the same again");
}

/// A source and a replica that shows beats up to the one that was written 100 ms after the begin.
#[test]
fn a_replica_that_stands_still_is_behind_by_exactly_the_time_since() {
    let clock = SimulatedClock::new();
    let source = Sim::start(Script::default()).unwrap();
    let replica = Sim::start(Script {
        answers: vec![Answer {
            begins_with: "SELECT beat".to_owned(),
            rows: vec![vec![Some((UNIX_BEGIN_NS + 100 * MS).to_string())]],
        }],
        ..Script::default()
    })
    .unwrap();
    let (ways, servers) = pair([&source, &replica], &clock);
    let tally = servers.of_trial().remove(1).replica.expect("a replica");
    let heartbeat = Heartbeat::begin(&servers, 1, true).unwrap();
    // The thread at the source and the one at the replica.
    clock.advance_to(100 * MS, 2);
    let fresh = tally.take();
    assert_eq!((fresh.lag_ns, fresh.lag_end_ns), (Some(0), Some(0)));
    for seconds in 1..=10 {
        clock.advance_to(seconds * S, 2);
        // The next beat, of 150 ms, is overdue.
        let lag_ns = Some(clock.now_ns() - 150 * MS);
        assert_eq!(tally.take().lag_end_ns, lag_ns, "after {seconds} s");
    }
    // No beat is written any more, and the replica still misses those that were.
    ways[0].close(true);
    source.disconnect_all();
    clock.advance_to(15 * S, 2);
    assert_eq!(tally.take().lag_end_ns, Some(clock.now_ns() - 150 * MS));
    drop(heartbeat);
}

/// A replica that cannot be reached is tried by its heartbeat each 200 ms, and found when it is back.
#[test]
fn a_replica_that_comes_back_is_found_by_its_heartbeat() {
    let clock = SimulatedClock::new();
    let sims = [(); 2].map(|()| Sim::start(Script::default()).unwrap());
    let (ways, servers) = pair(sims.each_ref(), &clock);
    ways[1].close(true);
    let heartbeat = Heartbeat::begin(&servers, 1, true).unwrap();
    clock.advance_to(3_000 * MS, 2);
    let attempts = |way: &Way| {
        way.attempts()
            .into_iter()
            .map(|(_, at_ns)| at_ns / MS)
            .collect::<Vec<_>>()
    };
    assert_eq!(attempts(&ways[1]), (0..16).map(|count| 200 * count).collect::<Vec<_>>());
    ways[1].close(false);
    clock.advance_to(10_000 * MS, 2);
    let later = attempts(&ways[1]);
    assert_eq!(
        later.len(),
        17,
        "it was let in by the next attempt and stayed: {later:?}"
    );
    assert_eq!(attempts(&ways[0]), [0], "the source was never away");
    drop(heartbeat);
}
