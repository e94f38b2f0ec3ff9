//! Load at a rate over the wire, against a server whose stalls are known.

mod support;

use std::time::Duration;

use plimsoll_core::plan::{ArrivalProcess, OltpKind, OltpOptions, RateStepPlan};
use plimsoll_core::snapshot::Measure;
use plimsoll_engine::{ConnectionTerms, GroupRun, OpenLoop, OpenLoopOptions, Trial, TrialOptions, unix_ns};
use plimsoll_session::Terms;
use plimsoll_sim::{Script, Sim, Stall};
use support::trial::Summary;
use support::{over_tcp, servers};

const SECOND: Duration = Duration::from_secs(1);

/// Point selects at 1,000 a second over 32 connections for so many seconds.
fn run(sim: &Sim, seconds: u64) -> Summary {
    let target = over_tcp("127.0.0.1", sim.port(), "root", "test");
    let arrivals = OpenLoop::new(&OpenLoopOptions {
        process: ArrivalProcess::Uniform,
        steps: vec![RateStepPlan {
            duration_ms: 1_000,
            from_tps: 1_000.0,
            to_tps: 1_000.0,
        }],
        backlog_max: 10_000,
        seed: 1,
    });
    let workload = OltpKind::PointSelect.with(OltpOptions::default());
    let group = GroupRun {
        instance: "sim".to_owned(),
        factory: plimsoll_workloads::factory(&workload, &servers(&target), 1, 32, Terms::default()).unwrap(),
        arrivals: Box::new(arrivals),
        connections: 32,
        terms: ConnectionTerms::default(),
    };
    let trial = Trial::new(TrialOptions::new(1_000, 1_000 * seconds), vec![group]).unwrap();
    trial.handle().start(None);
    let mut summary = Summary::default();
    trial.run(&mut summary).unwrap();
    summary
}

/// The server answers nobody any more from 3 s after its start on. Of the 1,000 that fall due each second of a load of 5 s all
/// that were due since then never end, and at the end of the load the oldest has waited since then. The load began between the
/// start of the server and the first arrival, so that bounds when on its clock the server fell silent.
#[test]
fn what_a_silent_server_leaves_is_counted_exactly_and_as_old_as_its_silence() {
    let before = unix_ns();
    let sim = Sim::start(Script {
        stalls: vec![Stall {
            after: 3 * SECOND,
            lasts: 3_600 * SECOND,
        }],
        ..Script::default()
    })
    .unwrap();
    let after = unix_ns();
    let summary = run(&sim, 5);
    let (counts, done) = (summary.counts(), summary.done.as_ref().unwrap());
    assert_eq!(done.offered_count, 5_000);
    assert_eq!(counts.completed + done.unfinished_count, 5_000);
    let load_ns = 5_000_000_000;
    let at_end = &summary.in_flight[&load_ns];
    assert_eq!(at_end.count(), done.unfinished_count, "nothing ended after the load");
    // From when the server fell silent, on the trial's clock, until the load ended.
    let silent_for = |started: u64| load_ns - (started + 3_000_000_000 - done.started_unix_ns);
    let (least_ns, most_ns) = (silent_for(after), silent_for(before));
    assert!(
        // 1 ms from one arrival to the next, and 32 that were sent in time and answered too late on a busy machine
        (least_ns.saturating_sub(2_000_000)..=most_ns + 1_000_000_000).contains(&at_end.max_ns),
        "{least_ns} {most_ns} {}",
        at_end.max_ns
    );
    // One in each millisecond; those 32 may be older.
    let mean_ns = at_end.sum_ns / at_end.count();
    let even_ns = at_end.count() * 1_000_000 / 2;
    assert!(
        mean_ns.abs_diff(even_ns) < 50_000_000,
        "they fell due evenly: {mean_ns} {even_ns}"
    );
    let grace_ns = done.duration_ns - load_ns;
    let last = &summary.in_flight[&done.duration_ns];
    assert_eq!(last.max_ns, at_end.max_ns + grace_ns, "each grows older until the end");
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
    let summary = run(&sim, 10);
    let (counts, done) = (summary.counts(), summary.done.as_ref().unwrap());
    // Those that fell due just before the end and that nobody could take before it are left.
    assert_eq!(
        (done.offered_count, counts.completed + done.unfinished_count),
        (10_000, 10_000)
    );
    let p99_ms = |measure| {
        let histogram = &summary.snapshot.transactions["oltp_point_select"].histograms[&measure];
        histogram.quantile_ns(0.99).unwrap() as f64 / 1e6
    };
    let (response_ms, service_ms) = (p99_ms(Measure::Response), p99_ms(Measure::Service));
    // On a busy machine what waited is worked off more slowly, and each transaction takes longer.
    assert!((850.0..3_000.0).contains(&response_ms), "response p99 {response_ms} ms");
    assert!(service_ms < response_ms / 2.0, "service p99 {service_ms} ms");
}
