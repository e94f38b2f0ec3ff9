//! A mutex as C libraries have it by default: who finds it taken sleeps at once. The standard library's spins first, which
//! would be measured instead.

use std::sync::atomic::{AtomicU32, Ordering};

use rustix::thread::futex;

const FREE: u32 = 0;
const TAKEN: u32 = 1;
/// Taken, and somebody may be asleep.
const WANTED: u32 = 2;

/// The mutex; it guards nothing but time (Drepper, "Futexes are tricky", 2011, mutex 2).
#[derive(Default)]
pub(crate) struct Futex(AtomicU32);

impl Futex {
    /// Does `work` while no other thread does.
    #[inline]
    pub(crate) fn with(&self, work: impl FnOnce()) {
        self.lock();
        work();
        self.unlock();
    }

    #[inline]
    fn lock(&self) {
        let taken = self
            .0
            .compare_exchange(FREE, TAKEN, Ordering::Acquire, Ordering::Relaxed);
        if taken.is_err() {
            while self.0.swap(WANTED, Ordering::Acquire) != FREE {
                // It returns when woken, when the value was another one, or at a signal: the loop checks which it was.
                let _ = futex::wait(&self.0, futex::Flags::PRIVATE, WANTED, None);
            }
        }
    }

    #[inline]
    fn unlock(&self) {
        if self.0.swap(FREE, Ordering::Release) == WANTED {
            // It fails only for a bad address or flag.
            let _ = futex::wake(&self.0, futex::Flags::PRIVATE, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;
    use std::thread;

    #[test]
    fn one_thread_at_a_time() {
        let (futex, count) = (Futex::default(), AtomicU64::new(0));
        // Reading and writing in two steps loses counts where two threads do it at once.
        let add = || {
            let seen = count.load(Ordering::Relaxed);
            thread::yield_now();
            count.store(seen + 1, Ordering::Relaxed);
        };
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1_000).for_each(|_| futex.with(add)));
            }
        });
        assert_eq!(count.into_inner(), 4_000);
    }
}
