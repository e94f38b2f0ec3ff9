//! What was typed. Everything else comes in by the protocol, passwords above all.

use std::ffi::OsString;
use std::fmt;

use lexopt::{Arg, ValueExt};
use plimsoll_forgetful::Device;

/// What the engine is asked to be.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Drive load.
    Trial,
    /// Make, check or remove a data set.
    Data(DataVerb),
    /// Say what is wrong with a plan.
    Faults,
    /// Be a fake server.
    Sim,
    /// Read logs of a production server into tables.
    ReadLogs,
    /// Forward connections with a delay.
    Relay,
    /// Write numbered transactions and note which were acknowledged.
    Ledger,
    /// Run a program on a file system that forgets what was not flushed.
    Forgetful(Forgetful),
    /// Print the schema of the protocol.
    Schema,
    /// Print the version.
    Version,
    /// Print the help.
    Help,
}

/// What to do with a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataVerb {
    /// Make it.
    Prepare,
    /// Check that it is there.
    Check,
    /// Check that it is there with the content that it was made with.
    Verify,
    /// Check that it could be made, and put back where that is wanted.
    Foresee { resets: bool },
    /// Remove it.
    Cleanup,
}

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

/// Why the arguments make no sense.
#[derive(Debug, PartialEq, Eq)]
pub struct Misused(String);

impl fmt::Display for Misused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<lexopt::Error> for Misused {
    fn from(error: lexopt::Error) -> Self {
        Self(error.to_string())
    }
}

pub const HELP: &str = include_str!("help.txt");

/// Reads the arguments.
///
/// # Errors
/// When there is no command, an unknown one, or anything after it.
pub fn parse(mut parser: lexopt::Parser) -> Result<Command, Misused> {
    let mut command = None;
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Help),
            Arg::Short('V') | Arg::Long("version") => return Ok(Command::Version),
            Arg::Value(word) if command.is_none() && word == "forgetful" => return forgetful(parser),
            Arg::Value(word) if command.is_none() => command = Some(named(&word.to_string_lossy())?),
            other => return Err(other.unexpected().into()),
        }
    }
    command.ok_or_else(|| Misused("a command is missing".to_owned()))
}

fn named(word: &str) -> Result<Command, Misused> {
    match word {
        "trial" => Ok(Command::Trial),
        "prepare" => Ok(Command::Data(DataVerb::Prepare)),
        "check" => Ok(Command::Data(DataVerb::Check)),
        "verify" => Ok(Command::Data(DataVerb::Verify)),
        "foresee" => Ok(Command::Data(DataVerb::Foresee { resets: false })),
        "foresee-reset" => Ok(Command::Data(DataVerb::Foresee { resets: true })),
        "cleanup" => Ok(Command::Data(DataVerb::Cleanup)),
        "faults" => Ok(Command::Faults),
        "sim" => Ok(Command::Sim),
        "relay" => Ok(Command::Relay),
        "ledger" => Ok(Command::Ledger),
        "read-logs" => Ok(Command::ReadLogs),
        "schema" => Ok(Command::Schema),
        "help" => Ok(Command::Help),
        _ => Err(Misused(format!("{word:?} is no command"))),
    }
}

/// What is not flushed is kept in memory up to this, unless stated otherwise.
const MEMORY_BYTES_MAX: u64 = 1 << 30;

/// Reads what follows `forgetful`: options, the directory, and everything else as the program.
fn forgetful(mut parser: lexopt::Parser) -> Result<Command, Misused> {
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
                    return Err(Misused("a program is missing".to_owned()));
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
    Err(Misused("a directory is missing".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Command, String> {
        parse(lexopt::Parser::from_args(words)).map_err(|error| error.to_string())
    }

    #[test]
    fn commands_are_what_was_typed() {
        assert_eq!(parsed(&["trial"]), Ok(Command::Trial));
        assert_eq!(parsed(&["cleanup"]), Ok(Command::Data(DataVerb::Cleanup)));
        assert_eq!(parsed(&["trial", "--help"]), Ok(Command::Help));
        assert_eq!(parsed(&["-V"]), Ok(Command::Version));
    }

    #[test]
    fn anything_else_is_refused_by_name() {
        assert_eq!(parsed(&[]), Err("a command is missing".to_owned()));
        assert_eq!(parsed(&["run"]), Err("\"run\" is no command".to_owned()));
        assert!(parsed(&["trial", "--password=x"]).unwrap_err().contains("--password"));
        assert!(parsed(&["trial", "now"]).unwrap_err().contains("now"));
    }

    #[test]
    fn every_command_is_in_the_help() {
        for word in [
            "trial",
            "prepare",
            "check",
            "verify",
            "cleanup",
            "faults",
            "sim",
            "relay",
            "ledger",
            "read-logs",
            "schema",
        ] {
            assert!(named(word).is_ok() && HELP.contains(&format!("\n  {word} ")), "{word}");
        }
        assert!(HELP.contains("\n  sysbench "), "read before all others");
        assert!(HELP.contains("\n  forgetful "), "has arguments of its own");
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
