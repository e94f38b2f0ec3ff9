//! One connection of a script: opening, closing, opening again, and what it shows of itself.

use std::ffi::CString;
use std::ptr::null;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::Duration;

use plimsoll_core::plan::Endpoint;
use plimsoll_session::{MachineClock, retry_login};
use plimsoll_wire::{ConnectOptions, Connection as Wire, Connector, Results, WireError};

use super::bulk::Bulk;
use super::failure::{Failure, NETWORK_TIMEOUT};
use super::rows::Rows;
use super::{ConnectionFace, RowFace, Verdict};
use crate::log::Level;
use crate::lua::fixed::Fixed;
use crate::lua::memory;
use crate::lua::slab::Faced;
use crate::lua::thread_context::ThreadContext;

/// So many bytes of rows a statement may have in any case.
const RESULT_BYTES: usize = 64 * 1024 * 1024;

/// How long after a failed attempt to connect the next one follows.
const AGAIN: Duration = Duration::from_millis(1);

/// A connection, open or closed.
pub struct Connection {
    pub(super) face: Fixed<ConnectionFace>,
    /// Texts that the face points to.
    texts: (CString, CString),
    target: Option<Arc<Connector>>,
    pub(super) wire: Option<Wire>,
    /// Unique in the process, new with each connection to a server.
    pub(super) number: u64,
    pub(super) is_dry: bool,
    is_open: bool,
    pub(super) results: Results,
    pub(super) rows: Rows,
    pub(super) bulk: Option<Bulk>,
}

impl Default for Connection {
    fn default() -> Self {
        Self {
            face: Fixed::default(),
            texts: Default::default(),
            target: None,
            wire: None,
            number: 0,
            is_dry: false,
            is_open: false,
            results: Results::new(0),
            rows: Rows::default(),
            bulk: None,
        }
    }
}

impl Faced for Connection {
    type Face = ConnectionFace;

    fn face(&self) -> *mut ConnectionFace {
        self.face.pointer()
    }
}

impl Connection {
    /// Connects to the server whose turn it is. False when that failed, which was said.
    pub fn open(&mut self, thread: &ThreadContext, driver: *const std::ffi::c_void) -> bool {
        let config = &thread.shared.config;
        self.face.set(ConnectionFace {
            driver,
            ..ConnectionFace::default()
        });
        self.is_dry = config.is_dry;
        self.results = Results::new(result_bytes_max(config.threads));
        self.bulk = None;
        let target = config.targets.next();
        if !self.is_dry {
            if let Err(error) = retry_login(&MachineClock, || self.connect(thread, &target)) {
                return say_unable(thread, &target.target().endpoint, &error);
            }
        }
        thread.shared.has_connected.store(true, Ordering::Relaxed);
        self.target = Some(target);
        self.is_open = true;
        true
    }

    fn connect(&mut self, thread: &ThreadContext, target: &Connector) -> Result<(), WireError> {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        let options = ConnectOptions {
            multi_statements: true,
            network_timeout: NETWORK_TIMEOUT,
            ..ConnectOptions::default()
        };
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        match target.open(&options, &thread.cuts.attach(number)) {
            Ok(wire) => {
                (self.number, self.wire) = (number, Some(wire));
                Ok(())
            }
            Err(error) => {
                thread.cuts.detach(number);
                Err(error)
            }
        }
    }

    /// Closes it for good.
    pub fn close(&mut self, thread: &ThreadContext) {
        self.hang_up(thread);
        self.results = Results::new(0);
        self.rows = Rows::default();
        self.face.set(ConnectionFace {
            driver: self.face.get().driver,
            ..ConnectionFace::default()
        });
        self.bulk = None;
        self.is_open = false;
    }

    fn hang_up(&mut self, thread: &ThreadContext) {
        self.free_result();
        if let Some(wire) = self.wire.take() {
            thread.cuts.detach(self.number);
            wire.close();
        }
        self.number = 0;
    }

    /// Whether it was not closed.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// Whether it can be used; says so where it cannot.
    pub fn check_open(&mut self, thread: &ThreadContext) -> bool {
        self.verdict(Verdict::None);
        if !self.is_open {
            thread.log(Level::Alert, "attempt to use an already closed connection");
            self.verdict(Verdict::Fatal);
        }
        self.is_open
    }

    /// Connects to the same server again because the script wants it.
    pub fn reconnect(&mut self, thread: &ThreadContext) -> bool {
        if !self.check_open(thread) {
            return false;
        }
        thread.shared.reconnects_count.fetch_add(1, Ordering::Relaxed);
        self.is_dry || self.connect_again(thread)
    }

    /// Tries until it is connected. False when the run is over before.
    pub(super) fn connect_again(&mut self, thread: &ThreadContext) -> bool {
        self.hang_up(thread);
        let target = self.target.clone().expect("it was open, so it has a target");
        while let Some(outcome) = thread.connecting(|| self.connect(thread, &target)) {
            if outcome.is_ok() {
                return true;
            }
            if thread.is_ending() {
                break;
            }
            sleep(AGAIN);
        }
        thread.give_up();
        false
    }

    /// Makes the first result the live one. False when it is no result set.
    pub(super) fn show_first(&mut self) -> bool {
        self.show(0)
    }

    /// Makes a result the live one. False when it is no result set.
    pub(super) fn show(&mut self, index: usize) -> bool {
        let result = self.rows.show(self.results.sets(), index);
        let row = RowFace { values: null() };
        self.face.set(ConnectionFace {
            result,
            row,
            ..self.face.get()
        });
        self.rows.is_live()
    }

    /// Forgets the results. False when there was none.
    pub fn free_result(&mut self) -> bool {
        if !self.rows.end() {
            return false;
        }
        self.results.clear();
        self.show(0);
        true
    }

    pub(super) fn verdict(&mut self, verdict: Verdict) {
        let face = self.face.get();
        if (face.error, face.sql_errno) != (verdict as i32, 0) {
            self.face.set(ConnectionFace {
                error: verdict as i32,
                sql_errno: 0,
                ..face
            });
        }
    }

    /// Shows an error to the script.
    pub(super) fn show_error(&mut self, verdict: Verdict, failure: &Failure) {
        let text = |text: &str| CString::new(text.replace('\0', " ")).expect("there is no zero byte left");
        self.texts = (text(&failure.state), text(&failure.message));
        self.face.set(ConnectionFace {
            error: verdict as i32,
            sql_errno: i32::from(failure.code),
            sql_state: self.texts.0.as_ptr(),
            sql_errmsg: self.texts.1.as_ptr(),
            ..self.face.get()
        });
    }
}

/// How many bytes the rows of one statement may have: a share of what is left for each thread, and what fits everywhere.
fn result_bytes_max(threads: u32) -> usize {
    let left = memory::left_bytes();
    (left / threads.max(1) as usize).max(RESULT_BYTES).min(left)
}

fn say_unable(thread: &ThreadContext, endpoint: &Endpoint, error: &WireError) -> bool {
    let place = match endpoint {
        Endpoint::Tcp { host, port } => format!("host '{host}', port {port}"),
        Endpoint::Socket { path } => format!("socket '{}'", path.display()),
    };
    thread.log(
        Level::Fatal,
        format_args!("unable to connect to MySQL server on {place}, aborting..."),
    );
    let failure = Failure::from(error);
    thread.log(
        Level::Fatal,
        format_args!("error {}: {}", failure.code, failure.message),
    );
    false
}
