//! Workers that know whether they read what they wrote.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use plimsoll_core::plan::Role;
use plimsoll_engine::{Gate, GroupServer, Interrupter, ServerIndex, Worker, WorkerFactory, WorkerFault};
use plimsoll_session::{
    FirstRow, GroupServers, Session, Sessions, Sink, StatementId, Statements, Terms, Value, transact,
};

const WRITE: StatementId = StatementId(0);
const READ: StatementId = StatementId(1);

/// Each worker counts up in a row of its own and reads it back: the truth about stale reads.
pub struct CountsUp {
    sessions: Sessions,
    seen: Arc<Seen>,
}

/// What workers read.
#[derive(Default)]
pub struct Seen {
    pub reads: AtomicU64,
    /// Those that missed the write before.
    pub stale: AtomicU64,
}

struct Counter {
    session: Session,
    seen: Arc<Seen>,
}

impl CountsUp {
    /// In the table `own`, which has a row for each worker.
    pub fn new(servers: &GroupServers, seen: &Arc<Seen>) -> Self {
        let texts = ["UPDATE own SET n = ? WHERE id = ?", "SELECT n FROM own WHERE id = ?"];
        let statements = Arc::new(Statements::new(texts.map(str::to_owned).to_vec(), true));
        Self {
            sessions: Sessions::new(servers, statements, Terms::default(), 1),
            seen: Arc::clone(seen),
        }
    }
}

impl WorkerFactory for CountsUp {
    fn transaction_names(&self) -> Vec<String> {
        vec!["write".to_owned(), "read".to_owned()]
    }

    fn servers(&self) -> Vec<GroupServer> {
        self.sessions.servers()
    }

    fn build(&self, worker: u32) -> Result<Box<dyn Worker>, WorkerFault> {
        Ok(Box::new(Counter {
            session: self.sessions.open(worker)?,
            seen: Arc::clone(&self.seen),
        }))
    }
}

impl Worker for Counter {
    fn run(&mut self, gate: &mut Gate<'_>) -> Result<(), WorkerFault> {
        let (mut count, mut row) = (0, FirstRow::new(vec!["n".to_owned()]));
        let id = Value::Int(i64::from(gate.worker()));
        while gate.next().is_some() {
            count += 1;
            transact(&mut self.session, gate, (0, Role::Source), |session, gate| {
                let reply = session.connection().execute(WRITE, &[Value::Int(count), id])?;
                gate.statement(reply.into());
                Ok(())
            })?;
            if gate.next().is_none() {
                break;
            }
            let mut is_read = false;
            transact(&mut self.session, gate, (1, Role::Replica), |session, gate| {
                is_read = false;
                let reply = session.connection().run(READ, &[id], Sink::First(&mut row))?;
                gate.statement(reply.into());
                is_read = true;
                Ok(())
            })?;
            if is_read {
                let is_stale = row.values_mut()[0].value() != Value::Int(count);
                self.seen.reads.fetch_add(1, Ordering::Relaxed);
                self.seen.stale.fetch_add(u64::from(is_stale), Ordering::Relaxed);
            }
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
