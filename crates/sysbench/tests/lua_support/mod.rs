//! A small command line for tests: options by their words, one command or one run, and what was printed.

#![allow(dead_code)] // each test binary uses its own part of this

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

#[path = "../page/mod.rs"]
mod page;

use page::Page;
use plimsoll_core::message::Message;
use plimsoll_core::plan::{Endpoint, Target};
use plimsoll_core::snapshot::Snapshot;
use plimsoll_engine::{ClosedLoop, ConnectionTerms, GroupRun, Observer, Trial, TrialOptions};
use plimsoll_sysbench::compat::Compat;
use plimsoll_sysbench::exit::Exit;
use plimsoll_sysbench::log::{Level, Log};
use plimsoll_sysbench::lua::{CommandLine, LuaTest, Script};
use plimsoll_sysbench::options::{OptionSpec, Options, Value, declared};
use plimsoll_sysbench::report::Stat;
use plimsoll_sysbench::settings::Settings;
use plimsoll_sysbench::test::{Context, Test, fall_back};

/// What came of a command or a run.
#[derive(Debug, Default)]
pub struct Outcome {
    pub exit: u8,
    pub out: String,
    pub err: String,
    pub snapshot: Snapshot,
    pub reconnects: u64,
}

impl Observer for Outcome {
    fn on(&mut self, event: &Message) {
        if let Message::Interval(interval) = event {
            for group in &interval.groups {
                self.snapshot = self.snapshot.merge(&group.snapshot);
            }
        }
    }
}

/// Runs a script from its text.
pub fn text(script: &str, words: &[&str]) -> Outcome {
    run(Script::Text(script), words)
}

/// Runs a script or a module by its name.
pub fn named(name: &str, words: &[&str]) -> Outcome {
    run(Script::Named(name), words)
}

/// Runs it as the words after its name say.
pub fn run(script: Script<'_>, words: &[&str]) -> Outcome {
    let (out, err) = (Page::default(), Page::default());
    let log = Arc::new(Log::new(Box::new(out.clone()), Box::new(err.clone())));
    let mut outcome = Outcome::default();
    if let Err(Exit(code)) = go(script, words, &log, &mut outcome) {
        outcome.exit = code;
    }
    log.finish();
    (outcome.out, outcome.err) = (out.text(), err.text());
    outcome
}

fn go(script: Script<'_>, words: &[&str], log: &Arc<Log>, outcome: &mut Outcome) -> Result<(), Exit> {
    let command = words.iter().find(|word| !word.starts_with("--"));
    let command_line = CommandLine {
        argv: ["sysbench", "script"]
            .iter()
            .chain(words)
            .map(|word| (*word).to_owned())
            .collect(),
        command: command.map(|word| (*word).to_owned()),
    };
    let general = context(log, options(&declared::all(COMPAT), words, true));
    let mut test = LuaTest::open(script, command_line, &general)?;
    let specs = [declared::all(COMPAT), test.options()].concat();
    let context = Arc::new(context(log, options(&specs, words, test.takes_any_option())));
    test.configure(&context)?;
    match command {
        None => Ok(()),
        Some(&name) => match test.command(name) {
            Some(result) => result,
            None if name == "run" => events(&mut test, &context, outcome),
            None => fall_back(&test, name, log),
        },
    }
}

const COMPAT: Compat = Compat::V11;

fn context(log: &Arc<Log>, options: Options) -> Context {
    Context {
        seed: match options.int("rand-seed") {
            0 => 7,
            given => given as u64,
        },
        threads: u32::try_from(options.int("threads")).unwrap(),
        compat: COMPAT,
        log: Arc::clone(log),
        options,
    }
}

/// The values of options that are declared, and of others as texts where those are taken.
fn options(specs: &[OptionSpec], words: &[&str], takes_any: bool) -> Options {
    let mut options = Options::default();
    for spec in specs {
        options.set(&spec.name, spec.default_value());
    }
    for word in words.iter().filter_map(|word| word.strip_prefix("--")) {
        let (name, value) = word
            .split_once('=')
            .map_or((word, None), |(name, value)| (name, Some(value)));
        let key = plimsoll_sysbench::options::key(name);
        match specs.iter().rev().find(|spec| spec.key() == key) {
            Some(spec) => options.set(name, spec.kind.read(value).unwrap()),
            None if takes_any => options.set(name, Value::String(value.unwrap_or_default().to_owned())),
            None => panic!("no option {name}"),
        }
    }
    options
}

fn events(test: &mut LuaTest, context: &Arc<Context>, outcome: &mut Outcome) -> Result<(), Exit> {
    let threads = context.threads;
    let run = test.begin()?;
    test.before_threads(&Settings::of(&context.options, COMPAT).unwrap())?;
    let group = GroupRun {
        instance: "sysbench".to_owned(),
        factory: run.factory,
        arrivals: Box::new(ClosedLoop::new(
            threads,
            Some(context.options.int("events") as u64).filter(|count| *count > 0),
        )),
        connections: threads,
        terms: ConnectionTerms {
            all_required: true,
            ..ConnectionTerms::default()
        },
    };
    let time_ms = context.options.int("time") as u64 * 1_000;
    let trial = Trial::new(TrialOptions::new(100, time_ms), vec![group]).unwrap();
    trial.handle().start(None);
    let ended = trial.run(outcome);
    outcome.reconnects = test.reconnects();
    ended.map_err(|fault| {
        if !fault.message.is_empty() {
            context.log.text(Level::Fatal, fault.message);
        }
        Exit::FAILED
    })?;
    let stat = Stat {
        threads_running: threads,
        time_interval_s: 2.0,
        time_total_s: 2.0,
        percentiles: vec![95.0],
        events: outcome.snapshot.counts().completed,
        ..Stat::default()
    };
    test.intermediate(&stat, &context.log);
    test.before_last_report();
    test.cumulative(&stat, &context.log);
    test.end()
}

/// A file below a folder of its own, gone with the value.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("plimsoll-lua-{}-{count}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Writes a file and returns its path.
    pub fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Words that lead to a server of the tests.
pub fn words_to(target: &Target) -> Vec<String> {
    let Endpoint::Socket { path } = &target.endpoint else {
        panic!("servers of tests have sockets")
    };
    vec![
        format!("--mysql-socket={}", path.display()),
        format!("--mysql-user={}", target.user),
        format!("--mysql-db={}", target.database),
    ]
}

/// Words and those that lead to a server.
pub fn with<'a>(target: &'a [String], words: &[&'a str]) -> Vec<&'a str> {
    words.iter().copied().chain(target.iter().map(String::as_str)).collect()
}

/// Runs the body of an event once, on one connection.
pub fn once(target: &Target, body: &str, words: &[&str]) -> Outcome {
    let script = format!("function event() local con = sysbench.sql.driver():connect() {body} end");
    text(
        &script,
        &with(&words_to(target), &[&["run", "--events=1"], words].concat()),
    )
}

/// A body that must pass.
#[track_caller]
pub fn passes(target: &Target, body: &str) {
    let outcome = once(target, body, &[]);
    assert_eq!(outcome.exit, 0, "{body}: {}", outcome.out);
}
