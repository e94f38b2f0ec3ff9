//! Ends a connection from another thread, from the lookup of the host's name to its last reply; and tells such a thread
//! whether the connection waits.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use plimsoll_core::lock::lock;

use crate::error::ConnectFailure;
use crate::socket::Socket;

/// What somebody who waits for addresses is told.
#[derive(Clone, Debug)]
pub enum Looked {
    Found(Vec<SocketAddr>),
    Unknown(String),
    Interrupted,
}

/// Ends a connection from another thread: whatever it waits for fails at once, also while it is being opened. One that is
/// given to several openings, one after the other, always means the last of them; once it was used, all further ones
/// fail. It does not keep the connection open.
#[derive(Clone, Debug, Default)]
pub struct Interrupter(pub(crate) Arc<Line>);

/// What a connection and those who look after it share.
#[derive(Debug, Default)]
pub(crate) struct Line {
    state: Mutex<State>,
    /// Counts begins and ends of waits for the server, so it is odd during one.
    waits: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    is_interrupted: bool,
    /// The connection was ended since it waited for too long.
    is_given_up: bool,
    waits_for: Waiting,
}

#[derive(Debug, Default)]
enum Waiting {
    #[default]
    Nothing,
    Name(Sender<Looked>),
    Socket(Weak<Socket>),
}

impl Interrupter {
    /// Shuts the connection's socket down. Does nothing when the connection is gone already.
    pub fn interrupt(&self) {
        let mut state = self.0.lock();
        state.is_interrupted = true;
        state.waits_for.end();
    }

    /// Whether it was used.
    pub fn is_interrupted(&self) -> bool {
        self.0.lock().is_interrupted
    }

    /// From now on `asker` is what is waited for.
    pub(crate) fn watch_name(&self, asker: &Sender<Looked>) -> Result<(), ConnectFailure> {
        self.watch(Waiting::Name(asker.clone()))
    }

    /// From now on `socket` is what is waited for.
    pub(crate) fn watch_socket(&self, socket: &Arc<Socket>) -> Result<(), ConnectFailure> {
        self.watch(Waiting::Socket(Arc::downgrade(socket)))
    }

    fn watch(&self, waits_for: Waiting) -> Result<(), ConnectFailure> {
        let mut state = self.0.lock();
        state.waits_for = waits_for;
        state.is_given_up = false;
        if state.is_interrupted {
            return Err(ConnectFailure::Interrupted);
        }
        Ok(())
    }
}

impl Line {
    /// A wait for the server begins.
    #[inline]
    pub(crate) fn begin_wait(&self) {
        self.step();
    }

    /// It is over.
    #[inline]
    pub(crate) fn end_wait(&self) {
        self.step();
    }

    /// Only the connection's own thread counts, so nothing is lost without a locked instruction.
    #[inline]
    fn step(&self) {
        self.waits
            .store(self.waits.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// The number of the wait that is under way, unlike that of any other; `None` between two.
    pub(crate) fn wait_number(&self) -> Option<u64> {
        let waits = self.waits.load(Ordering::Relaxed);
        (waits % 2 == 1).then_some(waits)
    }

    /// Ends the connection since it waited for too long.
    pub(crate) fn give_up(&self) {
        let mut state = self.lock();
        state.is_given_up = true;
        state.waits_for.end();
    }

    /// Whether it was ended for that.
    pub(crate) fn is_given_up(&self) -> bool {
        self.lock().is_given_up
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl Waiting {
    fn end(&self) {
        match self {
            Self::Nothing => {}
            // Whoever asked may have given up waiting.
            Self::Name(asker) => drop(asker.send(Looked::Interrupted)),
            // A socket that the other side has closed cannot be shut down, and need not be.
            Self::Socket(socket) => drop(socket.upgrade().map(|socket| socket.shutdown())),
        }
    }
}
