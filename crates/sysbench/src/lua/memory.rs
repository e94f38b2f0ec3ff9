//! Memory of all Lua states of the process together, counted and limited: a script that runs away gets "not enough
//! memory" from the interpreter, and not the kernel's killer.
//!
//! Each thread counts for itself and settles with the common account in steps, so that threads do not wait for each
//! other.

use std::cell::Cell;
use std::sync::atomic::{AtomicIsize, Ordering};

/// Bytes that all states together hold, but for what threads have not settled yet.
pub(super) static USED_BYTES: AtomicIsize = AtomicIsize::new(0);
/// 0 for none.
static LIMIT_BYTES: AtomicIsize = AtomicIsize::new(0);
/// A thread settles when it took or gave so many bytes.
const STEP_BYTES: isize = 64 * 1024;

thread_local! {
    static UNSETTLED_BYTES: Cell<isize> = const { Cell::new(0) };
}

/// Sets the limit: half of the machine's memory, unless one was set before.
pub fn limit_to_half_of_machine() {
    let half = machine_bytes() / 2;
    let _ = LIMIT_BYTES.compare_exchange(0, half, Ordering::Relaxed, Ordering::Relaxed); // the first one holds
}

/// Sets the limit.
#[doc(hidden)]
pub fn set_limit(bytes: usize) {
    LIMIT_BYTES.store(isize::try_from(bytes).unwrap_or(isize::MAX), Ordering::Relaxed);
}

/// What is left under the limit, bytes.
pub fn left_bytes() -> usize {
    let left = LIMIT_BYTES.load(Ordering::Relaxed) - USED_BYTES.load(Ordering::Relaxed);
    left.max(0) as usize
}

/// Memory of ours that a script asked for, counted as if its state had it.
#[derive(Debug, Default)]
pub struct Reserved(isize);

impl Reserved {
    /// So many bytes; `None` where they are not left.
    pub fn new(bytes: usize) -> Option<Self> {
        let bytes = isize::try_from(bytes).ok()?;
        take(bytes).then(|| Self(bytes)) // not made where it was refused: dropping it gives back
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        take(-self.0);
    }
}

/// Settles what this thread counted for itself.
pub fn settle() {
    USED_BYTES.fetch_add(UNSETTLED_BYTES.take(), Ordering::Relaxed);
}

fn machine_bytes() -> isize {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kilobytes = total.and_then(|rest| rest.trim().split(' ').next()?.parse::<isize>().ok());
    kilobytes.map_or(isize::MAX, |kilobytes| kilobytes.saturating_mul(1024))
}

/// Whether so many bytes more may be taken; they are counted then.
pub(super) fn take(bytes: isize) -> bool {
    let unsettled = UNSETTLED_BYTES.get() + bytes;
    if unsettled.abs() < STEP_BYTES {
        UNSETTLED_BYTES.set(unsettled);
        return true;
    }
    let used = USED_BYTES.fetch_add(unsettled, Ordering::Relaxed) + unsettled;
    let limit = LIMIT_BYTES.load(Ordering::Relaxed);
    if bytes > 0 && limit > 0 && used > limit {
        USED_BYTES.fetch_sub(bytes, Ordering::Relaxed);
        UNSETTLED_BYTES.set(0);
        return false;
    }
    UNSETTLED_BYTES.set(0);
    true
}
