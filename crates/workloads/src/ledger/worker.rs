//! One worker: transaction after transaction on one connection, and another connection where that one is lost.

use std::time::Duration;

use plimsoll_core::fault::FaultKind;
use plimsoll_core::plan::{Endpoint, Target};
use plimsoll_engine::{WorkerFault, monotonic_ns};
use plimsoll_session::worker_fault;
use plimsoll_wire::fault::client;
use plimsoll_wire::{Connection, PreparedStatement, Value, WireError};

use super::note::Note;
use super::{COUNTERS, LedgerControl, LedgerEvent, Order, TABLES};
use crate::control;

/// Between two attempts to connect.
const ATTEMPT_PAUSE: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(super) struct Worker {
    number: u32,
    seed: u64,
    session: Option<Session>,
}

/// A connection to the server that was in force when it was opened.
#[derive(Debug)]
pub(super) struct Session {
    connection: Connection,
    inserts: [PreparedStatement; 2],
    update: PreparedStatement,
    generation: u64,
    /// Monotonic nanoseconds, before the first byte was sent.
    opened_ns: u64,
}

/// What a worker did.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Worked {
    /// Transactions that were begun.
    pub sent: u32,
    /// Of those, the acknowledged ones.
    pub acknowledged: u32,
}

impl Worker {
    pub(super) fn new(number: u32, seed: u64, session: Session) -> Self {
        let session = Some(session);
        Self { number, seed, session }
    }

    /// Writes until the end is asked for, and says how far it came, and why it could not go on where that is so.
    pub(super) fn work(
        mut self,
        control: &LedgerControl,
        note: &Note,
        tell: &dyn Fn(LedgerEvent),
    ) -> (Worked, Result<(), WorkerFault>) {
        let mut worked = Worked::default();
        let end = self.work_on(&mut worked, control, note, tell);
        if let Some(session) = self.session {
            session.connection.close();
        }
        (worked, end)
    }

    fn work_on(
        &mut self,
        worked: &mut Worked,
        control: &LedgerControl,
        note: &Note,
        tell: &dyn Fn(LedgerEvent),
    ) -> Result<(), WorkerFault> {
        loop {
            let generation = {
                let order = control.order();
                if order.is_stopped {
                    return Ok(());
                }
                order.generation
            };
            let Some(session) = self.session.as_mut().filter(|session| session.generation == generation) else {
                self.connect(control, note, tell)?;
                continue;
            };
            worked.sent += 1;
            match session.transaction(self.seed, self.number, worked.sent) {
                Ok(()) => {
                    note.acknowledge(self.number, worked.sent, session.opened_ns, tell)?;
                    worked.acknowledged += 1;
                }
                Err(error) if may_pass(&error) => {
                    let said = (error.server_code().unwrap_or(client::LOST), error.to_string());
                    note.fail(self.number, worked.sent, said, tell)?;
                    self.session = None;
                    control.pause(generation, ATTEMPT_PAUSE);
                }
                Err(error) => return Err(worker_fault(&error, "write a transaction of the ledger")),
            }
        }
    }

    /// One attempt to connect to the server in force; after a failure a pause.
    fn connect(&mut self, control: &LedgerControl, note: &Note, tell: &dyn Fn(LedgerEvent)) -> Result<(), WorkerFault> {
        self.session = None;
        let Order { target, generation, .. } = control.order().clone();
        match Session::open(&target, generation) {
            Ok(session) => self.session = Some(session),
            Err(fault) => {
                let said = (fault.code.unwrap_or_else(|| unreached_code(&target)), fault.message);
                note.fail(self.number, 0, said, tell)?;
                control.pause(generation, ATTEMPT_PAUSE);
            }
        }
        Ok(())
    }
}

impl Session {
    pub(super) fn open(target: &Target, generation: u64) -> Result<Self, WorkerFault> {
        let opened_ns = monotonic_ns();
        let mut connection = control::open(target)?;
        let mut prepare = |sql: &str| {
            let prepared = connection.prepare(sql);
            prepared.map_err(|error| worker_fault(&error, "prepare a statement of the ledger"))
        };
        let insert = |table: &str| format!("INSERT INTO {table} (worker, number, checked) VALUES (?, ?, ?)");
        let inserts = [prepare(&insert(TABLES[0]))?, prepare(&insert(TABLES[1]))?];
        let update = prepare(&format!("UPDATE {COUNTERS} SET number = ? WHERE worker = ?"))?;
        Ok(Self {
            connection,
            inserts,
            update,
            generation,
            opened_ns,
        })
    }

    fn transaction(&mut self, seed: u64, worker: u32, number: u32) -> Result<(), WireError> {
        let checked = checked(seed, worker, number);
        let values = [
            Value::Int(worker.into()),
            Value::Int(number.into()),
            Value::Int(checked.into()),
        ];
        self.connection.query("BEGIN")?;
        for insert in &self.inserts {
            self.connection.execute(insert, &values)?;
        }
        self.connection.execute(&self.update, &[values[1], values[0]])?;
        self.connection.query("COMMIT")?;
        Ok(())
    }
}

/// Whether a failed transaction says something of its server that another connection may not meet. One that is read-only may be
/// promoted in a moment, or was just demoted.
fn may_pass(error: &WireError) -> bool {
    error.is_connection_lost() || error.kind() == FaultKind::ReadOnly
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
