//! A worker's connections by role, opened, renewed and opened again.
//!
//! Deliberately not here: how one runs statements (see `role_connection`), and what to do about one that failed (see
//! `transaction`).

use std::io;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_core::message::FailureClass;
use plimsoll_core::plan::{Role, RoleTarget};
use plimsoll_core::random::{keyed, unit};
use plimsoll_engine::{Interrupter, WorkerFault};
use plimsoll_wire::{Connector, Watch, patiently};

use crate::fault::StatementError;
use crate::lifeline::Lifeline;
use crate::role_connection::RoleConnection;
use crate::statement::Statements;
use crate::terms::Terms;

/// How long the first connection of a role may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long an attempt to connect again may take: short, so that a server that is back is found soon.
const RECONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// The streams of pauses before another attempt to connect, one for each worker.
const ATTEMPTS: u64 = 7 << 32;

/// What the sessions of one group share: its servers, the statements, and what is done about errors.
pub struct Sessions(Arc<Shared>);

pub(crate) struct Shared {
    pub(crate) servers: Vec<(Role, Connector)>,
    pub(crate) statements: Arc<Statements>,
    pub(crate) terms: Terms,
    watch: Option<Watch>,
    seed: u64,
}

impl Sessions {
    /// Sessions with these servers. Nothing is connected yet.
    pub fn new(targets: &[RoleTarget], statements: Arc<Statements>, terms: Terms, seed: u64) -> Self {
        let servers = targets.iter().map(|one| (one.role, Connector::new(one.target.clone())));
        Self(Arc::new(Shared {
            servers: servers.collect(),
            statements,
            watch: terms.read_timeout.map(Watch::new),
            terms,
            seed,
        }))
    }

    /// Opens a connection to each server.
    ///
    /// # Errors
    /// When there is no source among the servers, or one of them does not let us in.
    pub fn open(&self) -> Result<Session, WorkerFault> {
        let shared = &self.0;
        if !shared.servers.iter().any(|(role, _)| *role == Role::Source) {
            return Err(no_source());
        }
        let lifeline = Arc::new(Lifeline::default());
        let mut connections = Vec::with_capacity(shared.servers.len());
        for place in 0..shared.servers.len() {
            let interrupter = lifeline.attach();
            if let Some(watch) = &shared.watch {
                watch.add(&interrupter).map_err(|error| no_thread(&error))?;
            }
            let mut connection = RoleConnection::new(shared, place, interrupter);
            patiently(|| connection.open(CONNECT_TIMEOUT)).map_err(|error| connection.cannot_connect(&error))?;
            connections.push(connection);
        }
        Ok(Session {
            connections,
            lifeline,
            shared: Arc::clone(shared),
        })
    }
}

/// The connections of one worker. Workloads name a role and never hold a connection of their own.
pub struct Session {
    connections: Vec<RoleConnection>,
    lifeline: Arc<Lifeline>,
    shared: Arc<Shared>,
}

impl Session {
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
            connection.close();
            patiently(|| connection.open(RECONNECT_TIMEOUT)).map_err(StatementError::connecting)?;
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
        self.connections.iter().any(|one| !one.is_open())
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
        let lost = self.connections.iter_mut().filter(|one| !one.is_open());
        for connection in lost {
            connection.open(RECONNECT_TIMEOUT).map_err(StatementError::connecting)?;
        }
        Ok(())
    }

    /// Waits, at most until the connections are cut. True when they were.
    pub(crate) fn wait(&self, pause: Duration) -> bool {
        self.lifeline.wait(pause)
    }

    /// What is done about errors.
    pub(crate) fn terms(&self) -> &Terms {
        &self.shared.terms
    }

    /// The pause of a worker after `count` attempts to connect again have failed since the last one that succeeded. Connections
    /// that were lost together must not come back together, so each has a random half of it to itself.
    pub(crate) fn reconnect_pause(&self, worker: u32, count: u32) -> Duration {
        let pause = self.shared.terms.reconnect.pause(count);
        let mut random = keyed(self.shared.seed, ATTEMPTS + u64::from(worker), u64::from(count));
        pause.mul_f64(0.5 + unit(&mut random) / 2.0)
    }

    /// The servers, for messages.
    pub(crate) fn name(&self) -> String {
        let servers = self.shared.servers.iter();
        let names: Vec<String> = servers
            .map(|(_, server)| server.target().endpoint.to_string())
            .collect();
        names.join(", ")
    }
}

impl Drop for Session {
    /// Says good-bye, so that the server does not log aborted connections.
    fn drop(&mut self) {
        self.connections.iter_mut().for_each(RoleConnection::close);
    }
}

fn no_thread(error: &io::Error) -> WorkerFault {
    let message = format!("the thread that watches connections cannot be started: {error}; raise `ulimit -u`");
    WorkerFault::new(FailureClass::Host, message)
}

fn no_source() -> WorkerFault {
    WorkerFault::new(
        FailureClass::Spec,
        "group.targets: one of them must have the role `source`, none has",
    )
}
