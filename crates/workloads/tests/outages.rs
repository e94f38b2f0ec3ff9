//! Servers in trouble in the middle of a trial: what it says afterwards is what happened. Real servers, real signals.

mod support;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use plimsoll_core::plan::{
    DataPlan, DataSet, LoadMethod, OltpData, OltpKind, OltpOptions, OltpPlan, RetryRule, Target,
};
use plimsoll_core::snapshot::ErrorClass;
use plimsoll_engine::ConnectionTerms;
use plimsoll_session::default_retry;
use plimsoll_wire::{ConnectOptions, Connection};
use plimsoll_workloads::{Workload, data};
use support::disk::SmallDisk;
use support::killing::kill_all;
use support::trial::{Load, Summary, Until, run, run_beside, run_on, run_unhurried_beside};
use support::{Kind, Server, await_no_others, connect, on_each_server, servers, source, value};

fn prepare(target: &Target, table_size: u64) {
    let plan = DataPlan {
        protocol: 1,
        target: target.clone(),
        data_set: DataSet::Oltp(OltpData {
            tables: 1,
            table_size,
            seed: 1,
            ..OltpData::default()
        }),
        loaders: 1,
        method: LoadMethod::Auto,
        drop_foreign: false,
    };
    data::prepare(&plan, &mut |_| {}).unwrap();
}

fn read_only(table_size: u64) -> OltpPlan {
    OltpKind::ReadOnly.with(OltpOptions {
        table_size,
        ..OltpOptions::default()
    })
}

fn write_only(table_size: u64) -> OltpPlan {
    OltpKind::WriteOnly.with(OltpOptions {
        table_size,
        ..OltpOptions::default()
    })
}

fn load(connections: u32, duration_ms: u64) -> Load {
    Load {
        connections,
        until: Until::Milliseconds(duration_ms),
        seed: 1,
    }
}

/// A load that lasts until it goes on after what was done beside it.
fn going_on(connections: u32) -> Load {
    Load {
        connections,
        until: Until::ItGoesOn(0),
        seed: 1,
    }
}

/// Runs a load with pauses, and something beside it once it is under way.
fn beside<T>(workload: &dyn Workload, target: &Target, load: Load, action: impl FnOnce() -> T) -> (Summary, T) {
    run_unhurried_beside(workload, &servers(target), load, action)
}

#[test]
fn a_server_that_dies_and_stays_away_costs_its_transactions_and_the_trial_still_ends() {
    let Some(mut server) = Server::start(Kind::MariaDb, &[], Path::new("/var/tmp")) else {
        return;
    };
    let target = server.create_database("dies");
    prepare(&target, 1_000);
    let begin = Instant::now();
    let (summary, ()) = beside(&read_only(1_000), &target, load(4, 4_000), || server.kill());
    assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", begin.elapsed());
    let counts = summary.counts();
    assert!(counts.completed > 0, "{counts:?}");
    assert_eq!(counts.failed, 4, "each connection loses the transaction that it was in");
    assert_eq!(summary.errors_of(ErrorClass::Connection), 4);
    assert!(
        summary.errors(ErrorClass::Connect, 0) > 4,
        "nobody tried to connect again"
    );
    let outage = &summary.outages()[0];
    assert_eq!(
        (outage.connections_count, outage.lost_count, outage.to_ns),
        (4, 4, None)
    );
}

/// The truth is a prober of our own: from the kill until it is let in again.
#[test]
fn a_server_that_dies_and_comes_back_is_an_outage_of_that_length() {
    let Some(mut server) = Server::start(Kind::MariaDb, &[], Path::new("/var/tmp")) else {
        return;
    };
    let target = server.create_database("restarts");
    prepare(&target, 1_000);
    let (summary, truth) = beside(&write_only(1_000), &target, going_on(8), || {
        let begin = Instant::now();
        server.kill();
        sleep(Duration::from_millis(300));
        server.restart();
        while Connection::open(&target, &ConnectOptions::default()).is_err() {
            sleep(Duration::from_millis(5));
        }
        begin.elapsed()
    });
    let counts = summary.counts();
    assert_eq!(
        (
            counts.failed - summary.untried_count(),
            summary.errors_of(ErrorClass::Connection)
        ),
        (8, 8)
    );
    assert_eq!(summary.outages().len(), 1, "{:?}", summary.outages());
    let outage = &summary.outages()[0];
    assert_eq!((outage.connections_count, outage.lost_count), (8, 8));
    let length = Duration::from_nanos(outage.to_ns.expect("it was over") - outage.from_ns);
    // Connections try again at most half a second after the last attempt, each by itself; they and the prober may each be
    // late on a busy machine.
    let (early, late) = (Duration::from_millis(500), Duration::from_secs(3));
    assert!(
        length + early > truth && length < truth + late,
        "{length:?}, in truth {truth:?}"
    );
    assert!(summary.warnings.iter().any(|one| one.code == "outage"));
}

#[test]
fn connections_that_are_killed_are_opened_again_at_once() {
    on_each_server("killed", |server, target| {
        prepare(target, 1_000);
        let (summary, ()) = beside(&read_only(1_000), target, going_on(8), || {
            kill_all(&mut connect(&server.target("")), "killed", 8, &mut BTreeSet::new());
        });
        let counts = summary.counts();
        assert_eq!(
            (counts.failed, summary.errors_of(ErrorClass::Connection)),
            (8, 8),
            "{counts:?}"
        );
        let lost: u64 = summary.outages().iter().map(|one| one.lost_count).sum();
        let affected: u64 = summary.outages().iter().map(|one| one.connections_count).sum();
        assert_eq!((lost, affected), (8, 8), "{:?}", summary.outages());
        for one in summary.outages() {
            assert!(one.to_ns.unwrap() - one.from_ns < 30_000_000_000, "{one:?}");
        }
    });
}

#[test]
fn in_a_storm_of_deadlocks_every_error_is_a_retry_or_a_failure() {
    on_each_server("storm", |_, target| {
        prepare(target, 30);
        let storm = |retry: &[RetryRule]| {
            let terms = ConnectionTerms::default();
            let load = Load {
                until: Until::Transactions(2_000),
                ..going_on(16)
            };
            run_on(&write_only(30), &source(target), load, retry, terms).unwrap()
        };
        let repeated = storm(&default_retry());
        let counts = repeated.counts();
        let deadlocks = repeated.errors(ErrorClass::Retryable, 1213);
        assert!(deadlocks > 20, "{deadlocks} deadlocks are no storm");
        assert_eq!(
            counts.retries + counts.failed,
            repeated.errors_of(ErrorClass::Retryable)
        );
        assert!(counts.retries > 10 * counts.failed, "{counts:?}");
        let given_up = storm(&[]);
        let counts = given_up.counts();
        assert_eq!(
            (counts.retries, counts.failed),
            (0, given_up.errors(ErrorClass::Retryable, 1213))
        );
        assert!(counts.failed > 20);
    });
}

/// A lock-wait timeout undoes its statement and leaves the transaction open. Half of the rows are locked, so the update
/// that counts up often succeeds in a transaction whose second update waits in vain: repeated without a rollback it would
/// count twice.
#[test]
fn after_a_lock_wait_timeout_nothing_of_the_transaction_is_left() {
    let impatient = ["--innodb-lock-wait-timeout=1"];
    let Some(server) = Server::start(Kind::MariaDb, &impatient, Path::new("/var/tmp")) else {
        return;
    };
    let target = &server.create_database("locked");
    prepare(target, 1_000);
    let mut control = connect(target);
    let sum = |control: &mut Connection| -> u64 { value(control, "SELECT SUM(k) FROM sbtest1").parse().unwrap() };
    let before = sum(&mut control);
    let workload = OltpKind::WriteOnly.with(OltpOptions {
        table_size: 1_000,
        delete_inserts: 0,
        ..OltpOptions::default()
    });
    let retry = [RetryRule {
        codes: vec![1205],
        limit: 1,
        pause_ms: 50.0,
        pause_max_ms: 50.0,
    }];
    control.query("BEGIN").unwrap();
    control.query("UPDATE sbtest1 SET pad = 'x' WHERE id > 500").unwrap();
    // Twice a second, and the pause between them, is what four transactions need to be given up.
    let (summary, ()) = run_beside(&workload, &source(target), going_on(8), &retry, || {
        sleep(Duration::from_secs(5));
        control.query("ROLLBACK").unwrap();
    });
    let counts = summary.counts();
    let [timeouts, deadlocks] = [1205, 1213].map(|code| summary.errors(ErrorClass::Retryable, code));
    assert!(counts.retries >= 4 && counts.failed >= 4, "{counts:?}");
    // Two updates of any rows may also deadlock, which is not tried again here.
    assert_eq!(timeouts + deadlocks, counts.retries + counts.failed);
    assert_eq!(sum(&mut control) - before, counts.completed, "{counts:?}");
}

#[test]
fn where_the_server_takes_no_more_connections_those_that_came_do_the_work() {
    let Some(server) = Server::start(Kind::MariaDb, &["--max-connections=20"], Path::new("/var/tmp")) else {
        return;
    };
    let target = server.create_database("crowded");
    prepare(&target, 1_000);
    let mut control = connect(&server.target(""));
    let summary = run(&read_only(1_000), &source(&target), load(40, 2_000)).unwrap();
    let counts = summary.counts();
    assert!(counts.completed > 0 && counts.failed == 0, "{counts:?}");
    let ready = summary.ready.as_ref().unwrap();
    assert!(
        (15..=21).contains(&ready.connections) && ready.wanted_count == 40,
        "{ready:?}"
    );
    assert_eq!(ready.failures.len(), 1);
    let failure = &ready.failures[0];
    assert_eq!(
        (failure.code, failure.count),
        (Some(1040), u64::from(40 - ready.connections))
    );
    let warning = summary
        .warnings
        .iter()
        .find(|one| one.code == "connections-missing")
        .unwrap();
    assert!(
        warning.evidence.contains("Too many connections"),
        "{}",
        warning.evidence
    );
    let terms = ConnectionTerms {
        all_required: true,
        ..ConnectionTerms::default()
    };
    let fault = run_on(&read_only(1_000), &source(&target), load(40, 500), &[], terms)
        .err()
        .unwrap();
    assert_eq!(fault.code, Some(1040));
    await_no_others(&mut control, "TRUE");
    those_that_are_not_let_in_again_try_on(&mut control, &target);
}

/// Fifteen are cut, and only ten of them are let in again for a while.
fn those_that_are_not_let_in_again_try_on(control: &mut Connection, target: &Target) {
    let (summary, ()) = beside(&read_only(1_000), target, going_on(15), || {
        control.query("SET GLOBAL max_connections = 10").unwrap();
        kill_all(control, "crowded", 15, &mut BTreeSet::new());
        sleep(Duration::from_secs(3));
        control.query("SET GLOBAL max_connections = 100").unwrap();
    });
    assert_eq!(
        (summary.counts().failed, summary.errors_of(ErrorClass::Connection)),
        (15, 15)
    );
    assert!(
        summary.errors(ErrorClass::Connect, 1040) > 8,
        "{:?}",
        summary.snapshot.errors
    );
    let longest = summary
        .outages()
        .iter()
        .map(|one| one.to_ns.unwrap() - one.from_ns)
        .max();
    assert!(
        (2_000_000_000..20_000_000_000).contains(&longest.unwrap()),
        "{:?}",
        summary.outages()
    );
}

#[test]
fn a_server_that_becomes_read_only_fails_what_writes_until_it_is_not() {
    on_each_server("becomes_read_only", |server, target| {
        prepare(target, 1_000);
        let mut control = connect(&server.target(""));
        // An administrator may write to a read-only server.
        control.query("DROP USER IF EXISTS app@localhost").unwrap();
        control.query("CREATE USER app@localhost IDENTIFIED BY ''").unwrap();
        control
            .query("GRANT SELECT, INSERT, UPDATE, DELETE ON becomes_read_only.* TO app@localhost")
            .unwrap();
        let app = Target {
            user: "app".to_owned(),
            ..target.clone()
        };
        // In longer transactions one may wait for a row of another that waits for the server to become read-only, which waits
        // for the first: MariaDB finds out after a lock-wait timeout.
        let updates = OltpKind::UpdateNonIndex.with(OltpOptions {
            table_size: 1_000,
            ..OltpOptions::default()
        });
        let (summary, ()) = beside(&updates, &app, going_on(4), || {
            control.query("SET GLOBAL read_only = 1").unwrap();
            sleep(Duration::from_secs(2));
            control.query("SET GLOBAL read_only = 0").unwrap();
        });
        let counts = summary.counts();
        assert!(
            counts.failed > 0 && counts.failed == summary.errors(ErrorClass::Statement, 1290),
            "{counts:?}"
        );
        control.query("SET GLOBAL read_only = 1").unwrap();
        let fault = run(&write_only(1_000), &source(&app), load(4, 60_000)).err();
        control.query("SET GLOBAL read_only = 0").unwrap();
        assert_eq!(fault.expect("it never worked").code, Some(1290));
    });
}

/// A reader that stays keeps old versions of rows from being purged, so writing needs ever more space; a file takes what
/// is left of the disk for a while.
#[test]
fn a_disk_that_fills_up_fails_what_writes_until_there_is_space_again() {
    let Some(disk) = SmallDisk::mount(220) else { return };
    let small = ["--innodb-log-file-size=8M", "--innodb-buffer-pool-size=16M"];
    let Some(server) = Server::start(Kind::MariaDb, &small, &disk.0) else {
        return;
    };
    let target = server.create_database("fills");
    prepare(&target, 10_000);
    let mut reader = connect(&target);
    reader.query("START TRANSACTION WITH CONSISTENT SNAPSHOT").unwrap();
    let workload = write_only(10_000);
    let mut control = connect(&target);
    let mut rollbacks = || -> u64 {
        let row = control.query_rows("SHOW GLOBAL STATUS LIKE 'Com_rollback'", 1).unwrap();
        row[0][1].as_ref().unwrap().parse().unwrap()
    };
    let retry = default_retry();
    let (summary, ()) = run_beside(&workload, &source(&target), going_on(8), &retry, || {
        let (ballast, before, begin) = (disk.0.join("ballast"), rollbacks(), Instant::now());
        fill(&ballast);
        // What fails is rolled back.
        while rollbacks() < before + 8 && begin.elapsed() < Duration::from_secs(120) {
            sleep(Duration::from_millis(50));
        }
        std::fs::remove_file(&ballast).unwrap();
    });
    let counts = summary.counts();
    assert!(counts.failed > summary.untried_count(), "{counts:?}");
    assert_eq!(
        summary.errors(ErrorClass::Statement, 1114),
        counts.failed - summary.untried_count(),
        "{:?}",
        summary.snapshot.errors
    );
}

fn fill(path: &Path) {
    let mut file = std::fs::File::create(path).unwrap();
    while file.write_all(&[0; 8_192]).is_ok() {}
}
