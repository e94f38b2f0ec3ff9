//! What goes wrong while data is made, in words that say what to do.

use plimsoll_core::fault::FaultKind;
use plimsoll_core::message::FailureClass;
use plimsoll_engine::WorkerFault;
use plimsoll_session::worker_fault;
use plimsoll_wire::{Connection, WireError};

/// Runs a statement of whose reply nothing is needed.
///
/// # Errors
/// As [`blame`] says it.
pub fn run(connection: &mut Connection, sql: &str, doing: &str) -> Result<(), WorkerFault> {
    connection.query(sql).map(|_| ()).map_err(|error| blame(&error, doing))
}

/// An error while `doing` something, with its cure.
pub fn blame(error: &WireError, doing: &str) -> WorkerFault {
    let mut fault = worker_fault(error, doing);
    if let Some(said) = error.server().filter(|said| said.kind() == FaultKind::DiskFull) {
        fault.message = format!(
            "{doing}: the server's disk is full ({said}): {}, or choose a smaller table_size; a table that is unfinished is \
             gone on with by the next `plimsoll prepare`, or removed by `plimsoll cleanup`",
            said.cure().unwrap_or_default()
        );
    }
    fault
}

/// A table that is not what it should be, with the cure.
pub fn differs(name: &str, how: &str) -> WorkerFault {
    let cure = "remove it with `plimsoll cleanup`, then make it with `plimsoll prepare`";
    WorkerFault::new(FailureClass::Data, format!("{name} {how}: {cure}"))
}
