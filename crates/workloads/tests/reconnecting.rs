//! Very many connections that are lost together: they come back a few at a time, and not in step.

mod support;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use plimsoll_core::plan::{OltpOptions, ReconnectPlan, RetryRule, WorkloadPlan};
use plimsoll_engine::{ClosedLoop, ConnectionTerms, GroupRun};
use plimsoll_session::Terms;
use plimsoll_sim::{Script, Sim, Stall};
use support::trial::{Summary, run_group_beside};
use support::{over_tcp, source};

/// So many are opened at the same time, by the protocol's documentation.
const CONNECTING_MAX: u64 = 128;

/// Hundreds of threads of the one test would make those of the other late.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Runs a load, and cuts all of its connections when it is under way.
fn cut_all(sim: &Sim, connections: u32, duration_ms: u64) -> Summary {
    let workload = WorkloadPlan::OltpPointSelect(OltpOptions::default());
    let target = over_tcp("127.0.0.1", sim.port(), "root", "test");
    let terms = Terms::new(&RetryRule::defaults(), &ReconnectPlan::default()).unwrap();
    let group = GroupRun {
        instance: "sim".to_owned(),
        factory: plimsoll_workloads::factory(&workload, &source(&target), 1, connections, terms).unwrap(),
        arrivals: Box::new(ClosedLoop::new(connections, None)),
        connections,
        terms: ConnectionTerms::default(),
    };
    let (summary, ()) = run_group_beside(group, duration_ms, || sim.disconnect_all());
    let counts = summary.counts();
    assert_eq!(counts.failed, u64::from(connections), "{counts:?}");
    summary
}

#[test]
fn connections_that_are_lost_together_log_in_as_few_at_a_time_as_at_first() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let sim = Sim::start(Script {
        login_delay: ms(50),
        statement_delay: ms(100),
        ..Script::default()
    })
    .unwrap();
    let connections = 600;
    let summary = cut_all(&sim, connections, 3_000);
    let most = sim.logging_in_max();
    assert!((100..=CONNECTING_MAX).contains(&most), "{most} at a time");
    assert_eq!(
        sim.login_begins().len() as u32,
        2 * connections,
        "some did not come back"
    );
    let back = summary.outages().iter().all(|one| one.to_ns.is_some());
    assert!(back, "{:?}", summary.outages());
    assert!(*summary.completed.last().unwrap() > 0, "it did not go on");
}

/// Without a random part in their pauses all would come at the same moments, in the end every half second.
#[test]
fn connections_that_are_not_let_in_try_again_at_different_times() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let shut = Stall {
        after: ms(400),
        lasts: ms(4_000),
    };
    let sim = Sim::start(Script {
        statement_delay: ms(20),
        refusals: vec![shut],
        ..Script::default()
    })
    .unwrap();
    let connections = 64;
    let summary = cut_all(&sim, connections, 6_000);
    assert!(*summary.completed.last().unwrap() > 0, "it did not go on");
    let late: Vec<u128> = sim
        .login_begins()
        .iter()
        .filter(|begin| (ms(2_000)..ms(4_400)).contains(begin))
        .map(Duration::as_millis)
        .collect();
    // 2.4 s of pauses between a quarter and half a second.
    assert!((5 * 64..11 * 64).contains(&late.len()), "{} attempts", late.len());
    for from in (2_000..4_400).step_by(100) {
        let together = late.iter().filter(|begin| (from..from + 100).contains(*begin)).count();
        assert!(together < 48, "{together} of {connections} within 100 ms");
    }
}
