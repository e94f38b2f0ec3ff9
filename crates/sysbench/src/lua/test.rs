//! A script as a test: its options, its commands, its run, its reports.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;

use mlua::Table;

use super::reports::Reports;
use super::shared::{CommandLine, Shared, Source};
use super::state::{Kind, State};
use super::worker::ScriptFactory;
use crate::exit::Exit;
use crate::log::{Level, Log};
use crate::options::{Kind as OptionKind, OptionSpec};
use crate::report::Stat;
use crate::settings::Settings;
use crate::test::{Context, Run, Test};

/// Where a script comes from, as the command line has it.
#[derive(Clone, Copy, Debug)]
pub enum Script<'a> {
    /// A path, or else the name of a module.
    Named(&'a str),
    /// Text that was read from standard input.
    Text(&'a str),
}

/// A script.
pub struct LuaTest {
    shared: Arc<Shared>,
    /// Runs commands, `init`, `done`, and final reports. Gone after the end.
    master: Option<State>,
    reports: Reports,
    is_text: bool,
}

impl LuaTest {
    /// Loads a script and runs its body, once.
    ///
    /// # Errors
    /// When there is no such script, or its body fails; said in the log.
    pub fn open(script: Script<'_>, command_line: CommandLine, context: &Context) -> Result<Self, Exit> {
        let log = &context.log;
        let (source, script_path) = match script {
            Script::Text(text) => (Some(Source::Text(text.to_owned())), ""),
            Script::Named(name) => (is_file(name).then(|| Source::File(name.to_owned())), name),
        };
        let is_module = source.is_none();
        let source = source.unwrap_or_else(|| Source::Module(script_path.to_owned()));
        let (shared, doubts) =
            Shared::new(source, script_path, command_line, context).map_err(|text| log.fatal(text))?;
        for doubt in &doubts {
            log.text(Level::Warning, doubt);
        }
        let shared = Arc::new(shared);
        let master = State::empty(&shared, Kind::Master, 0).map_err(|text| log.fatal(text))?;
        if is_module && !master.call::<bool>("has_module", script_path).unwrap_or(false) {
            let what = format!("Cannot find benchmark '{script_path}': no such built-in test, file or module");
            return Err(log.fatal(what));
        }
        master.load_script().map_err(|text| log.fatal(text))?;
        Ok(Self {
            shared,
            reports: Reports::new(&master),
            master: Some(master),
            is_text: matches!(script, Script::Text(_)),
        })
    }

    /// The name of the module, where it is one of this program's own.
    pub fn own_module(&self) -> Option<&str> {
        let Source::Module(name) = &self.shared.source else {
            return None;
        };
        let is_own = self.master().call::<bool>("is_own_module", name.as_str());
        is_own.unwrap_or(false).then_some(name)
    }

    fn master(&self) -> &State {
        self.master.as_ref().expect("it has not ended")
    }

    fn fail(&self, function: &str, text: &str) -> Exit {
        self.shared
            .log
            .fatal(format_args!("`{function}' function failed: {text}"))
    }

    /// The last part of the script's path.
    fn base_name(&self) -> String {
        let path = Path::new(&self.shared.script_path).file_name();
        path.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }

    fn single(&self, name: &str) -> Result<(), Exit> {
        match self.master().call::<bool>("command", name) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Exit::FAILED),
            Err(text) => Err(self.fail("sysbench.cmdline.call_command", &text)),
        }
    }

    /// Runs a command in all threads. One that fails makes the command fail, when all have ended.
    fn parallel(&self, name: &str) -> Result<(), Exit> {
        self.shared.log.line(Level::Notice, "Initializing worker threads...\n");
        let spawn = |tid| {
            let (shared, name) = (Arc::clone(&self.shared), name.to_owned());
            let builder = thread::Builder::new().name(format!("command-{tid}"));
            builder.spawn(move || in_thread(&shared, tid, &name))
        };
        let handles: Vec<_> = (0..self.shared.config.threads).map(spawn).collect();
        let mut result = Ok(());
        for handle in handles {
            let ended = match handle {
                Ok(handle) => handle.join().unwrap_or(Err(Exit::FAILED)),
                Err(error) => Err(self.shared.log.fatal(format_args!("cannot start a thread: {error}"))),
            };
            result = result.and(ended);
        }
        result
    }

    fn defined(&self, name: &str) -> Option<Result<(), Exit>> {
        let kind = self.master().call::<String>("command_kind", name);
        match kind.as_deref() {
            Ok("") => None,
            Ok("parallel") if self.shared.config.threads > 1 => Some(self.parallel(name)),
            Ok(_) => Some(self.single(name)),
            Err(text) => Some(Err(self.fail("sysbench.cmdline.command_defined", text))),
        }
    }
}

impl Test for LuaTest {
    fn name(&self) -> String {
        match self.base_name() {
            name if name.is_empty() => "-".to_owned(),
            name => name,
        }
    }

    fn options(&self) -> Vec<OptionSpec> {
        let read = self.master().call::<Vec<Table>>("read_options", ());
        let specs = read.and_then(|rows| {
            rows.iter()
                .map(|row| spec(row).map_err(|error| error.to_string()))
                .collect()
        });
        specs.unwrap_or_else(|text: String| {
            self.fail("sysbench.cmdline.read_cmdline_options", &text);
            vec![]
        })
    }

    fn takes_any_option(&self) -> bool {
        !self.master().call::<bool>("has_options", ()).unwrap_or(true)
    }

    fn needs_command(&self) -> bool {
        false
    }

    fn obeys(&self) -> bool {
        !self.is_text
    }

    fn configure(&mut self, context: &Arc<Context>) -> Result<(), Exit> {
        let _ = self.shared.options.set(context.options.clone()); // a script is configured once
        let master = self.master();
        let filled = master.set_options(&context.options);
        filled.map_err(|text| context.log.fatal(text))?;
        // A wrong table of options was said when they were read, and is an error here.
        let read = master.call::<Table>("read_options", ());
        read.map(|_| ()).map_err(|_| Exit::FAILED)
    }

    fn command(&mut self, name: &str) -> Option<Result<(), Exit>> {
        if let Some(done) = self.defined(name) {
            return Some(done);
        }
        if matches!(name, "prepare" | "cleanup" | "help") && self.master().has(name) {
            let outcome = self.master().call::<()>("call", name);
            return Some(outcome.map_err(|text| self.fail(name, &text)));
        }
        None
    }

    fn begin(&mut self) -> Result<Run, Exit> {
        if !self.master().has("event") {
            let what = format!("cannot find the event() function in {}", self.base_name());
            return Err(self.shared.log.fatal(what));
        }
        if self.master().has("init") {
            let outcome = self.master().call::<()>("call", "init");
            outcome.map_err(|text| self.fail("init", &text))?;
        }
        Ok(Run {
            factory: Box::new(ScriptFactory::new(&self.shared, self.master().host.thread.take_early())),
            events_max: None,
            mode: String::new(),
        })
    }

    fn before_threads(&mut self, settings: &Settings) -> Result<(), Exit> {
        let has_stretches = settings.report_interval_s.is_some();
        let checkpoints_count = settings.checkpoints_s.iter().filter(|second| **second > 0).count();
        let begun = self.reports.begin(&self.shared, has_stretches, checkpoints_count);
        begun.map_err(|text| self.shared.log.fatal(text))
    }

    fn intermediate(&mut self, stat: &Stat, log: &Log) {
        self.reports.intermediate(&self.shared, stat, log);
    }

    fn cumulative(&mut self, stat: &Stat, log: &Log) {
        let master = self.master.as_ref().expect("it has not ended");
        self.reports.cumulative(master, stat, log);
    }

    fn has_server(&self) -> bool {
        self.shared.has_connected.load(Ordering::Relaxed)
    }

    fn reconnects(&self) -> u64 {
        self.shared.reconnects_count.load(Ordering::Relaxed)
    }

    fn before_last_report(&mut self) {
        self.reports.end();
    }

    fn has_own_reports(&self) -> bool {
        self.reports.are_any()
    }

    fn end(&mut self) -> Result<(), Exit> {
        let done = if self.master().has("done") {
            let outcome = self.master().call::<()>("call", "done");
            outcome.map_err(|text| self.fail("done", &text))
        } else {
            Ok(())
        };
        self.master = None;
        done
    }
}

/// Runs a command in one of several threads.
fn in_thread(shared: &Arc<Shared>, tid: u32, name: &str) -> Result<(), Exit> {
    let state = State::load(shared, Kind::Command, tid).map_err(|text| shared.log.fatal(text))?;
    match state.call::<bool>("command", name) {
        Ok(true) => Ok(()),
        Ok(false) => Err(Exit::FAILED),
        Err(text) => {
            let what = format!("`sysbench.cmdline.call_command' function failed: {text}");
            Err(shared.log.fatal(what))
        }
    }
}

/// Whether a script can be read there; a folder can be opened too.
fn is_file(path: &str) -> bool {
    let mut nothing = [0u8; 0];
    let is_folder = Path::new(path).is_dir();
    !is_folder && std::fs::File::open(path).is_ok_and(|mut file| file.read(&mut nothing).is_ok())
}

fn spec(row: &Table) -> mlua::Result<OptionSpec> {
    let kind = match row.get::<u32>("kind")? {
        1 => OptionKind::Bool,
        2 => OptionKind::Int,
        3 => OptionKind::Size,
        4 => OptionKind::Double,
        6 => OptionKind::List,
        7 => OptionKind::File,
        _ => OptionKind::String,
    };
    Ok(OptionSpec {
        name: row.get("name")?,
        help: row.get("description")?,
        default: row.get("default")?,
        kind,
        is_extra: false,
    })
}
