//! A worker's connections, opened, renewed and opened again, and which of them takes a transaction.
//!
//! Deliberately not here: how one runs statements (see `server_connection`), which replica comes next (see `spread`), and what
//! to do about a statement that failed (see `transaction`).

use std::io;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_core::message::FailureClass;
use plimsoll_core::plan::{ReadPolicy, ReadYourWrites, Role};
use plimsoll_engine::{Gate, GroupServer, Interrupter, ServerIndex, WorkerFault};

use crate::cancel::CancelRegistry;
use crate::fault::StatementError;
use crate::retry::retry_login;
use crate::server_connection::ServerConnection;
use crate::servers::GroupServers;
use crate::shared::Shared;
use crate::spread::Spread;
use crate::statement::Statements;
use crate::terms::Terms;

/// How long the first connection to a server may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long an attempt to connect again may take: short, so that a server that is back is found soon.
const RECONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// What the sessions of one group share: its servers, the statements, and what is done about errors.
pub struct Sessions(Arc<Shared>);

impl Sessions {
    /// Sessions with these servers. Nothing is connected yet.
    pub fn new(servers: &GroupServers, statements: Arc<Statements>, terms: Terms, seed: u64) -> Self {
        Self(Arc::new(Shared::new(servers, statements, terms, seed)))
    }

    /// The servers as a trial sees them.
    pub fn servers(&self) -> Vec<GroupServer> {
        self.0.servers.of_trial()
    }

    /// Opens the connections that a worker begins with: to the source, and to the replicas that it reads from.
    ///
    /// # Errors
    /// When one of the servers does not let us in.
    pub fn open(&self, worker: u32) -> Result<Session, WorkerFault> {
        let shared = &self.0;
        let cancels = Arc::new(CancelRegistry::new(&shared.servers.clock));
        let spread = Spread::new(&shared.servers, worker);
        let count = if spread.is_some() {
            shared.servers.servers.len()
        } else {
            1
        };
        let mut connections = Vec::with_capacity(count);
        for server in (0..count).map(ServerIndex) {
            let interrupter = cancels.register();
            if let Some(watch) = &shared.watch {
                watch.add(&interrupter).map_err(|error| no_thread(&error))?;
            }
            let mut connection = ServerConnection::new(shared, server, interrupter);
            let is_wanted = server == ServerIndex::SOURCE || spread.as_ref().is_some_and(|one| one.begins_with(server));
            if is_wanted {
                let opened = retry_login(&*shared.servers.clock, || connection.open(CONNECT_TIMEOUT));
                opened.map_err(|error| connection.cannot_connect(&error))?;
            }
            connections.push(connection);
        }
        Ok(Session {
            connections: connections.into(),
            chosen: ServerIndex::SOURCE,
            spread,
            cancels,
            shared: Arc::clone(shared),
        })
    }
}

/// The connections of one worker. Workloads say whether a transaction only reads, and never hold a connection of their own.
pub struct Session {
    connections: Box<[ServerConnection]>,
    /// The server of the transaction that runs.
    chosen: ServerIndex,
    /// `None` where all transactions run on the source.
    spread: Option<Spread>,
    cancels: Arc<CancelRegistry>,
    shared: Arc<Shared>,
}

impl Session {
    /// The connection that the transaction runs on.
    #[inline]
    pub fn connection(&mut self) -> &mut ServerConnection {
        &mut self.connections[self.chosen.0]
    }

    /// Closes the connection that the transaction runs on and opens a new one, as a client without a pool does.
    ///
    /// # Errors
    /// When it does not come.
    pub fn renew(&mut self) -> Result<(), StatementError> {
        let renewed = self.connection().renew(RECONNECT_TIMEOUT);
        renewed.map_err(StatementError::connecting)
    }

    /// Does nothing for so long, or until the connections are cut.
    pub fn pause(&self, duration: Duration) {
        self.wait(duration);
    }

    /// What cuts all connections of this session, those opened later included.
    pub fn interrupter(&self) -> Interrupter {
        self.cancels.interrupter()
    }

    /// Whether there is a connection to this server.
    pub fn is_connected(&self, server: ServerIndex) -> bool {
        self.connections.get(server.0).is_some_and(ServerConnection::is_open)
    }

    /// Whether the connections were cut because the trial is over.
    pub(crate) fn is_cut(&self) -> bool {
        self.cancels.is_cut()
    }

    /// The server that the transaction runs on.
    pub(crate) fn chosen(&self) -> ServerIndex {
        self.chosen
    }

    /// Chooses the server of the transaction that begins: that of a replica for one that only reads, where reads are spread
    /// and one can be reached; the source for all others.
    #[inline]
    pub(crate) fn choose(&mut self, gate: &mut Gate<'_>, role: Role) {
        self.chosen = ServerIndex::SOURCE;
        if role == Role::Replica && self.spread.is_some() {
            self.choose_replica(gate);
        }
    }

    /// The transaction is over, or leaves its server for another.
    #[inline]
    pub(crate) fn leave(&mut self, has_succeeded: bool) {
        if self.spread.is_some() {
            self.left(has_succeeded);
        }
    }

    fn left(&mut self, has_succeeded: bool) {
        let Some(spread) = &mut self.spread else { return };
        if self.chosen != ServerIndex::SOURCE {
            if spread.plan.policy == ReadPolicy::LeastOutstanding {
                self.shared.servers.replica(self.chosen).end_read();
            }
            if has_succeeded {
                spread.succeeded(self.chosen);
            }
        }
    }

    /// The transaction, which was one that writes, was committed.
    #[inline]
    pub(crate) fn wrote(&mut self) {
        if let Some(spread) = &mut self.spread {
            let now_ns = self.shared.servers.clock.monotonic_ns();
            spread.wrote(now_ns, self.connections[0].wire().map(|wire| &*wire));
        }
    }

    /// Stays with the source where no replica takes the read.
    fn choose_replica(&mut self, gate: &mut Gate<'_>) {
        let mut tried = 0;
        while let Some(server) = self.next_candidate(tried) {
            tried |= 1 << (server.0 - 1);
            if !self.is_usable(server, gate) {
                continue;
            }
            match self.sees_own_writes(server, gate) {
                Some(true) => {
                    self.take(server);
                    return;
                }
                Some(false) => return,
                None => {} // it was lost
            }
        }
    }

    fn next_candidate(&mut self, tried: u32) -> Option<ServerIndex> {
        let spread = self.spread.as_mut()?;
        spread.candidate(&self.shared.servers, tried)
    }

    fn take(&mut self, server: ServerIndex) {
        let (Some(spread), replica) = (&self.spread, self.shared.servers.replica(server)) else {
            return;
        };
        // What is waited for or known to be there cannot be missed.
        let may_miss = spread.plan.read_your_writes == ReadYourWrites::Off;
        let written_ns = if may_miss { spread.written_ns } else { 0 };
        replica.count_read(written_ns, || self.shared.servers.clock.monotonic_ns());
        if spread.plan.policy == ReadPolicy::LeastOutstanding {
            replica.begin_read();
        }
        self.chosen = server;
    }

    /// Whether there is a connection to a replica, or one can be opened.
    fn is_usable(&mut self, server: ServerIndex, gate: &mut Gate<'_>) -> bool {
        if self.connections[server.0].is_open() {
            return true;
        }
        let is_up = self.shared.servers.replica(server).is_up();
        let may_connect = |spread: &Spread| spread.may_connect(server, self.shared.servers.clock.monotonic_ns());
        is_up && self.spread.as_ref().is_some_and(may_connect) && self.connect(server, gate)
    }

    /// Tries once to open a connection to a replica. A failed attempt is counted.
    fn connect(&mut self, server: ServerIndex, gate: &mut Gate<'_>) -> bool {
        let connection = &mut self.connections[server.0];
        let was_open = connection.was_open;
        match gate.connecting(|| connection.open(RECONNECT_TIMEOUT)) {
            Some(Ok(())) if was_open => gate.connection_back(server),
            Some(Ok(())) => gate.connection_opened(server),
            Some(Err(error)) => {
                if !self.is_cut() {
                    let error = StatementError::connecting(error);
                    gate.error(server, None, error.class(self.terms()), error.code());
                    self.pause_after(server, gate.worker());
                }
                return false;
            }
            None => return false,
        }
        true
    }

    fn pause_after(&mut self, server: ServerIndex, worker: u32) {
        let shared = &self.shared;
        if let Some(spread) = &mut self.spread {
            let now_ns = shared.servers.clock.monotonic_ns();
            let pause_ns = |count| shared.reconnect_pause(worker, count).as_nanos() as u64;
            spread.lost(server, now_ns, pause_ns);
        }
    }

    /// Whether a read on this replica sees what the session wrote, or need not; `None` when the replica was lost.
    fn sees_own_writes(&mut self, server: ServerIndex, gate: &mut Gate<'_>) -> Option<bool> {
        let Some(spread) = &self.spread else {
            return Some(false);
        };
        match spread.plan.read_your_writes {
            ReadYourWrites::Pin => {
                Some(spread.written_ns == 0 || self.shared.servers.replica(server).has(spread.written_ns))
            }
            ReadYourWrites::Wait if spread.must_wait(server) => self.wait_for_own_write(server, gate),
            ReadYourWrites::Off | ReadYourWrites::Wait => Some(true),
        }
    }

    fn wait_for_own_write(&mut self, server: ServerIndex, gate: &mut Gate<'_>) -> Option<bool> {
        let (spread, wire) = (self.spread.as_mut()?, self.connections[server.0].wire()?);
        gate.sent();
        let clock = &self.shared.servers.clock;
        let begin_ns = clock.monotonic_ns();
        let waited = spread.wait(server, wire);
        let replica = self.shared.servers.replica(server);
        replica.count_wait(clock.monotonic_ns() - begin_ns, matches!(waited, Ok(false)));
        let error = match waited {
            Ok(has_it) => return Some(has_it),
            Err(error) => StatementError::new(error),
        };
        if self.is_cut() {
            return None;
        }
        gate.error(server, None, error.class(self.terms()), error.code());
        if error.kind().ends_connection() {
            self.lose(server, gate, error.silence(self.terms()));
            return None;
        }
        Some(false)
    }

    /// The connection to a replica is gone.
    pub(crate) fn lose(&mut self, server: ServerIndex, gate: &mut Gate<'_>, silence: Duration) {
        self.connections[server.0].drop_wire();
        gate.connection_lost(server, silence);
        self.pause_after(server, gate.worker());
    }

    /// Whether the connection is gone that the transaction runs on.
    pub(crate) fn is_broken(&self) -> bool {
        !self.connections[self.chosen.0].is_open()
    }

    /// Rolls back what the transaction did. A connection that cannot even do that counts as gone.
    pub(crate) fn rollback(&mut self) {
        self.connection().rollback();
    }

    /// Tries once to open again what was lost and the transaction needed.
    ///
    /// # Errors
    /// Why it did not come.
    pub(crate) fn reopen(&mut self) -> Result<(), StatementError> {
        let opened = self.connection().open(RECONNECT_TIMEOUT);
        opened.map_err(StatementError::connecting)
    }

    /// Waits, at most until the connections are cut. True when they were.
    pub(crate) fn wait(&self, pause: Duration) -> bool {
        self.cancels.wait(pause)
    }

    /// What is done about errors.
    pub(crate) fn terms(&self) -> &Terms {
        &self.shared.terms
    }

    /// The pause of a worker after `count` attempts to connect again have failed since the last one that succeeded. Connections
    /// that were lost together must not come back together, so each has a random half of it to itself.
    pub(crate) fn reconnect_pause(&self, worker: u32, count: u32) -> Duration {
        self.shared.reconnect_pause(worker, count)
    }

    /// The server that the transaction runs on, for messages.
    pub(crate) fn name(&self) -> String {
        self.connections[self.chosen.0].name()
    }
}

impl Drop for Session {
    /// Says good-bye, so that the server does not log aborted connections.
    fn drop(&mut self) {
        self.connections.iter_mut().for_each(ServerConnection::close);
    }
}

fn no_thread(error: &io::Error) -> WorkerFault {
    let message = format!("the thread that watches connections cannot be started: {error}; raise `ulimit -u`");
    WorkerFault::new(FailureClass::Host, message)
}
