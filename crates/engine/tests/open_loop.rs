//! Load at a rate: what falls due is completed, failed, dropped or unfinished, and each of them is counted once, also under
//! overload; and a trial lasts as long as was asked, however rare its transactions are.

mod common;

use std::thread::sleep;
use std::time::Duration;

use common::{LONG_MS, Wall, group, open_loop, run, run_until, run_with, transact};
use plimsoll_core::message::{EndReason, Interval, Message};
use plimsoll_core::plan::{ArrivalProcess, RateStepPlan};
use plimsoll_engine::{Arrivals, Gate, GroupRun, OpenLoop, OpenLoopOptions, TrialOptions};

/// Workers whose transactions take so long.
fn taking(connections: u32, time: Duration, arrivals: impl Arrivals + 'static) -> GroupRun {
    let build = move |_| {
        Ok(move |gate: &mut Gate<'_>, _| {
            transact(gate, || sleep(time));
            Ok(())
        })
    };
    group(connections, arrivals, build, Wall::default())
}

/// A rate for so long, and then none.
fn rate_for(duration_ms: u64, tps: f64) -> OpenLoop {
    let step = |duration_ms: u64, tps| RateStepPlan {
        duration_ms,
        from_tps: tps,
        to_tps: tps,
    };
    OpenLoop::new(&OpenLoopOptions {
        process: ArrivalProcess::Uniform,
        steps: vec![step(duration_ms, tps), step(1, 0.0)],
        backlog_max: 10_000,
        seed: 1,
    })
}

/// Whether all that fell due by `last_ms` was claimed by the end of the interval.
fn is_worked_off(interval: &Interval, last_ms: u64) -> bool {
    interval.to_ns >= last_ms * 1_000_000 && interval.groups[0].backlog_count == 0
}

#[test]
fn the_rate_that_was_asked_for_is_offered_exactly() {
    let workers = taking(8, Duration::from_millis(1), rate_for(1_000, 500.0));
    let told = run_until(TrialOptions::new(200, LONG_MS), vec![workers], |interval| {
        is_worked_off(interval, 1_200)
    });
    let done = told.checked(200);
    assert_eq!((done.offered_count, done.unfinished_count), (500, 0));
    assert_eq!(told.total().counts().completed, 500);
}

/// One worker can do 50 of the 2,000 a second; 100 may wait.
#[test]
fn overload_is_counted_and_ends_nothing() {
    let workers = taking(
        1,
        Duration::from_millis(20),
        open_loop(ArrivalProcess::Uniform, 2_000.0, 100),
    );
    let told = run(TrialOptions::new(100, 1_000), vec![workers]);
    let done = told.checked(100);
    let counts = told.total().counts();
    assert_eq!(done.offered_count, 2_000);
    assert!(counts.completed <= 50, "{counts:?}");
    // One may just have been taken when an interval or the trial ends.
    assert!(
        (99..=101).contains(&done.unfinished_count),
        "those that still waited: {done:?}"
    );
    let backlogs: Vec<u64> = told
        .intervals()
        .map(|interval| interval.groups[0].backlog_count)
        .collect();
    assert!(backlogs.iter().all(|count| [99, 100].contains(count)), "{backlogs:?}");
    // What fell due until the end of an interval and neither waits nor was taken was dropped by then: each interval that is
    // told in time has its own, one that is told late those of the next ones too.
    let mut sum = 0;
    for interval in told.intervals().filter(|interval| interval.to_ns <= 1_000_000_000) {
        sum += dropped(interval);
        let to_ms = interval.to_ns / 1_000_000;
        assert!(sum + 100 + to_ms / 20 + 1 >= 2 * to_ms, "{sum} dropped by {to_ms} ms");
    }
    assert!(sum > 1_000, "{sum}");
}

fn dropped(interval: &Interval) -> u64 {
    interval.groups[0].snapshot.counts().dropped
}

/// While all workers hang nobody claims, and the intervals tell of it all the same.
#[test]
fn what_is_dropped_while_all_connections_hang_shows_in_its_interval() {
    let workers = taking(
        2,
        Duration::from_millis(600),
        open_loop(ArrivalProcess::Uniform, 1_000.0, 50),
    );
    let told = run(TrialOptions::new(100, 500), vec![workers]);
    told.checked(100);
    let dropped: Vec<u64> = told.intervals().take(5).map(dropped).collect();
    assert!(
        dropped[0] < 100 && dropped[1..].iter().all(|count| (50..=150).contains(count)),
        "{dropped:?}"
    );
}

#[test]
fn after_overload_the_backlog_is_worked_off_and_late_ones_are_timed_from_when_they_were_due() {
    let workers = taking(4, Duration::from_millis(4), rate_for(300, 2_000.0));
    let told = run_until(TrialOptions::new(100, LONG_MS), vec![workers], |interval| {
        is_worked_off(interval, 300)
    });
    let done = told.checked(100);
    assert_eq!((done.offered_count, done.unfinished_count), (600, 0));
    let backlogs: Vec<u64> = told
        .intervals()
        .map(|interval| interval.groups[0].backlog_count)
        .collect();
    // An interval that is told late tells a backlog that has become shorter.
    assert!(
        backlogs.iter().any(|count| *count > 100) && backlogs.last() == Some(&0),
        "{backlogs:?}"
    );
    let longest_ns = told.total().transactions["first"].histograms[&plimsoll_core::snapshot::Measure::Response].max_ns;
    // 600 at no more than 1,000 a second: the last one, due at 300 ms, is done at 600 ms or later.
    assert!(longest_ns > 299_000_000, "{longest_ns}");
}

#[test]
fn a_trial_with_rare_arrivals_lasts_as_long_as_was_asked() {
    let workers = taking(4, Duration::ZERO, open_loop(ArrivalProcess::Uniform, 1.0, 10));
    let done = run(TrialOptions::new(100, 400), vec![workers]).checked(100).clone();
    assert_eq!((done.offered_count, done.reason), (1, EndReason::Completed));
    assert!(done.duration_ns >= 400_000_000, "{}", done.duration_ns);
}

#[test]
fn a_stop_counts_what_was_due_and_nothing_that_would_have_been() {
    let workers = taking(
        1,
        Duration::from_millis(5),
        open_loop(ArrivalProcess::Poisson, 3_000.0, 500),
    );
    let told = run_until(TrialOptions::new(100, LONG_MS), vec![workers], |interval| {
        interval.index == 2
    });
    let done = told.checked(100);
    assert_eq!(done.reason, EndReason::Stopped);
    // 900 in these 300 ms; more where the machine was slow to stop.
    let most = 3_000.0 * 1.2 * done.duration_ns as f64 / 1e9;
    assert!((500.0..most).contains(&(done.offered_count as f64)), "{done:?}");
}

#[test]
fn a_stop_before_the_start_has_offered_nothing() {
    let workers = taking(1, Duration::ZERO, open_loop(ArrivalProcess::Uniform, 3_000.0, 500));
    let in_a_minute = plimsoll_engine::unix_ns() + 60_000_000_000;
    let told = run_with(TrialOptions::new(100, 1_000), vec![workers], |event, handle| {
        if matches!(event, Message::Ready(_)) {
            handle.start(Some(in_a_minute));
            let handle = handle.clone();
            // Released by then or not: nothing has fallen due either way.
            std::thread::spawn(move || {
                sleep(Duration::from_millis(50));
                handle.stop();
            });
        }
    });
    assert_eq!(told.checked(100).offered_count, 0);
}
