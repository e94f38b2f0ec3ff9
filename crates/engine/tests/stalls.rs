//! What a server that stops answering leaves in flight: counted exactly, and as old as it is.

mod common;

use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{LONG_MS, Told, Wall, closed, group, in_flight, open_loop, run, run_until, transact};
use plimsoll_core::histogram::bucket_range_ns;
use plimsoll_core::message::Interval;
use plimsoll_core::plan::ArrivalProcess;
use plimsoll_core::snapshot::Measure;
use plimsoll_engine::{Arrival, Arrivals, ClosedLoop, Gate, GroupRun, TrialOptions, unix_ns};

const MS: u64 = 1_000_000;

/// Workers whose server answers at once, and not at all any more from arrival number `last` on.
fn silent_after(last: u64, connections: u32, arrivals: impl Arrivals + 'static, wall: &Wall) -> GroupRun {
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
    group(connections, arrivals, build, wall.clone())
}

fn short_grace(interval_ms: u64, duration_ms: u64) -> TrialOptions {
    TrialOptions {
        grace_ms: 100,
        ..TrialOptions::new(interval_ms, duration_ms)
    }
}

/// A load that went on for some intervals after all of its connections hung.
struct Hung {
    told: Told,
    /// By when all did, on the trial's clock: before it they were sent.
    by_ns: u64,
    /// The ends of the intervals after that.
    ends_ns: Vec<u64>,
}

/// However late connections come to the wall on a busy machine, what is told of them from then on is exact.
fn run_until_hung(workers: GroupRun, connections: u64, wall: &Wall) -> Hung {
    let begin = Instant::now(); // earlier than the load
    let (mut by_ns, mut ends_ns) = (None, Vec::new());
    let told = run_until(short_grace(100, LONG_MS), vec![workers], |interval| {
        if by_ns.is_none() && wall.came_count() == connections {
            by_ns = Some(begin.elapsed().as_nanos() as u64);
        } else if ends_ns.len() < 3 && by_ns.is_some_and(|by_ns| by_ns <= interval.to_ns) {
            ends_ns.push(interval.to_ns);
        }
        ends_ns.len() == 3
    });
    Hung {
        told,
        by_ns: by_ns.expect("all hang"),
        ends_ns,
    }
}

/// At 100 arrivals a second, due each 10 ms from 0 on, the server hangs from the one that is due at 300 ms on.
fn hung_at_300_ms() -> Hung {
    let wall = Wall::default();
    let arrivals = open_loop(ArrivalProcess::Uniform, 100.0, 1_000);
    run_until_hung(silent_after(30, 2, arrivals, &wall), 2, &wall)
}

fn at_end_of(told: &Told, to_ns: u64) -> &Interval {
    told.intervals()
        .find(|one| one.to_ns == to_ns)
        .expect("an interval that ends there")
}

/// At the end of each interval exactly those are in flight that were due since, and each is exactly as old as the schedule
/// says.
#[test]
fn a_stall_to_the_end_leaves_all_that_fell_due_in_it_each_at_its_age() {
    let Hung { told, ends_ns, .. } = hung_at_300_ms();
    let done = told.checked(100);
    assert_eq!(
        done.offered_count - done.unfinished_count,
        30,
        "due at 0, 10, ... 290 ms"
    );
    for to_ms in ends_ns.iter().map(|to_ns| to_ns / MS) {
        let found = in_flight(&at_end_of(&told, to_ms * MS).groups[0], Measure::Response);
        let ages_ns: Vec<u64> = (300..to_ms).step_by(10).map(|due_ms| (to_ms - due_ms) * MS).collect();
        assert_eq!(found.count(), ages_ns.len() as u64, "at {to_ms} ms");
        assert_eq!(
            (found.sum_ns, found.max_ns),
            (ages_ns.iter().sum(), ages_ns[0]),
            "at {to_ms} ms"
        );
        let mut ages_ns = ages_ns.into_iter().rev();
        for (bucket, count) in found.buckets.iter().zip(&found.counts) {
            let (low, high) = bucket_range_ns(*bucket as usize);
            for age_ns in ages_ns.by_ref().take(*count as usize) {
                assert!((low..=high).contains(&age_ns), "{age_ns} is not in {low}..={high}");
            }
        }
    }
}

/// Of those two are sent and the others wait for a connection, and each of both measures is a part of the response time.
#[test]
fn of_what_hangs_is_told_what_was_sent_and_what_waits() {
    let Hung { told, by_ns, ends_ns } = hung_at_300_ms();
    for to_ns in ends_ns {
        let group = &at_end_of(&told, to_ns).groups[0];
        let service = in_flight(group, Measure::Service);
        let pool_wait = in_flight(group, Measure::PoolWait);
        let waiting = (to_ns / MS - 300) / 10 - 2;
        assert_eq!(
            (service.count(), pool_wait.count(), group.backlog_count),
            (2, waiting, waiting)
        );
        assert_eq!(pool_wait.max_ns, to_ns - 320 * MS, "the one that was due at 320 ms");
        // They were sent when they were due, 300 and 310 ms, or later on a busy machine.
        assert!(
            (to_ns - by_ns..=to_ns - 300 * MS).contains(&service.max_ns),
            "{}",
            service.max_ns
        );
    }
}

/// In a closed loop nobody but the connections hangs. Each takes the time before and after it is sent: these bound its age.
#[test]
fn in_a_closed_loop_each_connection_is_as_old_as_its_last_transaction() {
    let sent = Arc::new(Mutex::new(Vec::new()));
    let shared = Arc::clone(&sent);
    let wall = Wall::default();
    let wait = wall.clone();
    let build = move |_| {
        let (sent, wall) = (Arc::clone(&shared), wait.clone());
        Ok(move |gate: &mut Gate<'_>, arrival: Arrival| {
            sleep(Duration::from_millis(1));
            let before = unix_ns();
            transact(gate, || {
                if arrival.index == 100 {
                    sent.lock().unwrap().push((before, unix_ns()));
                    wall.wait();
                }
            });
            Ok(())
        })
    };
    let connections = 3;
    let workers = group(connections, ClosedLoop::new(connections, None), build, wall.clone());
    let Hung { told, ends_ns, .. } = run_until_hung(workers, connections.into(), &wall);
    let done = told.checked(100);
    assert_eq!(done.unfinished_count, u64::from(connections));
    assert_eq!(told.total().counts().completed, 300);
    let sent = sent.lock().unwrap();
    for to_ns in ends_ns {
        let end = at_end_of(&told, to_ns);
        let service = in_flight(&end.groups[0], Measure::Service);
        assert_eq!(service.count(), sent.len() as u64);
        let end_unix_ns = done.started_unix_ns + to_ns;
        let least_ns = sent.iter().map(|(_, after)| end_unix_ns - after).max().unwrap();
        let most_ns = sent.iter().map(|(before, _)| end_unix_ns - before).max().unwrap();
        // The wall clock may drift a little.
        assert!(
            (least_ns - MS..=most_ns + MS).contains(&service.max_ns),
            "{least_ns} {most_ns} {}",
            service.max_ns
        );
        assert_eq!(in_flight(&end.groups[0], Measure::PoolWait).count(), 0);
    }
}

/// A stall that is over before the end leaves nothing in flight, and shows at the ends of the intervals that it covers.
#[test]
fn what_ends_after_a_stall_is_under_way_only_while_it_lasts() {
    let stall = Wall::default();
    let stalled = stall.clone();
    let workers = closed(2, move |_| {
        let stall = stalled.clone();
        Ok(move |gate: &mut Gate<'_>, arrival: Arrival| {
            transact(gate, || {
                if arrival.index == 50 {
                    stall.wait();
                } else {
                    sleep(Duration::from_millis(1));
                }
            });
            Ok(())
        })
    });
    let oldest = |one: &Interval| in_flight(&one.groups[0], Measure::Response).max_ns;
    let mut is_over = false;
    let told = run_until(TrialOptions::new(50, LONG_MS), vec![workers], |interval| {
        let was_over = is_over;
        is_over |= oldest(interval) > 250 * MS;
        if is_over {
            stall.fall();
        }
        was_over && oldest(interval) < 250 * MS
    });
    let done = told.checked(50);
    assert_eq!(done.unfinished_count, 0);
    let oldest_ms: Vec<u64> = told.intervals().map(|one| oldest(one) / MS).collect();
    let long = told.total().transactions["first"].histograms[&Measure::Response].max_ns / MS;
    assert!(long >= 250, "{long}");
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
        vec![silent_after(
            0,
            2,
            open_loop(ArrivalProcess::Uniform, 1_000.0, 50),
            &Wall::default(),
        )],
    );
    let done = told.checked(100);
    assert_eq!((done.unfinished_count, told.total().counts().dropped), (52, 448));
}
