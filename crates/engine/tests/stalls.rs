//! What a server that stops answering leaves in flight: counted exactly, and as old as it is.

mod common;

use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::Duration;

use common::{Told, Wall, closed, group, in_flight, open_loop, run, transact};
use plimsoll_core::histogram::bucket_range_ns;
use plimsoll_core::message::Interval;
use plimsoll_core::snapshot::Measure;
use plimsoll_engine::{Arrival, Arrivals, ClosedLoop, Gate, GroupRun, Process, TrialOptions, unix_ns};

const MS: u64 = 1_000_000;

/// Workers whose server answers at once, and not at all any more from arrival number `last` on.
fn silent_after(last: u64, connections: u32, arrivals: impl Arrivals + 'static) -> GroupRun {
    let wall = Wall::default();
    let wait = wall.clone();
    let build = move |_| {
        let wall = wait.clone();
        Ok(move |gate: &mut Gate<'_>, arrival: Arrival| {
            transact(gate, || {
                if arrival.index >= last {
                    wall.wait();
                }
            });
            Ok(())
        })
    };
    group(connections, arrivals, build, wall)
}

fn short_grace(interval_ms: u64, duration_ms: u64) -> TrialOptions {
    TrialOptions {
        grace_ms: 100,
        ..TrialOptions::new(interval_ms, duration_ms)
    }
}

fn at_end_of(told: &Told, to_ns: u64) -> &Interval {
    told.intervals()
        .find(|one| one.to_ns == to_ns)
        .expect("an interval that ends there")
}

/// At 100 arrivals a second, due each 10 ms from 0 on, the server hangs from the one that is due at 300 ms on: at the end of
/// each interval exactly those are in flight that were due since, and each is exactly as old as the schedule says.
#[test]
fn a_stall_to_the_end_leaves_all_that_fell_due_in_it_each_at_its_age() {
    let told = run(
        short_grace(100, 800),
        vec![silent_after(30, 2, open_loop(Process::Uniform, 100.0, 1_000))],
    );
    let done = told.checked(100);
    assert_eq!(
        (done.offered_count, done.unfinished_count),
        (80, 50),
        "due at 300, 310, ... 790 ms"
    );
    for to_ms in [400, 600, 800_u64] {
        let found = in_flight(&at_end_of(&told, to_ms * MS).groups[0], Measure::Response);
        let ages_ns: Vec<u64> = (300..to_ms).step_by(10).map(|due_ms| (to_ms - due_ms) * MS).collect();
        assert_eq!(found.count(), ages_ns.len() as u64, "at {to_ms} ms");
        assert_eq!(
            (found.sum_ns, found.max_ns),
            (ages_ns.iter().sum(), ages_ns[0]),
            "at {to_ms} ms"
        );
        for (bucket, age_ns) in found.buckets.iter().rev().zip(ages_ns) {
            let (low, high) = bucket_range_ns(*bucket as usize);
            assert!((low..=high).contains(&age_ns), "{age_ns} is not in {low}..={high}");
        }
    }
}

/// Of those 50 two are sent and 48 wait for a connection, and each of both measures is a part of the response time.
#[test]
fn of_what_hangs_is_told_what_was_sent_and_what_waits() {
    let told = run(
        short_grace(100, 800),
        vec![silent_after(30, 2, open_loop(Process::Uniform, 100.0, 1_000))],
    );
    let group = &at_end_of(&told, 800 * MS).groups[0];
    let service = in_flight(group, Measure::Service);
    let pool_wait = in_flight(group, Measure::PoolWait);
    assert_eq!((service.count(), pool_wait.count(), group.backlog_count), (2, 48, 48));
    assert_eq!(pool_wait.max_ns, 480 * MS, "the one that was due at 320 ms");
    // They were sent when they were due, 300 and 310 ms, or a little later on a busy machine.
    assert!(
        service.max_ns <= 500 * MS && service.max_ns > 400 * MS,
        "{}",
        service.max_ns
    );
}

/// In a closed loop nobody but the connections hangs. Each takes the time before it is sent: that bounds its age.
#[test]
fn in_a_closed_loop_each_connection_is_as_old_as_its_last_transaction() {
    let began = Arc::new(Mutex::new(Vec::new()));
    let shared = Arc::clone(&began);
    let wall = Wall::default();
    let wait = wall.clone();
    let build = move |_| {
        let (began, wall) = (Arc::clone(&shared), wait.clone());
        Ok(move |gate: &mut Gate<'_>, arrival: Arrival| {
            sleep(Duration::from_millis(1));
            if arrival.index == 200 {
                began.lock().unwrap().push(unix_ns());
            }
            transact(gate, || {
                if arrival.index == 200 {
                    wall.wait();
                }
            });
            Ok(())
        })
    };
    let connections = 3;
    let told = run(
        short_grace(100, 1_000),
        vec![group(connections, ClosedLoop::new(connections, None), build, wall)],
    );
    let done = told.checked(100);
    assert_eq!(done.unfinished_count, u64::from(connections));
    assert_eq!(told.total().counts().completed, 600);
    let end = at_end_of(&told, 1_000 * MS);
    let service = in_flight(&end.groups[0], Measure::Service);
    let end_unix_ns = done.started_unix_ns + end.to_ns;
    let mut ages: Vec<u64> = began.lock().unwrap().iter().map(|at| end_unix_ns - at).collect();
    ages.sort_unstable();
    assert_eq!(service.count(), ages.len() as u64);
    // The wall clock may drift a little, and a thread may lose the processor between its look at it and the gate's.
    assert!(
        service.max_ns <= ages[2] + MS && service.max_ns + 50 * MS > ages[2],
        "{ages:?} {service:?}"
    );
    assert_eq!(in_flight(&end.groups[0], Measure::PoolWait).count(), 0);
}

/// A stall that is over before the end leaves nothing in flight, and shows at the ends of the intervals that it covers.
#[test]
fn what_ends_after_a_stall_is_under_way_only_while_it_lasts() {
    let workers = closed(2, |_| {
        Ok(|gate: &mut Gate<'_>, arrival: Arrival| {
            let stall_ms = if arrival.index == 100 { 350 } else { 1 };
            transact(gate, || sleep(Duration::from_millis(stall_ms)));
            Ok(())
        })
    });
    let told = run(TrialOptions::new(50, 1_000), vec![workers]);
    let done = told.checked(50);
    assert_eq!(done.unfinished_count, 0);
    let oldest_ms: Vec<u64> = told
        .intervals()
        .map(|one| in_flight(&one.groups[0], Measure::Response).max_ns / MS)
        .collect();
    assert!(oldest_ms.iter().any(|age| (250..=350).contains(age)), "{oldest_ms:?}");
    let long = told.total().transactions["first"].histograms[&Measure::Response].max_ns / MS;
    assert!(
        oldest_ms.iter().all(|age| *age <= long),
        "none was older than it became: {oldest_ms:?} {long}"
    );
}

/// Arrivals that were given up are over: they are not in flight.
#[test]
fn what_was_dropped_is_not_under_way() {
    let told = run(
        short_grace(100, 500),
        vec![silent_after(0, 2, open_loop(Process::Uniform, 1_000.0, 50))],
    );
    let done = told.checked(100);
    assert_eq!((done.unfinished_count, told.total().counts().dropped), (52, 448));
}
