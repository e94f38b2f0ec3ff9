//! A number that threads sleep on until another thread changes it: a futex.
//!
//! What is built on it knows nothing else of threads, so that `models/` can put a model in its place.

use std::num::NonZeroU32;
pub(crate) use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering;

use rustix::thread::futex;

use crate::clock::timespec;

/// The number. Whoever changes it wakes those who sleep.
#[derive(Default)]
pub(crate) struct Word(AtomicU32);

impl Word {
    #[inline]
    pub(crate) fn load(&self, order: Ordering) -> u32 {
        self.0.load(order)
    }

    pub(crate) fn store(&self, value: u32, order: Ordering) {
        self.0.store(value, order);
        self.wake();
    }

    /// Makes it `to` where it is `from`.
    pub(crate) fn change(&self, from: u32, to: u32, order: Ordering) {
        let _ = self.0.compare_exchange(from, to, order, order); // what is another value stays
        self.wake();
    }

    /// Sleeps while it is `value`, at most until the monotonic clock shows `until_ns`. It also returns at a signal: callers check
    /// which it was.
    pub(crate) fn sleep(&self, value: u32, until_ns: Option<u64>) {
        let until = until_ns.map(timespec);
        let _ = futex::wait_bitset(&self.0, futex::Flags::PRIVATE, value, until.as_ref(), NonZeroU32::MAX);
    }

    fn wake(&self) {
        // It fails only for a bad address or flag.
        let _ = futex::wake(&self.0, futex::Flags::PRIVATE, u32::MAX >> 1);
    }
}
