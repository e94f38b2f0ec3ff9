//! Very many connections that are lost together: they come back a few at a time, and not in step.

mod support;

use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use plimsoll_core::plan::{OltpOptions, ReconnectPlan, WorkloadPlan};
use plimsoll_engine::{ClosedLoop, ConnectionTerms, GroupRun};
use plimsoll_session::{Terms, default_retry};
use plimsoll_sim::{Script, Sim};
use support::trial::{Summary, Until, run_group_beside};
use support::{over_tcp, servers};

/// So many are opened at the same time, by the protocol's documentation.
const CONNECTING_MAX: u64 = 128;

/// Hundreds of threads of the one test would make those of the other late.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Runs a load, and cuts all of its connections when it is under way, in this way.
fn run_cut<T>(sim: &Sim, connections: u32, cut: impl FnOnce() -> T) -> (Summary, T) {
    let workload = WorkloadPlan::OltpPointSelect(OltpOptions::default());
    let target = over_tcp("127.0.0.1", sim.port(), "root", "test");
    let terms = Terms::new(&default_retry(), &ReconnectPlan::default()).unwrap();
    let group = GroupRun {
        instance: "sim".to_owned(),
        factory: plimsoll_workloads::factory(&workload, &servers(&target), 1, connections, terms).unwrap(),
        arrivals: Box::new(ClosedLoop::new(connections, None)),
        connections,
        terms: ConnectionTerms::default(),
    };
    let (summary, done) = run_group_beside(group, Until::ItGoesOn(0), cut);
    let counts = summary.counts();
    assert_eq!(counts.failed, u64::from(connections), "{counts:?}");
    (summary, done)
}

#[test]
fn connections_that_are_lost_together_log_in_as_few_at_a_time_as_at_first() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    // A busy machine starts a hundred logins within such a time too.
    let sim = Sim::start(Script {
        login_delay: ms(400),
        statement_delay: ms(100),
        ..Script::default()
    })
    .unwrap();
    let connections = 600;
    let (summary, ()) = run_cut(&sim, connections, || sim.disconnect_all());
    let most = sim.logging_in_max();
    assert!((100..=CONNECTING_MAX).contains(&most), "{most} at a time");
    assert_eq!(
        sim.login_begins().len() as u32,
        2 * connections,
        "some did not come back"
    );
    let back = summary.outages().iter().all(|one| one.to_ns.is_some());
    assert!(back, "{:?}", summary.outages());
}

/// Without a random part in their pauses all would come at the same moments, in the end every half second.
#[test]
fn connections_that_are_not_let_in_try_again_at_different_times() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let sim = Sim::start(Script {
        statement_delay: ms(100), // so that all wait for an answer when they are cut
        ..Script::default()
    })
    .unwrap();
    let connections = 64;
    let (_, shut) = run_cut(&sim, connections, || {
        let shut = sim.shut();
        sim.disconnect_all();
        sleep(ms(3_400));
        sim.open();
        shut
    });
    // By the first second their pauses have become the longest, between a quarter and half a second.
    let (from, to) = (shut + ms(1_000), shut + ms(3_400));
    let late: Vec<Duration> = sim
        .login_begins()
        .into_iter()
        .filter(|begin| (from..to).contains(begin))
        .collect();
    // Six or seven each, and fewer on a busy machine.
    assert!((2 * 64..11 * 64).contains(&late.len()), "{} attempts", late.len());
    // In step, all would come within five of these tenths of a second, again and again. A machine that is busy
    // elsewhere for a moment makes one or two full.
    let together = |tenth| {
        let begins = from + ms(100) * tenth;
        late.iter()
            .filter(|one| (begins..begins + ms(100)).contains(one))
            .count()
    };
    let full = (0..24).filter(|tenth| together(*tenth) >= 48).count();
    assert!(full <= 2, "{:?}", (0..24).map(together).collect::<Vec<_>>());
}
