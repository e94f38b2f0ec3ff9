//! The front door: from the command line to the exit code.

use std::io::Write;
use std::sync::Arc;

use plimsoll_engine::{Observer, TrialHandle, unix_ns};

use crate::compat::Compat;
use crate::exit::Exit;
use crate::log::{Level, Log};
use crate::options::line::CommandLine;
use crate::options::{Options, Value, declared, help};
use crate::run::{self, Outside};
use crate::settings::Settings;
use crate::test::{self, Context, Test};
use crate::{lua, oltp04, open};

/// What the process around hands in.
pub struct World {
    /// Standard output, unbuffered.
    pub out: Box<dyn Write + Send>,
    /// Standard error, unbuffered.
    pub err: Box<dyn Write + Send>,
    /// The environment's `SYSBENCH_COMPAT`.
    pub compat: Option<String>,
    /// Arranges that Ctrl-C stops a trial.
    pub on_interrupt: Box<dyn Fn(TrialHandle)>,
    /// Is told a trial as it happens.
    pub observer: Option<Box<dyn Observer>>,
}

/// Does what the arguments (without the program's name) say, and returns the exit code.
pub fn main(arguments: impl IntoIterator<Item = String>, world: World) -> u8 {
    let World {
        out,
        err,
        compat,
        on_interrupt,
        observer,
    } = world;
    let log = Arc::new(Log::new(out, err));
    let front = Front {
        log: Arc::clone(&log),
        compat,
    };
    let outside = Outside {
        on_interrupt: &*on_interrupt,
        observer,
    };
    let ended = front.go(arguments, outside);
    log.finish();
    ended.map_or_else(|exit| exit.0, |()| 0)
}

struct Front {
    log: Arc<Log>,
    compat: Option<String>,
}

impl Front {
    fn go(&self, arguments: impl IntoIterator<Item = String>, outside: Outside<'_>) -> Result<(), Exit> {
        let argv: Vec<String> = arguments.into_iter().collect();
        let mut line = CommandLine::split(argv.iter().cloned()).map_err(|message| self.misused(&message))?;
        if let Some(path) = line.take("config-file").flatten() {
            line.read_file(&path).map_err(|message| self.misused(&message))?;
        }
        self.take_test_option(&mut line);
        let compat = self.compat(&line)?;
        self.modernise(&mut line, compat);
        let mut options = Options::default();
        line.take_declared(&declared::all(compat), &mut options)
            .map_err(|message| self.misused(&message))?;
        if options.bool("help") {
            self.log.print(help::usage(compat, &open::built_in()));
            return Ok(());
        }
        if options.bool("version") {
            self.log.print(format_args!("{}\n", version(compat)));
            return Ok(());
        }
        self.set_verbosity(&options)?;
        let settings = Settings::of(&options, compat).map_err(|message| self.log.fatal(message))?;
        let command = line.command.take();
        if command.as_deref() == Some("run") && settings.time_s.is_none() && settings.events_max.is_none() {
            let message = "Both event and time limits are disabled, running an endless test";
            self.log.text(Level::Warning, message);
        }
        self.log.line(Level::Notice, format_args!("{}\n", banner(compat)));
        let typed = lua::CommandLine {
            argv: std::iter::once("sysbench".to_owned()).chain(argv).collect(),
            command: command.clone(),
        };
        let mut test = open::open(line.test.as_deref(), compat, typed, &self.log)?;
        self.take_options_of(&mut *test, line, &mut options)?;
        let context = Arc::new(Context {
            options,
            log: Arc::clone(&self.log),
            seed: settings.seed.unwrap_or_else(unix_ns),
        });
        test.configure(&context)?;
        self.obey(&mut *test, command.as_deref(), &context, &settings, outside)
    }

    fn obey(
        &self,
        test: &mut dyn Test,
        command: Option<&str>,
        context: &Arc<Context>,
        settings: &Settings,
        outside: Outside<'_>,
    ) -> Result<(), Exit> {
        let Some(command) = command else {
            if test.needs_command() {
                let name = test.name();
                let message = format!("The '{name}' test requires a command argument. See 'sysbench {name} help'");
                return Err(self.misused(&message));
            }
            return Ok(());
        };
        if let Some(outcome) = test.command(command) {
            return outcome;
        }
        match command {
            "run" => run::run(test, context, settings, outside),
            _ => test::fall_back(test, command, &self.log),
        }
    }

    /// `--test=NAME` of old versions.
    fn take_test_option(&self, line: &mut CommandLine) {
        if let Some(Some(test)) = line.take("test") {
            // What was read as a test is the command then.
            line.command = line.test.replace(test).or(line.command.take());
            if line.test.as_deref() != Some(oltp04::NAME) {
                self.log.complain(
                    "WARNING: the --test option is deprecated. You can pass a script name or path on the command line \
                     without any options.",
                );
            }
        }
    }

    fn compat(&self, line: &CommandLine) -> Result<Compat, Exit> {
        let given = line
            .given
            .iter()
            .rev()
            .find(|one| one.key == "compat")
            .and_then(|one| one.value.clone());
        let name = given.or_else(|| self.compat.clone());
        match name {
            _ if oltp04::is_meant(line.test.as_deref()) => Ok(Compat::V04),
            None => Ok(Compat::default()),
            Some(name) => Compat::named(&name)
                .ok_or_else(|| self.misused(&format!("Invalid value for the 'compat' option: '{name}'"))),
        }
    }

    fn modernise(&self, line: &mut CommandLine, compat: Compat) {
        for warning in line.modernise() {
            if compat != Compat::V04 {
                self.log.text(Level::Warning, warning);
            }
        }
    }

    fn set_verbosity(&self, options: &Options) -> Result<(), Exit> {
        let verbosity = options.int("verbosity");
        if !(0..=5).contains(&verbosity) {
            self.log
                .print(format_args!("Invalid value for verbosity: {verbosity}\n"));
            return Err(Exit::FAILED);
        }
        self.log
            .set_verbosity(if options.bool("debug") { 5 } else { verbosity as u8 });
        Ok(())
    }

    fn take_options_of(&self, test: &mut dyn Test, mut line: CommandLine, options: &mut Options) -> Result<(), Exit> {
        line.take_declared(&test.options(), options)
            .map_err(|message| self.misused(&message))?;
        for given in line.given {
            if !test.takes_any_option() || options.get(&given.key).is_some() {
                return Err(self.misused(&format!("invalid option: {}", given.shown)));
            }
            let value = Value::String(given.value.unwrap_or_default());
            options.set(&given.key, value);
        }
        Ok(())
    }

    fn misused(&self, message: &str) -> Exit {
        if let Some(fatal) = message.strip_prefix("FATAL: ") {
            return self.log.fatal(fatal);
        }
        self.log.complain(message);
        Exit::FAILED
    }
}

/// What `--version` says.
fn version(compat: Compat) -> String {
    format!("sysbench {} (Plimsoll {})", compat.version(), env!("CARGO_PKG_VERSION"))
}

fn banner(compat: Compat) -> String {
    match compat {
        Compat::V04 => "sysbench 0.4.12:  multi-threaded system evaluation benchmark".to_owned(),
        _ => format!(
            "sysbench {} (Plimsoll {}, using bundled LuaJIT 2.1)",
            compat.version(),
            env!("CARGO_PKG_VERSION")
        ),
    }
}
