//! `plimsoll-engine forgetful`: a program on a device that forgets what was not flushed.

use std::path::Path;
use std::process::ExitCode;

use crate::args::Forgetful;

/// Runs the program and ends as it ended.
pub fn run(asked: &Forgetful) -> ExitCode {
    match plimsoll_forgetful::run(Path::new(&asked.directory), asked.device, &asked.command) {
        Ok(status) => plimsoll_forgetful::end_alike(status),
        Err(fault) => {
            eprintln!("plimsoll-engine forgetful: {fault}");
            ExitCode::from(3)
        }
    }
}
