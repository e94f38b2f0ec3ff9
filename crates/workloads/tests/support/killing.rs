//! A load whose connections are killed at random.

use std::env;
use std::thread::sleep;
use std::time::{Duration, Instant};

use plimsoll_core::plan::{RetryRule, Target, WorkloadPlan};
use plimsoll_core::random::{below, keyed};

use super::trial::{Load, Summary, Until, run_beside};
use super::{await_no_others, connect, source};

const CONNECTIONS: u32 = 16;

/// How long, seconds, unless `PLIMSOLL_TEST_KILLING_S` says otherwise: enough to see that the test can fail.
const SHORT_S: u64 = 3;

const BETWEEN: Duration = Duration::from_millis(100);

/// Runs it on sixteen connections, of which one is killed ten times a second; nobody works there any more when it returns.
pub fn run_killed(workload: &WorkloadPlan, target: &Target, seed: u64) -> Summary {
    let seconds =
        env::var("PLIMSOLL_TEST_KILLING_S").map_or(SHORT_S, |text| text.parse().expect("a number of seconds"));
    let load = Load {
        connections: CONNECTIONS,
        until: Until::Milliseconds(seconds * 1000),
        seed,
    };
    let kill = || kill_some(target, Duration::from_secs(seconds - 1), seed);
    let (summary, killed_count) = run_beside(workload, &source(target), load, &RetryRule::defaults(), kill);
    assert!(killed_count as u64 > 3 * seconds, "{killed_count} killed");
    assert!(summary.counts().completed > 100 && !summary.outages().is_empty());
    await_no_others(&mut connect(target), "DB = DATABASE()");
    summary
}

/// Kills for so long; returns how many were killed.
fn kill_some(target: &Target, duration: Duration, seed: u64) -> usize {
    let mut control = connect(target);
    let (mut random, began, mut killed_count) = (keyed(seed, 0, 0), Instant::now(), 0);
    while began.elapsed() < duration {
        let sql = "SELECT ID FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() AND DB = DATABASE()";
        let victims = control.query_rows(sql, 100).unwrap();
        if !victims.is_empty() {
            let victim = victims[below(&mut random, victims.len() as u64) as usize][0].as_ref();
            let killed = control.query(&format!("KILL {}", victim.unwrap()));
            killed_count += usize::from(killed.is_ok()); // it may be gone already
        }
        sleep(BETWEEN);
    }
    killed_count
}
