//! What was typed. Everything else comes in by the protocol, passwords above all.

use std::ffi::OsString;
use std::fmt;
use std::path::Path;

use lexopt::Arg;

#[cfg(feature = "forgetful")]
use crate::forgetful_command::{self, Forgetful};

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
    #[cfg(feature = "logs")]
    ReadLogs,
    /// Forward connections with a delay.
    Relay,
    /// Write numbered transactions and note which were acknowledged.
    Ledger,
    /// Run a program on a file system that forgets what was not flushed.
    #[cfg(feature = "forgetful")]
    Forgetful(Forgetful),
    /// Print the schema of the protocol.
    #[cfg(feature = "schema")]
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

/// Why the arguments make no sense.
#[derive(Debug, PartialEq, Eq)]
pub struct Misused(String);

impl Misused {
    /// Says why.
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

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

const HELP: &str = include_str!("help.txt");

/// Commands that an engine may have been built without, each with whether this one has it and the feature that it needs.
const OPTIONAL: [(&str, bool, &str); 4] = [
    ("forgetful", cfg!(feature = "forgetful"), "forgetful"),
    ("read-logs", cfg!(feature = "logs"), "logs"),
    ("schema", cfg!(feature = "schema"), "schema"),
    ("sysbench", cfg!(feature = "sysbench"), "sysbench"),
];

/// What is printed for help: which commands there are, and which of them this engine lacks.
pub fn help() -> String {
    let absent = OPTIONAL.iter().filter(|(_, is_here, _)| !is_here);
    let absent: Vec<String> = absent.map(|(command, ..)| format!("  {command}\n")).collect();
    if absent.is_empty() {
        return HELP.to_owned();
    }
    format!(
        "{HELP}\nThis engine was built without these commands:\n{}",
        absent.concat()
    )
}

/// The arguments of sysbench, where that is what was called: under its name, or by it as the first argument.
pub fn of_sysbench(mut words: impl Iterator<Item = OsString>) -> Option<Vec<String>> {
    let program = words.next().unwrap_or_default();
    let mut words = words.peekable();
    if Path::new(&program).file_name() != Some("sysbench".as_ref()) {
        words.next_if(|word| word == "sysbench")?;
    }
    Some(words.map(|word| word.to_string_lossy().into_owned()).collect())
}

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
            #[cfg(feature = "forgetful")]
            Arg::Value(word) if command.is_none() && word == "forgetful" => return forgetful_command::parse(parser),
            Arg::Value(word) if command.is_none() => command = Some(named(&word.to_string_lossy())?),
            other => return Err(other.unexpected().into()),
        }
    }
    command.ok_or_else(|| Misused::new("a command is missing"))
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
        #[cfg(feature = "logs")]
        "read-logs" => Ok(Command::ReadLogs),
        #[cfg(feature = "schema")]
        "schema" => Ok(Command::Schema),
        "help" => Ok(Command::Help),
        _ => Err(unknown(word)),
    }
}

/// Of a word that is no command of this engine.
pub fn unknown(word: &str) -> Misused {
    Misused::new(match OPTIONAL.iter().find(|(command, ..)| *command == word) {
        None => format!("{word:?} is no command"),
        Some((.., feature)) => format!(
            "this engine was built without `{word}`; use that of an installed `plimsoll`, or build it with --features {feature}"
        ),
    })
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
            "trial", "prepare", "check", "verify", "cleanup", "faults", "sim", "relay", "ledger",
        ] {
            assert!(named(word).is_ok() && HELP.contains(&format!("\n  {word} ")), "{word}");
        }
        for (command, ..) in OPTIONAL {
            assert!(HELP.contains(&format!("\n  {command} ")), "{command}");
        }
    }

    #[test]
    fn a_command_that_this_engine_lacks_is_refused_with_what_to_do() {
        for (command, is_here, feature) in OPTIONAL {
            assert_eq!(help().contains(&format!("\n  {command}\n")), !is_here, "{command}");
            let refused = unknown(command).to_string();
            assert!(
                refused.contains(&format!("without `{command}`"))
                    && refused.ends_with(&format!("--features {feature}"))
            );
            // sysbench is looked for before all others.
            let is_refused = parsed(&[command]) == Err(refused);
            assert_eq!(is_refused, !is_here || command == "sysbench", "{command}");
        }
    }

    #[test]
    fn sysbench_is_called_by_its_name_or_by_a_word() {
        let asked = |words: &[&str]| of_sysbench(words.iter().map(OsString::from));
        let wanted = Some(vec!["cpu".to_owned(), "run".to_owned()]);
        assert_eq!(asked(&["/usr/bin/sysbench", "cpu", "run"]), wanted);
        assert_eq!(asked(&["plimsoll-engine", "sysbench", "cpu", "run"]), wanted);
        assert_eq!(asked(&["plimsoll-engine", "trial"]), None);
        assert_eq!(asked(&[]), None);
    }
}
