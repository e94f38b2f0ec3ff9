//! The load engine's executable: the engine protocol on standard input and output.
//!
//! Deliberately not here: what load is (engine), what workloads do (workloads). This crate reads plans, wires the parts
//! together and writes what happens; it is the only one that touches standard input and output.

mod args;
mod data_command;
#[cfg(feature = "sysbench")]
mod events;
mod faults_command;
#[cfg(feature = "forgetful")]
mod forgetful_command;
#[allow(unsafe_code)] // a number becomes a file
mod inherited;
mod input;
mod ledger_command;
mod limits;
mod output;
mod process;
#[cfg(feature = "logs")]
mod read_logs_command;
mod relay_command;
mod schedule;
#[cfg(feature = "schema")]
mod schema;
mod sim_command;
#[cfg(feature = "sysbench")]
mod sysbench_command;
mod trial_command;
#[allow(unsafe_code)] // writes where the kernel put the arguments
mod wipe;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;

use plimsoll_core::message::{Done, Message};
use plimsoll_engine::WorkerFault;

use args::Command;
use output::Output;

fn main() -> ExitCode {
    if let Some(arguments) = args::of_sysbench(wipe::arguments().into_iter()) {
        return sysbench(arguments);
    }
    match args::parse(lexopt::Parser::from_env()) {
        Ok(Command::Help) => output::print(&args::help()),
        Ok(Command::Version) => output::print(concat!("plimsoll-engine ", env!("CARGO_PKG_VERSION"), "\n")),
        #[cfg(feature = "schema")]
        Ok(Command::Schema) => output::print(&schema::text()),
        Ok(Command::Trial) => speak(trial_command::run),
        Ok(Command::Faults) => speak(faults_command::run),
        Ok(Command::Sim) => speak(sim_command::run),
        #[cfg(feature = "logs")]
        Ok(Command::ReadLogs) => speak(read_logs_command::run),
        Ok(Command::Relay) => speak(relay_command::run),
        Ok(Command::Ledger) => speak(ledger_command::run),
        #[cfg(feature = "forgetful")]
        Ok(Command::Forgetful(forgetful)) => forgetful_command::run(&forgetful),
        Ok(Command::Data(verb)) => speak(|output| data_command::run(verb, output)),
        Err(error) => refuse(&error),
    }
}

#[cfg(feature = "sysbench")]
use sysbench_command::run as sysbench;

#[cfg(not(feature = "sysbench"))]
fn sysbench(_: Vec<String>) -> ExitCode {
    refuse(&args::unknown("sysbench"))
}

fn refuse(misused: &args::Misused) -> ExitCode {
    eprintln!("plimsoll-engine: {misused}; see plimsoll-engine --help");
    ExitCode::from(2)
}

/// Runs one conversation: `hello` first, `done` or `failed` last, whatever happens in between.
fn speak(work: impl FnOnce(&Arc<Output>) -> Result<Done, WorkerFault>) -> ! {
    process::settle();
    let output = Arc::new(Output::new());
    output.say(&Message::Hello(process::hello()));
    let result = catch_unwind(AssertUnwindSafe(|| work(&output)));
    match result.unwrap_or_else(|payload| Err(WorkerFault::from_panic("the engine", &*payload))) {
        Ok(done) => output.done(done),
        Err(fault) => output.fail(fault),
    }
}
