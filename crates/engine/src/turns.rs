//! Sides that take turns: whose workers may claim arrivals, and whether all workers of a side wait.
//!
//! A worker counts as busy from the claim of a transaction until it asks for the next one, so that whatever it does to its
//! connection in between is over when its side is idle. Deliberately not here: when a turn ends (`trial::turn_taking`).

use std::sync::atomic::Ordering;

use crate::word::{AtomicU32, Word};

const OFF: u32 = 0;
const ON: u32 = 1;
const OVER: u32 = 2;

/// The sides of a trial; none where nobody takes turns.
#[derive(Default)]
pub(crate) struct Turns(Box<[Side]>);

#[derive(Default)]
#[repr(align(128))]
struct Side {
    /// `OFF`, `ON` or `OVER`. Workers sleep on it.
    state: Word,
    busy_count: AtomicU32,
}

impl Turns {
    /// So many sides, none of which has its turn.
    pub(crate) fn new(side_count: usize) -> Self {
        Self((0..side_count).map(|_| Side::default()).collect())
    }

    /// Called by a worker that wants to be busy: waits for the turn of its side. False when there will be none.
    ///
    /// It counts as busy before it looks at the state, and the leader takes the state away before it looks at the count:
    /// with sequentially consistent order one of the two sees the other, so nobody starts behind the leader's back.
    pub(crate) fn enter(&self, side: u32, idle: impl Fn()) -> bool {
        let own = &self.0[side as usize];
        loop {
            own.busy_count.fetch_add(1, Ordering::SeqCst);
            match own.state.load(Ordering::SeqCst) {
                ON => return true,
                OVER => {
                    self.leave(side, idle);
                    return false;
                }
                _ => self.leave(side, &idle),
            }
            own.state.sleep(OFF, None);
        }
    }

    /// Called by a worker that is busy no more; `idle` is told when it was the last one after the end of the turn.
    pub(crate) fn leave(&self, side: u32, idle: impl Fn()) {
        let own = &self.0[side as usize];
        let was_last = own.busy_count.fetch_sub(1, Ordering::SeqCst) == 1;
        if was_last && own.state.load(Ordering::SeqCst) != ON {
            idle();
        }
    }

    /// Whether the workers of a side may claim arrivals.
    pub(crate) fn is_on(&self, side: u32) -> bool {
        self.0[side as usize].state.load(Ordering::Relaxed) == ON
    }

    /// Whether all workers of a side wait.
    pub(crate) fn is_idle(&self, side: u32) -> bool {
        self.0[side as usize].busy_count.load(Ordering::SeqCst) == 0
    }

    /// Lets the workers of a side claim arrivals. What is over stays over.
    pub(crate) fn begin(&self, side: u32) {
        self.0[side as usize].state.change(OFF, ON, Ordering::SeqCst);
    }

    /// Lets them claim no more of them.
    pub(crate) fn pause(&self, side: u32) {
        self.0[side as usize].state.change(ON, OFF, Ordering::SeqCst);
    }

    /// Sends home who waits, for good.
    pub(crate) fn end(&self) {
        for side in &self.0 {
            side.state.store(OVER, Ordering::SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;
    use std::thread;

    /// Workers of two sides work as fast as they can while turns change two thousand times: whenever a side is idle after its
    /// turn, none of its workers works.
    #[test]
    fn nobody_works_once_a_side_is_idle() {
        let turns = Turns::new(2);
        let working = [AtomicU32::new(0), AtomicU32::new(0)];
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            for side in [0_u32, 0, 1, 1] {
                let (turns, working, stop) = (&turns, &working, &stop);
                scope.spawn(move || {
                    while !stop.load(Ordering::Relaxed) && turns.enter(side, || {}) {
                        working[side as usize].fetch_add(1, Ordering::SeqCst);
                        working[side as usize].fetch_sub(1, Ordering::SeqCst);
                        turns.leave(side, || {});
                    }
                });
            }
            for turn in 0..2_000 {
                let side = turn % 2;
                turns.begin(side);
                thread::yield_now();
                turns.pause(side);
                while !turns.is_idle(side) {
                    thread::yield_now();
                }
                assert_eq!(working[side as usize].load(Ordering::SeqCst), 0, "turn {turn}");
            }
            stop.store(true, Ordering::Relaxed);
            turns.end();
        });
    }

    #[test]
    fn the_end_sends_all_home_and_no_turn_begins_after_it() {
        let turns = Turns::new(1);
        thread::scope(|scope| {
            let waiting: Vec<_> = (0..4).map(|_| scope.spawn(|| turns.enter(0, || {}))).collect();
            turns.end();
            assert!(waiting.into_iter().all(|one| !one.join().unwrap()));
        });
        turns.begin(0);
        assert!(!turns.is_on(0) && !turns.enter(0, || {}) && turns.is_idle(0));
    }
}
