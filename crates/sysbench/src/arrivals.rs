//! When events are wanted: as fast as they go, or at a rate; at most so many, from the end of the warm-up on.

use std::sync::atomic::{AtomicU64, Ordering};

use plimsoll_core::plan::{ArrivalProcess, RateStepPlan};
use plimsoll_engine::{Arrivals, Backlog, Claim, ClosedLoop, OpenLoop, OpenLoopOptions};

/// So many events may wait for a thread; what falls due beyond is given up, and said.
const BACKLOG_MAX: u64 = 10_000_000;

const NS_PER_S: u64 = 1_000_000_000;

/// The arrivals of a run.
pub struct Wanted {
    inner: Box<dyn Arrivals>,
    events_max: Option<u64>,
    counted_from_ns: u64,
    claimed_count: AtomicU64,
}

impl Wanted {
    /// Events for so many threads, at a rate per second or none; `events_max` of them after `warm_up_s`.
    pub fn new(threads: u32, rate: Option<u64>, events_max: Option<u64>, warm_up_s: u64, seed: u64) -> Self {
        let inner: Box<dyn Arrivals> = match rate {
            None => Box::new(ClosedLoop::new(threads, None)),
            Some(rate) => Box::new(OpenLoop::new(&OpenLoopOptions {
                process: ArrivalProcess::Poisson,
                steps: vec![RateStepPlan {
                    duration_ms: 1_000,
                    from_tps: rate as f64,
                    to_tps: rate as f64,
                }],
                backlog_max: BACKLOG_MAX,
                seed,
            })),
        };
        Self {
            inner,
            events_max,
            counted_from_ns: warm_up_s * NS_PER_S,
            claimed_count: AtomicU64::new(0),
        }
    }
}

impl Arrivals for Wanted {
    fn claim(&self, worker: u32, now_ns: u64) -> Claim {
        match self.events_max {
            Some(max)
                if now_ns >= self.counted_from_ns && self.claimed_count.fetch_add(1, Ordering::Relaxed) >= max =>
            {
                Claim::End
            }
            _ => self.inner.claim(worker, now_ns),
        }
    }

    fn backlog(&self, now_ns: u64, waiting: &mut dyn FnMut(u64)) -> Backlog {
        self.inner.backlog(now_ns, waiting)
    }

    fn close(&self, now_ns: u64) {
        self.inner.close(now_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_counts_from_the_end_of_the_warm_up() {
        let wanted = Wanted::new(1, None, Some(2), 1, 7);
        let runs = |now_ns| wanted.claim(0, now_ns) != Claim::End;
        assert!((0..5).all(|_| runs(0)));
        assert_eq!([runs(NS_PER_S), runs(NS_PER_S), runs(NS_PER_S)], [true, true, false]);
    }
}
