//! The recorder under writers and a taker at the same time, and where things count.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use plimsoll_core::histogram::Histogram;
use plimsoll_core::random::{Rng, keyed};
use plimsoll_core::snapshot::{Counts, ErrorClass, Measure, Snapshot};
use plimsoll_core::timing::TransactionTiming;

use super::Recorder;

const COMPLETED: Counts = Counts {
    completed: 1,
    rolled_back: 0,
    failed: 0,
    dropped: 0,
    retries: 0,
    reads: 2,
    writes: 0,
    others: 0,
    rows_returned: 5,
    rows_affected: 0,
};

fn recorder(shard_count: usize) -> Recorder {
    Recorder::new(vec!["a".to_owned(), "b".to_owned()], 1_000, shard_count)
}

fn complete(recorder: &Recorder, done_ns: u64, duration_ns: u64) {
    let timing = TransactionTiming {
        due_ns: done_ns - duration_ns,
        free_ns: done_ns - duration_ns,
        sent_ns: done_ns - duration_ns,
        done_ns,
    };
    recorder.transaction(0, done_ns, &COMPLETED, Some(timing));
}

fn completed(snapshot: &Snapshot) -> u64 {
    snapshot.counts().completed
}

#[test]
fn a_transaction_counts_where_it_ended_even_when_the_taker_is_late() {
    let recorder = recorder(2);
    let mut spare = recorder.spare();
    complete(&recorder, 999, 1);
    complete(&recorder, 1_000, 1);
    complete(&recorder, 1_999, 1);
    assert_eq!(completed(&recorder.take(&mut spare)), 1);
    complete(&recorder, 500, 1); // told too late for its own interval: the next one has it
    complete(&recorder, 2_000, 1);
    assert_eq!(completed(&recorder.take(&mut spare)), 3);
    complete(&recorder, 8_000, 1); // the taker is far behind: not before the interval after the next
    assert_eq!(completed(&recorder.take(&mut spare)), 1);
    assert_eq!(completed(&recorder.take(&mut spare)), 1);
    assert_eq!(completed(&recorder.take(&mut spare)), 0);
}

#[test]
fn nothing_is_lost_or_doubled_between_writers_and_a_taker() {
    const WRITERS: u64 = 4;
    const EACH: u64 = 40_000;
    let recorder = recorder(2);
    let is_over = AtomicBool::new(false);
    let total = thread::scope(|scope| {
        let taker = scope.spawn(|| {
            let (mut spare, mut sum) = (recorder.spare(), Snapshot::default());
            while !is_over.load(Ordering::Acquire) {
                sum = sum.merge(&recorder.take(&mut spare));
            }
            (0..2).fold(sum, |sum, _| sum.merge(&recorder.take(&mut spare)))
        });
        let write = |writer| {
            let recorder = &recorder;
            scope.spawn(move || {
                for n in 0..EACH {
                    complete(recorder, 1_000 + n * 10 + writer, n % 1_000);
                    if n % 100 == 0 {
                        recorder.error(n * 10, Some(0), ErrorClass::Retryable, 1213);
                    }
                }
            })
        };
        let writers: Vec<_> = (0..WRITERS).map(write).collect();
        for writer in writers {
            writer.join().unwrap();
        }
        is_over.store(true, Ordering::Release);
        taker.join().unwrap()
    });
    let counts = total.counts();
    assert_eq!(
        (counts.completed, counts.reads, counts.rows_returned),
        (160_000, 320_000, 800_000)
    );
    assert_eq!(
        total.errors.iter().map(|error| error.count).sum::<u64>(),
        WRITERS * EACH / 100
    );
    let service = &total.transactions["a"].histograms[&Measure::Service];
    assert_eq!((service.count(), service.sum_ns), (160_000, 160_000 / 1_000 * 499_500));
}

#[test]
fn buckets_sums_and_maxima_are_those_of_a_plain_histogram() {
    let recorder = recorder(3);
    let mut random = keyed(5, 0, 0);
    let mut expected = Histogram::default();
    let at = u64::MAX / 2;
    for _ in 0..20_000 {
        let duration_ns = random.next_u64() >> (20 + random.next_u64() % 40);
        expected.record(duration_ns);
        complete(&recorder, at, duration_ns);
    }
    let mut spare = recorder.spare();
    recorder.take(&mut spare);
    let taken = recorder.take(&mut spare);
    assert_eq!(taken.transactions["a"].histograms[&Measure::Response], expected);
    assert_eq!(taken.transactions["b"].counts, Counts::default());
}

#[test]
fn a_shard_that_is_held_is_passed_by() {
    let recorder = recorder(4);
    let held: Vec<_> = recorder.shards[..3]
        .iter()
        .map(|shard| shard.0.lock().unwrap())
        .collect();
    complete(&recorder, 0, 0);
    drop(held);
    let mut spare = recorder.spare();
    assert_eq!(completed(&recorder.take(&mut spare)), 1);
}
