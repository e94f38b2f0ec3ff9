//! The command line: options wherever they stand, a test, a command.

use std::fs;

use super::{Kind, OptionSpec, Options, declared, key};

/// An option as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// Its name, with `-`.
    pub key: String,
    /// What stood behind `=`; absent where there was none.
    pub value: Option<String>,
    /// As it was written, for messages.
    pub shown: String,
}

/// What was typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// The test: a name, a path, or `-`.
    pub test: Option<String>,
    /// What to do with it.
    pub command: Option<String>,
    /// Options in their order.
    pub given: Vec<Given>,
}

impl CommandLine {
    /// Takes arguments apart. One that is only `-` is a test, one that begins with `-` is an option.
    ///
    /// # Errors
    /// The message for a third word.
    pub fn split(arguments: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut line = Self::default();
        for argument in arguments {
            if let Some(written) = argument.strip_prefix("--") {
                line.given.push(Given::parse(written, &argument));
            } else if line.test.is_none() {
                line.test = Some(argument);
            } else if line.command.is_none() {
                line.command = Some(argument);
            } else {
                return Err(format!("Unrecognized command line argument: {argument}"));
            }
        }
        Ok(line)
    }

    /// Takes out the last value given for an option; `None` where it was not given.
    pub fn take(&mut self, name: &str) -> Option<Option<String>> {
        let wanted = key(name);
        let last = self
            .given
            .iter()
            .rev()
            .find(|one| one.key == wanted)
            .map(|one| one.value.clone());
        self.given.retain(|one| one.key != wanted);
        last
    }

    /// Puts the options of a file before those that were typed: `name=value` a line, `#` for remarks.
    ///
    /// # Errors
    /// A message when it cannot be read.
    pub fn read_file(&mut self, path: &str) -> Result<(), String> {
        let text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
        let lines = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        let mut given: Vec<Given> = lines.map(from_file).collect();
        given.append(&mut self.given);
        self.given = given;
        Ok(())
    }

    /// Takes out the options that are declared, with their values; those that were not given have their defaults.
    ///
    /// # Errors
    /// The message for a value that cannot be read.
    pub fn take_declared(&mut self, specs: &[OptionSpec], options: &mut Options) -> Result<(), String> {
        for spec in specs {
            let default = spec.default.as_deref().and_then(|text| spec.kind.read(Some(text)));
            options.set(&spec.name, default.unwrap_or_else(|| spec.kind.empty()));
        }
        let mut others = Vec::new();
        for given in std::mem::take(&mut self.given) {
            match specs.iter().find(|spec| spec.key() == given.key) {
                Some(spec) if !(spec.kind == Kind::Bool && given.read(spec.kind).is_err()) => {
                    options.set(&spec.name, given.read(spec.kind)?);
                }
                _ => others.push(given), // a switch that is neither on nor off is no option at all
            }
        }
        self.given = others;
        Ok(())
    }

    /// Writes options of 0.4 under their names of today, and returns a warning for each.
    pub fn modernise(&mut self) -> Vec<String> {
        let mut warnings = Vec::new();
        for (old, new) in declared::DEPRECATED {
            for given in self.given.iter_mut().filter(|one| one.key == old) {
                new.clone_into(&mut given.key);
                warnings.push(format!("--{old} is deprecated, use --{new} instead"));
            }
        }
        warnings.dedup();
        warnings
    }
}

impl Given {
    fn parse(written: &str, shown: &str) -> Self {
        let (name, value) = match written.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (written, None),
        };
        Self {
            key: key(name),
            value,
            shown: shown.to_owned(),
        }
    }

    fn read(&self, kind: Kind) -> Result<super::Value, String> {
        kind.read(self.value.as_deref())
            .ok_or_else(|| match (kind, &self.value) {
                (Kind::Percentiles, value) => format!(
                    "FATAL: Invalid value for --percentile: {}",
                    value.as_deref().unwrap_or_default()
                ),
                (_, value) => format!(
                    "Invalid value for the '{}' option: '{}'",
                    self.key,
                    value.as_deref().unwrap_or_default()
                ),
            })
    }
}

/// `name=value`, with spaces around the sign perhaps.
fn from_file(line: &str) -> Given {
    let (name, value) = match line.split_once('=') {
        Some((name, value)) => (name.trim(), Some(value.trim().to_owned())),
        None => (line, None),
    };
    Given {
        key: key(name.trim_start_matches("--")),
        value,
        shown: format!("--{line}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(words: &[&str]) -> Result<CommandLine, String> {
        CommandLine::split(words.iter().map(|word| (*word).to_owned()))
    }

    #[test]
    fn options_may_stand_anywhere_and_words_are_test_and_command() {
        let line = split(&["--threads=4", "a.lua", "--table_size", "run"]).unwrap();
        assert_eq!(
            (line.test.as_deref(), line.command.as_deref()),
            (Some("a.lua"), Some("run"))
        );
        assert_eq!(line.given[1].key, "table-size");
        assert_eq!(line.given[1].value, None);
        assert_eq!(
            split(&["cpu", "run", "baz"]),
            Err("Unrecognized command line argument: baz".to_owned())
        );
        assert_eq!(split(&["-"]).unwrap().test.as_deref(), Some("-"));
    }

    #[test]
    fn what_is_declared_is_taken_and_the_last_value_counts() {
        let mut line = split(&["--time=1", "--own=x", "--time=2"]).unwrap();
        let mut options = Options::default();
        line.take_declared(&declared::general(crate::compat::Compat::V11), &mut options)
            .unwrap();
        assert_eq!((options.int("time"), options.int("threads")), (2, 1));
        assert_eq!(line.given.len(), 1);
    }

    #[test]
    fn wrong_values_are_named() {
        let check = |word, expect: &str| {
            let specs = declared::all(crate::compat::Compat::V11);
            let taken = split(&[word]).unwrap().take_declared(&specs, &mut Options::default());
            assert_eq!(taken, Err(expect.to_owned()));
        };
        check("--threads=x", "Invalid value for the 'threads' option: 'x'");
        check("--percentile=101", "FATAL: Invalid value for --percentile: 101");
    }

    #[test]
    fn a_switch_that_is_neither_on_nor_off_is_no_option() {
        let mut line = split(&["--debug=foo"]).unwrap();
        line.take_declared(&declared::all(crate::compat::Compat::V11), &mut Options::default())
            .unwrap();
        assert_eq!(line.given.len(), 1);
    }

    #[test]
    fn old_names_are_taken_with_a_warning_each() {
        let mut line = split(&["--num-threads=2", "--num_threads=3", "--max-time=1"]).unwrap();
        let warnings = line.modernise();
        assert_eq!(warnings.len(), 2);
        assert!(warnings[0].contains("--num-threads is deprecated, use --threads"));
        assert_eq!(line.take("threads"), Some(Some("3".to_owned())));
    }

    proptest! {
        #[test]
        fn nothing_that_is_typed_is_a_panic(words in prop::collection::vec("(--)?[-_=a-z0-9,.%KMG é]{0,12}", 0..6)) {
            if let Ok(mut line) = CommandLine::split(words) {
                line.modernise();
                let specs = declared::all(crate::compat::Compat::V11);
                let _ = line.take_declared(&specs, &mut Options::default());
            }
        }
    }
}
