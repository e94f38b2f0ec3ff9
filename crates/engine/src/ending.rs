//! The end of a trial, as workers see it who sleep until a transaction is due.

use std::sync::atomic::Ordering;

use crate::clock::TrialClock;
use crate::word::Word;

const COME: u32 = 1;

/// Whether the end has come.
#[derive(Default)]
pub(crate) struct Ending(Word);

impl Ending {
    #[inline]
    pub(crate) fn has_come(&self) -> bool {
        self.0.load(Ordering::Relaxed) == COME
    }

    /// It has come: wakes all who sleep.
    pub(crate) fn come(&self) {
        self.0.store(COME, Ordering::Relaxed);
    }

    /// Sleeps until the clock shows `at_ns`, or the end comes. Returns whether the time was reached. One wait in the
    /// kernel however long it is: ten thousand connections that think cost nothing while they do.
    pub(crate) fn sleep_until(&self, clock: TrialClock, at_ns: u64) -> bool {
        while clock.is_before(at_ns) {
            if self.has_come() {
                return false;
            }
            self.0.sleep(0, Some(clock.monotonic_at(at_ns)));
        }
        true
    }
}
