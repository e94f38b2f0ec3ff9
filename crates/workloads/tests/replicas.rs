//! Reads on real replicas: what a connection wrote is seen where it is to be seen, lag is known, and a replica that is gone,
//! or a source, stops nobody who does not need it.

mod support;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::{Duration, Instant};

use plimsoll_core::plan::{ReadYourWrites, ReadsPlan, Role, RoleTarget};
use plimsoll_core::snapshot::ErrorClass;
use plimsoll_engine::{ConnectionTerms, GroupRun};
use plimsoll_session::{GroupServers, Heartbeat, preflight};
use serde_json::json;
use support::own_writes::{CountsUp, Seen};
use support::replication::Replicated;
use support::statements::{drawn, integer, statement, transaction, workload};
use support::trial::{Load, Summary, Until, run_group_beside, run_unhurried_beside, unhurried};
use support::{Kind, Server, connect, value};

const CONNECTIONS: u32 = 4;

/// What came of reading one's own writes.
struct Outcome {
    summary: Summary,
    /// Reads, and those of them that missed the write before.
    reads: u64,
    stale: u64,
}

impl Outcome {
    /// Of the one replica, all intervals together.
    fn sum(&self, count: impl Fn(&plimsoll_core::replication::ReplicationInterval) -> u64) -> u64 {
        self.summary.replication["replica-1"].iter().map(count).sum()
    }

    fn completed(&self, server: &str, transaction: &str) -> u64 {
        let transactions = &self.summary.by_name[server].transactions;
        transactions.get(transaction).map_or(0, |one| one.counts.completed)
    }
}

/// Long enough for several looks at the lag, also where a busy machine completes few transactions in it.
const A_WHILE: Until = Until::Milliseconds(3_000);
/// Half of them are reads.
const ENOUGH: Until = Until::Transactions(400);

fn count_up(replicated: &Replicated, read_your_writes: ReadYourWrites, wait_timeout_ms: u32, until: Until) -> Outcome {
    let reads = ReadsPlan {
        read_your_writes,
        wait_timeout_ms,
        ..ReadsPlan::default()
    };
    let servers = GroupServers::new(&replicated.targets(), Some(reads));
    preflight(&servers, 0).unwrap();
    let _heartbeat = Heartbeat::begin(&servers, 0, true).unwrap();
    let seen = Arc::new(Seen::default());
    let (transactions_max, _) = until.limits();
    let group = GroupRun {
        instance: "test".to_owned(),
        factory: Box::new(CountsUp::new(&servers, &seen)),
        arrivals: Box::new(unhurried(CONNECTIONS, transactions_max)),
        connections: CONNECTIONS,
        terms: ConnectionTerms::default(),
    };
    let (summary, ()) = run_group_beside(group, until, || {});
    assert_eq!(summary.counts().failed, 0);
    Outcome {
        summary,
        reads: seen.reads.load(Ordering::Relaxed),
        stale: seen.stale.load(Ordering::Relaxed),
    }
}

/// A table with a row for each worker.
fn make_own(replicated: &Replicated) {
    let mut control = replicated.on_source();
    control
        .query("CREATE TABLE own (id INT PRIMARY KEY, n INT NOT NULL)")
        .unwrap();
    control
        .query("INSERT INTO own VALUES (0, 0), (1, 0), (2, 0), (3, 0)")
        .unwrap();
    replicated.await_applied();
}

fn check_own_writes(kind: Kind) {
    let Some(replicated) = Replicated::start(kind, 1, "own_writes") else {
        return;
    };
    make_own(&replicated);
    let usual = count_up(&replicated, ReadYourWrites::Off, 1_000, A_WHILE);
    assert!(usual.reads > 0);
    assert!(usual.sum(|one| one.reads_count) >= usual.reads);
    assert_eq!(
        usual.completed("replica-1", "read") + usual.completed("test", "write"),
        usual.summary.counts().completed
    );
    let lags = || {
        usual.summary.replication["replica-1"]
            .iter()
            .filter_map(|one| one.lag_ns)
    };
    assert!(lags().count() > 3 && lags().all(|lag_ns| lag_ns > 0));
    for read_your_writes in [ReadYourWrites::Wait, ReadYourWrites::Pin] {
        let seeing = count_up(&replicated, read_your_writes, 30_000, ENOUGH);
        assert_eq!(
            (seeing.stale, seeing.reads > 50),
            (0, true),
            "{read_your_writes:?}: {} reads",
            seeing.reads
        );
        assert_eq!(seeing.sum(|one| one.stale_count), 0);
        if read_your_writes == ReadYourWrites::Wait {
            assert!(seeing.completed("replica-1", "read") >= seeing.reads);
            assert!(seeing.sum(|one| one.waits_count) >= seeing.reads && seeing.sum(|one| one.wait_ns) > 0);
            assert_eq!(seeing.sum(|one| one.wait_timeouts_count), 0);
        }
    }
    replicated.tell(0, "STOP REPLICA SQL_THREAD");
    let behind = count_up(&replicated, ReadYourWrites::Off, 1_000, A_WHILE);
    assert!(behind.stale > behind.reads / 2, "{} of {}", behind.stale, behind.reads);
    let told = behind.sum(|one| one.stale_count);
    assert!(
        told <= behind.sum(|one| one.reads_count) && told > behind.stale / 2,
        "{told} of {}",
        behind.stale
    );
    let lags: Vec<u64> = behind.summary.replication["replica-1"]
        .iter()
        .map(|one| one.lag_end_ns.unwrap())
        .collect();
    assert!(
        lags.len() > 4 && lags.is_sorted_by(|one, next| one < next),
        "it grows: {lags:?}"
    );
    for read_your_writes in [ReadYourWrites::Wait, ReadYourWrites::Pin] {
        let seeing = count_up(&replicated, read_your_writes, 20, ENOUGH);
        assert_eq!((seeing.stale, seeing.reads > 20), (0, true), "{read_your_writes:?}");
        assert!(seeing.completed("test", "read") >= seeing.reads, "on the source");
        let given_up = seeing.sum(|one| one.wait_timeouts_count);
        assert_eq!(given_up > 0, read_your_writes == ReadYourWrites::Wait);
    }
}

#[test]
fn own_writes_are_seen_where_that_is_wanted_on_mariadb() {
    check_own_writes(Kind::MariaDb);
}

#[test]
fn own_writes_are_seen_where_that_is_wanted_on_mysql() {
    check_own_writes(Kind::MySql);
}

/// A mix of which one in five transactions writes.
fn mixed() -> plimsoll_core::plan::StatementsPlan {
    let key = json!({"values": [drawn("id", &integer(3))]});
    let read = statement("SELECT n FROM own WHERE id = ?", &["id"], key.clone());
    let write = statement("UPDATE own SET n = n + 1 WHERE id = ?", &["id"], key);
    let transactions = json!([
        transaction("read", json!({"weight": 4, "statements": [read]})),
        transaction("write", json!({"statements": [write]})),
    ]);
    workload(&["own"], &transactions)
}

fn load(until: Until) -> Load {
    Load {
        connections: CONNECTIONS,
        until,
        seed: 1,
    }
}

fn run_mixed(targets: &[RoleTarget], least_ms: u64, action: impl FnOnce()) -> Summary {
    let servers = GroupServers::new(targets, Some(ReadsPlan::default()));
    preflight(&servers, 0).unwrap();
    let _heartbeat = Heartbeat::begin(&servers, 0, true).unwrap();
    let load = load(Until::ItGoesOn(least_ms));
    run_unhurried_beside(&mixed(), &servers, load, action).0
}

#[test]
fn a_replica_that_is_killed_takes_nothing_with_it_and_comes_back() {
    let Some(mut replicated) = Replicated::start(Kind::MariaDb, 2, "killed_replica") else {
        return;
    };
    make_own(&replicated);
    let targets = replicated.targets();
    let away = Duration::from_secs(3);
    let summary = run_mixed(&targets, 6_000, || {
        let killed = &mut replicated.replicas[0];
        killed.kill();
        sleep(away);
        killed.restart();
    });
    let counts = summary.counts();
    assert_eq!(
        counts.failed, 0,
        "reads ran elsewhere, writes had nothing to do with it"
    );
    assert_eq!(
        counts.retries,
        summary.by_name["replica-1"]
            .errors
            .iter()
            .filter(|one| one.class == ErrorClass::Connection)
            .map(|one| one.count)
            .sum::<u64>()
    );
    assert!(summary.by_name["test"].errors.is_empty() && summary.by_name["replica-2"].errors.is_empty());
    assert!(!summary.outages().is_empty());
    assert!(
        summary.outages().iter().all(|one| one.instance == "replica-1"),
        "{:?}",
        summary.outages()
    );
    let reads: Vec<u64> = summary.replication["replica-1"]
        .iter()
        .map(|one| one.reads_count)
        .collect();
    let first = reads.iter().position(|count| *count == 0).expect("it was away");
    assert!(reads[first..].iter().any(|count| *count > 0), "it came back: {reads:?}");
    // A busy machine may take the load from the processors for some intervals, but not for as long as the replica was away.
    let pauses = summary.completed.split(|count| *count > 0);
    let longest_ms = pauses.map(|pause| 200 * pause.len() as u128).max();
    assert!(longest_ms < Some(away.as_millis() * 2 / 3), "{:?}", summary.completed);
}

#[test]
fn without_a_heartbeat_the_load_goes_on_and_lag_is_not_known() {
    let Some(mut replicated) = Replicated::start(Kind::MariaDb, 1, "no_heartbeat") else {
        return;
    };
    make_own(&replicated);
    let targets = replicated.targets();
    let dropped = run_mixed(&targets, 4_000, || {
        replicated.on_source().query("DROP TABLE plimsoll_heartbeat").unwrap();
    });
    assert_eq!(dropped.counts().failed, 0);
    let latest = dropped.replication["replica-1"].iter().rev().take(5);
    assert!(
        latest.filter_map(|one| one.lag_ns).count() > 0,
        "the table is made again"
    );
    // Those who write wait for the source; who only reads goes on.
    let read = statement(
        "SELECT n FROM own WHERE id = ?",
        &["id"],
        json!({"values": [drawn("id", &integer(3))]}),
    );
    let reading = workload(&["own"], &json!([transaction("read", json!({"statements": [read]}))]));
    let servers = GroupServers::new(&targets, Some(ReadsPlan::default()));
    let _heartbeat = Heartbeat::begin(&servers, 0, true).unwrap();
    let gone = run_unhurried_beside(&reading, &servers, load(Until::Milliseconds(4_000)), || {
        replicated.source.kill();
    })
    .0;
    assert_eq!((gone.counts().failed, gone.outages().len()), (0, 0));
    assert!(gone.goes_on(), "{:?}", gone.completed);
    // A beat that the source took with it when it was killed leaves the replica behind, ever more; else nobody knows.
    let latest = gone.replication["replica-1"].iter().rev().take(3);
    let lags: Vec<Option<u64>> = latest.map(|one| one.lag_end_ns).collect();
    assert!(
        lags[0].is_none() || lags.is_sorted_by(|later, earlier| later > earlier),
        "{lags:?}"
    );
}

#[test]
fn what_the_heartbeat_lacks_is_said_before_the_load() {
    let Some(server) = Server::start(Kind::MariaDb, &[], Path::new("/var/tmp")) else {
        return;
    };
    let target = server.create_database("lacks");
    let mut control = connect(&target);
    control.query("CREATE USER reader@localhost").unwrap();
    control.query("GRANT SELECT ON lacks.* TO reader@localhost").unwrap();
    let refused = |user: &str, read_your_writes| {
        let target = |role| RoleTarget {
            role,
            instance: None,
            target: plimsoll_core::plan::Target {
                user: user.to_owned(),
                ..target.clone()
            },
        };
        let reads = ReadsPlan {
            read_your_writes,
            ..ReadsPlan::default()
        };
        let servers = GroupServers::new(&[Role::Source, Role::Replica].map(target), Some(reads));
        preflight(&servers, 0)
            .err()
            .map(|fault| fault.message)
            .unwrap_or_default()
    };
    let message = refused("reader", ReadYourWrites::Off);
    assert!(
        message.contains("error 1142") && message.contains("reads = \"source\""),
        "{message}"
    );
    let message = refused("root", ReadYourWrites::Wait);
    assert!(message.contains("has no GTIDs"), "{message}");
    assert_eq!(refused("root", ReadYourWrites::Pin), "");
    assert_eq!(value(&mut control, "SELECT COUNT(*) FROM plimsoll_heartbeat"), "1");
    control
        .query("ALTER TABLE plimsoll_heartbeat COMMENT = 'mine'")
        .unwrap();
    let message = refused("root", ReadYourWrites::Off);
    assert!(message.contains("a table that Plimsoll did not make"), "{message}");
}

/// Two drivers: the second one writes no beats, and finds those of the first.
#[test]
fn a_driver_that_writes_no_beats_knows_what_a_replica_has() {
    let Some(replicated) = Replicated::start(Kind::MariaDb, 1, "two_drivers") else {
        return;
    };
    let reads = Some(ReadsPlan::default());
    let [first, second] = [(); 2].map(|()| GroupServers::new(&replicated.targets(), reads));
    let _writes = Heartbeat::begin(&first, 0, true).unwrap();
    let _looks = Heartbeat::begin(&second, 0, false).unwrap();
    let begin = Instant::now();
    let taken = |servers: &GroupServers| servers.of_trial()[1].replica.as_ref().unwrap().take();
    while !second.shows_a_beat() || taken(&first).lag_ns.is_none() {
        assert!(begin.elapsed() < Duration::from_secs(300), "nobody saw a beat");
        sleep(Duration::from_millis(10));
    }
    assert_eq!(taken(&second).lag_ns, None, "the first one tells");
}
