//! `plimsoll-engine sysbench ...`, and the same under the name `sysbench`.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicI32, Ordering};

use plimsoll_engine::{TrialHandle, WorkerFault};
use plimsoll_sysbench::command_line::{self, World};
use signal_hook::consts::{SIGINT, SIGPIPE, SIGTERM};
use signal_hook::low_level::emulate_default_handler;

use crate::events::{Events, Overheard, Reason};
use crate::process;

/// Does what sysbench would do.
pub fn run(arguments: Vec<String>) -> ExitCode {
    if arguments.iter().any(|word| word.starts_with(RECORD)) {
        return become_recorder(&arguments);
    }
    process::allow_files();
    let events = Events::open();
    let reason = Reason::default();
    let world = World {
        out: Box::new(Overheard {
            out: unbuffered(io::stdout().as_fd()),
            reason: reason.clone(),
        }),
        err: unbuffered(io::stderr().as_fd()),
        compat: std::env::var("SYSBENCH_COMPAT").ok().filter(|name| !name.is_empty()),
        on_interrupt: Box::new(stop_at_signal),
        observer: events.as_ref().and_then(Events::observer),
    };
    let code = command_line::main(arguments, world);
    if let (1.., Some(mut events)) = (code, events) {
        events.fail(reason.text());
    }
    match STOPPED_BY.load(Ordering::Relaxed) {
        NO_SIGNAL => ExitCode::from(code),
        signal => end_by(signal),
    }
}

/// What begins the options of recordings, which the engine does not make.
const RECORD: &str = "--plimsoll-record";

/// This process becomes `plimsoll sysbench`, which starts an engine and records what it tells.
fn become_recorder(arguments: &[String]) -> ExitCode {
    let beside = std::env::current_exe().map(|engine| engine.with_file_name("plimsoll"));
    let program = beside
        .ok()
        .filter(|path| path.is_file())
        .unwrap_or_else(|| "plimsoll".into());
    let error = Command::new(&program).arg("sysbench").args(arguments).exec();
    let program = program.display();
    eprintln!(
        "{RECORD}: runs are recorded by `plimsoll`, and {program} cannot be started: {error}; put it on the PATH"
    );
    ExitCode::from(CANNOT_START)
}

/// Exit code where a program of ours is missing.
const CANNOT_START: u8 = 3;

const NO_SIGNAL: i32 = 0;

/// The signal that ended the load.
static STOPPED_BY: AtomicI32 = AtomicI32::new(NO_SIGNAL);

/// The first signal ends the load and tells what was measured, the second ends the process.
fn stop_at_signal(handle: TrialHandle) {
    let installed = on_signal_not_ignored(move |signal| {
        if STOPPED_BY.swap(signal, Ordering::Relaxed) != NO_SIGNAL {
            end_by(signal);
        }
        handle.stop();
    });
    drop(installed); // without handlers a signal ends the process, which is what sysbench does
}

/// Calls `action` with the signal's number at each SIGTERM or SIGINT. What the starter ignores stays ignored, as
/// background jobs of scripts want it.
///
/// # Errors
/// A fault of class `host` when handlers cannot be installed.
fn on_signal_not_ignored(action: impl Fn(i32) + Send + 'static) -> Result<(), WorkerFault> {
    let ignored = ignored_signals();
    let is_wanted = |signal: &i32| (ignored >> (signal - 1)) & 1 == 0;
    process::handle([SIGTERM, SIGINT].into_iter().filter(is_wanted), action)
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
fn end_by(signal: i32) -> ! {
    let _ = emulate_default_handler(signal);
    std::process::exit(128 + signal)
}

/// Scripts print through C's own buffers, so that ours must not hold anything back.
fn unbuffered(stream: BorrowedFd<'_>) -> Box<dyn Write + Send> {
    match stream.try_clone_to_owned() {
        Ok(stream) => Box::new(Pipe(File::from(stream))),
        Err(_) => Box::new(io::sink()), // it is closed
    }
}

/// Where nobody reads any more there is nobody to work for. A program that does not handle the signal ends by it.
struct Pipe(File);

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.0.write(bytes);
        if matches!(&written, Err(error) if error.kind() == ErrorKind::BrokenPipe) {
            end_by(SIGPIPE);
        }
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
