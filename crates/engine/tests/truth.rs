//! Measure the measurer: times that the engine reports against times that the made-up workers took themselves.

mod common;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{ONE_ROW, Wall, closed, group, open_loop, run, transact};
use plimsoll_core::histogram::Histogram;
use plimsoll_core::plan::{ArrivalProcess, ThinkTimePlan};
use plimsoll_core::snapshot::{Counts, ErrorClass, ErrorCount, Measure};
use plimsoll_engine::{
    Arrival, ClosedLoop, Gate, OpenLoop, Outcome, ServerIndex, StatementResult, Thinking, TrialOptions, unix_ns,
};

const QUANTILES: [f64; 5] = [0.0, 0.5, 0.95, 0.99, 1.0];

/// Durations that a worker took, nanoseconds: just inside of what the gate sees, and just around it.
#[derive(Default)]
struct Own {
    inside: Vec<u64>,
    around: Vec<u64>,
}

/// Since inside <= service <= around for each transaction, the same holds for each order statistic.
#[test]
fn service_time_is_what_the_worker_took_to_a_thousandth() {
    let own = Arc::new(Mutex::new(Own::default()));
    let shared = Arc::clone(&own);
    let workers = closed(4, move |worker| {
        let own = Arc::clone(&shared);
        Ok(move |gate: &mut Gate<'_>, arrival: Arrival| {
            let around = Instant::now();
            let mut inside_ns = 0;
            transact(gate, || {
                let inside = Instant::now();
                sleep(Duration::from_micros(
                    1_000 * u64::from(worker) + 100 * (arrival.index % 10),
                ));
                inside_ns = inside.elapsed().as_nanos() as u64;
            });
            let around_ns = around.elapsed().as_nanos() as u64;
            let mut own = own.lock().unwrap();
            own.inside.push(inside_ns);
            own.around.push(around_ns);
            Ok(())
        })
    });
    let told = run(TrialOptions::new(200, 1_000), vec![workers]);
    told.checked(200);
    let service = &told.total().transactions["first"].histograms[&Measure::Service];
    let mut own = own.lock().unwrap();
    own.inside.sort_unstable();
    own.around.sort_unstable();
    assert_eq!(service.count(), own.inside.len() as u64);
    for quantile in QUANTILES {
        let rank = ((own.inside.len() as f64 * quantile).ceil() as usize).max(1) - 1;
        let found = service.quantile_ns(quantile).unwrap() as f64;
        let (low, high) = (own.inside[rank] as f64 * 0.999, own.around[rank] as f64 * 1.001);
        assert!(
            (low..=high).contains(&found),
            "quantile {quantile}: {found} is not in {low}..={high}"
        );
    }
}

/// What the client does between claiming and sending is its own slowness, not the server's.
#[test]
fn time_before_the_first_byte_is_dispatch_delay_and_not_service_time() {
    let workers = closed(1, |_| {
        Ok(|gate: &mut Gate<'_>, _| {
            sleep(Duration::from_millis(3));
            transact(gate, || {});
            Ok(())
        })
    });
    let told = run(TrialOptions::new(100, 300), vec![workers]);
    told.checked(100);
    let histograms = &told.total().transactions["first"].histograms;
    let least_ns = |measure| histograms[&measure].quantile_ns(0.0).unwrap();
    assert!(least_ns(Measure::DispatchDelay) >= 2_997_000);
    assert!(least_ns(Measure::Response) >= 2_997_000);
    assert_eq!(histograms[&Measure::PoolWait].max_ns, 0);
    assert!(least_ns(Measure::Service) < 2_000_000);
}

/// What one worker saw of its transactions, by its own clock but for when they were due.
#[derive(Default)]
#[allow(clippy::struct_field_names)] // all are times, and the unit comes last
struct Course {
    due_ns: Vec<u64>,
    /// From before each was sent until after it was finished.
    around_ns: u64,
    /// What the worker did beside them, as long as `BESIDE` at least.
    beside_ns: u64,
}

impl Course {
    /// From when the first one was due until the last one was.
    fn lasted_ns(&self) -> u64 {
        self.due_ns.last().unwrap() - self.due_ns[0]
    }
}

const COURSE: u64 = 20;
const BESIDE: Duration = Duration::from_millis(3);

/// One worker's transactions. Something is done before and after each, and adds to what it is told took time beside them. The
/// last one fails, so that exactly those before it are timed.
fn course(
    arrivals: ClosedLoop,
    before: fn(&mut Gate<'_>, &mut u64),
    after: fn(&mut Gate<'_>, &mut u64),
) -> (Course, BTreeMap<Measure, Histogram>) {
    let course = Arc::new(Mutex::new(Course::default()));
    let shared = Arc::clone(&course);
    let build = move |_| {
        let course = Arc::clone(&shared);
        Ok(move |gate: &mut Gate<'_>, arrival: Arrival| {
            let mut course = course.lock().unwrap();
            course.due_ns.push(arrival.due_ns);
            if arrival.index == COURSE {
                gate.finish(0, Outcome::Failed);
                return Ok(());
            }
            before(gate, &mut course.beside_ns);
            let around = Instant::now();
            transact(gate, || {});
            course.around_ns += around.elapsed().as_nanos() as u64;
            after(gate, &mut course.beside_ns);
            Ok(())
        })
    };
    let told = run(
        TrialOptions::new(1_000, 60_000),
        vec![group(1, arrivals, build, Wall::default())],
    );
    told.checked(1_000);
    let histograms = told.total().transactions["first"].histograms.clone();
    assert_eq!(histograms[&Measure::Response].count(), COURSE);
    let course = std::mem::take(&mut *course.lock().unwrap());
    (course, histograms)
}

fn loops() -> ClosedLoop {
    ClosedLoop::new(1, Some(COURSE + 1))
}

fn nothing(_: &mut Gate<'_>, _: &mut u64) {}

fn work(_: &mut Gate<'_>, beside_ns: &mut u64) {
    take_time(beside_ns);
}

fn connect(gate: &mut Gate<'_>, beside_ns: &mut u64) {
    gate.connecting(|| take_time(beside_ns));
}

fn take_time(beside_ns: &mut u64) {
    let begin = Instant::now();
    sleep(BESIDE);
    *beside_ns += begin.elapsed().as_nanos() as u64;
}

/// In a closed loop each transaction is due when the one before it is done: response times leave no gap, and what the client
/// does in between is in them and in no service time.
#[test]
fn the_clients_own_time_between_transactions_is_in_response_times_and_not_in_service_times() {
    let (course, histograms) = course(loops(), nothing, work);
    let sum_ns = |measure| histograms[&measure].sum_ns;
    assert_eq!(sum_ns(Measure::Response), course.lasted_ns());
    assert!(sum_ns(Measure::Service) <= course.around_ns, "{histograms:?}");
    // What it did after the last one that is timed is in the one that failed.
    let least_ns = (COURSE - 1) * BESIDE.as_nanos() as u64;
    assert!(sum_ns(Measure::DispatchDelay) >= least_ns, "{histograms:?}");
    assert_eq!(sum_ns(Measure::PoolWait), 0);
}

/// With think time a transaction is due exactly a pause after the one before it was done, however late the client is.
#[test]
fn a_pause_begins_when_the_transaction_before_it_is_done() {
    let think_time = ThinkTimePlan::Uniform {
        min_ms: 5.0,
        max_ms: 5.0,
    };
    let (course, histograms) = course(loops().with_pace(Thinking { think_time, seed: 7 }), nothing, work);
    let thought_ns = COURSE * 5_000_000;
    assert_eq!(histograms[&Measure::Response].sum_ns, course.lasted_ns() - thought_ns);
}

/// The time in which a chosen connection is opened is a wait for that connection: no service time, and nothing that the client
/// is too slow for.
#[test]
fn a_transaction_that_waits_for_its_connection_waits_in_the_pool() {
    let (course, histograms) = course(loops(), connect, nothing);
    let sum_ns = |measure| histograms[&measure].sum_ns;
    assert_eq!(sum_ns(Measure::Response), course.lasted_ns());
    assert!(sum_ns(Measure::PoolWait) >= course.beside_ns, "{histograms:?}");
    assert!(sum_ns(Measure::Service) <= course.around_ns, "{histograms:?}");
}

/// A closed loop offers nothing while its connection is away: the next transaction is due when it is back.
#[test]
fn what_follows_a_lost_connection_is_due_when_it_is_open_again() {
    let (course, histograms) = course(loops(), nothing, connect);
    let response_ns = histograms[&Measure::Response].sum_ns;
    assert!(response_ns + course.beside_ns <= course.lasted_ns(), "{histograms:?}");
    assert_eq!(histograms[&Measure::PoolWait].max_ns, 0);
}

/// Due each 10 ms from the beginning.
fn each_ten_ms() -> OpenLoop {
    open_loop(ArrivalProcess::Uniform, 100.0, 1_000)
}

/// One stall of 200 ms at 100 arrivals/s: the transaction that meets it sees it as service time, and the 20 that fall
/// due meanwhile as pool wait, so that response times tell what users wait.
#[test]
fn a_stall_shows_in_response_times_and_hides_from_service_times() {
    let arrivals = each_ten_ms();
    let build = |_| {
        Ok(|gate: &mut Gate<'_>, arrival: Arrival| {
            let stall_ms = if arrival.index == 10 { 200 } else { 0 };
            transact(gate, || sleep(Duration::from_millis(stall_ms)));
            Ok(())
        })
    };
    let told = run(
        TrialOptions::new(100, 600),
        vec![group(1, arrivals, build, Wall::default())],
    );
    let done = told.checked(100);
    assert_eq!(done.offered_count, 60, "due at 0, 10, ... 590 ms");
    let histograms = &told.total().transactions["first"].histograms;
    let slow_count = |measure| {
        let all = &histograms[&measure];
        let long = |bucket: u32| plimsoll_core::histogram::bucket_range_ns(bucket as usize).0 > 95_000_000;
        let counted = all.buckets.iter().zip(&all.counts).filter(|(bucket, _)| long(**bucket));
        counted.map(|(_, count)| count).sum::<u64>()
    };
    assert!(slow_count(Measure::Response) >= 11, "{}", slow_count(Measure::Response));
    assert!(slow_count(Measure::PoolWait) >= 10, "{}", slow_count(Measure::PoolWait));
    assert!(slow_count(Measure::Service) < slow_count(Measure::PoolWait));
}

/// How late on the wall clock each transaction ran, counted from when it was due: never less than nothing.
#[test]
fn nothing_runs_before_it_is_due() {
    let ran = Arc::new(Mutex::new(Vec::new()));
    let shared = Arc::clone(&ran);
    let build = move |_| {
        let ran = Arc::clone(&shared);
        Ok(move |gate: &mut Gate<'_>, arrival: Arrival| {
            ran.lock().unwrap().push((arrival.due_ns, unix_ns()));
            transact(gate, || {});
            Ok(())
        })
    };
    let arrivals = each_ten_ms();
    let told = run(
        TrialOptions::new(100, 300),
        vec![group(3, arrivals, build, Wall::default())],
    );
    let done = told.checked(100);
    assert_eq!(done.offered_count, 30, "due at 0, 10, ... 290 ms");
    for (due_ns, ran_unix_ns) in ran.lock().unwrap().drain(..) {
        let early_ns = (done.started_unix_ns + due_ns).saturating_sub(ran_unix_ns);
        assert!(early_ns < 1_000_000, "{early_ns} ns too early"); // the two clocks may drift a little
    }
}

/// A failed transaction is counted and not timed; statements, rows, retries and errors are counted as they were told.
#[test]
fn counts_are_what_the_workers_told() {
    let build = |_| {
        Ok(|gate: &mut Gate<'_>, arrival: Arrival| {
            gate.sent();
            gate.statement(StatementResult::default());
            gate.statement(ONE_ROW);
            if arrival.index == 0 {
                gate.error(ServerIndex::SOURCE, Some(1), ErrorClass::Retryable, 1213);
                gate.retry();
                gate.error(ServerIndex::SOURCE, None, ErrorClass::Statement, 1146);
                gate.finish(1, Outcome::Failed);
            } else {
                gate.statement(StatementResult {
                    has_result_set: false,
                    rows_returned: 0,
                    rows_affected: 3,
                });
                if arrival.index == 2 {
                    gate.rolled_back();
                }
                gate.finish(1, Outcome::Completed);
            }
            Ok(())
        })
    };
    let arrivals = ClosedLoop::new(1, Some(4));
    let told = run(
        TrialOptions::new(1_000, 60_000),
        vec![group(1, arrivals, build, Wall::default())],
    );
    told.checked(1_000);
    let total = told.total();
    let expected = Counts {
        completed: 3,
        rolled_back: 1,
        failed: 1,
        dropped: 0,
        retries: 1,
        reads: 4,
        writes: 3,
        others: 4,
        rows_returned: 4,
        rows_affected: 9,
    };
    assert_eq!(total.transactions["second"].counts, expected);
    assert_eq!(total.transactions["first"].counts, Counts::default());
    let error = |transaction: Option<&str>, class, code| ErrorCount {
        transaction: transaction.map(str::to_owned),
        class,
        code,
        count: 1,
    };
    assert_eq!(
        total.errors,
        [
            error(None, ErrorClass::Statement, 1146),
            error(Some("second"), ErrorClass::Retryable, 1213)
        ]
    );
}

/// Each connection does one transaction for each pause, and a pause is nobody's response time.
#[test]
fn with_think_time_connections_pause_between_transactions() {
    let pause = ThinkTimePlan::Uniform {
        min_ms: 50.0,
        max_ms: 50.0,
    };
    let connections = 50;
    let arrivals = ClosedLoop::new(connections, None).with_pace(Thinking {
        think_time: pause,
        seed: 7,
    });
    let build = |_| {
        Ok(|gate: &mut Gate<'_>, _| {
            transact(gate, || {});
            Ok(())
        })
    };
    let workers = group(connections, arrivals, build, Wall::default());
    let told = run(TrialOptions::new(200, 1_000), vec![workers]);
    told.checked(200);
    let snapshot = &told.total().transactions["first"];
    // 19 or 20 in a second, as the first pause falls; a busy machine is late, and none is early.
    let each = snapshot.counts.completed as f64 / f64::from(connections);
    assert!((1.0..=20.0).contains(&each), "{each}");
    let response = &snapshot.histograms[&Measure::Response];
    assert!(response.quantile_ns(0.5).unwrap() < 50_000_000, "{response:?}");
    assert_eq!(snapshot.histograms[&Measure::PoolWait].max_ns, 0);
}
