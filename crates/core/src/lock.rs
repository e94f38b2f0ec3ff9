//! Taking a lock. A panic of the thread that held it is reported elsewhere, and what a lock guards is consistent after each step.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Takes the lock, also where a thread panicked while it held it.
#[inline]
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
