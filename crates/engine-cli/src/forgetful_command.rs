//! `plimsoll-engine forgetful`: a program on a device that forgets what was not flushed.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use lexopt::{Arg, ValueExt};
use plimsoll_forgetful::Device;

use crate::args::{Command, Misused};

/// A program, and the directory over which it finds a file system that forgets.
#[derive(Clone, Debug, PartialEq)]
pub struct Forgetful {
    /// Of the device.
    pub directory: OsString,
    /// How the device behaves.
    pub device: Device,
    /// The program with its arguments.
    pub command: Vec<OsString>,
}

/// What is not flushed is kept in memory up to this, unless stated otherwise.
const MEMORY_BYTES_MAX: u64 = 1 << 30;

/// Reads what follows `forgetful`: options, the directory, and everything else as the program.
///
/// # Errors
/// When an option makes no sense, or the directory or the program is missing.
pub fn parse(mut parser: lexopt::Parser) -> Result<Command, Misused> {
    let mut device = Device {
        lies: false,
        survival_ratio: 0.0,
        seed: 1,
        memory_bytes_max: MEMORY_BYTES_MAX,
    };
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Help),
            Arg::Long("lies") => device.lies = true,
            Arg::Long("survival-ratio") => device.survival_ratio = parser.value()?.parse()?,
            Arg::Long("seed") => device.seed = parser.value()?.parse()?,
            Arg::Long("memory-bytes") => device.memory_bytes_max = parser.value()?.parse()?,
            Arg::Value(directory) => {
                let command: Vec<OsString> = parser.raw_args()?.collect();
                if command.is_empty() {
                    return Err(Misused::new("a program is missing"));
                }
                return Ok(Command::Forgetful(Forgetful {
                    directory,
                    device,
                    command,
                }));
            }
            other => return Err(other.unexpected().into()),
        }
    }
    Err(Misused::new("a directory is missing"))
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Command, String> {
        crate::args::parse(lexopt::Parser::from_args(words)).map_err(|error| error.to_string())
    }

    #[test]
    fn a_forgetful_device_takes_a_directory_and_a_program_with_options_of_its_own() {
        let Ok(Command::Forgetful(found)) = parsed(&["forgetful", "--lies", "--seed=7", "/data", "mysqld", "--help"])
        else {
            panic!("it is complete");
        };
        assert_eq!((found.device.lies, found.device.seed), (true, 7));
        assert_eq!(found.directory, "/data");
        assert_eq!(found.command, ["mysqld", "--help"]);
        assert!(parsed(&["forgetful", "/data"]).unwrap_err().contains("program"));
        assert!(parsed(&["forgetful"]).unwrap_err().contains("directory"));
        assert!(parsed(&["forgetful", "--survival-ratio", "x", "/data", "true"]).is_err());
    }
}
