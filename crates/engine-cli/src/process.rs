//! This process among others: its group, its limits, its signals, its clocks.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process;
use std::sync::Arc;
use std::thread;

use plimsoll_core::message::{FailureClass, Hello, PROTOCOL, Pong};
use plimsoll_engine::{WorkerFault, both_clocks_ns, unix_ns};
use rustix::process::{Resource, Rlimit, getrlimit, setpgid, setrlimit};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::output::Output;

/// A process group of its own, so that Ctrl-C in a terminal reaches the starter only, which then says `stop`; and open
/// files. Where either is refused, the load may still run.
pub fn settle() {
    let _ = setpgid(None, None);
    allow_files();
}

/// As many open files as this user may have, one for each connection. Where that is refused, the load may still run.
pub fn allow_files() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: limit.maximum,
            maximum: limit.maximum,
        },
    );
}

/// Who speaks, with both clocks read together.
pub fn hello() -> Hello {
    let (monotonic_ns, unix_ns) = both_clocks_ns();
    Hello {
        protocol: PROTOCOL,
        engine: env!("CARGO_PKG_VERSION").to_owned(),
        pid: process::id(),
        monotonic_ns,
        unix_ns,
    }
}

/// The wall clock now, as the answer to a `ping`.
pub fn pong(id: u64) -> Pong {
    Pong { id, unix_ns: unix_ns() }
}

/// Calls `action` at each SIGTERM or SIGINT, from a thread of its own.
///
/// # Errors
/// A fault of class `host` when handlers cannot be installed.
pub fn on_signal(action: impl Fn() + Send + 'static) -> Result<(), WorkerFault> {
    handle([SIGTERM, SIGINT], move |_| action())
}

/// Calls `action` with the number of each of these signals, from a thread of its own.
///
/// # Errors
/// As [`on_signal`].
pub fn handle(wanted: impl IntoIterator<Item = i32>, action: impl Fn(i32) + Send + 'static) -> Result<(), WorkerFault> {
    let mut signals = Signals::new(wanted)
        .map_err(|error| WorkerFault::new(FailureClass::Host, format!("signals cannot be handled: {error}")))?;
    thread::spawn(move || signals.forever().for_each(action));
    Ok(())
}

/// Takes commands beside the work, in a thread of its own. A panic there is told as one anywhere else is.
pub fn beside(output: &Arc<Output>, listen: impl FnOnce(&Output) + Send + 'static) {
    let output = Arc::clone(output);
    thread::spawn(move || {
        let result = catch_unwind(AssertUnwindSafe(|| listen(&output)));
        if let Err(payload) = result {
            output.fail(WorkerFault::from_panic("listening to standard input", &*payload));
        }
    });
}
