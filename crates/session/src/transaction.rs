//! One transaction from its arrival to its outcome: repeated after the errors that the plan names, given up after
//! others, ended with the run where it can never work.
//!
//! Deliberately not here: the statements in it.

use plimsoll_engine::{Gate, Outcome, WorkerFault};

use crate::fault::{Consequence, StatementError};
use crate::session::Session;
use crate::terms::Repetitions;

/// Runs the transaction that the gate let through, as often as needed, and tells the gate how it ended. `body` must
/// do the same with the same values each time it is called. Lost connections are open again when it returns, unless the
/// trial is over.
///
/// # Errors
/// When a statement failed for a reason that would fail all others too.
pub fn transact<'g>(
    session: &mut Session,
    gate: &mut Gate<'g>,
    transaction_index: usize,
    mut body: impl FnMut(&mut Session, &mut Gate<'g>) -> Result<(), StatementError>,
) -> Result<(), WorkerFault> {
    gate.sent();
    let mut repetitions = Repetitions::default();
    loop {
        let Err(error) = body(session, gate) else {
            session.terms().worked();
            gate.finish(transaction_index, Outcome::Completed);
            return Ok(());
        };
        if session.is_cut() {
            break;
        }
        gate.error(Some(transaction_index), error.class(session.terms()), error.code());
        if error.consequence(session.terms()) == Consequence::EndRun {
            return Err(error.into_fault(&format!("run on {}", session.name())));
        }
        // Also after what undid the statement alone, as a lock-wait timeout: what the transaction did before it must not
        // be there when it is repeated, nor in the next one.
        session.rollback();
        if session.is_broken() {
            gate.connection_lost();
            break;
        }
        let Some(pause) = repetitions.next(session.terms(), error.code()) else {
            break;
        };
        if gate.is_ending() || session.wait(pause) {
            break;
        }
        gate.retry();
    }
    gate.finish(transaction_index, Outcome::Failed);
    recover(session, gate);
    Ok(())
}

/// Opens again what was lost, with pauses that grow. Whatever keeps it from coming about is counted, and ends nothing:
/// the engine decides how long it is worth waiting.
fn recover(session: &mut Session, gate: &mut Gate<'_>) {
    let mut attempts = 0;
    while session.is_broken() && !gate.is_ending() {
        let Err(error) = session.reopen() else { continue };
        if session.is_cut() {
            return;
        }
        gate.error(None, error.class(session.terms()), error.code());
        let pause = session.terms().reconnect.pause(attempts);
        attempts += 1;
        if session.wait(pause) {
            return;
        }
    }
    if !session.is_broken() {
        gate.connection_back();
    }
}
