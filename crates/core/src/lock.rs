//! The lock that all use: a panic of whoever held it is told elsewhere, and what it guards is whole at each step.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Takes the lock, also where a thread panicked while it held it.
#[inline]
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
