//! The engine's `word` as loom sees it.
//!
//! loom treats sequentially consistent operations as acquire and release only, and would report errors where there are none. It
//! does model fences, so each such operation has one before it and one after it. That is as strong where, as here, every
//! operation whose order matters is sequentially consistent.

use std::sync::atomic::Ordering;

use loom::sync::atomic::fence;
use loom::sync::{Condvar, Mutex};

#[derive(Default)]
pub(crate) struct AtomicU32(loom::sync::atomic::AtomicU32);

impl AtomicU32 {
    pub(crate) fn load(&self, order: Ordering) -> u32 {
        in_order(order, || self.0.load(order))
    }

    pub(crate) fn store(&self, value: u32, order: Ordering) {
        in_order(order, || self.0.store(value, order));
    }

    pub(crate) fn fetch_add(&self, value: u32, order: Ordering) -> u32 {
        in_order(order, || self.0.fetch_add(value, order))
    }

    pub(crate) fn fetch_sub(&self, value: u32, order: Ordering) -> u32 {
        in_order(order, || self.0.fetch_sub(value, order))
    }

    fn compare_exchange(&self, from: u32, to: u32, order: Ordering) {
        let _ = in_order(order, || self.0.compare_exchange(from, to, order, order));
    }
}

fn in_order<T>(order: Ordering, operation: impl FnOnce() -> T) -> T {
    if order != Ordering::SeqCst {
        return operation();
    }
    fence(order);
    let result = operation();
    fence(order);
    result
}

/// A futex: the kernel looks at the number, puts a thread to sleep and wakes it under one lock. No time ends a sleep here, and no
/// signal: what is not woken is a deadlock, which loom reports.
#[derive(Default)]
pub(crate) struct Word {
    value: AtomicU32,
    kernel: Mutex<()>,
    woken: Condvar,
}

impl Word {
    pub(crate) fn load(&self, order: Ordering) -> u32 {
        self.value.load(order)
    }

    pub(crate) fn store(&self, value: u32, order: Ordering) {
        self.value.store(value, order);
        self.wake();
    }

    pub(crate) fn change(&self, from: u32, to: u32, order: Ordering) {
        self.value.compare_exchange(from, to, order);
        self.wake();
    }

    pub(crate) fn sleep(&self, value: u32, _until_ns: Option<u64>) {
        let kernel = self.kernel.lock().unwrap();
        if self.value.load(Ordering::Relaxed) == value {
            drop(self.woken.wait(kernel).unwrap());
        }
    }

    fn wake(&self) {
        let _kernel = self.kernel.lock().unwrap();
        self.woken.notify_all();
    }
}
