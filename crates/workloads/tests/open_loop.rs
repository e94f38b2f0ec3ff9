//! Load at a rate over the wire, against a server whose stalls are known.

mod support;

use std::time::Duration;

use plimsoll_core::message::Done;
use plimsoll_core::plan::{OltpOptions, WorkloadPlan};
use plimsoll_core::snapshot::{Measure, Snapshot};
use plimsoll_engine::{ConnectionTerms, GroupRun, OpenLoop, OpenLoopOptions, Process, RateStep, Trial, TrialOptions};
use plimsoll_session::Terms;
use plimsoll_sim::{Script, Sim, Stall};
use support::trial::Summary;
use support::{over_tcp, source};

const SECOND: Duration = Duration::from_secs(1);

/// Point selects at 1,000 a second over 32 connections for 10 s.
fn run(sim: &Sim) -> (Snapshot, Done) {
    let target = over_tcp("127.0.0.1", sim.port(), "root", "test");
    let arrivals = OpenLoop::new(&OpenLoopOptions {
        process: Process::Uniform,
        steps: vec![RateStep {
            duration_ns: 1_000_000_000,
            from_tps: 1_000.0,
            to_tps: 1_000.0,
        }],
        backlog_max: 10_000,
        seed: 1,
    });
    let workload = WorkloadPlan::OltpPointSelect(OltpOptions::default());
    let group = GroupRun {
        instance: "sim".to_owned(),
        factory: plimsoll_workloads::factory(&workload, &source(&target), 1, 32, Terms::default()).unwrap(),
        arrivals: Box::new(arrivals),
        connections: 32,
        terms: ConnectionTerms::default(),
    };
    let trial = Trial::new(TrialOptions::new(1_000, 10_000), vec![group]).unwrap();
    trial.handle().start(None);
    let mut summary = Summary::default();
    let done = trial.run(&mut summary).unwrap();
    (summary.snapshot, done)
}

/// 1,000 of the 10,000 fall due while the server answers nobody for a second, and wait 0 to 1 s: so a tenth of those, one in
/// a hundred of all, wait longer than 0.9 s. Only the 32 that were sent in time see it as service time.
#[test]
fn a_stall_of_the_server_shows_in_response_time_and_not_in_service_time() {
    let sim = Sim::start(Script {
        stalls: vec![Stall {
            after: 3 * SECOND,
            lasts: SECOND,
        }],
        ..Script::default()
    })
    .unwrap();
    let (snapshot, done) = run(&sim);
    let counts = snapshot.counts();
    assert_eq!(
        (done.offered_count, counts.completed, done.unfinished_count),
        (10_000, 10_000, 0)
    );
    let p99_ms = |measure| {
        let histogram = &snapshot.transactions["oltp_point_select"].histograms[&measure];
        histogram.quantile_ns(0.99).unwrap() as f64 / 1e6
    };
    let (response_ms, service_ms) = (p99_ms(Measure::Response), p99_ms(Measure::Service));
    assert!((850.0..1_000.0).contains(&response_ms), "response p99 {response_ms} ms");
    assert!(service_ms < 100.0, "service p99 {service_ms} ms");
}
