//! One transaction from its arrival to its outcome: repeated after the errors that the plan names, given up after
//! others, ended with the run where it can never work.
//!
//! Deliberately not here: the statements in it.

use plimsoll_core::plan::Role;
use plimsoll_engine::{Gate, Outcome, ServerIndex, WorkerFault};

use crate::fault::{Consequence, StatementError};
use crate::session::Session;
use crate::terms::Repetitions;

/// Runs the transaction that the gate let through, as often as needed, and tells the gate how it ended. `body` must
/// do the same with the same values each time it is called. One that only reads has the role of a replica. The connection that
/// it needs is open again when it returns, unless the trial is over; a replica that is gone is not waited for: what it
/// read is read elsewhere.
///
/// # Errors
/// When a statement failed for a reason that would fail all others too.
pub fn transact<'g>(
    session: &mut Session,
    gate: &mut Gate<'g>,
    (transaction_index, role): (usize, Role),
    mut body: impl FnMut(&mut Session, &mut Gate<'g>) -> Result<(), StatementError>,
) -> Result<(), WorkerFault> {
    session.choose(gate, role);
    gate.sent();
    let mut repetitions = Repetitions::default();
    loop {
        let Err(error) = body(session, gate) else {
            session.terms().worked();
            gate.ran_on(session.chosen());
            gate.finish(transaction_index, Outcome::Completed);
            session.leave(true);
            if role == Role::Source {
                session.wrote();
            }
            return Ok(());
        };
        if session.is_cut() {
            break;
        }
        let class = error.class(session.terms());
        gate.error(session.chosen(), Some(transaction_index), class, error.code());
        if error.consequence(session.terms()) == Consequence::EndRun {
            return Err(error.into_fault(&format!("run on {}", session.name())));
        }
        // Also after what undid the statement alone, as a lock-wait timeout: what the transaction did before it must not
        // be there when it is repeated, nor in the next one.
        session.rollback();
        if session.is_broken() {
            let (server, silence) = (session.chosen(), error.silence(session.terms()));
            if server == ServerIndex::SOURCE {
                gate.connection_lost(server, silence);
                break;
            }
            session.lose(server, gate, silence);
            if gate.is_ending() {
                break;
            }
            // It changed nothing, and nobody has seen what it read.
            session.leave(false);
            session.choose(gate, role);
        } else {
            let Some(pause) = repetitions.next(session.terms(), error.code()) else {
                break;
            };
            if gate.is_ending() || session.wait(pause) {
                break;
            }
        }
        gate.retry();
    }
    gate.ran_on(session.chosen());
    gate.finish(transaction_index, Outcome::Failed);
    session.leave(false);
    if session.chosen() == ServerIndex::SOURCE {
        recover(session, gate);
    }
    Ok(())
}

/// Opens the source's connection again if it was lost, with pauses that grow, and not at the same time as more
/// others than the engine allows. A failed attempt is counted and ends nothing: the engine decides how long to wait.
fn recover(session: &mut Session, gate: &mut Gate<'_>) {
    let mut attempts = 0;
    while session.is_broken() {
        let Some(reopened) = gate.connecting(|| session.reopen()) else {
            return;
        };
        let Err(error) = reopened else { continue };
        if session.is_cut() {
            return;
        }
        gate.error(session.chosen(), None, error.class(session.terms()), error.code());
        let pause = session.reconnect_pause(gate.worker(), attempts);
        attempts += 1;
        if session.wait(pause) {
            return;
        }
    }
    gate.connection_back(session.chosen());
}
