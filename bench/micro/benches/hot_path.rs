//! The smallest steps of the hot path, each by itself: encode, decode, draw, and what the engine adds to a transaction.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use plimsoll_core::histogram::Histogram;
use plimsoll_core::message::Message;
use plimsoll_core::random::{below, keyed};
use plimsoll_core::snapshot::{Measure, Snapshot, TransactionSnapshot};
use plimsoll_engine::{
    ClosedLoop, ConnectionTerms, Gate, GroupRun, Interrupter, Observer, Outcome, StatementResult, Trial, TrialOptions,
    Worker, WorkerFactory, WorkerFault,
};
use plimsoll_wire::codec::definitions::Definitions;
use plimsoll_wire::codec::packet::{SkipUntil, Skipped, Skipper};
use plimsoll_wire::codec::statement::PrepareOk;
use plimsoll_wire::{PreparedStatement, Value};

fn encode(c: &mut Criterion) {
    let prepared = PrepareOk {
        id: 7,
        column_count: 0,
        parameter_count: 4,
    };
    let statement = PreparedStatement::new(prepared, Definitions::default(), 1);
    let text = "x".repeat(119);
    let values = [
        Value::Int(1),
        Value::Int(2),
        Value::Text(&text),
        Value::Text(&text[..59]),
    ];
    let mut out = Vec::with_capacity(1024);
    c.bench_function("encode an execute of four values", |b| {
        b.iter(|| {
            out.clear();
            statement.encode_execute(black_box(&values), &mut out);
            black_box(out.len())
        });
    });
}

fn decode(c: &mut Criterion) {
    let row = |sequence: u8| [&[122, 0, 0, sequence, 0, 0, 119][..], &[b'x'; 119]].concat();
    let mut bytes: Vec<u8> = (0..100).flat_map(row).collect();
    bytes.extend_from_slice(&[7, 0, 0, 100, 0xFE, 0, 0, 2, 0, 0, 0]);
    c.bench_function("decode a result set of 100 rows", |b| {
        b.iter(|| {
            let mut skipper = Skipper::new(SkipUntil::RowsEnd, 0);
            let (used, state) = skipper.advance(black_box(&bytes)).expect("whole packets");
            assert_eq!(state, Skipped::Done);
            black_box(used)
        });
    });
}

fn draw(c: &mut Criterion) {
    let mut n = 0;
    c.bench_function("draw ten rows of a transaction", |b| {
        b.iter(|| {
            n += 1;
            let mut random = keyed(1, 2, n);
            (0..10).map(|_| below(&mut random, 1_000_000)).sum::<u64>()
        });
    });
}

struct Idle;

impl Worker for Idle {
    fn run(&mut self, gate: &mut Gate<'_>) -> Result<(), WorkerFault> {
        while gate.next().is_some() {
            gate.sent();
            gate.statement(StatementResult::default());
            gate.finish(0, Outcome::Completed);
        }
        Ok(())
    }

    fn interrupter(&self) -> Interrupter {
        Interrupter::none()
    }
}

struct Idlers;

impl WorkerFactory for Idlers {
    fn transaction_names(&self) -> Vec<String> {
        vec!["idle".to_owned()]
    }

    fn build(&self, _worker: u32) -> Result<Box<dyn Worker>, WorkerFault> {
        Ok(Box::new(Idle))
    }
}

struct Deaf;

impl Observer for Deaf {
    fn on(&mut self, _event: &Message) {}
}

/// Claim, clock, count and record: all that the engine does for a transaction of one statement.
fn record(c: &mut Criterion) {
    c.bench_function("claim, time and record a transaction", |b| {
        b.iter_custom(|count| {
            let group = GroupRun {
                instance: "none".to_owned(),
                factory: Box::new(Idlers),
                arrivals: Box::new(ClosedLoop::new(1, Some(count))),
                connections: 1,
                terms: ConnectionTerms::default(),
            };
            let trial = Trial::new(TrialOptions::new(1_000, 3_600_000), vec![group]).expect("a sensible plan");
            trial.handle().start(None);
            let done = trial.run(&mut Deaf).expect("nothing can go wrong");
            Duration::from_nanos(done.duration_ns)
        });
    });
}

/// What one interval of one processor has: durations of a few hundred buckets, about the same in all of them.
fn shard(number: u64) -> Snapshot {
    let mut random = keyed(1, 3, number);
    let mut response = Histogram::default();
    (0..300).for_each(|_| response.record(1_000_000 + below(&mut random, 1_000_000)));
    let transaction = TransactionSnapshot {
        histograms: BTreeMap::from([(Measure::Response, response)]),
        ..TransactionSnapshot::default()
    };
    Snapshot {
        transactions: BTreeMap::from([("one".to_owned(), transaction)]),
        ..Snapshot::default()
    }
}

fn sum(c: &mut Criterion) {
    let shards: Vec<Snapshot> = (0..64).map(shard).collect();
    c.bench_function("add up the shards of 64 processors", |b| {
        b.iter(|| Snapshot::sum(black_box(&shards)));
    });
}

criterion_group!(benches, encode, decode, draw, record, sum);
criterion_main!(benches);
