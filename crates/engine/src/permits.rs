//! How many connections are opened at the same time.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use plimsoll_core::lock::lock;

/// Connections that are logging in at the same time. More would overflow a server's queue of those it has not accepted
/// yet, and wait there until they time out.
pub(crate) const CONNECTING_MAX: usize = 128;

/// So many may connect at the same time, until the end comes.
#[derive(Default)]
pub(crate) struct Permits {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    taken: usize,
    is_over: bool,
}

/// Leave to connect, given back when dropped.
pub(crate) struct Permit<'p>(&'p Permits);

impl Permits {
    /// Waits for leave to connect; `None` when the end comes first.
    pub(crate) fn take(&self) -> Option<Permit<'_>> {
        let is_full = |state: &mut State| state.taken >= CONNECTING_MAX && !state.is_over;
        let mut state = self
            .changed
            .wait_while(self.lock(), is_full)
            .unwrap_or_else(PoisonError::into_inner);
        if state.is_over {
            return None;
        }
        state.taken += 1;
        Some(Permit(self))
    }

    /// Gives no more of them.
    pub(crate) fn end(&self) {
        self.lock().is_over = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.0.lock().taken -= 1;
        self.0.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    /// Whoever got one keeps it until all have, so that each that is given back lets exactly one more in.
    #[test]
    fn no_more_than_the_bound_connect_at_a_time_and_all_get_their_turn() {
        const WAITING: usize = 64;
        let (permits, come) = (Permits::default(), AtomicUsize::new(0));
        let mut held: Vec<_> = (0..CONNECTING_MAX).map(|_| permits.take().unwrap()).collect();
        thread::scope(|scope| {
            for _ in 0..WAITING {
                scope.spawn(|| {
                    let _permit = permits.take().expect("it is not over");
                    come.fetch_add(1, Ordering::SeqCst);
                    while come.load(Ordering::SeqCst) < WAITING {
                        thread::yield_now();
                    }
                });
            }
            for given_back in 1..=WAITING {
                drop(held.pop());
                while come.load(Ordering::SeqCst) < given_back {
                    thread::yield_now();
                }
                assert_eq!(come.load(Ordering::SeqCst), given_back);
            }
        });
        assert_eq!(come.load(Ordering::SeqCst), WAITING);
    }

    #[test]
    fn the_end_wakes_all_who_wait() {
        let permits = Permits::default();
        let held: Vec<_> = (0..CONNECTING_MAX).map(|_| permits.take().unwrap()).collect();
        thread::scope(|scope| {
            let waiting: Vec<_> = (0..4).map(|_| scope.spawn(|| permits.take().is_none())).collect();
            permits.end();
            assert!(waiting.into_iter().all(|one| one.join().unwrap()));
        });
        drop(held);
        assert!(permits.take().is_none());
    }
}
