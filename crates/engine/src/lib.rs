//! Drives load: who starts a transaction and when (arrivals), the threads that run them (workers), what they did
//! (recorder), and one trial from connecting to the final account.
//!
//! Invariants:
//! * offered = completed + failed + dropped + unfinished, always, however a trial ends;
//! * each transaction counts in exactly one interval, with everything it did;
//! * memory grows neither with time nor, beyond a thread's stack, with connections;
//! * nothing is allocated for a transaction.
//!
//! Deliberately not here: any knowledge of what a worker talks to (the wire), any reading of plans, any standard
//! input or output. Results leave through an [`Observer`].

#![forbid(unsafe_code)]

mod arrivals;
mod clock;
mod ending;
mod fault;
mod gate;
mod interrupter;
mod lifecycle;
mod outages;
mod permits;
mod recorder;
mod run_delay;
mod server;
mod server_record;
mod trial;
mod turns;
mod usage;
mod word;
mod worker;

pub use arrivals::{
    Arrival, Arrivals, Backlog, Claim, ClosedLoop, OpenLoop, OpenLoopOptions, Pace, Thinking, Users, UsersOptions,
};
pub use clock::{both_clocks_ns, monotonic_ns, unix_ns};
pub use fault::WorkerFault;
pub use gate::{Gate, Outcome};
pub use interrupter::Interrupter;
pub use lifecycle::TrialHandle;
pub use plimsoll_core::statement::StatementResult;
pub use recorder::WorkerShare;
pub use server::{GroupServer, ReplicaTally, ServerIndex};
pub use trial::{CONNECTIONS_MAX, ConnectionTerms, GroupRun, Observer, Trial, TrialOptions};
pub use usage::{client_cpu, memory_bytes_max};
pub use worker::{Worker, WorkerFactory};
