//! Runs a test of the host as the command line does, without one.
#![allow(dead_code)] // each file of tests takes what it needs

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

#[path = "../page/mod.rs"]
mod page;

use page::Page;
use plimsoll_core::message::Message;
use plimsoll_core::snapshot::{Measure, Snapshot, TransactionSnapshot};
use plimsoll_engine::{ClosedLoop, ConnectionTerms, GroupRun, Observer, Trial, TrialOptions};
use plimsoll_sysbench::compat::Compat;
use plimsoll_sysbench::exit::Exit;
use plimsoll_sysbench::log::Log;
use plimsoll_sysbench::options::{OptionSpec, Options, declared};
use plimsoll_sysbench::report::{Share, Stat};
use plimsoll_sysbench::test::{Context, Test};

/// What came of a command.
pub struct Outcome {
    /// How it ended.
    pub result: Result<(), Exit>,
    /// Everything that was printed.
    pub text: String,
    /// What the run was told to have done; nothing for other commands.
    pub stat: Stat,
}

/// Configures a test and does `run` or another command with options `name=value`.
pub fn command(mut test: Box<dyn Test>, command: &str, given: &[&str]) -> Outcome {
    let page = Page::default();
    let context = context(&*test, given, &page);
    let mut stat = Stat::default();
    let result = test.configure(&context).and_then(|()| match command {
        "run" => run(&mut *test, &context, &mut stat),
        other => test.command(other).expect("there is such a command"),
    });
    context.log.finish();
    Outcome {
        result,
        text: page.text(),
        stat,
    }
}

/// The same for a test that is known by its name.
pub fn run_named(name: &str, given: &[&str]) -> Outcome {
    command(plimsoll_sysbench::host::open(name).unwrap(), "run", given)
}

/// The text with each number replaced by `N`, and runs of spaces by one: what is left is the pattern.
pub fn pattern(text: &str) -> String {
    let mut out = String::new();
    for part in text.chars() {
        match part {
            '0'..='9' | '.' if out.ends_with('N') => {}
            ' ' if out.ends_with(' ') => {}
            '0'..='9' => out.push('N'),
            other => out.push(other),
        }
    }
    out
}

/// The pattern of what the installed sysbench prints for a run, from the test's own lines on and without those of the start.
/// `None` where there is none.
pub fn sysbench(name: &str, given: &[&str]) -> Option<String> {
    sysbench_in(Path::new("."), name, given)
}

/// The same in a folder.
pub fn sysbench_in(folder: &Path, name: &str, given: &[&str]) -> Option<String> {
    let options = given.iter().map(|option| format!("--{option}"));
    let mut command = Command::new("sysbench");
    command.current_dir(folder).arg(name).args(options).arg("run");
    let run = command.output();
    let Ok(output) = run else {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "sysbench is missing");
        eprintln!("skipped: sysbench is missing");
        return None;
    };
    let printed = String::from_utf8(output.stdout).unwrap();
    let (_, printed) = printed.split_once("current time\n\n\n").unwrap();
    let start = "Initializing worker threads...\n\nThreads started!\n\n";
    Some(pattern(&printed.replacen(start, "", 1)))
}

fn context(test: &dyn Test, given: &[&str], page: &Page) -> Arc<Context> {
    let declared = [declared::all(Compat::V11), test.options()].concat();
    let mut options = Options::default();
    for spec in &declared {
        options.set(&spec.name, spec.default_value());
    }
    for one in given {
        let (name, value) = one.split_once('=').unwrap();
        let find = |spec: &&OptionSpec| spec.key() == name;
        let spec = declared.iter().find(find).unwrap_or_else(|| panic!("no option {name}"));
        options.set(name, spec.kind.read(Some(value)).unwrap());
    }
    Arc::new(Context {
        threads: u32::try_from(options.int("threads")).unwrap(),
        compat: Compat::V11,
        options,
        log: Arc::new(Log::new(Box::new(page.clone()), Box::new(page.clone()))),
        seed: 7,
    })
}

fn run(test: &mut dyn Test, context: &Context, stat: &mut Stat) -> Result<(), Exit> {
    let run = test.begin()?;
    context.log.print(&run.mode);
    let given = u64::try_from(context.options.int("events")).unwrap();
    let events_max = run.events_max.unwrap_or((given > 0).then_some(given));
    let group = GroupRun {
        instance: "host".to_owned(),
        factory: run.factory,
        arrivals: Box::new(ClosedLoop::new(context.threads, events_max)),
        connections: context.threads,
        terms: ConnectionTerms {
            all_required: true,
            ..ConnectionTerms::default()
        },
    };
    let duration_ms = context.options.int("time") as u64 * 1_000;
    let options = TrialOptions {
        grace_ms: 60_000,
        ..TrialOptions::new(1_000, if duration_ms > 0 { duration_ms } else { 600_000 })
    };
    let trial = Trial::new(options, vec![group]).unwrap();
    trial.handle().start(None);
    let shares = trial.shares();
    let mut seen = Seen::default();
    if let Err(fault) = trial.run(&mut seen) {
        context.log.print(format!("fault: {fault}\n"));
        return Err(Exit::FAILED);
    }
    *stat = seen.stat(context.threads);
    stat.shares = shares()
        .iter()
        .map(|one| Share {
            events: one.ended_count,
            time_s: one.service_sum_ns as f64 / 1e9,
        })
        .collect();
    test.cumulative(stat, &context.log);
    test.end()
}

#[derive(Default)]
struct Seen {
    all: Snapshot,
    seconds: f64,
}

impl Observer for Seen {
    fn on(&mut self, event: &Message) {
        match event {
            Message::Interval(interval) => self.all = self.all.merge(&interval.groups[0].snapshot),
            Message::Done(done) => self.seconds = done.duration_ns as f64 / 1e9,
            _ => {}
        }
    }
}

impl Seen {
    fn stat(&self, threads: u32) -> Stat {
        let empty = TransactionSnapshot::default();
        let one = self.all.transactions.values().next().unwrap_or(&empty);
        Stat {
            compat: Compat::V10,
            threads_running: threads,
            time_interval_s: self.seconds,
            time_total_s: self.seconds,
            percentiles: vec![95.0],
            latency: one.histograms.get(&Measure::Service).cloned().unwrap_or_default(),
            events: one.counts.completed,
            reads: one.counts.reads,
            writes: one.counts.writes,
            other: one.counts.others,
            ..Stat::default()
        }
    }
}
