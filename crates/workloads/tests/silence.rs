//! Servers and machines that say nothing any more, and close nothing: they are outages with a begin and an end, and the load
//! goes on when they are back. What only takes long is no outage.

mod support;

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use plimsoll_core::connections::Outage;
use plimsoll_core::plan::{ArrivalProcess, Isolation, OltpKind, OltpOptions, RateStepPlan, ReconnectPlan, Target};
use plimsoll_core::snapshot::ErrorClass;
use plimsoll_engine::{Arrivals, ClosedLoop, ConnectionTerms, GroupRun, OpenLoop, OpenLoopOptions, unix_ns};
use plimsoll_session::{Terms, default_retry};
use plimsoll_sim::{Answer, Script, Sim, Stall};
use rustix::process::Signal;
use support::namespace::Namespace;
use support::trial::{Summary, Until, run_group_beside};
use support::{Kind, Server, connect, over_tcp, servers};

const CONNECTIONS: u32 = 8;
const RATE_TPS: f64 = 100.0;
const PORT: u16 = 3306;

/// After so long what is silent counts as lost, in trials whose outage is compared with the truth.
const SILENT_MS: u64 = 2_000;

fn closed() -> Box<dyn Arrivals> {
    Box::new(ClosedLoop::new(CONNECTIONS, None))
}

fn open() -> Box<dyn Arrivals> {
    let rate = RateStepPlan {
        duration_ms: 1_000,
        from_tps: RATE_TPS,
        to_tps: RATE_TPS,
    };
    Box::new(OpenLoop::new(&OpenLoopOptions {
        process: ArrivalProcess::Uniform,
        steps: vec![rate],
        backlog_max: 10_000,
        seed: 1,
    }))
}

/// Point selects of connections that run a statement before they are used. What falls silent counts as lost after so many
/// milliseconds.
fn group(target: &Target, arrivals: Box<dyn Arrivals>, network_ms: u64, read_ms: Option<u64>) -> GroupRun {
    let workload = OltpKind::PointSelect.with(OltpOptions {
        isolation: Isolation::ReadCommitted,
        ..OltpOptions::default()
    });
    let reconnect = ReconnectPlan {
        network_timeout_ms: network_ms,
        read_timeout_ms: read_ms,
        ..ReconnectPlan::default()
    };
    let terms = Terms::new(&default_retry(), &reconnect).unwrap();
    GroupRun {
        instance: "silent".to_owned(),
        factory: plimsoll_workloads::factory(&workload, &servers(target), 1, CONNECTIONS, terms).unwrap(),
        arrivals,
        connections: CONNECTIONS,
        terms: ConnectionTerms::default(),
    }
}

/// Milliseconds since the trial's start.
fn times_ms(outage: &Outage) -> (f64, f64) {
    let ms = |ns: u64| ns as f64 / 1e6;
    (ms(outage.from_ns), ms(outage.to_ns.expect("it was over")))
}

/// One outage between two times of the wall clock, in truth; all connections were lost, each with the transaction that it was
/// in.
fn check_outage(summary: &Summary, truth: (u64, u64), late_ms: f64) {
    let started = summary.done.as_ref().unwrap().started_unix_ns;
    let since_start = |at: u64| (at as f64 - started as f64) / 1e6;
    let (from_ms, to_ms) = (since_start(truth.0), since_start(truth.1));
    let lost = u64::from(CONNECTIONS);
    let counts = summary.counts();
    assert_eq!(
        (counts.failed, summary.errors_of(ErrorClass::Connection)),
        (lost, lost),
        "{:?}",
        summary.snapshot.errors
    );
    let [outage] = summary.outages() else {
        panic!("{:?}", summary.outages())
    };
    assert_eq!((outage.connections_count, outage.lost_count), (lost, lost));
    let (from, to) = times_ms(outage);
    // On a busy machine a connection may have been silent before, for less than what makes it count as lost, and another send
    // only a while after it. It is noticed later than that.
    let limit_ms = SILENT_MS as f64;
    assert!(
        (from_ms - limit_ms..from_ms + limit_ms).contains(&from),
        "from {from} ms, in truth {from_ms}"
    );
    assert!(
        (to_ms - 400.0..to_ms + late_ms).contains(&to),
        "to {to} ms, in truth {to_ms}"
    );
}

/// What is done beside a load, and again after `lasts`. When both were, on the wall clock.
fn disturb(lasts: Duration, begin: impl FnOnce(), end: impl FnOnce()) -> (u64, u64) {
    begin();
    let from = unix_ns();
    sleep(lasts);
    end();
    (from, unix_ns())
}

/// Power loss, or a firewall that drops packets from now on: no FIN and no RST ever comes.
#[test]
fn a_machine_that_vanishes_without_a_word_is_an_outage_and_the_load_goes_on_when_it_is_back() {
    let Some(machine) = Namespace::new() else { return };
    let Some(server) = Server::start_in(&machine, PORT, Kind::MariaDb) else {
        return;
    };
    prepare(&server);
    let target = over_tcp(machine.address(), PORT, "far", "silent");
    for arrivals in [closed(), open()] {
        let load = group(&target, arrivals, SILENT_MS, None);
        let (summary, truth) = run_group_beside(load, Until::ItGoesOn(0), || {
            disturb(Duration::from_secs(4), || machine.unplug(), || machine.plug())
        });
        // An attempt to connect may have begun just before, and is repeated by TCP after a second, or by us after two; a busy
        // machine may take as long again.
        check_outage(&summary, truth, 5_000.0);
        assert!(
            summary.errors_of(ErrorClass::Connect) > 0,
            "nobody tried to connect again"
        );
    }
}

/// The machine answers, the server does not: it was stopped where it stood, as by a disk that hangs.
#[test]
fn a_server_that_hangs_is_an_outage_once_the_read_timeout_is_over() {
    let Some(server) = Server::start(Kind::MariaDb, &[], Path::new("/var/tmp")) else {
        return;
    };
    prepare(&server);
    for arrivals in [closed(), open()] {
        let load = group(&server.target("silent"), arrivals, 30_000, Some(SILENT_MS));
        let (summary, truth) = run_group_beside(load, Until::ItGoesOn(0), || {
            let (stop, go_on) = (|| server.signal(Signal::STOP), || server.signal(Signal::CONT));
            disturb(Duration::from_secs(4), stop, go_on)
        });
        check_outage(&summary, truth, 3_000.0);
    }
}

/// It lets clients in, what they run first included, and answers no statement of a transaction: each attempt is an outage of
/// its own, as long as the read timeout.
#[test]
fn a_server_that_lets_in_and_answers_nothing_is_left_and_entered_again() {
    for arrivals in [closed(), open()] {
        let stall = Stall {
            after: Duration::from_secs(1),
            lasts: Duration::from_millis(3_900),
        };
        let first = Answer {
            begins_with: "SET SESSION TRANSACTION".to_owned(),
            rows: Vec::new(),
        };
        let silent_until = Instant::now() + stall.after + stall.lasts; // or a little later
        let sim = Sim::start(Script {
            stalls: vec![stall],
            answers: vec![first],
            ..Script::default()
        })
        .unwrap();
        let load = group(
            &over_tcp("127.0.0.1", sim.port(), "root", "silent"),
            arrivals,
            30_000,
            Some(1_000),
        );
        let (summary, ()) = run_group_beside(load, Until::ItGoesOn(0), || {
            sleep(silent_until.saturating_duration_since(Instant::now()));
        });
        let (counts, lost) = (summary.counts(), summary.errors_of(ErrorClass::Connection));
        assert_eq!(counts.failed, lost);
        // Each connection three times, or twice where the load began late in the life of the server.
        let connections = u64::from(CONNECTIONS);
        assert!((2 * connections..=3 * connections).contains(&lost), "{lost} lost");
        let outages: Vec<_> = summary.outages().iter().map(times_ms).collect();
        let silent_ms: f64 = outages.iter().map(|(from, to)| to - from).sum();
        // Outages of connections that a busy machine lets begin at different times follow each other without a gap.
        assert!((1_800.0..4_900.0).contains(&silent_ms), "{outages:?}");
        assert!((0.0..2_900.0).contains(&outages[0].0), "{outages:?}");
    }
}

/// Connections are lost while the server answers no statement: what each runs first is given up in time, and by the end of the
/// trial at once.
#[test]
fn what_a_connection_runs_first_is_waited_for_no_longer_than_the_login() {
    // All connections are open by then.
    let stall = Stall {
        after: Duration::from_secs(3),
        lasts: Duration::from_secs(3_600),
    };
    let silent_from = Instant::now() + stall.after + Duration::from_millis(500);
    let sim = Sim::start(Script {
        stalls: vec![stall],
        ..Script::default()
    })
    .unwrap();
    let load = group(
        &over_tcp("127.0.0.1", sim.port(), "root", "silent"),
        closed(),
        30_000,
        None,
    );
    let (summary, ()) = run_group_beside(load, Until::Milliseconds(8_000), || {
        sleep(silent_from.saturating_duration_since(Instant::now()));
        sim.disconnect_all();
    });
    let (counts, connections) = (summary.counts(), u64::from(CONNECTIONS));
    assert_eq!(
        (counts.failed, summary.errors_of(ErrorClass::Connection)),
        (connections, connections)
    );
    let attempts = summary.errors_of(ErrorClass::Connect);
    assert!(
        (connections..=4 * connections).contains(&attempts),
        "{attempts} in two seconds each"
    );
    assert_eq!(summary.outages()[0].to_ns, None);
    // Connections are cut two seconds after the end, and must not take two more.
    let stuck = summary.warnings.iter().any(|one| one.code == "connections-stuck");
    assert!(!stuck, "{:?}", summary.warnings);
}

/// A pause of the network that is shorter than the timeout, and statements that take longer than it: nothing is lost.
#[test]
fn what_only_takes_long_is_no_outage() {
    let Some(machine) = Namespace::new() else { return };
    let Some(server) = Server::start_in(&machine, PORT, Kind::MariaDb) else {
        return;
    };
    prepare(&server);
    let target = over_tcp(machine.address(), PORT, "far", "silent");
    let load = group(&target, closed(), 6_000, None);
    let (summary, _) = run_group_beside(load, Until::ItGoesOn(0), || {
        disturb(Duration::from_secs(2), || machine.unplug(), || machine.plug())
    });
    assert_eq!((summary.counts().failed, summary.outages()), (0, &[][..]));
    let mut control = connect(&server.target("silent"));
    let load = group(&target, closed(), 2_000, Some(30_000));
    let (summary, ()) = run_group_beside(load, Until::ItGoesOn(0), || {
        control.query("LOCK TABLES sbtest1 WRITE").unwrap(); // point selects wait for it
        sleep(Duration::from_secs(5));
        control.query("UNLOCK TABLES").unwrap();
    });
    assert_eq!((summary.counts().failed, summary.outages()), (0, &[][..]));
}

fn prepare(server: &Server) {
    let mut control = connect(&server.create_database("silent"));
    control
        .query("CREATE TABLE sbtest1 (id INT PRIMARY KEY, c CHAR(120))")
        .unwrap();
}
