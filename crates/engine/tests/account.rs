//! However a trial ends: offered = completed + failed + dropped + unfinished, and nobody hangs.

mod common;

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, sleep};
use std::time::Duration;

use common::{LONG_MS, Wall, closed, group, run, run_until, run_with, transact};
use plimsoll_core::message::{EndReason, FailureClass, Message};
use plimsoll_engine::{
    Arrival, ClosedLoop, ConnectionTerms, Gate, GroupRun, Observer, Outcome, Trial, TrialOptions, WorkerFault,
};

type Plain = fn(&mut Gate<'_>, Arrival) -> Result<(), WorkerFault>;

fn nap() {
    sleep(Duration::from_micros(200));
}

fn busy(connections: u32) -> GroupRun {
    busy_with(connections, None)
}

/// The same until so many transactions have ended, where a number is given.
fn busy_with(connections: u32, transactions_max: Option<u64>) -> GroupRun {
    let build = |_| {
        Ok(|gate: &mut Gate<'_>, arrival: Arrival| {
            if arrival.index % 7 == 3 {
                gate.sent();
                gate.finish(1, Outcome::Failed);
            } else {
                transact(gate, nap);
            }
            Ok(())
        })
    };
    let arrivals = ClosedLoop::new(connections, transactions_max);
    group(connections, arrivals, build, Wall::default())
}

#[test]
fn a_trial_ends_when_its_time_is_over() {
    let told = run(TrialOptions::new(100, 350), vec![busy(8), busy(3)]);
    let done = told.checked(100);
    assert_eq!((done.reason, done.unfinished_count), (EndReason::Completed, 0));
    assert!(done.duration_ns >= 350_000_000);
    assert!(told.intervals().all(|interval| interval.groups.len() == 2));
    assert!(done.memory_bytes_max > 0 && told.is_ready());
}

#[test]
fn a_trial_ends_after_its_transactions() {
    let arrivals = ClosedLoop::new(5, Some(1_000));
    let build = |_| {
        Ok(|gate: &mut Gate<'_>, _| {
            transact(gate, || {});
            Ok(())
        })
    };
    let told = run(
        TrialOptions::new(100, 60_000),
        vec![group(5, arrivals, build, Wall::default())],
    );
    let done = told.checked(100);
    assert_eq!((done.offered_count, told.total().counts().completed), (1_000, 1_000));
    assert_eq!((done.reason, done.unfinished_count), (EndReason::Completed, 0));
}

#[test]
fn a_stop_ends_it_with_what_was_measured() {
    let told = run_with(
        TrialOptions::new(100, 60_000),
        vec![busy(8)],
        |event, handle| match event {
            Message::Ready(_) => handle.start(None),
            Message::Interval(interval) if interval.index == 1 => handle.stop(),
            _ => {}
        },
    );
    let done = told.checked(100);
    assert_eq!(done.reason, EndReason::Stopped);
    assert!(done.offered_count > 0 && done.duration_ns < 30_000_000_000);
}

#[test]
fn a_stop_before_the_start_ends_it_with_nothing() {
    for is_started in [false, true] {
        let told = run_with(TrialOptions::new(100, 60_000), vec![busy(2)], |event, handle| {
            if matches!(event, Message::Ready(_)) {
                if is_started {
                    handle.start(Some(u64::MAX / 2)); // in the year 2262
                }
                handle.stop();
            }
        });
        let done = told.checked(100);
        assert_eq!(
            (done.reason, done.offered_count, done.duration_ns),
            (EndReason::Stopped, 0, 0)
        );
    }
}

#[test]
fn the_load_begins_when_it_was_told_to() {
    let at_unix_ns = AtomicU64::new(0);
    let told = run_with(TrialOptions::new(100, 100), vec![busy(2)], |event, handle| {
        if matches!(event, Message::Ready(_)) {
            let now = std::time::SystemTime::now()
                .duration_since(std::time::UNIX_EPOCH)
                .unwrap();
            at_unix_ns.store(now.as_nanos() as u64 + 2_000_000_000, Ordering::SeqCst);
            handle.start(Some(at_unix_ns.load(Ordering::SeqCst)));
        }
    });
    assert_eq!(told.checked(100).started_unix_ns, at_unix_ns.load(Ordering::SeqCst));
}

/// Never answers until its connection is cut, then fails as a real connection would.
fn silent(connections: u32, wall: &Wall, ends: fn(&mut Gate<'_>) -> Result<(), WorkerFault>) -> GroupRun {
    let shared = wall.clone();
    let build = move |_| {
        let wall = shared.clone();
        Ok(move |gate: &mut Gate<'_>, arrival: Arrival| {
            if arrival.index < 5 {
                transact(gate, nap);
                return Ok(());
            }
            gate.sent();
            wall.wait();
            ends(gate)
        })
    };
    group(connections, ClosedLoop::new(connections, None), build, wall.clone())
}

fn short_grace() -> TrialOptions {
    TrialOptions {
        grace_ms: 50,
        ..TrialOptions::new(100, LONG_MS)
    }
}

#[test]
fn transactions_that_are_cut_are_unfinished_however_their_worker_takes_it() {
    let gives_up: fn(&mut Gate<'_>) -> _ = |gate| {
        gate.finish(0, Outcome::Failed);
        Ok(())
    };
    let completes: fn(&mut Gate<'_>) -> _ = |gate| {
        gate.finish(0, Outcome::Completed);
        Ok(())
    };
    let faults: fn(&mut Gate<'_>) -> _ = |_| Err(WorkerFault::new(FailureClass::Target, "connection lost"));
    for ends in [gives_up, completes, faults] {
        let wall = Wall::default();
        let groups = vec![silent(6, &wall, ends), busy_with(2, Some(100))];
        let mut ended_count = 0;
        let told = run_until(short_grace(), groups, |interval| {
            let counts = interval.groups[1].snapshot.counts();
            ended_count += counts.completed + counts.failed;
            wall.came_count() == 6 && ended_count == 100
        });
        let done = told.checked(100);
        assert_eq!((done.unfinished_count, done.reason), (6, EndReason::Stopped));
    }
}

#[test]
fn workers_that_ignore_the_cut_are_left_behind_with_a_warning() {
    let wall = Wall::default(); // no cut makes it fall: it is not that of the group
    let shared = wall.clone();
    let deaf = closed(1, move |_| {
        let wall = shared.clone();
        Ok(move |gate: &mut Gate<'_>, _| {
            gate.sent();
            wall.wait();
            Ok(())
        })
    });
    let told = run_until(short_grace(), vec![deaf], |_| wall.came_count() == 1);
    assert_eq!(told.checked(100).unfinished_count, 1);
    let warned = |event: &Message| matches!(event, Message::Warning(warning) if warning.code == "connections-stuck");
    assert!(told.events.iter().any(warned));
}

#[test]
fn a_reader_that_stalls_for_several_intervals_is_a_doubt_and_nothing_is_lost() {
    let mut stall = Some(Duration::from_millis(250));
    let told = run_with(TrialOptions::new(50, 500), vec![busy(2)], |event, handle| match event {
        Message::Ready(_) => handle.start(None),
        Message::Interval(_) => stall.take().into_iter().for_each(thread::sleep),
        _ => {}
    });
    assert_eq!(told.checked(50).unfinished_count, 0);
    let late = |event: &&Message| matches!(event, Message::Warning(warning) if warning.code == "intervals-late");
    assert_eq!(told.events.iter().filter(late).count(), 1);
}

#[test]
fn the_first_fault_ends_the_trial_and_is_returned() {
    let workers = closed(8, |worker| {
        Ok(move |gate: &mut Gate<'_>, arrival: Arrival| {
            if worker == 3 && arrival.index == 20 {
                return Err(WorkerFault::new(FailureClass::Target, "the server went away"));
            }
            transact(gate, nap);
            Ok(())
        })
    });
    let told = run(TrialOptions::new(100, 60_000), vec![workers]);
    assert_eq!(
        told.result,
        Err(WorkerFault::new(FailureClass::Target, "the server went away"))
    );
    assert!(
        told.total().counts().completed >= 20,
        "what was measured before was told"
    );
    assert!(!told.events.iter().any(|event| matches!(event, Message::Done(_))));
}

#[test]
fn a_panic_in_a_worker_is_a_defect_and_no_hang() {
    let workers = closed(4, |worker| {
        Ok(move |gate: &mut Gate<'_>, arrival: Arrival| {
            assert!(worker != 2 || arrival.index < 10, "planted");
            transact(gate, nap);
            Ok(())
        })
    });
    let fault = run(TrialOptions::new(100, 60_000), vec![workers]).result.unwrap_err();
    assert_eq!(fault.class, FailureClass::Bug);
    assert!(
        fault.message.contains("worker 2 of one") && fault.message.contains("planted"),
        "{fault}"
    );
}

fn one_that_fails(how: fn() -> Result<Plain, WorkerFault>) -> GroupRun {
    closed(6, move |worker| {
        let plain: Plain = |gate, _| {
            transact(gate, nap);
            Ok(())
        };
        if worker == 4 { how() } else { Ok(plain) }
    })
}

#[test]
fn a_worker_that_cannot_be_built_ends_a_trial_of_all_and_the_others_do_not_wait() {
    let refused = GroupRun {
        terms: ConnectionTerms {
            all_required: true,
            ..ConnectionTerms::default()
        },
        ..one_that_fails(|| Err(WorkerFault::new(FailureClass::Target, "too many connections")))
    };
    let told = run(TrialOptions::new(100, 60_000), vec![refused]);
    assert_eq!(told.result.unwrap_err().message, "too many connections");
    assert_eq!(told.events, []);

    let broken = one_that_fails(|| panic!("planted"));
    assert_eq!(
        run(TrialOptions::new(100, 60_000), vec![broken])
            .result
            .unwrap_err()
            .class,
        FailureClass::Bug
    );
}

#[test]
fn senseless_plans_are_refused_with_the_thing_and_the_value() {
    let refused = |options, groups| Trial::new(options, groups).err().expect("refused");
    let message = |options, groups| {
        let fault = refused(options, groups);
        assert_eq!(fault.class, FailureClass::Spec);
        fault.message
    };
    assert!(message(TrialOptions::new(0, 1), vec![busy(1)]).starts_with("interval_ms: must be 1..=600000, is 0"));
    assert!(message(TrialOptions::new(1, 0), vec![busy(1)]).starts_with("duration_ms:"));
    assert!(message(TrialOptions::new(1, 1), vec![]).starts_with("groups:"));
    assert!(message(TrialOptions::new(1, 1), vec![busy(1), busy(0)]).starts_with("groups[1].connections:"));
}

struct Nobody;

impl Observer for Nobody {
    fn on(&mut self, _: &Message) {}
}

#[test]
fn a_handle_may_be_used_before_and_after_the_trial() {
    let trial = Trial::new(TrialOptions::new(50, 50), vec![busy(1)]).unwrap();
    let handle = trial.handle();
    handle.start(None);
    assert_eq!(trial.run(&mut Nobody).unwrap().reason, EndReason::Completed);
    handle.stop();
}

#[test]
fn what_is_taken_back_was_not_offered_and_shares_add_up() {
    let build = |_| {
        Ok(|gate: &mut Gate<'_>, arrival: Arrival| {
            if arrival.index % 3 == 1 {
                gate.withdraw();
            } else {
                transact(gate, nap);
            }
            Ok(())
        })
    };
    let arrivals = ClosedLoop::new(3, Some(300));
    let trial = Trial::new(
        TrialOptions::new(100, 60_000),
        vec![group(3, arrivals, build, Wall::default())],
    )
    .unwrap();
    let (handle, shares) = (trial.handle(), trial.shares());
    handle.start(None);
    let done = trial.run(&mut Silent).unwrap();
    let shares = shares();
    let ended: u64 = shares.iter().map(|share| share.ended_count).sum();
    assert_eq!((done.offered_count, done.unfinished_count), (ended, 0));
    assert!(ended < 300 && shares.len() == 3);
    assert!(
        shares
            .iter()
            .all(|share| share.response_sum_ns >= 200_000 * share.ended_count)
    );
}

struct Silent;

impl Observer for Silent {
    fn on(&mut self, _event: &Message) {}
}
