//! One worker: transaction after transaction on one connection, and another connection where that one is lost.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_core::fault::FaultKind;
use plimsoll_core::plan::{Endpoint, Role, RoleTarget, Target};
use plimsoll_engine::{WorkerFault, monotonic_ns};
use plimsoll_session::{
    Connect, GroupServers, MachineClock, Session, Sessions, StatementError, StatementId, Statements, Terms, Tolerance,
    Value,
};
use plimsoll_wire::fault::client;

use super::note::Note;
use super::{COUNTERS, LedgerControl, LedgerEvent, Order, TABLES};

/// Between two attempts to connect.
const ATTEMPT_PAUSE: Duration = Duration::from_millis(20);

pub(super) struct Worker {
    number: u32,
    seed: u64,
    session: Session,
    /// Of the server that the connection leads to; `None` where another connection is needed.
    generation: Option<u64>,
    /// When the connection was opened: monotonic nanoseconds, before the first byte was sent.
    opened_ns: u64,
    /// Transactions that were begun.
    pub(super) sent: u32,
    /// Of those, the acknowledged ones.
    pub(super) acknowledged: u32,
}

/// The number of a transaction, or 0 for an attempt to connect, and the error's code and message.
type Failure = (u32, (u16, String));

impl Worker {
    /// One that is connected to the first server.
    pub(super) fn open(number: u32, seed: u64, sessions: &Sessions) -> Result<Self, WorkerFault> {
        Ok(Self {
            number,
            seed,
            opened_ns: monotonic_ns(),
            session: sessions.open(number)?,
            generation: Some(0),
            sent: 0,
            acknowledged: 0,
        })
    }

    /// Writes until the end is asked for, or says why it could not go on.
    pub(super) fn work(
        &mut self,
        control: &LedgerControl,
        note: &Note,
        tell: &dyn Fn(LedgerEvent),
    ) -> Result<(), WorkerFault> {
        loop {
            let order = control.order().clone();
            if order.is_stopped {
                return Ok(());
            }
            let failure = if self.generation == Some(order.generation) {
                self.write(note, tell)?
            } else {
                self.connect(&order)
            };
            if let Some((number, said)) = failure {
                note.fail(self.number, number, said, tell)?;
                self.generation = None;
                control.pause(order.generation, ATTEMPT_PAUSE);
            }
        }
    }

    /// One attempt to connect to the server in force.
    fn connect(&mut self, order: &Order) -> Option<Failure> {
        self.opened_ns = monotonic_ns();
        let Err(error) = self.session.renew() else {
            self.generation = Some(order.generation);
            return None;
        };
        let target = order.connector.target();
        let fault = error.into_fault(&format!("connect to {} as {}", target.endpoint, target.user));
        let code = fault.code.unwrap_or_else(|| unreached_code(target));
        Some((0, (code, fault.message)))
    }

    /// The next transaction. Errors that another connection may not meet end nothing: a server that is read-only may be
    /// promoted in a moment, or was just demoted.
    fn write(&mut self, note: &Note, tell: &dyn Fn(LedgerEvent)) -> Result<Option<Failure>, WorkerFault> {
        self.sent += 1;
        let Err(error) = self.transaction(self.sent) else {
            note.acknowledge(self.number, self.sent, self.opened_ns, tell)?;
            self.acknowledged += 1;
            return Ok(None);
        };
        if error.kind().ends_connection() || error.kind() == FaultKind::ReadOnly {
            let code = if error.code() == 0 { client::LOST } else { error.code() };
            return Ok(Some((self.sent, (code, error.to_string()))));
        }
        Err(error.into_fault("write a transaction of the ledger"))
    }

    fn transaction(&mut self, number: u32) -> Result<(), StatementError> {
        let checked = checked(self.seed, self.number, number);
        let values = [self.number, number, checked].map(|value| Value::Int(value.into()));
        let connection = self.session.connection();
        connection.query("BEGIN")?;
        for insert in 0..TABLES.len() {
            connection.execute(StatementId(insert), &values)?;
        }
        connection.execute(StatementId(TABLES.len()), &[values[1], values[0]])?;
        connection.query("COMMIT")?;
        Ok(())
    }
}

/// Sessions with the server in force. They wait for every answer.
pub(super) fn sessions(control: &Arc<LedgerControl>, seed: u64) -> Sessions {
    let insert = |table| format!("INSERT INTO {table} (worker, number, checked) VALUES (?, ?, ?)");
    let mut texts = Vec::from(TABLES.map(insert));
    texts.push(format!("UPDATE {COUNTERS} SET number = ? WHERE worker = ?"));
    let (role, target) = (Role::Source, control.target());
    let source = RoleTarget {
        role,
        instance: None,
        target,
    };
    let connect = |_: &Target| Arc::clone(control) as Arc<dyn Connect>;
    let servers = GroupServers::with(&[source], None, Arc::new(MachineClock), &connect);
    let terms = Terms::strict(Tolerance::default());
    Sessions::new(&servers, Arc::new(Statements::new(texts, true)), terms, seed)
}

fn unreached_code(target: &Target) -> u16 {
    match target.endpoint {
        Endpoint::Tcp { .. } => client::NO_HOST,
        Endpoint::Socket { .. } => client::NO_SOCKET,
    }
}

/// What rows of a transaction hold beside its worker and number: rows that hold something else were never sent.
fn checked(seed: u64, worker: u32, number: u32) -> u32 {
    crc32fast::hash(format!("{seed} {worker} {number}").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rows_hold_is_what_the_search_expects() {
        assert_eq!(
            checked(1, 0, 1),
            0x1A60_081D,
            "zlib.crc32(b'1 0 1'): the search is in Python"
        );
    }
}
