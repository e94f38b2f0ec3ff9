//! One run: what is said before it, the trial, what is told of it.

mod period;
mod reporter;

use std::sync::Arc;

use plimsoll_core::message::{Done, EndReason};
use plimsoll_engine::{ConnectionTerms, GroupRun, Trial, TrialHandle, TrialOptions, WorkerFault};

use crate::arrivals::Wanted;
use crate::exit::Exit;
use crate::log::{Level, Log};
use crate::settings::Settings;
use crate::test::{Context, Test};
use reporter::Reporter;

/// Longer than any run, milliseconds: about 31 years.
const FOR_EVER_MS: u64 = 1_000_000_000_000;

/// Intervals of the engine, milliseconds. Reports are multiples of it.
const INTERVAL_MS: u64 = 1_000;

/// What the world outside does to a run.
pub struct Outside<'o> {
    /// Arranges that Ctrl-C stops the trial.
    pub on_interrupt: &'o dyn Fn(TrialHandle),
    /// Is told the trial as it happens.
    pub observer: Option<Box<dyn plimsoll_engine::Observer>>,
}

/// Exit code of somebody who was interrupted.
const INTERRUPTED: Exit = Exit(130);

/// Runs a test and tells of it.
///
/// # Errors
/// How the process is to end where it did not go well. It was logged.
pub fn run(test: &mut dyn Test, context: &Arc<Context>, settings: &Settings, outside: Outside<'_>) -> Result<(), Exit> {
    let plan = test.begin()?;
    let log = &context.log;
    log.line(Level::Notice, head(settings, &plan.mode));
    test.before_threads(settings)?;
    let events_max = plan.events_max.unwrap_or(settings.events_max);
    let arrivals = Wanted::new(
        settings.threads,
        settings.rate,
        events_max,
        settings.warm_up_s,
        context.seed,
    );
    let group = GroupRun {
        instance: test.name(),
        factory: plan.factory,
        arrivals: Box::new(arrivals),
        connections: settings.threads,
        terms: ConnectionTerms {
            all_required: true,
            give_up_ms: FOR_EVER_MS,
            ..ConnectionTerms::default()
        },
    };
    let trial = Trial::new(timing(settings), vec![group]).map_err(|fault| failed(log, &fault))?;
    (outside.on_interrupt)(trial.handle());
    let mut reporter = Reporter::new(test, context, settings, &trial, outside.observer);
    let outcome = trial.run(&mut reporter);
    if reporter.has_timed_out {
        return Err(Exit::FORCED);
    }
    let done = outcome.map_err(|fault| failed(log, &fault))?;
    let ended = end(reporter, &done);
    match (ended, done.reason) {
        (Err(exit), _) => Err(exit),
        (Ok(()), EndReason::Stopped) => Err(INTERRUPTED),
        (Ok(()), _) => test.end(),
    }
}

/// Tells the last report.
fn end(mut reporter: Reporter<'_>, done: &Done) -> Result<(), Exit> {
    let is_forced = reporter.running_count() > 0 && done.reason != EndReason::Stopped;
    if is_forced {
        reporter
            .log
            .text(Level::Fatal, "The --max-time limit has expired, forcing shutdown...");
    }
    reporter.finish(done, is_forced)?;
    if is_forced { Err(Exit::FORCED) } else { Ok(()) }
}

fn timing(settings: &Settings) -> TrialOptions {
    let time_ms = settings
        .time_s
        .map_or(FOR_EVER_MS, |seconds| (settings.warm_up_s + seconds) * 1_000);
    TrialOptions {
        grace_ms: settings
            .forced_shutdown_s
            .map_or(FOR_EVER_MS, |seconds| seconds.saturating_mul(1_000).min(FOR_EVER_MS)),
        ..TrialOptions::new(INTERVAL_MS, time_ms.min(FOR_EVER_MS))
    }
}

/// A fault without a message was told where it happened.
fn failed(log: &Log, fault: &WorkerFault) -> Exit {
    if fault.message.is_empty() {
        return Exit::FAILED;
    }
    log.fatal(&fault.message)
}

/// What is said before the threads start.
fn head(settings: &Settings, mode: &str) -> String {
    let given = |is_given: bool, text: String| if is_given { text } else { String::new() };
    let points: Vec<String> = settings.checkpoints_s.iter().map(u64::to_string).collect();
    let (rate, interval) = (settings.rate.unwrap_or(0), settings.report_interval_s.unwrap_or(0));
    let seed = match settings.seed {
        Some(seed) => format!("seed ({seed}).\n"),
        None => "current time\n".to_owned(),
    };
    let allowed_s = settings.forced_shutdown_s.unwrap_or(0) + settings.time_s.unwrap_or(0);
    [
        "Running the test with following options:\n".to_owned(),
        format!("Number of threads: {}\n", settings.threads),
        given(
            settings.warm_up_s > 0,
            format!("Warmup time: {}s\n", settings.warm_up_s),
        ),
        given(rate > 0, format!("Target transaction rate: {rate}/sec\n")),
        given(
            interval > 0,
            format!("Report intermediate results every {interval} second(s)\n"),
        ),
        given(
            !points.is_empty(),
            format!("Report checkpoint(s) at {} seconds\n", points.join(", ")),
        ),
        given(settings.debug, "Debug mode enabled.\n\n".to_owned()),
        given(settings.validate, "Validation checks: on.\n\n".to_owned()),
        format!("Initializing random number generator from {seed}\n"),
        given(
            settings.forced_shutdown_s.is_some(),
            format!("Forcing shutdown in {allowed_s} seconds\n"),
        ),
        format!("\n{mode}Initializing worker threads...\n"),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compat::Compat;
    use crate::options::line::CommandLine;
    use crate::options::{Options, declared};

    fn head_of(words: &[&str], mode: &str) -> String {
        let mut options = Options::default();
        let mut line = CommandLine::split(words.iter().map(|word| (*word).to_owned())).unwrap();
        line.take_declared(&declared::all(Compat::V11), &mut options).unwrap();
        head(&Settings::of(&options, Compat::V11).unwrap(), mode)
    }

    #[test]
    fn the_head_says_what_was_asked_for() {
        assert_eq!(
            head_of(&["--threads=2"], "Prime numbers limit: 10\n\n"),
            "Running the test with following options:\nNumber of threads: 2\nInitializing random number generator from \
             current time\n\n\nPrime numbers limit: 10\n\nInitializing worker threads...\n"
        );
        assert_eq!(
            head_of(
                &[
                    "--rate=5",
                    "--report-interval=1",
                    "--rand-seed=4",
                    "--forced-shutdown=1",
                    "--time=1"
                ],
                ""
            ),
            "Running the test with following options:\nNumber of threads: 1\nTarget transaction rate: 5/sec\nReport \
             intermediate results every 1 second(s)\nInitializing random number generator from seed (4).\n\nForcing \
             shutdown in 2 seconds\n\nInitializing worker threads...\n"
        );
    }
}
