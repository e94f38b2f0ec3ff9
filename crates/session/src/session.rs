//! A worker's connections by role, and how each runs the statements of a workload.
//!
//! Deliberately not here: what to do about a failed statement (see `transaction`).

use std::sync::Arc;
use std::time::Duration;

use plimsoll_core::message::FailureClass;
use plimsoll_core::plan::{Role, RoleTarget, Target};
use plimsoll_engine::{Interrupter, WorkerFault};
use plimsoll_wire::{ConnectOptions, Connection, FirstRow, Reply, Results, Statement, Value, WireError, patiently};

use crate::fault::{Consequence, StatementError, worker_fault};
use crate::lifeline::Lifeline;
use crate::statement::{StatementId, Statements};
use crate::terms::Terms;

/// How long the first connection of a role may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long an attempt to connect again may take: short, since it cannot be interrupted.
const RECONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// MySQL's "not supported in the prepared statement protocol", and of parameters in statements like HANDLER since version 9.
const UNSUPPORTED_PREPARE_CODES: [u16; 2] = [1295, 6413];

/// The connections of one worker. Workloads name a role and never hold a connection of their own.
pub struct Session {
    connections: Vec<RoleConnection>,
    lifeline: Arc<Lifeline>,
    terms: Arc<Terms>,
}

impl Session {
    /// Opens a connection to each target.
    ///
    /// # Errors
    /// When there is no source among the targets, or one of them does not let us in.
    pub fn open(targets: &[RoleTarget], statements: &Arc<Statements>, terms: &Arc<Terms>) -> Result<Self, WorkerFault> {
        if !targets.iter().any(|one| one.role == Role::Source) {
            return Err(no_source());
        }
        let lifeline = Arc::new(Lifeline::default());
        let mut connections = Vec::with_capacity(targets.len());
        for (place, one) in targets.iter().enumerate() {
            let mut connection = RoleConnection::new(one, place, statements, terms);
            patiently(|| connection.open(&lifeline, CONNECT_TIMEOUT))
                .map_err(|error| connection.cannot_connect(&error))?;
            connections.push(connection);
        }
        let terms = Arc::clone(terms);
        Ok(Self {
            connections,
            lifeline,
            terms,
        })
    }

    /// The connection for a role. Without a replica, the source takes what is meant for one.
    pub fn on(&mut self, role: Role) -> &mut RoleConnection {
        let place = self.connections.iter().position(|one| one.role == role);
        let place = place.or_else(|| self.connections.iter().position(|one| one.role == Role::Source));
        &mut self.connections[place.expect("a session has a source")]
    }

    /// Closes all connections and opens new ones, as a client without a pool does.
    ///
    /// # Errors
    /// When one of them does not come.
    pub fn renew(&mut self) -> Result<(), StatementError> {
        for connection in &mut self.connections {
            if let Some(wire) = connection.wire.take() {
                wire.close();
            }
            let opened = patiently(|| connection.open(&self.lifeline, RECONNECT_TIMEOUT));
            opened.map_err(StatementError::connecting)?;
        }
        Ok(())
    }

    /// Does nothing for so long, or until the connections are cut.
    pub fn pause(&self, duration: Duration) {
        self.wait(duration);
    }

    /// What cuts all connections of this session, those opened later included.
    pub fn interrupter(&self) -> Interrupter {
        self.lifeline.interrupter()
    }

    /// Whether the connections were cut because the trial is over.
    pub(crate) fn is_cut(&self) -> bool {
        self.lifeline.is_cut()
    }

    /// Whether a connection is gone.
    pub(crate) fn is_broken(&self) -> bool {
        self.connections.iter().any(|one| one.wire.is_none())
    }

    /// Rolls back on all connections. One that cannot even do that counts as gone.
    pub(crate) fn rollback(&mut self) {
        for connection in &mut self.connections {
            connection.rollback();
        }
    }

    /// Tries once to open again what was lost.
    ///
    /// # Errors
    /// Why the first that did not come did not.
    pub(crate) fn reopen(&mut self) -> Result<(), StatementError> {
        let lost = self.connections.iter_mut().filter(|one| one.wire.is_none());
        for connection in lost {
            connection
                .open(&self.lifeline, RECONNECT_TIMEOUT)
                .map_err(StatementError::connecting)?;
        }
        Ok(())
    }

    /// Waits, at most until the connections are cut. True when they were.
    pub(crate) fn wait(&self, pause: Duration) -> bool {
        self.lifeline.wait(pause)
    }

    /// What is done about errors.
    pub(crate) fn terms(&self) -> &Terms {
        &self.terms
    }

    /// The servers, for messages.
    pub(crate) fn name(&self) -> String {
        let names: Vec<String> = self
            .connections
            .iter()
            .map(|one| one.target.endpoint.to_string())
            .collect();
        names.join(", ")
    }
}

impl Drop for Session {
    /// Says good-bye, so that the server does not log aborted connections.
    fn drop(&mut self) {
        for connection in &mut self.connections {
            if let Some(wire) = connection.wire.take() {
                wire.close();
            }
        }
    }
}

fn no_source() -> WorkerFault {
    WorkerFault::new(
        FailureClass::Spec,
        "group.targets: one of them must have the role `source`, none has",
    )
}

/// How a statement stands on one connection.
enum Prepared {
    NotYet,
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
    role: Role,
    target: Target,
    place: usize,
    /// `None` from when it was lost until it is open again.
    wire: Option<Connection>,
    prepared: Vec<Prepared>,
    statements: Arc<Statements>,
    terms: Arc<Terms>,
    /// Reused for statements that are sent as text.
    sql: String,
}

impl RoleConnection {
    fn new(target: &RoleTarget, place: usize, statements: &Arc<Statements>, terms: &Arc<Terms>) -> Self {
        Self {
            role: target.role,
            target: target.target.clone(),
            place,
            wire: None,
            prepared: Vec::new(),
            statements: Arc::clone(statements),
            terms: Arc::clone(terms),
            sql: String::new(),
        }
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
        if let Prepared::NotYet = self.prepared[id.0] {
            match prepare(wire, &self.statements, id) {
                Ok(prepared) => self.prepared[id.0] = prepared,
                Err(error) => return Err(self.failed(error)),
            }
        }
        let replied = match &self.prepared[id.0] {
            Prepared::OnServer(statement) => match keep {
                Keep::Nothing => wire.execute(statement, values),
                Keep::First(kept) => wire.execute_keeping(statement, values, kept),
                Keep::Whole(results) => wire
                    .execute_whole(statement, values, results)
                    .map(|()| first_reply(results)),
            },
            Prepared::AsText | Prepared::NotYet => {
                self.statements.render(id, values, &mut self.sql);
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
        if error.consequence(&self.terms) == Consequence::Reconnect {
            self.wire = None;
        }
        error
    }

    fn rollback(&mut self) {
        if let Some(wire) = &mut self.wire {
            if wire.query("ROLLBACK").is_err() {
                self.wire = None;
            }
        }
    }

    fn open(&mut self, lifeline: &Lifeline, timeout: Duration) -> Result<(), WireError> {
        let options = ConnectOptions {
            connect_timeout: timeout,
            local_infile: false,
            multi_statements: false,
        };
        let mut wire = Connection::open(&self.target, &options)?;
        for sql in self.statements.opening() {
            wire.query(sql)?;
        }
        lifeline.attach(self.place, wire.interrupter()?);
        self.prepared.clear();
        let (count, prepared) = (self.statements.count(), self.statements.prepared());
        self.prepared
            .resize_with(count, || if prepared { Prepared::NotYet } else { Prepared::AsText });
        self.wire = Some(wire);
        Ok(())
    }

    fn cannot_connect(&self, error: &WireError) -> WorkerFault {
        worker_fault(
            error,
            &format!("connect to {} as {}", self.target.endpoint, self.target.user),
        )
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
