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
use signal_hook::low_level::emulate_default_handler;

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

/// The same with the signal's number, for programs that users start: what the starter ignores stays ignored, as background
/// jobs of scripts want it.
///
/// # Errors
/// As [`on_signal`].
pub fn on_signal_not_ignored(action: impl Fn(i32) + Send + 'static) -> Result<(), WorkerFault> {
    let ignored = ignored_signals();
    let is_wanted = |signal: &i32| (ignored >> (signal - 1)) & 1 == 0;
    handle([SIGTERM, SIGINT].into_iter().filter(is_wanted), action)
}

fn handle(wanted: impl IntoIterator<Item = i32>, action: impl Fn(i32) + Send + 'static) -> Result<(), WorkerFault> {
    let mut signals = Signals::new(wanted)
        .map_err(|error| WorkerFault::new(FailureClass::Host, format!("signals cannot be handled: {error}")))?;
    thread::spawn(move || signals.forever().for_each(action));
    Ok(())
}

/// Signals that this process ignores, the first in the lowest bit. None where the system does not tell.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or_default()
}

/// Ends this process as the signal does where nobody handles it, so that the starter sees which one it was: a shell ends
/// its loop only then.
pub fn end_by(signal: i32) -> ! {
    let _ = emulate_default_handler(signal);
    process::exit(128 + signal)
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
