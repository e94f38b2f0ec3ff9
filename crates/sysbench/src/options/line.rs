//! The command line: options wherever they stand, a test, a command.

use std::collections::BTreeMap;

use super::given::{Given, senseless};
use super::{Kind, OptionSpec, Options, declared, file};

/// What was typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// The test: a name, a path, or `-`.
    pub test: Option<String>,
    /// What to do with it.
    pub command: Option<String>,
    /// There was a `--test=`.
    pub has_test_option: bool,
    /// Options in their order.
    pub given: Vec<Given>,
    /// Options that were taken, though the version that is spoken does not have them.
    lent: Vec<Given>,
    /// What was read otherwise than it looks, to be said.
    pub doubts: Vec<String>,
    /// Options that the test does not have are passed over: it stands in for one that takes any.
    pub passes_over_unknown: bool,
}

impl CommandLine {
    /// Takes arguments apart. One that is only `-` is a test, one that begins with `--` is an option. `--test=NAME` of old
    /// versions is a test too; what was read as one before is the command then, if there is no other.
    ///
    /// # Errors
    /// The message for a third word.
    pub fn split(arguments: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut line = Self::default();
        let mut displaced = None;
        for argument in arguments {
            let Some(written) = argument.strip_prefix("--") else {
                line.take_word(argument)?;
                continue;
            };
            match written.strip_prefix("test=") {
                Some(test) => {
                    line.has_test_option = true;
                    if !test.is_empty() {
                        displaced = line.test.replace(test.to_owned());
                    }
                }
                None => line.given.push(Given::parse(written, &argument)),
            }
        }
        line.command = line.command.take().or(displaced);
        Ok(line)
    }

    /// Adds an option, `written` without its `--`. It counts in place of those of the same name before.
    pub fn give(&mut self, written: &str) {
        self.given.push(Given::parse(written, &format!("--{written}")));
    }

    fn take_word(&mut self, word: String) -> Result<(), String> {
        if self.test.is_none() {
            self.test = Some(word);
        } else if self.command.is_none() {
            self.command = Some(word);
        } else {
            return Err(format!("Unrecognized command line argument: {word}"));
        }
        Ok(())
    }

    /// Puts the options of files in the place of `--config-file`.
    ///
    /// # Errors
    /// A message when one cannot be read.
    pub fn read_files(&mut self) -> Result<(), String> {
        for given in std::mem::take(&mut self.given) {
            match given.value.as_deref() {
                _ if given.key != "config-file" => self.given.push(given),
                None | Some("") => {}
                Some(path) => self.given.extend(file::read(path)?),
            }
        }
        Ok(())
    }

    /// Takes out the options that are declared, with their values; those that were not given have their defaults. Of several
    /// values of one option the last counts.
    ///
    /// # Errors
    /// The message for a value that counts and cannot be read.
    pub fn take_declared(&mut self, specs: &[OptionSpec], options: &mut Options) -> Result<(), String> {
        let (mut others, mut faults) = (Vec::new(), BTreeMap::new());
        for spec in specs {
            options.set(&spec.name, spec.default_value());
            let default = spec.default.as_deref();
            if let Some(text) = default.filter(|text| spec.kind.read(Some(text)).is_none()) {
                faults.insert(spec.key(), senseless(&spec.key(), text));
            }
        }
        for given in std::mem::take(&mut self.given) {
            faults.remove(&given.key);
            let Some(spec) = specs.iter().find(|spec| spec.key() == given.key) else {
                others.push(given);
                continue;
            };
            match given.read(spec.kind) {
                Ok(value) => {
                    options.set(&spec.name, value);
                    if let (Kind::Size, Some(text)) = (spec.kind, &given.value) {
                        options.note_written(&spec.name, text);
                    }
                    self.doubts.extend(given.doubt(spec.kind));
                    if spec.is_extra {
                        self.lent.push(given);
                    }
                }
                // A switch that is neither on nor off is no option at all; another's option may be of another type.
                Err(_) if spec.is_extra || matches!(spec.kind, Kind::Bool | Kind::Mode) => others.push(given),
                Err(message) => {
                    faults.insert(given.key, message);
                }
            }
        }
        self.given = others;
        faults.into_values().next().map_or(Ok(()), Err)
    }

    /// Gives back what was taken for options that the version that is spoken does not have, where a test declares its own
    /// of that name. True when there was any.
    pub fn give_back(&mut self, own: &[OptionSpec], declared: &[OptionSpec], options: &mut Options) -> bool {
        let is_own = |key: &str| own.iter().any(|spec| spec.key() == key);
        let back: Vec<&OptionSpec> = declared
            .iter()
            .filter(|spec| spec.is_extra && is_own(&spec.key()))
            .collect();
        for spec in &back {
            options.set(&spec.name, spec.default_value());
        }
        let lent = std::mem::take(&mut self.lent);
        let (returned, lent): (Vec<Given>, Vec<Given>) = lent.into_iter().partition(|given| is_own(&given.key));
        self.given.extend(returned);
        self.lent = lent;
        !back.is_empty()
    }

    /// Takes options out that the version that is spoken does not have and nobody gave: scripts check whether they are there.
    pub fn hide_extras(&self, declared: &[OptionSpec], options: &mut Options) {
        for spec in declared.iter().filter(|spec| spec.is_extra) {
            if !self.lent.iter().any(|given| given.key == spec.key()) {
                options.remove(&spec.name);
            }
        }
    }

    /// Writes options of 0.4 under their names of today.
    pub fn modernise(&mut self) {
        for (old, new) in declared::RENAMED {
            for given in self.given.iter_mut().filter(|one| one.key == old) {
                new.clone_into(&mut given.key);
            }
        }
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
    fn the_test_of_old_versions_is_a_test() {
        let check = |words: &[&str], test: &str, command: Option<&str>| {
            let line = split(words).unwrap();
            assert_eq!(
                (line.test.as_deref(), line.command.as_deref()),
                (Some(test), command),
                "{words:?}"
            );
        };
        check(&["--test=cpu", "run"], "cpu", Some("run"));
        check(&["run", "--test=cpu"], "cpu", Some("run"));
        check(&["memory", "--test=cpu", "run"], "cpu", Some("run"));
        check(&["--test=", "cpu", "run"], "cpu", Some("run"));
        assert_eq!(
            split(&["--test=cpu", "memory", "run"]),
            Err("Unrecognized command line argument: run".to_owned())
        );
    }

    #[test]
    fn a_files_options_stand_in_its_place() {
        let path = std::env::temp_dir().join(format!("plimsoll-options-{}", std::process::id()));
        std::fs::write(&path, "threads=3\ntime=7\n").unwrap();
        let mut line = split(&["--threads=5", &format!("--config-file={}", path.display()), "--time=9"]).unwrap();
        line.read_files().unwrap();
        std::fs::remove_file(path).unwrap();
        let mut options = Options::default();
        line.take_declared(&declared::all(crate::compat::Compat::V10), &mut options)
            .unwrap();
        assert_eq!((options.int("threads"), options.int("time")), (3, 9));
        assert_eq!(split(&["--config-file="]).unwrap().read_files(), Ok(()));
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
        check(
            "--report-interval=x",
            "Invalid value for the 'report_interval' option: 'x'",
        );
        check("--percentile=x", "Invalid value for the 'percentile' option: 'x'");
        let specs = declared::all(crate::compat::Compat::V11);
        let mut line = split(&["--threads=x", "--threads=2"]).unwrap();
        assert_eq!(line.take_declared(&specs, &mut Options::default()), Ok(()));
    }

    #[test]
    fn a_switch_that_is_neither_on_nor_off_is_no_option() {
        let mut line = split(&["--debug=foo"]).unwrap();
        line.take_declared(&declared::all(crate::compat::Compat::V11), &mut Options::default())
            .unwrap();
        assert_eq!(line.given.len(), 1);
    }

    #[test]
    fn old_names_are_those_of_today() {
        let mut line = split(&["--num-threads=2", "--num_threads=3", "--max-time=1"]).unwrap();
        line.modernise();
        assert!(
            line.given
                .iter()
                .any(|one| (one.key.as_str(), one.value.as_deref()) == ("threads", Some("3")))
        );
    }

    #[test]
    fn what_is_read_in_part_is_said() {
        let number = OptionSpec::new("n", Kind::Double, "3", "");
        let size = OptionSpec::new("block-size", Kind::Size, "1K", "");
        let mut line = split(&["--n=1k", "--n=", "--n=5", "--block_size=8kb", "--block_size=8k"]).unwrap();
        line.take_declared(&[number, size], &mut Options::default()).unwrap();
        assert_eq!(
            line.doubts,
            [
                "WARNING: --n=1k is read as 1, as sysbench reads it",
                "WARNING: --block_size=8kb is read as 8192, as sysbench reads it"
            ]
        );
    }

    #[test]
    fn a_tests_own_option_takes_the_place_of_one_of_another_version() {
        let general = [
            OptionSpec::new("warmup-time", Kind::Int, "0", "").extra(true),
            OptionSpec::new("time", Kind::Int, "10", ""),
        ];
        let own = [OptionSpec::new("warmup_time", Kind::String, "none", "")];
        for (word, value) in [
            ("--warmup-time=7", "7"),
            ("--warmup_time=7m", "7m"),
            ("--time=1", "none"),
        ] {
            let mut line = split(&[word]).unwrap();
            let mut options = Options::default();
            line.take_declared(&general, &mut options).unwrap();
            assert!(line.give_back(&own, &general, &mut options));
            assert_eq!(options.int("warmup-time"), 0, "{word}");
            line.take_declared(&own, &mut options).unwrap();
            assert_eq!((options.string("warmup_time"), line.given.len()), (value, 0), "{word}");
        }
    }

    proptest! {
        #[test]
        fn nothing_that_is_typed_is_a_panic(words in prop::collection::vec("(--)?[-_=a-z0-9,.%KMG é]{0,12}", 0..6)) {
            if let Ok(mut line) = CommandLine::split(words) {
                line.modernise();
                let specs = declared::all(crate::compat::Compat::V10);
                let _ = line.take_declared(&specs, &mut Options::default());
            }
        }
    }
}
