//! One of a worker's connections, and how it runs the statements of a workload.
//!
//! Deliberately not here: what to do about a failed statement (see `transaction`), and when it is opened again (see
//! `session`).

use std::sync::Arc;
use std::time::Duration;

use plimsoll_core::plan::Role;
use plimsoll_engine::WorkerFault;
use plimsoll_wire::{
    ConnectOptions, Connection, Connector, FirstRow, Interrupter, Reply, Results, Statement, Value, WireError,
};

use crate::fault::{Consequence, StatementError, worker_fault};
use crate::prepared::PreparedStatements;
use crate::session::Shared;
use crate::statement::{StatementId, Statements};

/// MySQL's "not supported in the prepared statement protocol", and of parameters in statements like HANDLER since version 9.
const UNSUPPORTED_PREPARE_CODES: [u16; 2] = [1295, 6413];

/// How a statement is sent that was prepared, or was to be.
pub(crate) enum Prepared {
    OnServer(Statement),
    /// The server does not prepare this kind of statement.
    AsText,
}

/// What is kept of the rows of a statement.
enum Keep<'a> {
    Nothing,
    First(&'a mut FirstRow),
    Whole(&'a mut Results),
}

fn first_reply(results: &Results) -> Reply {
    results.sets().first().map(|set| set.reply).unwrap_or_default()
}

/// One connection and the statements prepared on it.
pub struct RoleConnection {
    shared: Arc<Shared>,
    pub(crate) role: Role,
    /// Of its server among those of the session.
    place: usize,
    interrupter: Interrupter,
    /// `None` from when it was lost until it is open again.
    wire: Option<Connection>,
    prepared: PreparedStatements,
    /// Reused for statements that are sent as text.
    sql: String,
}

impl RoleConnection {
    pub(crate) fn new(shared: &Arc<Shared>, place: usize, interrupter: Interrupter) -> Self {
        Self {
            shared: Arc::clone(shared),
            role: shared.servers[place].0,
            place,
            interrupter,
            wire: None,
            prepared: PreparedStatements::default(),
            sql: String::new(),
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.wire.is_some()
    }

    /// Runs one statement with its values. The first time it is prepared, which is one more round trip.
    ///
    /// # Errors
    /// Whatever the server answered, or that the connection was lost.
    #[inline]
    pub fn execute(&mut self, id: StatementId, values: &[Value<'_>]) -> Result<Reply, StatementError> {
        self.run(id, values, Keep::Nothing)
    }

    /// Runs one statement, and keeps values of its first row.
    ///
    /// # Errors
    /// As [`Self::execute`].
    pub fn execute_keeping(
        &mut self,
        id: StatementId,
        values: &[Value<'_>],
        kept: &mut FirstRow,
    ) -> Result<Reply, StatementError> {
        self.run(id, values, Keep::First(kept))
    }

    /// Runs one statement, and keeps all its rows. The reply is that of its first result.
    ///
    /// # Errors
    /// As [`Self::execute`]; and when the rows have more bytes than there is room for.
    pub fn execute_whole(
        &mut self,
        id: StatementId,
        values: &[Value<'_>],
        results: &mut Results,
    ) -> Result<Reply, StatementError> {
        self.run(id, values, Keep::Whole(results))
    }

    #[inline]
    fn run(&mut self, id: StatementId, values: &[Value<'_>], keep: Keep<'_>) -> Result<Reply, StatementError> {
        let wire = self
            .wire
            .as_mut()
            .expect("a lost connection is opened again before it is used");
        let statements = &*self.shared.statements;
        let prepared = match self.prepared.get(id) {
            Some(prepared) => prepared,
            None if !statements.prepared() => &Prepared::AsText,
            None => match prepare(wire, statements, id) {
                Ok(prepared) => self.prepared.insert(id, prepared),
                Err(error) => return Err(self.failed(error)),
            },
        };
        let replied = match prepared {
            Prepared::OnServer(statement) => match keep {
                Keep::Nothing => wire.execute(statement, values),
                Keep::First(kept) => wire.execute_keeping(statement, values, kept),
                Keep::Whole(results) => wire
                    .execute_whole(statement, values, results)
                    .map(|()| first_reply(results)),
            },
            Prepared::AsText => {
                statements.render(id, values, &mut self.sql);
                match keep {
                    Keep::Nothing => wire.query(&self.sql),
                    Keep::First(kept) => wire.query_keeping(&self.sql, kept),
                    Keep::Whole(results) => wire
                        .query_whole(self.sql.as_bytes(), results)
                        .map(|()| first_reply(results)),
                }
            }
        };
        replied.map_err(|error| self.failed(error))
    }

    /// Runs a statement that is only known now, as text.
    ///
    /// # Errors
    /// As [`Self::execute`].
    pub fn query(&mut self, sql: &str) -> Result<Reply, StatementError> {
        let wire = self.wire.as_mut();
        let wire = wire.expect("a lost connection is opened again before it is used");
        wire.query(sql).map_err(|error| self.failed(error))
    }

    fn failed(&mut self, error: WireError) -> StatementError {
        let error = StatementError::new(error);
        if error.consequence(&self.shared.terms) == Consequence::Reconnect {
            self.wire = None;
        }
        error
    }

    /// Rolls back. A connection that cannot even do that counts as gone.
    pub(crate) fn rollback(&mut self) {
        if let Some(wire) = &mut self.wire {
            if wire.query("ROLLBACK").is_err() {
                self.wire = None;
            }
        }
    }

    /// Opens it, for the first time or again.
    pub(crate) fn open(&mut self, timeout: Duration) -> Result<(), WireError> {
        let options = ConnectOptions {
            connect_timeout: timeout,
            network_timeout: self.shared.terms.network_timeout,
            opening: self.shared.statements.opening().to_vec(),
            ..ConnectOptions::default()
        };
        let wire = self.server().open(&options, &self.interrupter)?;
        self.prepared.clear();
        self.wire = Some(wire);
        Ok(())
    }

    /// Says good-bye, if it is open, so that the server does not log an aborted connection.
    pub(crate) fn close(&mut self) {
        if let Some(wire) = self.wire.take() {
            wire.close();
        }
    }

    fn server(&self) -> &Connector {
        &self.shared.servers[self.place].1
    }

    pub(crate) fn cannot_connect(&self, error: &WireError) -> WorkerFault {
        let target = self.server().target();
        worker_fault(error, &format!("connect to {} as {}", target.endpoint, target.user))
    }
}

fn is_unsupported(error: &WireError) -> bool {
    error
        .server_code()
        .is_some_and(|code| UNSUPPORTED_PREPARE_CODES.contains(&code))
}

fn prepare(wire: &mut Connection, statements: &Statements, id: StatementId) -> Result<Prepared, WireError> {
    match wire.prepare(statements.text(id)) {
        Ok(statement) => Ok(Prepared::OnServer(statement)),
        Err(error) if is_unsupported(&error) => Ok(Prepared::AsText),
        Err(error) => Err(error),
    }
}
