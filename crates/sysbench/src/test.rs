//! What a test is to the command line: options, commands, a run, and how its numbers are told.

use std::sync::Arc;

use plimsoll_engine::WorkerFactory;

use crate::compat::Compat;
use crate::exit::Exit;
use crate::log::Log;
use crate::options::{OptionSpec, Options, help};
use crate::report::{Stat, general};
use crate::settings::Settings;

/// What all parts of one command share.
pub struct Context {
    /// All options: general ones, the database driver's, the test's own.
    pub options: Options,
    /// Where everything is printed.
    pub log: Arc<Log>,
    /// All randomness follows from it: `--rand-seed`, or the time.
    pub seed: u64,
    /// `--threads`. A script may have an option of its own of that name.
    pub threads: u32,
    /// Whose manners.
    pub compat: Compat,
}

/// A run as a test describes it.
pub struct Run {
    /// Builds the workers; they have one type of transaction, named as the test, if they have no better names.
    pub factory: Box<dyn WorkerFactory>,
    /// How many events at most, where the test has its own mind about it: `Some(None)` for no limit.
    pub events_max: Option<Option<u64>>,
    /// Lines about the test itself, each with its line end, before the threads start. May be empty.
    pub mode: String,
}

/// Commands that tests have in common.
const COMMANDS: [&str; 4] = ["prepare", "run", "cleanup", "help"];

/// A test: one that is built in, or a script.
pub trait Test {
    /// As messages name it.
    fn name(&self) -> String;

    /// Options of its own, in the order in which help shows them.
    fn options(&self) -> Vec<OptionSpec>;

    /// Whether options that nobody declared are taken as texts (scripts without declared options).
    fn takes_any_option(&self) -> bool {
        false
    }

    /// Whether it does nothing without a command. A script may: its body runs.
    fn needs_command(&self) -> bool {
        true
    }

    /// Whether commands are obeyed: a script from standard input does nothing but its body.
    fn obeys(&self) -> bool {
        true
    }

    /// Takes note of all options, before anything else is asked of it.
    ///
    /// # Errors
    /// When their values make no sense; said in the log.
    fn configure(&mut self, context: &Arc<Context>) -> Result<(), Exit>;

    /// Does what a command other than `run` says: `prepare`, `cleanup`, `help`, or a script's own. `None` when it has no
    /// such command; `fall_back` then has the last word.
    fn command(&mut self, name: &str) -> Option<Result<(), Exit>>;

    /// Whether there is a `run`, or a command of that name that takes its place.
    ///
    /// # Errors
    /// When the run is impossible; said in the log.
    fn begin(&mut self) -> Result<Run, Exit>;

    /// The mode was said, and no thread has started.
    ///
    /// # Errors
    /// When the run is impossible; said in the log.
    fn before_threads(&mut self, _settings: &Settings) -> Result<(), Exit> {
        Ok(())
    }

    /// Tells what happened since the last such report.
    fn intermediate(&mut self, stat: &Stat, log: &Log) {
        general::intermediate(stat, log);
    }

    /// Tells what happened since the begin, or the last checkpoint.
    fn cumulative(&mut self, stat: &Stat, log: &Log) {
        general::cumulative(stat, log);
    }

    /// The load is over, and the last report comes next.
    fn before_last_report(&mut self) {}

    /// Whether it writes reports of its own form: nothing else may stand among them.
    fn has_own_reports(&self) -> bool {
        false
    }

    /// Whether any connection to a server was opened so far.
    fn has_server(&self) -> bool {
        true
    }

    /// Planned reconnects so far; lost connections are counted elsewhere.
    fn reconnects(&self) -> u64 {
        0
    }

    /// After the last report.
    ///
    /// # Errors
    /// When something went wrong that changes the exit code.
    fn end(&mut self) -> Result<(), Exit> {
        Ok(())
    }
}

/// A command that a test has not: help shows its options where there are any, everything else is refused.
///
/// # Errors
/// When there is no such command; said on standard error.
pub fn fall_back(test: &dyn Test, command: &str, log: &Log) -> Result<(), Exit> {
    let name = test.name();
    let options = if command == "help" { test.options() } else { vec![] };
    if !options.is_empty() {
        log.print(format_args!("{name} options:\n{}\n", help::table(&options)));
        return Ok(());
    }
    if COMMANDS.contains(&command) {
        log.complain(format_args!(
            "'{name}' test does not implement the '{command}' command."
        ));
    } else {
        log.complain(format_args!("Unknown command: {command}"));
    }
    Err(Exit::FAILED)
}
