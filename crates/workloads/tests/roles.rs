//! A source and replicas: reads are spread over these, and what breaks one server does not stop who can use another.

mod support;

use std::time::Duration;

use plimsoll_core::plan::{OltpKind, OltpOptions, OltpPlan, ReadPolicy, ReadsPer, ReadsPlan, Role, RoleTarget};
use plimsoll_core::snapshot::{ErrorClass, Measure};
use plimsoll_session::{GroupServers, default_retry};
use plimsoll_sim::{Failure, Script, Sim};
use plimsoll_workloads::Workload;
use support::over_tcp;
use support::trial::{Load, Summary, Until, run_spread_beside};

const CONNECTIONS: u32 = 4;

const DEADLOCK: u16 = 1213;

/// A server at which one statement of so many ends in a deadlock.
fn server(fails_every: Option<u64>) -> Sim {
    let deadlock = |every| Failure {
        every,
        code: DEADLOCK,
        sqlstate: "40001".to_owned(),
        message: "deadlock".to_owned(),
    };
    Sim::start(Script {
        statement_delay: Duration::from_millis(1),
        failure: fails_every.map(deadlock),
        ..Script::default()
    })
    .unwrap()
}

/// All of them, the source first.
fn group(sims: &[&Sim], reads: impl Into<Option<ReadsPlan>>) -> GroupServers {
    let target = |(place, sim): (usize, &&Sim)| RoleTarget {
        role: if place == 0 { Role::Source } else { Role::Replica },
        instance: Some(format!("sim-{place}")),
        target: over_tcp("127.0.0.1", sim.port(), "root", "test"),
    };
    let targets: Vec<RoleTarget> = sims.iter().enumerate().map(target).collect();
    GroupServers::new(&targets, reads.into())
}

/// Runs a workload on a source and a replica, and something beside it when it is under way.
fn run(workload: &dyn Workload, (source, replica): (&Sim, &Sim), action: impl FnOnce()) -> Summary {
    run_as(workload, &[source, replica], ReadsPlan::default(), action)
}

fn run_as(workload: &dyn Workload, sims: &[&Sim], reads: ReadsPlan, action: impl FnOnce()) -> Summary {
    let load = Load {
        connections: CONNECTIONS,
        until: Until::ItGoesOn(2_500),
        seed: 1,
    };
    run_spread_beside(workload, &group(sims, reads), load, &default_retry(), action).0
}

/// It went on, and nobody had to wait.
fn check_undisturbed(summary: &Summary) {
    // A deadlock at the very end is not repeated.
    assert!(summary.counts().failed <= u64::from(CONNECTIONS));
    let connecting = [ErrorClass::Connection, ErrorClass::Connect].map(|class| summary.errors_of(class));
    assert_eq!(connecting, [0, 0]);
    assert!(summary.outages().is_empty(), "{:?}", summary.outages());
}

/// Transactions and errors are told with the role of the server that they ran on.
fn check_all_is_of(role: Role, summary: &Summary) {
    assert!(summary.errors(ErrorClass::Retryable, DEADLOCK) > 10);
    let own = &summary.by_role[&role];
    assert_eq!(
        (own.counts(), &own.errors),
        (summary.counts(), &summary.snapshot.errors)
    );
    assert_eq!(summary.by_role.len(), 2, "the other role is told as well");
}

fn reading() -> OltpPlan {
    OltpKind::PointSelect.with(OltpOptions::default())
}

fn writing() -> OltpPlan {
    OltpKind::UpdateIndex.with(OltpOptions::default())
}

#[test]
fn writes_go_on_while_the_replica_is_away() {
    // What fails is rolled back, in which a replica that nobody used must have no part.
    let (source, replica) = (server(Some(20)), server(None));
    let summary = run(&writing(), (&source, &replica), || replica.disconnect_all());
    check_undisturbed(&summary);
    check_all_is_of(Role::Source, &summary);
}

#[test]
fn reads_go_on_while_the_source_is_away() {
    let (source, replica) = (server(None), server(Some(20)));
    let summary = run(&reading(), (&source, &replica), || source.disconnect_all());
    check_undisturbed(&summary);
    check_all_is_of(Role::Replica, &summary);
}

/// Reads that were sent to each replica, in their order.
fn reads(summary: &Summary) -> Vec<u64> {
    let replicas = summary.replication.values().filter(|intervals| !intervals.is_empty());
    let sums = replicas.map(|intervals| intervals.iter().map(|one| one.reads_count).sum());
    sums.collect()
}

/// How often somebody logged in.
fn logins(sims: &[&Sim]) -> Vec<usize> {
    sims.iter().map(|one| one.login_begins().len()).collect()
}

#[test]
fn a_read_that_loses_its_replica_runs_elsewhere_and_the_replica_comes_back() {
    let login_delay = Duration::from_millis(100);
    let slow = Sim::start(Script {
        login_delay,
        statement_delay: Duration::from_millis(1),
        ..Script::default()
    });
    let sims = [server(None), slow.unwrap(), server(None)];
    let sims = sims.each_ref();
    let summary = run_as(&reading(), &sims, ReadsPlan::default(), || sims[1].disconnect_all());
    let counts = summary.counts();
    assert_eq!(
        (counts.failed, counts.retries),
        (0, u64::from(CONNECTIONS)),
        "nothing was lost"
    );
    let lost = &summary.by_name["sim-1"].errors;
    assert_eq!(
        lost.iter().map(|one| (one.class, one.count)).collect::<Vec<_>>(),
        [(ErrorClass::Connection, 4)]
    );
    assert!(summary.by_name["sim-0"].errors.is_empty() && summary.by_name["sim-2"].errors.is_empty());
    let outages: Vec<_> = summary
        .outages()
        .iter()
        .map(|one| (&*one.instance, one.lost_count))
        .collect();
    assert!(
        !outages.is_empty() && outages.iter().all(|one| *one == ("sim-1", 0)),
        "{outages:?}"
    );
    assert!(summary.outages().iter().all(|one| one.to_ns.is_some()), "it came back");
    assert_eq!(logins(&sims), [4, 8, 4]);
    // A read waited for it, before its first byte was sent: that is no service time.
    let reads = summary.by_name["sim-1"].transactions.values().next().unwrap();
    let waited_ns = u128::from(reads.histograms[&Measure::PoolWait].max_ns);
    assert!(waited_ns >= login_delay.as_nanos(), "{reads:?}");
}

#[test]
fn without_a_replica_reads_go_to_the_source() {
    let (source, replica) = (server(None), server(None));
    let load = Load {
        connections: CONNECTIONS,
        until: Until::Milliseconds(2_500),
        seed: 1,
    };
    let servers = group(&[&source, &replica], ReadsPlan::default());
    let (summary, ()) = run_spread_beside(&reading(), &servers, load, &default_retry(), || {
        replica.shut();
        replica.disconnect_all();
    });
    assert_eq!(summary.counts().failed, 0);
    assert!(
        summary.by_role[&Role::Source].counts().completed > 100,
        "{:?}",
        summary.counts()
    );
    assert!(summary.goes_on(), "{:?}", summary.completed);
    assert!(summary.errors_of(ErrorClass::Connect) > 0, "it was tried again");
}

#[test]
fn each_replica_in_turn_has_as_many_reads_and_a_busy_one_fewer_by_the_other_policy() {
    let slow = Sim::start(Script {
        statement_delay: Duration::from_millis(20),
        ..Script::default()
    })
    .unwrap();
    let fast = [server(None), server(None)];
    let sims = [&fast[0], &fast[1], &slow];
    let [one, other] = reads(&run_as(&reading(), &sims, ReadsPlan::default(), || {}))[..] else {
        panic!("two replicas")
    };
    assert!(one.abs_diff(other) <= u64::from(CONNECTIONS), "{one} and {other}");
    let policy = ReadPolicy::LeastOutstanding;
    let by_load = ReadsPlan {
        policy,
        ..ReadsPlan::default()
    };
    let [one, other] = reads(&run_as(&reading(), &sims, by_load, || {}))[..] else {
        panic!("two replicas")
    };
    assert!(one > 2 * other && other > 0, "{one} and {other}");
}

#[test]
fn a_connection_keeps_its_replica_and_has_none_to_others() {
    let sims = [server(None), server(None), server(None)];
    let sims = sims.each_ref();
    let kept = ReadsPlan {
        per: ReadsPer::Connection,
        ..ReadsPlan::default()
    };
    let summary = run_as(&reading(), &sims, kept, || {});
    assert_eq!(logins(&sims), [4, 2, 2]);
    assert!(
        reads(&summary).iter().all(|count| *count > 100),
        "{:?}",
        reads(&summary)
    );
    let summary = run_as(&reading(), &sims, kept, || sims[1].disconnect_all());
    assert_eq!(
        (summary.counts().failed, summary.errors_of(ErrorClass::Connection)),
        (0, 2)
    );
    assert!(
        summary
            .outages()
            .iter()
            .all(|one| one.instance == "sim-1" && one.to_ns.is_some())
    );
}

#[test]
fn reads_may_stay_on_the_source() {
    let (source, replica) = (server(None), server(None));
    let targets = [&source, &replica];
    let servers = group(&targets, None);
    let load = Load {
        connections: CONNECTIONS,
        until: Until::Milliseconds(500),
        seed: 1,
    };
    let summary = run_spread_beside(&reading(), &servers, load, &[], || {}).0;
    assert_eq!(logins(&targets), [4, 0]);
    assert_eq!(summary.by_role[&Role::Source].counts(), summary.counts());
}
