//! What it takes to add up the shards of a recorder, by the bytes that are allocated for it. In a file of its own, since the
//! allocator counts for the whole process.

#![allow(unsafe_code)] // an allocator that counts

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::BTreeMap;

use plimsoll_core::histogram::{Histogram, bucket_range_ns};
use plimsoll_core::snapshot::{Measure, Snapshot, TransactionSnapshot};

struct Counting;

thread_local! {
    static BYTES: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: everything is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.set(BYTES.get() + layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

const BUCKETS: usize = 200;

/// A shard whose durations are in no other shard's buckets: nothing of it falls together in a sum.
fn shard(number: usize) -> Snapshot {
    let mut response = Histogram::default();
    for bucket in 0..BUCKETS {
        response.record(bucket_range_ns(number * BUCKETS + bucket).0);
    }
    let transaction = TransactionSnapshot {
        histograms: BTreeMap::from([(Measure::Response, response)]),
        ..TransactionSnapshot::default()
    };
    Snapshot {
        transactions: BTreeMap::from([("a".to_owned(), transaction)]),
        ..Snapshot::default()
    }
}

/// Bytes that are allocated to add up so many.
fn summed_bytes(count: usize) -> usize {
    let shards: Vec<Snapshot> = (0..count).map(shard).collect();
    let before = BYTES.get();
    let sum = Snapshot::sum(&shards);
    let bytes = BYTES.get() - before;
    assert_eq!(
        sum.transactions["a"].histograms[&Measure::Response].buckets.len(),
        count * BUCKETS
    );
    bytes
}

#[test]
fn the_work_of_a_sum_grows_with_the_shards_and_no_faster() {
    let (few, many) = (summed_bytes(8), summed_bytes(64));
    // Where each is added to the sum of those before it, this is 64 times as much.
    assert!(many < 12 * few, "{many} bytes for 64 shards, {few} for 8");
}
