//! Nothing is allocated for a transaction. In a file of its own, since the allocator counts for the whole process.

#![allow(unsafe_code)] // an allocator that counts

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use common::{Wall, group, run, transact};
use plimsoll_engine::{Arrival, ClosedLoop, Gate, TrialOptions};

struct Counting;

thread_local! {
    static ALLOCATIONS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

// SAFETY: everything is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
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

#[test]
fn ten_thousand_transactions_allocate_nothing() {
    let allocated = Arc::new(AtomicU64::new(u64::MAX));
    let shared = Arc::clone(&allocated);
    let build = move |_| {
        let (allocated, mut before) = (Arc::clone(&shared), 0);
        Ok(move |gate: &mut Gate<'_>, arrival: Arrival| {
            if arrival.index == 10 {
                before = ALLOCATIONS.get();
            }
            transact(gate, || {});
            if arrival.index == 10_010 {
                allocated.store(ALLOCATIONS.get() - before, Ordering::SeqCst);
            }
            Ok(())
        })
    };
    let arrivals = ClosedLoop::new(1, Some(10_020));
    run(
        TrialOptions::new(1_000, 60_000),
        vec![group(1, arrivals, build, Wall::default())],
    )
    .checked(1_000);
    assert_eq!(allocated.load(Ordering::SeqCst), 0);
}
