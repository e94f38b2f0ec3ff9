//! One of a worker's connections, and how it runs the statements of a workload.
//!
//! Deliberately not here: what to do about a failed statement (see `transaction`), and when it is opened again (see
//! `session`).

use std::sync::Arc;
use std::time::Duration;

use plimsoll_core::fault::FaultKind;
use plimsoll_core::plan::{ReadYourWrites, Role};
use plimsoll_engine::{ServerIndex, WorkerFault};
use plimsoll_wire::{ConnectOptions, Connection, Interrupter, Reply, Sink, Value, WireError};

use crate::clock::Connect;
use crate::fault::{Consequence, StatementError, worker_fault};
use crate::prepared::{Prepared, PreparedStatements};
use crate::retry::retry_while_full;
use crate::shared::Shared;
use crate::statement::{StatementId, Statements};

/// One connection and the statements prepared on it.
pub struct ServerConnection {
    shared: Arc<Shared>,
    pub(crate) server: ServerIndex,
    interrupter: Interrupter,
    /// `None` from when it was lost until it is open again.
    wire: Option<Connection>,
    /// It was open once.
    pub(crate) was_open: bool,
    prepared: PreparedStatements,
    /// Reused for statements that are sent as text.
    sql: String,
}

impl ServerConnection {
    pub(crate) fn new(shared: &Arc<Shared>, server: ServerIndex, interrupter: Interrupter) -> Self {
        Self {
            shared: Arc::clone(shared),
            server,
            interrupter,
            wire: None,
            was_open: false,
            prepared: PreparedStatements::default(),
            sql: String::new(),
        }
    }

    /// Whether it is open.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.wire.is_some()
    }

    /// The connection itself, if it is open.
    pub(crate) fn wire(&mut self) -> Option<&mut Connection> {
        self.wire.as_mut()
    }

    /// It is of no use any more.
    pub(crate) fn drop_wire(&mut self) {
        self.wire = None;
    }

    /// Runs one statement with its values, and counts its rows.
    ///
    /// # Errors
    /// As [`Self::run`].
    #[inline]
    pub fn execute(&mut self, id: StatementId, values: &[Value<'_>]) -> Result<Reply, StatementError> {
        self.run(id, values, Sink::Count)
    }

    /// Runs one statement with its values; its rows go into the sink. The first time it is prepared, which is one more round
    /// trip.
    ///
    /// # Errors
    /// Whatever the server answered, that the connection was lost, or that the sink has no room for the rows.
    #[inline]
    pub fn run(&mut self, id: StatementId, values: &[Value<'_>], sink: Sink<'_>) -> Result<Reply, StatementError> {
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
            Prepared::OnServer(statement) => wire.run(statement, values, sink),
            Prepared::AsText => {
                statements.render(id, values, &mut self.sql);
                wire.run(&*self.sql, &[], sink)
            }
        };
        replied.map_err(|error| self.failed(error))
    }

    /// Runs a statement that is only known now, as text.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn query(&mut self, sql: &str) -> Result<Reply, StatementError> {
        let wire = self.wire.as_mut();
        let wire = wire.expect("a lost connection is opened again before it is used");
        wire.query(sql).map_err(|error| self.failed(error))
    }

    #[cold]
    fn failed(&mut self, error: WireError) -> StatementError {
        let error = StatementError::new(error);
        if error.consequence(&self.shared.terms) == Consequence::Reconnect {
            self.wire = None;
        }
        error
    }

    /// Rolls back what the transaction did here. A connection that cannot even do that counts as gone.
    pub(crate) fn rollback(&mut self) {
        if let Some(wire) = self.wire.as_mut() {
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
            tracks_gtid: self.tracks_gtid(),
            ..ConnectOptions::default()
        };
        let wire = self.connector().open(&options, &self.interrupter)?;
        self.prepared.clear();
        self.wire = Some(wire);
        self.was_open = true;
        Ok(())
    }

    /// Closes it and opens a new one.
    pub(crate) fn renew(&mut self, timeout: Duration) -> Result<(), WireError> {
        self.close();
        let clock = Arc::clone(&self.shared.servers.clock);
        retry_while_full(&*clock, || self.open(timeout))
    }

    /// Says good-bye, if it is open, so that the server does not log an aborted connection.
    pub(crate) fn close(&mut self) {
        if let Some(wire) = self.wire.take() {
            wire.close();
        }
    }

    fn connector(&self) -> &dyn Connect {
        &*self.shared.servers.at(self.server).connector
    }

    /// Where it leads, for messages.
    pub(crate) fn name(&self) -> String {
        self.connector().target().endpoint.to_string()
    }

    /// Whether somebody waits on a replica for what is written here.
    fn tracks_gtid(&self) -> bool {
        let servers = &self.shared.servers;
        let waits = servers.reads.map(|reads| reads.read_your_writes) == Some(ReadYourWrites::Wait);
        waits && servers.spreads_reads() && servers.at(self.server).role == Role::Source
    }

    pub(crate) fn cannot_connect(&self, error: &WireError) -> WorkerFault {
        let target = self.connector().target();
        WorkerFault {
            server: Some(self.server),
            ..worker_fault(error, &format!("connect to {} as {}", target.endpoint, target.user))
        }
    }
}

fn prepare(wire: &mut Connection, statements: &Statements, id: StatementId) -> Result<Prepared, WireError> {
    match wire.prepare(statements.text(id)) {
        Ok(statement) => Ok(Prepared::OnServer(statement)),
        Err(error) if error.kind() == FaultKind::TextOnly => Ok(Prepared::AsText),
        Err(error) => Err(error),
    }
}
