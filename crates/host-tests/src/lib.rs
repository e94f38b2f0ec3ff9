//! Load on the host itself, as workers for the engine: processor, memory, scheduler, mutexes, files.
//!
//! Deliberately not here: how such a test is asked for and what is reported of it.

pub mod cpu;
mod event;
pub mod fileio;
mod futex;
pub mod memory;
pub mod mutex;
pub mod threads;

pub use event::STACK_BYTES_MIN;

use plimsoll_core::message::FailureClass;
use plimsoll_engine::WorkerFault;

/// What every test is told of its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// How many workers there will be.
    pub threads: u32,
    /// All randomness follows from it.
    pub seed: u64,
    /// Stack of each worker's thread, bytes, at least [`STACK_BYTES_MIN`].
    pub stack_bytes: usize,
}

/// So many values, one behind the other.
///
/// # Errors
/// A fault of class `host` when there is not so much memory.
fn array<T: Default>(count: u64) -> Result<Vec<T>, WorkerFault> {
    let mut values = Vec::new();
    if values.try_reserve_exact(count as usize).is_err() {
        return Err(WorkerFault::new(FailureClass::Host, "Memory allocation failure!"));
    }
    values.resize_with(count as usize, T::default);
    Ok(values)
}
