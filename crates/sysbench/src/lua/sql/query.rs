//! Statements given as text, and what is done about errors of statements of both kinds: some are lived with, some mean a new
//! connection, the others end the run.

use std::time::Duration;

use plimsoll_engine::{Gate, ServerIndex, StatementResult};
use plimsoll_wire::{Cause, Reply, Sink, WireError};

use super::Verdict;
use super::connection::Connection;
use super::failure::Failure;
use crate::log::{Level, MESSAGE_BYTES_MAX};
use crate::lua::thread_context::ThreadContext;

/// A statement may have so many bytes: what servers take at most.
const STATEMENT_BYTES: usize = 1024 * 1024 * 1024;

impl Connection {
    /// Runs statements given as text. Whether the first of them gave a result set.
    pub fn query(&mut self, thread: &ThreadContext, sql: &[u8]) -> bool {
        if !self.check_open(thread) {
            return false;
        }
        self.query_as(thread, "mysql_drv_query()", sql)
    }

    /// The same on a connection that was checked, by the name that a message about it has.
    pub(super) fn query_as(&mut self, thread: &ThreadContext, what: &str, sql: &[u8]) -> bool {
        self.free_result();
        if self.is_dry {
            thread.statement(StatementResult::default());
            return false;
        }
        let outcome = match &mut self.wire {
            _ if sql.len() > STATEMENT_BYTES => Err(Cause::StatementTooLong { size_bytes: sql.len() }.into()),
            Some(wire) => wire.run(sql, &[], Sink::Whole(&mut self.results)),
            None => Err(closed()),
        };
        self.settle(thread, outcome, what, sql)
    }

    /// Takes the outcome of a statement: counts it, and makes its first result the live one.
    pub(super) fn settle(
        &mut self,
        thread: &ThreadContext,
        outcome: Result<Reply, WireError>,
        what: &str,
        sql: &[u8],
    ) -> bool {
        self.count(thread);
        match outcome {
            Ok(_) => self.show_first(),
            Err(error) => {
                self.results.clear();
                self.fail(thread, &Failure::from(&error), what, sql);
                false
            }
        }
    }

    /// Does what is to be done about an error, and shows it to the script.
    pub(super) fn fail(&mut self, thread: &ThreadContext, failure: &Failure, what: &str, sql: &[u8]) {
        if thread.is_cut_off() {
            return self.show_error(Verdict::Fatal, failure); // the run is over, nobody has to know
        }
        let Failure { code, message, .. } = failure;
        let shown = String::from_utf8_lossy(&sql[..sql.len().min(MESSAGE_BYTES_MAX)]); // the log cuts it to the letter
        let said = format!("{what} returned error {code} ({message}) for query '{shown}'");
        if !is_ignored(thread, *code) {
            thread.error(failure.class(), *code);
            thread.log(Level::Fatal, said);
            return self.show_error(Verdict::Fatal, failure);
        }
        thread.log(Level::Debug, said);
        thread.error(failure.class(), *code);
        if failure.is_lost && !self.come_back(thread, failure.silence) {
            return self.show_error(Verdict::Fatal, failure);
        }
        self.show_error(Verdict::Ignorable, failure);
    }

    fn come_back(&mut self, thread: &ThreadContext, silence: Duration) -> bool {
        thread.gate(|gate: &mut Gate<'_>| gate.connection_lost(ServerIndex::SOURCE, silence));
        let is_back = self.connect_again(thread);
        if is_back {
            thread.gate(|gate: &mut Gate<'_>| gate.connection_back(ServerIndex::SOURCE));
        }
        is_back
    }
}

/// What stands in for a connection that is gone.
pub(super) fn closed() -> WireError {
    let endpoint = "the server".to_owned();
    Cause::Closed { endpoint }.into()
}

fn is_ignored(thread: &ThreadContext, code: u16) -> bool {
    thread.shared.config.ignored.contains(code)
}
