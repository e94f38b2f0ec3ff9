//! Builds the workers of a user's own workload, and asks once where its counters begin.

use std::sync::{Arc, Mutex};

use plimsoll_core::lock::lock;
use plimsoll_core::message::FailureClass;
use plimsoll_core::plan::{Share, StatementsPlan};
use plimsoll_engine::{GroupServer, Worker, WorkerFactory, WorkerFault};
use plimsoll_session::{FirstRow, Session, Sessions, Sink, StatementId, Value};

use super::compiled::Compiled;
use super::keys::{ENDS, Keys};
use super::worker::CustomWorker;
use crate::workload::Setting;

/// Builds the workers of one group.
pub struct CustomFactory {
    compiled: Arc<Compiled>,
    sessions: Sessions,
    seed: u64,
    share: Share,
    /// Its counters, once the first worker has asked where they begin.
    keys: Mutex<Option<Arc<Keys>>>,
}

impl CustomFactory {
    /// Compiles the workload, which must have no faults.
    pub fn new(plan: &StatementsPlan, setting: Setting<'_>) -> Self {
        let Setting {
            servers, seed, terms, ..
        } = setting;
        let compiled = Arc::new(Compiled::new(plan));
        Self {
            sessions: Sessions::new(servers, Arc::clone(&compiled.statements), terms, seed),
            compiled,
            seed,
            share: setting.connections.share,
            keys: Mutex::default(),
        }
    }

    /// The counters of the load. The first that wants them asks the server for the largest keys.
    fn keys(&self, session: &mut Session) -> Result<Arc<Keys>, WorkerFault> {
        let mut keys = lock(&self.keys);
        if let Some(keys) = &*keys {
            return Ok(Arc::clone(keys));
        }
        let asked = self
            .compiled
            .counters
            .iter()
            .map(|statement| self.ends(session, *statement));
        let ends: Vec<Option<(i64, i64)>> = asked.collect::<Result<_, _>>()?;
        let found = Arc::new(Keys::new(&ends, &self.compiled.recent, self.share));
        *keys = Some(Arc::clone(&found));
        Ok(found)
    }

    /// The smallest and the largest key of a counter; `None` where there is no row.
    fn ends(&self, session: &mut Session, statement: StatementId) -> Result<Option<(i64, i64)>, WorkerFault> {
        let text = self.compiled.statements.text(statement);
        let mut row = FirstRow::new(ENDS.map(str::to_owned).to_vec());
        let asked = session.connection().run(statement, &[], Sink::First(&mut row));
        asked.map_err(|error| error.into_fault(&format!("run {text}")))?;
        match &*row.values_mut() {
            [oldest, newest] => match (oldest.value(), newest.value()) {
                (Value::Int(oldest), Value::Int(newest)) => Ok(Some((oldest, newest))),
                (Value::Null, Value::Null) => Ok(None),
                _ => {
                    let message = format!("{text}: gave no integers of 64 bits; keys are counted in such columns only");
                    Err(WorkerFault::new(FailureClass::Target, message))
                }
            },
            _ => unreachable!("as many values as columns"),
        }
    }
}

impl WorkerFactory for CustomFactory {
    fn transaction_names(&self) -> Vec<String> {
        let transactions = &self.compiled.transactions;
        transactions.iter().map(|one| one.name.clone()).collect()
    }

    fn servers(&self) -> Vec<GroupServer> {
        self.sessions.servers()
    }

    fn build(&self, worker: u32) -> Result<Box<dyn Worker>, WorkerFault> {
        let mut session = self.sessions.open(worker)?;
        let keys = self.keys(&mut session)?;
        Ok(Box::new(CustomWorker::new(session, &self.compiled, keys, self.seed)))
    }
}
