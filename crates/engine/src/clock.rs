//! The one monotonic clock of a trial, counted from its start.

use std::num::NonZeroU64;

use rustix::thread::set_current_timer_slack;
use rustix::time::{ClockId, Timespec, clock_gettime};

const NS_PER_S: u64 = 1_000_000_000;

/// Nanoseconds since trial start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrialClock {
    origin_ns: u64,
}

impl TrialClock {
    /// A clock that shows 0 when the monotonic clock shows `origin_ns`, which may lie ahead.
    pub(crate) fn starting_at(origin_ns: u64) -> Self {
        Self { origin_ns }
    }

    /// Nanoseconds since trial start; 0 before it.
    pub(crate) fn now_ns(self) -> u64 {
        monotonic_ns().saturating_sub(self.origin_ns)
    }

    /// Whether the clock does not show `at_ns` yet.
    pub(crate) fn is_before(self, at_ns: u64) -> bool {
        monotonic_ns() < self.monotonic_at(at_ns)
    }

    /// What the monotonic clock shows when this one shows `at_ns`.
    pub(crate) fn monotonic_at(self, at_ns: u64) -> u64 {
        self.origin_ns.saturating_add(at_ns)
    }
}

/// The machine's monotonic clock, nanoseconds.
pub fn monotonic_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

/// The wall clock, nanoseconds since 1970.
pub fn unix_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::Realtime))
}

/// The monotonic and the wall clock at the same instant: the closest of a few pairs of readings, since a thread may lose
/// its processor between two.
pub fn both_clocks_ns() -> (u64, u64) {
    let pair = || {
        let before_ns = monotonic_ns();
        let unix_ns = unix_ns();
        let after_ns = monotonic_ns();
        (after_ns - before_ns, before_ns + (after_ns - before_ns) / 2, unix_ns)
    };
    let closest = (0..5).map(|_| pair()).min().expect("there are five");
    (closest.1, closest.2)
}

/// Lets timed waits of this thread, and of threads it starts from now on, end as exactly as the machine can: the
/// kernel's default is to delay them by up to 50 us. Where the kernel refuses, waits are less exact and nothing else.
pub(crate) fn sharpen_timers() {
    let _ = set_current_timer_slack(NonZeroU64::new(1));
}

fn nanoseconds(time: Timespec) -> u64 {
    time.tv_sec as u64 * NS_PER_S + time.tv_nsec as u64
}

/// As system calls take it.
#[allow(clippy::cast_possible_wrap)] // 2^63 seconds are far away
pub(crate) fn timespec(ns: u64) -> Timespec {
    Timespec {
        tv_sec: (ns / NS_PER_S) as i64,
        tv_nsec: (ns % NS_PER_S) as i64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_stands_at_zero_until_its_origin() {
        let clock = TrialClock::starting_at(monotonic_ns() + 1_000_000_000);
        assert_eq!(clock.now_ns(), 0);
        let clock = TrialClock::starting_at(monotonic_ns() - 5);
        assert!(clock.now_ns() >= 5);
    }
}
