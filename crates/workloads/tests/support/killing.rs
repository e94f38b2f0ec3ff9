//! A load whose connections are killed at random.

use std::collections::BTreeSet;
use std::env;
use std::thread::sleep;
use std::time::{Duration, Instant};

use plimsoll_core::plan::Target;
use plimsoll_core::random::{below, keyed};
use plimsoll_session::default_retry;

use super::trial::{Load, Summary, Until, run_beside};
use super::{await_no_others, connect, source, value};
use plimsoll_wire::Connection;
use plimsoll_workloads::Workload;

const CONNECTIONS: u32 = 16;

/// How long, seconds, unless `PLIMSOLL_TEST_KILLING_S` says otherwise: enough to see that the test can fail.
const SHORT_S: u64 = 3;

const BETWEEN: Duration = Duration::from_millis(100);

/// How many new orders come between two kills at least.
const ORDERS_BETWEEN: u64 = 10;

/// Runs it on sixteen connections, of which one is killed up to ten times a second; nobody works there any more when it returns.
pub fn run_killed(workload: &dyn Workload, target: &Target, seed: u64) -> Summary {
    let seconds =
        env::var("PLIMSOLL_TEST_KILLING_S").map_or(SHORT_S, |text| text.parse().expect("a number of seconds"));
    let load = Load {
        connections: CONNECTIONS,
        until: Until::ItGoesOn(seconds * 1000),
        seed,
    };
    let kill = || kill_some(target, seconds - 1, seed);
    let (summary, ()) = run_beside(workload, &source(target), load, &default_retry(), kill);
    assert!(
        summary.counts().completed > 100 && !summary.outages().is_empty(),
        "{:?} {:?}",
        summary.counts(),
        summary.outages()
    );
    await_no_others(&mut connect(target), "DB = DATABASE()");
    summary
}

/// Cuts all connections to a database, of which there are so many, once each: `killed` has those that were cut before, of
/// which a server may still tell. A look may miss one that is just busy, or not back yet.
pub fn kill_all(control: &mut Connection, database: &str, count: usize, killed: &mut BTreeSet<String>) {
    let sql =
        format!("SELECT ID FROM information_schema.PROCESSLIST WHERE DB = '{database}' AND ID <> CONNECTION_ID()");
    let begin = Instant::now();
    let mut found = BTreeSet::new();
    while found.len() < count {
        let rows = control.query_rows(&sql, 1_000).unwrap();
        let ids = rows.into_iter().filter_map(|row| row.into_iter().next().flatten());
        found.extend(ids.filter(|id| !killed.contains(id)));
        assert!(begin.elapsed() < Duration::from_secs(300), "there are only {found:?}");
    }
    assert_eq!(found.len(), count);
    for id in &found {
        control.query(&format!("KILL {id}")).unwrap();
    }
    killed.append(&mut found);
}

/// Kills for so many seconds, or longer on a busy machine: at least three in each of them, each when new orders have come since
/// the one before, since of transactions that take longer than what is between two kills hardly any would get to its end.
fn kill_some(target: &Target, seconds: u64, seed: u64) {
    let mut control = connect(target);
    let (mut random, began, mut killed_count) = (keyed(seed, 0, 0), Instant::now(), 0);
    let mut orders_count = 0;
    while began.elapsed() < Duration::from_secs(seconds) || killed_count <= 3 * seconds {
        assert!(
            began.elapsed() < Duration::from_secs(seconds + 300),
            "{killed_count} killed"
        );
        sleep(BETWEEN);
        let count: u64 = value(&mut control, "SELECT SUM(d_next_o_id) FROM district")
            .parse()
            .unwrap();
        let sql = "SELECT ID FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() AND DB = DATABASE()";
        let victims = control.query_rows(sql, 100).unwrap();
        if count >= orders_count + ORDERS_BETWEEN && !victims.is_empty() {
            let victim = victims[below(&mut random, victims.len() as u64) as usize][0].as_ref();
            let killed = control.query(&format!("KILL {}", victim.unwrap()));
            killed_count += u64::from(killed.is_ok()); // it may be gone already
            orders_count = count;
        }
    }
}
