//! A workload that counts in the rows of one table: all that a new kind of workload needs, in one folder.

mod table;

use std::sync::Arc;

use plimsoll_core::message::EngineWarning;
use plimsoll_core::plan::{Role, RoleTarget};
use plimsoll_core::random::below;
use plimsoll_engine::{Gate, GroupServer, Interrupter, ServerIndex, Worker, WorkerFactory, WorkerFault};
use plimsoll_session::{Session, Sessions, StatementId, Statements, Value, transact};
use plimsoll_wire::{Connection, WireError};
use plimsoll_workloads::loading::mark::{self, Found};
use plimsoll_workloads::loading::pool::LoaderPool;
use plimsoll_workloads::loading::table_set::TableSet;
use plimsoll_workloads::loading::{DataSet, FoundSet};
use plimsoll_workloads::preflight::probe::Probe;
use plimsoll_workloads::{Setting, Workload};
use table::{CounterTable, KIND, NAME};

const COUNT: StatementId = StatementId(0);

/// The workload and its data set: so many rows.
#[derive(Clone, Copy)]
pub struct Counter {
    pub rows: u64,
}

impl Workload for Counter {
    fn faults(&self) -> Vec<String> {
        let fault = || "workload.rows: must be at least 1, is 0".to_owned();
        (self.rows == 0).then(fault).into_iter().collect()
    }

    fn compile(&self, setting: Setting<'_>) -> Box<dyn WorkerFactory> {
        let text = format!("UPDATE {NAME} SET n = n + 1 WHERE id = ?");
        let statements = Arc::new(Statements::new(vec![text], true));
        Box::new(CounterFactory {
            sessions: Sessions::new(setting.servers, statements, setting.terms, setting.seed),
            rows: self.rows,
            seed: setting.seed,
        })
    }

    fn preflight(&self, targets: &[RoleTarget], connections: u32) -> Result<Vec<EngineWarning>, WorkerFault> {
        for one in targets {
            let mut probe = Probe::open(&one.target)?;
            let found = probe.ask(find)?;
            if let Some(fault) = found[0].unmade(NAME) {
                return Err(probe.fault(&fault));
            }
            probe.limits(connections, 1)?;
        }
        Ok(vec![])
    }
}

impl DataSet for Counter {
    fn faults(&self) -> Vec<String> {
        vec![]
    }

    fn find(&self, pool: &LoaderPool<'_>) -> Result<Box<dyn FoundSet + '_>, WorkerFault> {
        let found = pool.ask("look at tables", find)?;
        Ok(Box::new(TableSet::new([CounterTable::new(self.rows)], found)))
    }
}

/// What is there under the name of the table.
fn find(connection: &mut Connection) -> Result<Vec<Found>, WireError> {
    mark::find(connection, KIND, &format!("= '{NAME}'"), 1, |_| Some(0))
}

struct CounterFactory {
    sessions: Sessions,
    rows: u64,
    seed: u64,
}

impl WorkerFactory for CounterFactory {
    fn transaction_names(&self) -> Vec<String> {
        vec!["count".to_owned()]
    }

    fn servers(&self) -> Vec<GroupServer> {
        self.sessions.servers()
    }

    fn build(&self, worker: u32) -> Result<Box<dyn Worker>, WorkerFault> {
        Ok(Box::new(CounterWorker {
            session: self.sessions.open(worker)?,
            rows: self.rows,
            seed: self.seed,
        }))
    }
}

struct CounterWorker {
    session: Session,
    rows: u64,
    seed: u64,
}

impl Worker for CounterWorker {
    fn run(&mut self, gate: &mut Gate<'_>) -> Result<(), WorkerFault> {
        while let Some(arrival) = gate.next() {
            let row = 1 + below(&mut arrival.random(self.seed), self.rows);
            let row = Value::Int(i64::try_from(row).expect("a table has fewer rows"));
            transact(&mut self.session, gate, (0, Role::Source), |session, gate| {
                let reply = session.connection().execute(COUNT, &[row])?;
                gate.statement(reply.into());
                Ok(())
            })?;
        }
        Ok(())
    }

    fn is_connected(&self, server: ServerIndex) -> bool {
        self.session.is_connected(server)
    }

    fn interrupter(&self) -> Interrupter {
        self.session.interrupter()
    }
}
