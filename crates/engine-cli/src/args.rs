//! What was typed. Everything else comes in by the protocol, passwords above all.

use std::fmt;

use lexopt::Arg;

/// What the engine is asked to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Drive load.
    Trial,
    /// Make, check or remove a data set.
    Data(DataVerb),
    /// Say what is wrong with a plan.
    Faults,
    /// Be a fake server.
    Sim,
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
    /// Look whether it is there.
    Check,
    /// Look whether it is there with the content that it was made with.
    Verify,
    /// Look whether it could be made, and put back where that is wanted.
    Foresee { resets: bool },
    /// Remove it.
    Cleanup,
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
        "schema" => Ok(Command::Schema),
        "help" => Ok(Command::Help),
        _ => Err(Misused(format!("{word:?} is no command"))),
    }
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
            "trial", "prepare", "check", "verify", "cleanup", "faults", "sim", "schema",
        ] {
            assert!(named(word).is_ok() && HELP.contains(&format!("\n  {word} ")), "{word}");
        }
        assert!(HELP.contains("\n  sysbench "), "read before all others");
    }
}
