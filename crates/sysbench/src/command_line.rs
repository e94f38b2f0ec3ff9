//! The sysbench-compatible command line, from its words to the exit code.

use std::io::Write;
use std::sync::Arc;

use plimsoll_engine::{Observer, TrialHandle, unix_ns};

use crate::compat::Compat;
use crate::exit::Exit;
use crate::log::{Level, Log};
use crate::options::line::CommandLine;
use crate::options::{OptionSpec, Options, Value, declared, help};
use crate::run::{self, Outside};
use crate::settings::Settings;
use crate::test::{self, Context, Test};
use crate::{host, lua, oltp04, open, stand_in};

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
    let command = Command {
        log: Arc::clone(&log),
        compat,
    };
    let outside = Outside {
        on_interrupt: &*on_interrupt,
        observer,
    };
    let ended = command.go(arguments, outside);
    log.finish();
    ended.map_or_else(|exit| exit.0, |()| 0)
}

struct Command {
    log: Arc<Log>,
    compat: Option<String>,
}

/// A command line whose general options were read.
struct Asked {
    argv: Vec<String>,
    line: CommandLine,
    declared: Vec<OptionSpec>,
    options: Options,
    settings: Settings,
}

impl Command {
    fn go(&self, arguments: impl IntoIterator<Item = String>, outside: Outside<'_>) -> Result<(), Exit> {
        let argv: Vec<String> = arguments.into_iter().collect();
        let mut line = self.split(&argv)?;
        let compat = self.compat(&line)?;
        let declared = declared::all(compat);
        let mut options = Options::default();
        self.take_general(&mut line, &declared, compat, &mut options)?;
        if options.bool("help") {
            self.log.print(help::usage(compat, &open::built_in()));
            return Ok(());
        }
        if options.bool("version") {
            self.log.print(format_args!("{}\n", compat.long_version()));
            return Ok(());
        }
        self.check_driver(&line, &options)?;
        self.set_verbosity(&options)?;
        let settings = Settings::of(&options, compat).map_err(|message| self.log.fatal(message))?;
        if line.command.as_deref() == Some("run") && settings.time_s.is_none() && settings.events_max.is_none() {
            let message = "Both event and time limits are disabled, running an endless test";
            self.log.text(Level::Warning, message);
        }
        self.log.line(Level::Notice, format_args!("{}\n", banner(compat)));
        let asked = Asked {
            argv,
            line,
            declared,
            options,
            settings,
        };
        self.work(asked, outside)
    }

    /// Opens the test, whose options are known then, and does with it what is asked for.
    fn work(&self, asked: Asked, outside: Outside<'_>) -> Result<(), Exit> {
        let Asked {
            argv,
            mut line,
            declared,
            mut options,
            mut settings,
        } = asked;
        let command = line.command.take();
        let typed = lua::CommandLine {
            argv: std::iter::once("sysbench".to_owned()).chain(argv).collect(),
            command: command.clone(),
        };
        let mut context = Context {
            options: options.clone(),
            log: Arc::clone(&self.log),
            seed: settings.seed.map_or_else(unix_ns, |seed| seed as u64),
            threads: settings.threads,
            compat: settings.compat,
        };
        let mut test = open::open(line.test.as_deref(), typed, &context)?;
        let Some(command) = command.filter(|_| test.obeys()) else {
            return self.leave(&*test);
        };
        let own = test.options();
        if line.give_back(&own, &declared, &mut options) {
            settings = Settings::of(&options, settings.compat).map_err(|message| self.log.fatal(message))?;
        }
        line.hide_extras(&declared, &mut options);
        self.take_options_of(&*test, &own, line, &mut options)?;
        context.options = options;
        let context = Arc::new(context);
        test.configure(&context)?;
        self.obey(&mut *test, &command, &context, &settings, outside)
    }

    /// The words, and those of files.
    fn split(&self, argv: &[String]) -> Result<CommandLine, Exit> {
        let mut line = CommandLine::split(argv.iter().cloned()).map_err(|message| self.misused(&message))?;
        if line.has_test_option && line.test.as_deref() != Some(oltp04::NAME) {
            self.log.complain(
                "WARNING: the --test option is deprecated. You can pass a script name or path on the command line without \
                 any options.",
            );
        }
        line.read_files().map_err(|message| self.misused(&message))?;
        if let Some(said) = stand_in::take_place(&mut line) {
            self.log.complain(said);
        }
        Ok(line)
    }

    /// Nothing is to be done with a test but what opening it did.
    fn leave(&self, test: &dyn Test) -> Result<(), Exit> {
        if !test.needs_command() {
            return Ok(());
        }
        let name = test.name();
        let message = format!("The '{name}' test requires a command argument. See 'sysbench {name} help'");
        Err(self.misused(&message))
    }

    fn obey(
        &self,
        test: &mut dyn Test,
        command: &str,
        context: &Arc<Context>,
        settings: &Settings,
        outside: Outside<'_>,
    ) -> Result<(), Exit> {
        if let Some(outcome) = test.command(command) {
            return outcome;
        }
        match command {
            "run" => run::run(test, context, settings, outside),
            _ => test::fall_back(test, command, &self.log),
        }
    }

    fn compat(&self, line: &CommandLine) -> Result<Compat, Exit> {
        let given = line
            .given
            .iter()
            .rev()
            .find(|one| one.key == "plimsoll-compat")
            .and_then(|one| one.value.clone());
        let name = given.or_else(|| self.compat.clone());
        match name {
            _ if oltp04::is_meant(line.test.as_deref()) => Ok(Compat::V04),
            None => Ok(Compat::default()),
            Some(name) => Compat::named(&name).ok_or_else(|| {
                self.misused(&format!(
                    "Invalid value for --plimsoll-compat: '{name}'; 1.0 and 1.1 are known"
                ))
            }),
        }
    }

    /// Takes the options that do not belong to a test.
    fn take_general(
        &self,
        line: &mut CommandLine,
        declared: &[OptionSpec],
        compat: Compat,
        options: &mut Options,
    ) -> Result<(), Exit> {
        if compat == Compat::V04 {
            line.modernise();
        }
        line.take_declared(declared, options)
            .map_err(|message| self.misused(&message))?;
        for (old, new, nothing) in declared::DEPRECATED {
            let given = options.int(old);
            if given > nothing || new == "threads" && given < 0 {
                let warning = format_args!("--{old} is deprecated, use --{new} instead");
                self.log.text(Level::Warning, warning);
                options.set(new, Value::Int(given));
            }
        }
        Ok(())
    }

    /// sysbench has a driver that we have not: what scripts send to it no server of ours understands. Host tests need none.
    fn check_driver(&self, line: &CommandLine, options: &Options) -> Result<(), Exit> {
        let needs_driver = line.test.as_deref().is_none_or(|name| host::open(name).is_none());
        if needs_driver && options.string("db-driver") == "pgsql" {
            return Err(self.misused(
                "--db-driver=pgsql: only servers that speak MySQL's protocol can be tested; use sysbench itself for \
                 PostgreSQL, or --db-driver=mysql",
            ));
        }
        Ok(())
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

    fn take_options_of(
        &self,
        test: &dyn Test,
        own: &[OptionSpec],
        mut line: CommandLine,
        options: &mut Options,
    ) -> Result<(), Exit> {
        line.take_declared(own, options)
            .map_err(|message| self.misused(&message))?;
        for given in line.given {
            let is_own = given.key.starts_with(declared::OWN);
            let is_passed_over = given.is_from_file || line.passes_over_unknown && !is_own;
            if is_passed_over && !test.takes_any_option() {
                let shown = given.shown.split('=').next().unwrap_or_default();
                self.log.complain(format_args!(
                    "WARNING: this test has no option {shown}: it is passed over"
                ));
                continue;
            }
            if !test.takes_any_option() || is_own || options.get(&given.key).is_some() {
                return Err(self.misused(&format!("invalid option: {}", given.shown)));
            }
            let value = Value::String(given.value.unwrap_or_default());
            options.set(&given.key, value);
        }
        for doubt in &line.doubts {
            self.log.complain(doubt);
        }
        Ok(())
    }

    fn misused(&self, message: &str) -> Exit {
        self.log.complain(message);
        Exit::FAILED
    }
}

/// The first line of what is printed. Parsers look for LuaJIT behind the version.
fn banner(compat: Compat) -> String {
    let version = compat.version();
    let engines = format!(
        "using bundled {}; Plimsoll {}",
        lua::luajit_version(),
        env!("CARGO_PKG_VERSION")
    );
    match compat {
        Compat::V04 => format!("sysbench {version}:  multi-threaded system evaluation benchmark"),
        Compat::V10 => {
            format!("sysbench {version} ({engines}, defaults and report of 1.0; --plimsoll-compat=1.1 for 1.1)")
        }
        Compat::V11 => format!("sysbench {version} ({engines}, defaults and report of 1.1)"),
    }
}
