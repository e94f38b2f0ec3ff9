//! What goes wrong while data is made, in words that say what to do.

use plimsoll_core::message::FailureClass;
use plimsoll_engine::WorkerFault;
use plimsoll_session::worker_fault;
use plimsoll_wire::{Connection, WireError};

/// "Error writing file", "disk full", "error on write", "out of resources", "table is full", "temporary file write
/// failure": what servers answer when a device is full.
const DISK_FULL_CODES: [u16; 6] = [3, 1021, 1026, 1041, 1114, 1878];

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
    if means_disk_full(error) {
        fault.message = format!(
            "{doing}: the server's disk is full ({error}): free space where it keeps its data, temporary files and \
             binary logs, or choose a smaller table_size; a table that is unfinished is gone on with by the next \
             `plimsoll prepare`, or removed by `plimsoll cleanup`"
        );
    }
    fault
}

fn means_disk_full(error: &WireError) -> bool {
    let WireError::Server(said) = error else { return false };
    let tells = |text: &str| said.message.contains(text);
    DISK_FULL_CODES.contains(&said.code) || tells("No space left on device") || tells("error 28 ") || tells("errno: 28")
}

/// A table that is not what it should be, with the cure.
pub fn differs(name: &str, how: &str) -> WorkerFault {
    let cure = "remove it with `plimsoll cleanup`, then make it with `plimsoll prepare`";
    WorkerFault::new(FailureClass::Data, format!("{name} {how}: {cure}"))
}
