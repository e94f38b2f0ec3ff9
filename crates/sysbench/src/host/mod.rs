//! The tests of the host as sysbench asks for them and reports them. What they do is in `plimsoll-host-tests`.
//!
//! Deliberately not here: how a run is started, timed and reported in general.

mod cpu;
pub mod fileio;
mod logged;
mod memory;
mod mutex;
mod threads;

use plimsoll_host_tests::{STACK_BYTES_MIN, Setup};

use crate::exit::Exit;
use crate::test::{Context, Test};

/// Name and meaning of each, in the order in which `--help` shows them.
const TESTS: [(&str, &str); 5] = [
    ("fileio", "File I/O test"),
    ("cpu", "CPU performance test"),
    ("memory", "Memory functions speed test"),
    ("threads", "Threads subsystem performance test"),
    ("mutex", "Mutex performance test"),
];

/// The test of that name; `None` when there is none.
pub fn open(name: &str) -> Option<Box<dyn Test>> {
    Some(match name {
        "fileio" => Box::new(fileio::FileIo::default()),
        "cpu" => Box::new(cpu::Cpu::default()),
        "memory" => Box::new(memory::Memory::default()),
        "threads" => Box::new(threads::Threads::default()),
        "mutex" => Box::new(mutex::Mutexes::default()),
        _ => return None,
    })
}

/// What stands under "Compiled-in tests:", each line with its end.
pub fn list() -> String {
    TESTS.map(|(name, meaning)| format!("  {name} - {meaning}\n")).concat()
}

/// What a test is told of its run. Threads have the stack that our own code takes, whatever `--thread-stack-size` says.
fn setup(context: &Context) -> Setup {
    let wanted = usize::try_from(context.options.size("thread-stack-size")).unwrap_or(usize::MAX);
    Setup {
        threads: context.threads,
        seed: context.seed,
        stack_bytes: wanted.max(STACK_BYTES_MIN),
    }
}

/// The whole number of an option.
///
/// # Errors
/// When it is less than `min`; said in the log.
fn at_least(context: &Context, name: &str, min: u64) -> Result<u64, Exit> {
    let given = context.options.int(name);
    let value = u64::try_from(given).ok().filter(|value| *value >= min);
    value.ok_or_else(|| context.log.fatal(format!("Invalid value for {name}: {given}.")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_listed_can_be_opened() {
        for (name, _) in TESTS {
            assert_eq!(open(name).map(|test| test.name()).as_deref(), Some(name));
        }
        assert!(open("oltp").is_none());
        assert!(list().starts_with("  fileio - File I/O test\n  cpu - CPU performance test\n"));
    }
}
