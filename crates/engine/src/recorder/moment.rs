//! A point in time that one thread sets and others read.

use std::sync::atomic::{AtomicU64, Ordering};

/// Nanoseconds since trial start, or none. What its writer did before it set one is seen by whoever reads that one.
#[derive(Default)]
pub(super) struct Moment(AtomicU64); // one more than the time; 0 for none

impl Moment {
    pub(super) fn set(&self, at_ns: u64) {
        self.0.store(at_ns + 1, Ordering::Release);
    }

    pub(super) fn clear(&self) {
        self.0.store(0, Ordering::Release);
    }

    pub(super) fn get(&self) -> Option<u64> {
        self.0.load(Ordering::Acquire).checked_sub(1)
    }
}
