//! What is known of one replica, shared by all who read from it, by its heartbeat and by the trial.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use plimsoll_core::replication::ReplicationInterval;
use plimsoll_engine::ReplicaTally;

use super::beats::{BEAT, Beats};

/// No beat has been seen.
const UNKNOWN: u64 = u64::MAX;

/// When the source has had no beat for so long, nobody knows how far a replica is behind that shows the last one.
const SILENCE_NS: u64 = 2_000_000_000;

const BEAT_NS: u64 = BEAT.as_nanos() as u64;

/// One replica. All numbers count by themselves: nobody needs two of them from the same instant.
pub(crate) struct Replica {
    beats: Arc<Beats>,
    is_up: AtomicBool,
    /// Reads that run there.
    outstanding: AtomicU32,
    /// When the newest beat began that it shows.
    shown_ns: AtomicU64,
    /// How long that took to get here.
    lag_ns: AtomicU64,
    /// The longest since the last interval.
    lag_max_ns: AtomicU64,
    reads: AtomicU64,
    stale: AtomicU64,
    waits: AtomicU64,
    wait_ns: AtomicU64,
    wait_timeouts: AtomicU64,
}

impl Replica {
    /// One that can be reached, as far as anybody knows.
    pub(crate) fn new(beats: &Arc<Beats>) -> Self {
        Self {
            beats: Arc::clone(beats),
            is_up: AtomicBool::new(true),
            outstanding: AtomicU32::new(0),
            shown_ns: AtomicU64::new(0),
            lag_ns: AtomicU64::new(UNKNOWN),
            lag_max_ns: AtomicU64::new(0),
            reads: AtomicU64::new(0),
            stale: AtomicU64::new(0),
            waits: AtomicU64::new(0),
            wait_ns: AtomicU64::new(0),
            wait_timeouts: AtomicU64::new(0),
        }
    }

    pub(crate) fn is_up(&self) -> bool {
        self.is_up.load(Ordering::Relaxed)
    }

    pub(crate) fn set_up(&self, is_up: bool) {
        self.is_up.store(is_up, Ordering::Relaxed);
    }

    pub(crate) fn outstanding(&self) -> u32 {
        self.outstanding.load(Ordering::Relaxed)
    }

    pub(crate) fn begin_read(&self) {
        self.outstanding.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn end_read(&self) {
        self.outstanding.fetch_sub(1, Ordering::Relaxed);
    }

    /// Counts a read by a connection that last wrote at `written_ns`, 0 for never. It may miss that write when it comes
    /// within the replica's lag.
    pub(crate) fn count_read(&self, written_ns: u64, clock: impl FnOnce() -> u64) {
        self.reads.fetch_add(1, Ordering::Relaxed);
        if written_ns > 0 {
            let now_ns = clock();
            if self.lag_at(now_ns).is_some_and(|lag_ns| now_ns < written_ns + lag_ns) {
                self.stale.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    pub(crate) fn count_wait(&self, wait_ns: u64, is_over_time: bool) {
        self.waits.fetch_add(1, Ordering::Relaxed);
        self.wait_ns.fetch_add(wait_ns, Ordering::Relaxed);
        self.wait_timeouts.fetch_add(u64::from(is_over_time), Ordering::Relaxed);
    }

    /// Whether it certainly has what was written up to then: a beat that began later is there.
    pub(crate) fn has(&self, written_ns: u64) -> bool {
        self.shown_ns.load(Ordering::Acquire) > written_ns
    }

    /// When the newest beat began that it shows.
    pub(crate) fn shown_ns(&self) -> u64 {
        self.shown_ns.load(Ordering::Acquire)
    }

    /// It was seen at `now_ns` to show the beat that began at `begin_ns`.
    pub(crate) fn shows(&self, begin_ns: u64, now_ns: u64) {
        if begin_ns > self.shown_ns() {
            let lag_ns = now_ns.saturating_sub(begin_ns);
            self.lag_ns.store(lag_ns, Ordering::Relaxed);
            self.lag_max_ns.fetch_max(lag_ns, Ordering::Relaxed);
            self.shown_ns.store(begin_ns, Ordering::Release);
        }
    }

    /// How far it is behind: what the last beat took, or longer while the next one is overdue. `None` before any.
    fn lag_at(&self, now_ns: u64) -> Option<u64> {
        let (newest_ns, shown_ns, last_ns) = (
            self.beats.newest_ns(),
            self.shown_ns(),
            self.lag_ns.load(Ordering::Relaxed),
        );
        let known_ns = (last_ns != UNKNOWN).then_some(last_ns);
        if newest_ns <= shown_ns {
            return known_ns;
        }
        let due_ns = if shown_ns == 0 {
            self.beats.first_ns()
        } else {
            shown_ns + BEAT_NS
        };
        Some(known_ns.unwrap_or(0).max(now_ns.saturating_sub(due_ns)))
    }

    /// The largest lag since the last call and the lag now; `None` where nobody knows.
    fn take_lag(&self, now_ns: u64) -> (Option<u64>, Option<u64>) {
        let largest_ns = self.lag_max_ns.swap(0, Ordering::Relaxed);
        let newest_ns = self.beats.newest_ns();
        let is_silent = newest_ns <= self.shown_ns() && now_ns > newest_ns + SILENCE_NS;
        if !self.beats.are_own() {
            return (None, None);
        }
        let seen = (largest_ns > 0).then_some(largest_ns);
        let now = self.lag_at(now_ns).filter(|_| !is_silent);
        (seen.max(now), now)
    }
}

impl ReplicaTally for Replica {
    fn take(&self) -> ReplicationInterval {
        let taken = |count: &AtomicU64| count.swap(0, Ordering::Relaxed);
        let (lag_ns, lag_end_ns) = self.take_lag(self.beats.clock().monotonic_ns());
        ReplicationInterval {
            lag_ns,
            lag_end_ns,
            reads_count: taken(&self.reads),
            stale_count: taken(&self.stale),
            waits_count: taken(&self.waits),
            wait_ns: taken(&self.wait_ns),
            wait_timeouts_count: taken(&self.wait_timeouts),
        }
    }
}

/// Between two looks at a replica that does not show the newest beat yet.
pub(crate) fn look_again(count: u32) -> Duration {
    Duration::from_millis(1 << count.min(4))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{Clock, MachineClock};

    const S: u64 = 1_000_000_000;

    fn beats() -> Arc<Beats> {
        let clock: Arc<dyn Clock> = Arc::new(MachineClock);
        Arc::new(Beats::new(&clock))
    }

    fn replica() -> (Arc<Beats>, Replica) {
        let beats = beats();
        beats.own();
        let replica = Replica::new(&beats);
        (beats, replica)
    }

    #[test]
    fn lag_is_what_a_beat_took_and_grows_while_the_next_is_overdue() {
        let (beats, replica) = replica();
        assert_eq!(replica.take_lag(S), (None, None), "no beat, no lag");
        beats.add(1, S);
        replica.shows(S, S + 7);
        assert_eq!(replica.take_lag(S + 10), (Some(7), Some(7)));
        beats.add(2, S + BEAT_NS);
        for seconds in [2, 3, 4] {
            let (largest, end) = replica.take_lag(S + seconds * S);
            assert_eq!((largest, end), (Some(seconds * S - BEAT_NS), largest));
        }
        replica.shows(S + BEAT_NS, 5 * S);
        assert_eq!(replica.lag_at(5 * S), Some(4 * S - BEAT_NS), "what that beat took");
    }

    #[test]
    fn a_replica_that_never_showed_a_beat_is_behind_since_the_first() {
        let (beats, replica) = replica();
        beats.add(1, S);
        beats.add(2, 2 * S);
        assert_eq!(replica.take_lag(4 * S).1, Some(3 * S));
    }

    #[test]
    fn without_beats_nobody_knows() {
        let (beats, replica) = replica();
        beats.add(1, S);
        replica.shows(S, S + 7);
        assert_eq!(
            replica.take_lag(S + SILENCE_NS + 1),
            (Some(7), None),
            "the source is gone"
        );
        assert_eq!(replica.take_lag(S + SILENCE_NS + 2), (None, None));
    }

    #[test]
    fn a_read_within_the_lag_after_a_write_may_be_stale() {
        let (beats, replica) = replica();
        beats.add(1, S);
        replica.shows(S, S + 100);
        replica.count_read(0, || unreachable!("it never wrote"));
        replica.count_read(2 * S - 50, || 2 * S);
        replica.count_read(2 * S - 150, || 2 * S);
        let taken = replica.take();
        assert_eq!((taken.reads_count, taken.stale_count), (3, 1));
        assert!(replica.has(S - 1) && !replica.has(S));
    }

    #[test]
    fn beats_are_found_by_their_number_or_the_one_before() {
        let beats = beats();
        (10..20).for_each(|number| beats.add(2 * number, number));
        assert_eq!(
            [20, 21, 38, 99].map(|number| beats.begin_ns(number)),
            [Some(10), Some(10), Some(19), Some(19)]
        );
        assert_eq!((beats.begin_ns(19), beats.first_ns()), (None, 10));
    }
}
