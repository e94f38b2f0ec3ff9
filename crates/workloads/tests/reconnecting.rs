//! Very many connections that are lost together: they come back a few at a time.

mod support;

use std::time::Duration;

use plimsoll_core::plan::{OltpKind, OltpOptions, ReconnectPlan};
use plimsoll_engine::{ClosedLoop, ConnectionTerms, GroupRun};
use plimsoll_session::{Terms, default_retry};
use plimsoll_sim::{Script, Sim};
use support::trial::{Until, run_group_beside};
use support::{over_tcp, servers};

/// So many are opened at the same time, by the protocol's documentation.
const CONNECTING_MAX: u64 = 128;

#[test]
fn connections_that_are_lost_together_log_in_as_few_at_a_time_as_at_first() {
    // A busy machine starts a hundred logins within such a time too.
    let sim = Sim::start(Script {
        login_delay: Duration::from_millis(400),
        statement_delay: Duration::from_millis(100),
        ..Script::default()
    })
    .unwrap();
    let connections = 600;
    let workload = OltpKind::PointSelect.with(OltpOptions::default());
    let target = over_tcp("127.0.0.1", sim.port(), "root", "test");
    let terms = Terms::new(&default_retry(), &ReconnectPlan::default()).unwrap();
    let group = GroupRun {
        instance: "sim".to_owned(),
        factory: plimsoll_workloads::factory(&workload, &servers(&target), 1, connections, terms).unwrap(),
        arrivals: Box::new(ClosedLoop::new(connections, None)),
        connections,
        terms: ConnectionTerms::default(),
    };
    let (summary, ()) = run_group_beside(group, Until::ItGoesOn(0), || sim.disconnect_all());
    let counts = summary.counts();
    assert_eq!(counts.failed, u64::from(connections), "{counts:?}");
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
