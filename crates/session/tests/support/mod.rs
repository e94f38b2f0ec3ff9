//! A clock that stands still until a test moves it, servers that are there or not as the test says, and a load on them.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::{self, ThreadId};

use plimsoll_core::plan::{Endpoint, ReadsPlan, Role, RoleTarget, Secret, ServerKey, Target, Tls};
use plimsoll_engine::{Gate, Interrupter as EngineInterrupter, ServerIndex, Worker, WorkerFactory, WorkerFault};
use plimsoll_session::{Bell, Clock, Connect, GroupServers, Session, Sessions, StatementId, transact};
use plimsoll_sim::Sim;
use plimsoll_wire::{Cause, ConnectFailure, ConnectOptions, Connection, Connector, Interrupter, WireError};

/// The wall clock when the monotonic clock shows 0, nanoseconds since 1970.
pub const UNIX_BEGIN_NS: u64 = 1_700_000_000_000_000_000;

/// When the monotonic clock begins, nanoseconds: 0 stands for never.
const BEGIN_NS: u64 = 1_000_000_000;

/// Time moves when the test says so, and only once all that are to wait for it do: what happens is the same in every run.
pub struct SimulatedClock {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    now_ns: u64,
    sleepers: Vec<Sleeper>,
}

impl State {
    fn asleep_count(&self) -> usize {
        self.sleepers.iter().filter(|one| one.is_asleep()).count()
    }

    fn advance(&mut self) -> u64 {
        let first_ns = self.sleepers.iter().map(|one| one.until_ns).min();
        self.now_ns = self.now_ns.max(first_ns.expect("somebody waits"));
        let now_ns = self.now_ns;
        self.sleepers.retain(|one| {
            let is_due = one.until_ns <= now_ns;
            if is_due {
                one.bell.ring();
            }
            !is_due
        });
        now_ns
    }
}

/// Somebody who waits, unless the bell was rung since.
struct Sleeper {
    thread: ThreadId,
    until_ns: u64,
    bell: Bell,
    rung_count: u64,
}

impl Sleeper {
    fn is_asleep(&self) -> bool {
        self.bell.count() == self.rung_count
    }
}

impl SimulatedClock {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                now_ns: BEGIN_NS,
                sleepers: Vec::new(),
            }),
            changed: Condvar::new(),
        })
    }

    /// Nanoseconds since the clock was made.
    pub fn now_ns(&self) -> u64 {
        self.lock().now_ns - BEGIN_NS
    }

    /// If so many wait now, lets it be the time that the first of them waits for, and wakes whoever waited for that.
    pub fn advance_if(&self, sleepers_count: usize) {
        let mut state = self.lock();
        if state.asleep_count() == sleepers_count {
            state.advance();
        }
    }

    /// Does the same each time that so many wait, until it is so late at least and whoever was woken on the way waits again.
    pub fn advance_to(&self, to_ns: u64, sleepers_count: usize) {
        while self.settled(sleepers_count).advance() - BEGIN_NS < to_ns {}
        drop(self.settled(sleepers_count));
    }

    fn settled(&self, sleepers_count: usize) -> MutexGuard<'_, State> {
        let is_unsettled = |state: &mut State| {
            let count = state.asleep_count();
            assert!(count <= sleepers_count, "{count} wait, {sleepers_count} are expected");
            count < sleepers_count
        };
        self.changed.wait_while(self.lock(), is_unsettled).unwrap()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

impl Clock for SimulatedClock {
    fn monotonic_ns(&self) -> u64 {
        self.lock().now_ns
    }

    fn unix_ns(&self) -> u64 {
        UNIX_BEGIN_NS + self.now_ns()
    }

    fn wait(&self, bell: &Bell, until_ns: u64, is_over: &dyn Fn() -> bool) -> bool {
        let thread = thread::current().id();
        loop {
            let rung_count = bell.count();
            if is_over() {
                return true;
            }
            let mut state = self.lock();
            state.sleepers.retain(|one| one.thread != thread);
            if state.now_ns >= until_ns {
                return false;
            }
            state.sleepers.push(Sleeper {
                thread,
                until_ns,
                bell: bell.clone(),
                rung_count,
            });
            drop(state);
            self.changed.notify_all();
            bell.await_ring(rung_count, None);
        }
    }
}

/// A way to a server that can be closed. It remembers who tried it when, by the simulated clock.
pub struct Way {
    connector: Connector,
    clock: Arc<SimulatedClock>,
    is_closed: AtomicBool,
    attempts: Mutex<Vec<(ThreadId, u64)>>,
    opened_count: AtomicUsize,
}

impl Way {
    pub fn to(target: &Target, clock: &Arc<SimulatedClock>) -> Arc<Self> {
        Arc::new(Self {
            connector: Connector::new(target.clone()),
            clock: Arc::clone(clock),
            is_closed: AtomicBool::new(false),
            attempts: Mutex::default(),
            opened_count: AtomicUsize::new(0),
        })
    }

    /// Lets nobody through, or everybody.
    pub fn close(&self, is_closed: bool) {
        self.is_closed.store(is_closed, Ordering::SeqCst);
    }

    /// Who tried when, nanoseconds since the clock was made.
    pub fn attempts(&self) -> Vec<(ThreadId, u64)> {
        self.attempts.lock().unwrap().clone()
    }

    /// How many attempts succeeded.
    pub fn opened_count(&self) -> usize {
        self.opened_count.load(Ordering::SeqCst)
    }
}

impl Connect for Way {
    fn target(&self) -> Target {
        self.connector.target().clone()
    }

    fn open(&self, options: &ConnectOptions, interrupter: &Interrupter) -> Result<Connection, WireError> {
        let attempt = (thread::current().id(), self.clock.now_ns());
        self.attempts.lock().unwrap().push(attempt);
        if self.is_closed.load(Ordering::SeqCst) {
            let endpoint = self.target().endpoint.to_string();
            let failure = ConnectFailure::Refused;
            return Err(Cause::Connect { endpoint, failure }.into());
        }
        let opened = self.connector.open(options, interrupter)?;
        self.opened_count.fetch_add(1, Ordering::SeqCst);
        Ok(opened)
    }
}

/// A server by its role.
pub fn target(role: Role, sim: &Sim) -> RoleTarget {
    RoleTarget {
        role,
        instance: Some(format!("{role:?}")),
        target: Target {
            endpoint: Endpoint::Tcp {
                host: "127.0.0.1".to_owned(),
                port: sim.port(),
            },
            user: "root".to_owned(),
            password: Secret::default(),
            database: "test".to_owned(),
            tls: Tls::Disabled,
            server_key: ServerKey::None,
        },
    }
}

/// A source and a replica of it that takes the reads, and the ways to them.
pub fn pair(sims: [&Sim; 2], clock: &Arc<SimulatedClock>) -> ([Arc<Way>; 2], GroupServers) {
    let targets = [target(Role::Source, sims[0]), target(Role::Replica, sims[1])];
    let ways = targets.each_ref().map(|one| Way::to(&one.target, clock));
    let clock = Arc::clone(clock) as Arc<dyn Clock>;
    let servers = GroupServers::with(&targets, Some(ReadsPlan::default()), clock, &|target| {
        let place = targets.iter().position(|one| one.target == *target);
        Arc::clone(&ways[place.expect("one of them")]) as Arc<dyn Connect>
    });
    (ways, servers)
}

/// Workers whose transactions are one statement each, which only reads.
pub struct Readers(pub Sessions);

impl WorkerFactory for Readers {
    fn transaction_names(&self) -> Vec<String> {
        vec!["read".to_owned()]
    }

    fn servers(&self) -> Vec<plimsoll_engine::GroupServer> {
        self.0.servers()
    }

    fn build(&self, worker: u32) -> Result<Box<dyn Worker>, WorkerFault> {
        Ok(Box::new(Reader(self.0.open(worker)?)))
    }
}

struct Reader(Session);

impl Worker for Reader {
    fn run(&mut self, gate: &mut Gate<'_>) -> Result<(), WorkerFault> {
        while gate.next().is_some() {
            transact(&mut self.0, gate, (0, Role::Replica), |session, gate| {
                let reply = session.connection().execute(StatementId(0), &[])?;
                gate.statement(reply.into());
                Ok(())
            })?;
        }
        Ok(())
    }

    fn is_connected(&self, server: ServerIndex) -> bool {
        self.0.is_connected(server)
    }

    fn interrupter(&self) -> EngineInterrupter {
        self.0.interrupter()
    }
}
