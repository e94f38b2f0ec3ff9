//! Numbered transactions whose acknowledgements are noted outside of the server, so that what it lost can be told later.
//!
//! Each worker writes its transactions one after the other: a row into each of two tables and its counter in a third, all
//! with the same number. After the server's answer to COMMIT the number goes into the ledger, a file. What was sent and not
//! acknowledged is noted as that: nobody knows whether the server has it. A worker whose connection is lost keeps trying to
//! open another one to the server in force, and goes on with its next number there. Deliberately not here: faults, choosing
//! the next server, and the search for what is missing.

mod note;
mod worker;

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use plimsoll_core::lock::lock;
use plimsoll_core::message::{FailureClass, Lost, Resumed};
use plimsoll_core::plan::{LedgerPlan, Target};
use plimsoll_engine::WorkerFault;
use plimsoll_session::{Connect, worker_fault};
use plimsoll_wire::{ConnectOptions, Connection, Connector, Interrupter, WireError};

use crate::control;
use note::{Note, unwritten};
use worker::{Worker, sessions};

const TABLES: [&str; 2] = ["plimsoll_ledger_one", "plimsoll_ledger_two"];
const COUNTERS: &str = "plimsoll_ledger_counters";
const CONNECTIONS_MAX: u32 = 1024;
const COMMENT: &str = "made by Plimsoll";

/// Tables, connections and the file, ready to begin.
pub struct Ledger {
    workers: Vec<Worker>,
    note: Note,
    control: Arc<LedgerControl>,
}

/// What was done by the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LedgerDone {
    /// Transactions that were begun.
    pub sent_count: u64,
    /// Transactions that the server acknowledged and the ledger has.
    pub acknowledged_count: u64,
}

/// What is told while workers write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerEvent {
    /// Every second: how many transactions were acknowledged by now.
    Acknowledged(u64),
    /// A worker met the first error after transactions were acknowledged.
    Lost(Lost),
    /// The first transaction was acknowledged over a connection that was opened after a loss.
    Resumed(Resumed),
}

/// What workers are told from outside: where to, and when to end.
#[derive(Debug)]
pub struct LedgerControl {
    state: Mutex<Order>,
    changed: Condvar,
}

#[derive(Clone, Debug)]
struct Order {
    /// To the server in force.
    connector: Arc<Connector>,
    /// How many servers were in force before.
    generation: u64,
    is_stopped: bool,
}

impl LedgerControl {
    fn new(target: Target) -> Self {
        let order = Order {
            connector: Arc::new(Connector::new(target)),
            generation: 0,
            is_stopped: false,
        };
        Self {
            state: Mutex::new(order),
            changed: Condvar::new(),
        }
    }

    /// From now on workers write to another server.
    pub fn promote(&self, target: Target) {
        let mut order = self.order();
        order.connector = Arc::new(Connector::new(target));
        order.generation += 1;
        self.changed.notify_all();
    }

    /// Workers begin no more transactions.
    pub fn stop(&self) {
        self.order().is_stopped = true;
        self.changed.notify_all();
    }

    fn order(&self) -> MutexGuard<'_, Order> {
        lock(&self.state)
    }

    /// Sleeps for a moment, shorter if the end or another server comes.
    fn pause(&self, generation: u64, pause: Duration) {
        let is_as_before = |order: &mut Order| !order.is_stopped && order.generation == generation;
        let _ = self.changed.wait_timeout_while(self.order(), pause, is_as_before);
    }
}

/// Sessions are opened with the server that is in force at that moment.
impl Connect for LedgerControl {
    fn target(&self) -> Target {
        self.order().connector.target().clone()
    }

    fn open(&self, options: &ConnectOptions, interrupter: &Interrupter) -> Result<Connection, WireError> {
        let connector = Arc::clone(&self.order().connector);
        connector.open(options, interrupter)
    }
}

impl Ledger {
    /// Makes the file and the tables and opens the connections.
    ///
    /// # Errors
    /// When the plan makes no sense, the file is there already or cannot be made, or the server refuses.
    pub fn open(plan: &LedgerPlan) -> Result<Self, WorkerFault> {
        if !(1..=CONNECTIONS_MAX).contains(&plan.connections) {
            return Err(WorkerFault::spec(format!(
                "connections: must be from 1 to {CONNECTIONS_MAX}, is {}",
                plan.connections
            )));
        }
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .mode(0o600)
            .open(&plan.ledger);
        let file = file.map_err(|error| unwritten(&plan.ledger, &error))?;
        make_tables(&plan.target, plan.connections)?;
        let control = Arc::new(LedgerControl::new(plan.target.clone()));
        let sessions = sessions(&control, plan.seed);
        let workers = (0..plan.connections).map(|number| Worker::open(number, plan.seed, &sessions));
        Ok(Self {
            workers: workers.collect::<Result<_, _>>()?,
            note: Note::new(file, plan.ledger.clone()),
            control,
        })
    }

    /// What tells the workers where to write, and when to end.
    pub fn control(&self) -> Arc<LedgerControl> {
        Arc::clone(&self.control)
    }

    /// Writes until the end is asked for, whatever becomes of servers meanwhile. `tell` is called by workers too.
    ///
    /// # Errors
    /// When the ledger cannot be written, or a server refuses a statement that it should take.
    pub fn write(self, tell: &(dyn Fn(LedgerEvent) + Sync)) -> Result<LedgerDone, WorkerFault> {
        let Self { workers, note, control } = self;
        let (mut done, mut first) = (LedgerDone::default(), None);
        thread::scope(|scope| {
            let (sender, receiver) = channel();
            let mut left = workers.len();
            for mut worker in workers {
                let (sender, note, control) = (sender.clone(), &note, &*control);
                scope.spawn(move || {
                    let end = worker.work(control, note, tell);
                    let _ = sender.send((worker, end)); // the receiver waits for all
                });
            }
            drop(sender);
            while left > 0 {
                match receiver.recv_timeout(Duration::from_secs(1)) {
                    Ok((worker, end)) => {
                        left -= 1;
                        done.sent_count += u64::from(worker.sent);
                        done.acknowledged_count += u64::from(worker.acknowledged);
                        if let Err(fault) = end {
                            control.stop();
                            first.get_or_insert(fault);
                        }
                    }
                    Err(RecvTimeoutError::Timeout) => tell(LedgerEvent::Acknowledged(note.acknowledged())),
                    Err(RecvTimeoutError::Disconnected) => {
                        let fault = WorkerFault::new(FailureClass::Bug, "a worker ended without a word");
                        first.get_or_insert(fault);
                        break;
                    }
                }
            }
        });
        first.map_or(Ok(done), Err)
    }
}

fn make_tables(target: &Target, connections: u32) -> Result<(), WorkerFault> {
    let mut connection = control::open(target)?;
    let mut statements = Vec::from(TABLES.map(|table| {
        format!(
            "CREATE TABLE {table} (worker INT NOT NULL, number BIGINT NOT NULL, checked BIGINT NOT NULL, \
             PRIMARY KEY (worker, number)) ENGINE=InnoDB COMMENT='{COMMENT}'"
        )
    }));
    statements.push(format!(
        "CREATE TABLE {COUNTERS} (worker INT NOT NULL PRIMARY KEY, number BIGINT NOT NULL) ENGINE=InnoDB \
         COMMENT='{COMMENT}'"
    ));
    let rows: Vec<String> = (0..connections).map(|worker| format!("({worker}, 0)")).collect();
    statements.push(format!("INSERT INTO {COUNTERS} VALUES {}", rows.join(", ")));
    for sql in statements {
        let done = connection.query(&sql);
        done.map_err(|error| worker_fault(&error, "make the tables of the ledger"))?;
    }
    connection.close();
    Ok(())
}
