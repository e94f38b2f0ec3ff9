//! The tests of the host that are built in: processor, memory, scheduler, mutexes, files.
//!
//! Deliberately not here: how a run is started, timed and reported in general.

mod cpu;
mod event;
pub mod fileio;
mod futex;
mod memory;
mod mutex;
mod threads;

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

/// The whole number of an option.
///
/// # Errors
/// When it is less than `min`; said in the log.
fn at_least(context: &Context, name: &str, min: u64) -> Result<u64, Exit> {
    let given = context.options.int(name);
    let value = u64::try_from(given).ok().filter(|value| *value >= min);
    value.ok_or_else(|| context.log.fatal(format!("Invalid value for {name}: {given}.")))
}

/// So many values, one behind the other.
///
/// # Errors
/// When there is not so much memory; said in the log.
fn array<T: Default>(context: &Context, count: u64) -> Result<Vec<T>, Exit> {
    let mut values = Vec::new();
    if values.try_reserve_exact(count as usize).is_err() {
        return Err(context.log.fatal("Memory allocation failure!"));
    }
    values.resize_with(count as usize, T::default);
    Ok(values)
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
