//! Bytes on their way in one direction: taken out in their order, each a fixed time after it was put in.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use plimsoll_core::lock::lock;

/// Bytes on their way at most, beyond which no more are taken in, as a network's window would do. It allows 100 MB/s up to a
/// delay of 0.6 s.
const BYTES_MAX: usize = 64 << 20;

/// One direction of a link.
#[derive(Debug)]
pub(crate) struct DelayLine {
    delay: Duration,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    pieces: VecDeque<Piece>,
    bytes: usize,
    /// Nobody takes anything out any more.
    is_broken: bool,
}

#[derive(Debug)]
struct Piece {
    due: Instant,
    /// Empty: no more follows.
    bytes: Vec<u8>,
}

impl DelayLine {
    /// An empty one.
    pub(crate) fn new(delay: Duration) -> Self {
        Self {
            delay,
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// Takes in what just came; none at all means that no more follows. Waits while too much is on its way. False where
    /// nobody takes anything out any more.
    pub(crate) fn put(&self, bytes: &[u8]) -> bool {
        let due = Instant::now() + self.delay;
        let mut state = self.state();
        while state.bytes >= BYTES_MAX && !state.is_broken {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.is_broken {
            return false;
        }
        state.bytes += bytes.len();
        let bytes = bytes.to_vec();
        state.pieces.push_back(Piece { due, bytes });
        self.changed.notify_all();
        true
    }

    /// The next piece, once it is due; `None` where no more follows.
    pub(crate) fn take(&self) -> Option<Vec<u8>> {
        let mut state = self.state();
        let piece = loop {
            if let Some(piece) = state.pieces.pop_front() {
                break piece;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        };
        state.bytes -= piece.bytes.len();
        self.changed.notify_all();
        drop(state);
        thread::sleep(piece.due.saturating_duration_since(Instant::now()));
        Some(piece.bytes).filter(|bytes| !bytes.is_empty())
    }

    /// Says that nobody will take anything out any more.
    pub(crate) fn break_off(&self) {
        self.state().is_broken = true;
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}
