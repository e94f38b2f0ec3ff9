//! One connection of a script: opening, closing, opening again, and statements given as text.

use std::ffi::CString;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::Duration;

use plimsoll_core::plan::Endpoint;
use plimsoll_wire::{ConnectOptions, Connection as Wire, Connector, Results, WireError, patiently};

use super::bulk::Bulk;
use super::failure::Failure;
use super::result::Rows;
use super::{ConnectionFace, Verdict};
use crate::log::Level;
use crate::lua::host::Host;
use crate::lua::memory;
use crate::lua::slab::{Faced, Fixed};

/// So many bytes of rows a statement may have in any case.
const RESULT_BYTES: usize = 64 * 1024 * 1024;

/// A statement may have so many bytes: what servers take at most.
const STATEMENT_BYTES: usize = 1024 * 1024 * 1024;

/// How long the other machine may say nothing although it was asked. How long a statement takes is not limited.
pub(super) const NETWORK_TIMEOUT: Duration = Duration::from_secs(30);

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
    pub fn open(&mut self, host: &Host, driver: *const std::ffi::c_void) -> bool {
        let config = &host.shared.config;
        self.face.set(ConnectionFace {
            driver,
            ..ConnectionFace::default()
        });
        self.is_dry = config.is_dry;
        self.results = Results::new(result_bytes_max(config.threads));
        self.bulk = None;
        let target = config.targets.next();
        if !self.is_dry {
            if let Err(error) = patiently(|| self.connect(host, &target)) {
                return say_unable(host, &target.target().endpoint, &error);
            }
        }
        host.shared.has_connected.store(true, Ordering::Relaxed);
        self.target = Some(target);
        self.is_open = true;
        true
    }

    fn connect(&mut self, host: &Host, target: &Connector) -> Result<(), WireError> {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        let options = ConnectOptions {
            multi_statements: true,
            network_timeout: NETWORK_TIMEOUT,
            ..ConnectOptions::default()
        };
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        match target.open(&options, &host.cuts.attach(number)) {
            Ok(wire) => {
                (self.number, self.wire) = (number, Some(wire));
                Ok(())
            }
            Err(error) => {
                host.cuts.detach(number);
                Err(error)
            }
        }
    }

    /// Closes it for good.
    pub fn close(&mut self, host: &Host) {
        self.hang_up(host);
        self.results = Results::new(0);
        self.rows = Rows::default();
        self.face.set(ConnectionFace {
            driver: self.face.get().driver,
            ..ConnectionFace::default()
        });
        self.bulk = None;
        self.is_open = false;
    }

    fn hang_up(&mut self, host: &Host) {
        self.free_result();
        if let Some(wire) = self.wire.take() {
            host.cuts.detach(self.number);
            wire.close();
        }
        self.number = 0;
    }

    /// Whether it was not closed.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// Whether it can be used; says so where it cannot.
    pub fn check_open(&mut self, host: &Host) -> bool {
        self.verdict(Verdict::None);
        if !self.is_open {
            host.log(Level::Alert, "attempt to use an already closed connection");
            self.verdict(Verdict::Fatal);
        }
        self.is_open
    }

    /// Connects to the same server again because the script wants it.
    pub fn reconnect(&mut self, host: &Host) -> bool {
        if !self.check_open(host) {
            return false;
        }
        host.shared.reconnects_count.fetch_add(1, Ordering::Relaxed);
        self.is_dry || self.connect_again(host)
    }

    /// Tries until it is connected. False when the run is over before.
    pub(super) fn connect_again(&mut self, host: &Host) -> bool {
        self.hang_up(host);
        let target = self.target.clone().expect("it was open, so it has a target");
        while let Some(outcome) = host.connecting(|| self.connect(host, &target)) {
            if outcome.is_ok() {
                return true;
            }
            if host.is_ending() {
                break;
            }
            sleep(AGAIN);
        }
        host.give_up();
        false
    }

    /// Runs statements given as text. Whether the first of them gave a result set.
    pub fn query(&mut self, host: &Host, sql: &[u8]) -> bool {
        if !self.check_open(host) {
            return false;
        }
        self.query_as(host, "mysql_drv_query()", sql)
    }

    /// The same on a connection that was checked, by the name that a message about it has.
    pub(super) fn query_as(&mut self, host: &Host, what: &str, sql: &[u8]) -> bool {
        self.free_result();
        if self.is_dry {
            host.statement(plimsoll_engine::StatementResult::default());
            return false;
        }
        let outcome = match &mut self.wire {
            _ if sql.len() > STATEMENT_BYTES => Err(WireError::StatementTooLong { size_bytes: sql.len() }),
            Some(wire) => wire.query_whole(sql, &mut self.results),
            None => Err(closed()),
        };
        self.settle(host, outcome, what, sql)
    }

    /// Takes the outcome of a statement: counts it, and makes its first result the live one.
    pub(super) fn settle(&mut self, host: &Host, outcome: Result<(), WireError>, what: &str, sql: &[u8]) -> bool {
        self.count(host);
        match outcome {
            Ok(()) => self.show_first(),
            Err(error) => {
                self.results.clear();
                self.fail(host, &Failure::from(&error), what, sql);
                false
            }
        }
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

/// What stands in for a connection that is gone.
pub(super) fn closed() -> WireError {
    WireError::Closed {
        endpoint: "the server".to_owned(),
    }
}

fn say_unable(host: &Host, endpoint: &Endpoint, error: &WireError) -> bool {
    let place = match endpoint {
        Endpoint::Tcp { host, port } => format!("host '{host}', port {port}"),
        Endpoint::Socket { path } => format!("socket '{}'", path.display()),
    };
    host.log(
        Level::Fatal,
        format_args!("unable to connect to MySQL server on {place}, aborting..."),
    );
    let failure = Failure::from(error);
    host.log(
        Level::Fatal,
        format_args!("error {}: {}", failure.code, failure.message),
    );
    false
}
