//! Reports a trial while it runs: threads that come up, lines in between, full reports at their points in time.

use plimsoll_core::message::{Done, EngineWarning, Interval, Message, Progress};
use plimsoll_core::snapshot::Measure;
use plimsoll_engine::{Observer, Trial, TrialHandle, WorkerShare};

use super::period::Period;
use crate::exit::Exit;
use crate::json::JsonReports;
use crate::log::{Level, Log, doubted};
use crate::report::{LogHistogram, Stat, blocks};
use crate::settings::Settings;
use crate::test::{Context, Test};

/// The engine's doubt about threads that do not end.
const STUCK: &str = "connections-stuck";

const NS_PER_S: u64 = 1_000_000_000;

/// An observer that reports.
pub struct Reporter<'t> {
    pub log: &'t Log,
    /// The threads did not come up in time, so that the trial was stopped.
    pub has_timed_out: bool,
    test: &'t mut dyn Test,
    settings: &'t Settings,
    handle: TrialHandle,
    shares: Box<dyn Fn() -> Vec<WorkerShare>>,
    since_report: Period,
    since_checkpoint: Period,
    queue_length: u64,
    dropped_count: u64,
    waited_s: u64,
    json: JsonReports,
    other: Option<Box<dyn Observer>>,
}

impl<'t> Reporter<'t> {
    /// Reports of this trial by this test.
    pub fn new(
        test: &'t mut dyn Test,
        context: &'t Context,
        settings: &'t Settings,
        trial: &Trial,
        other: Option<Box<dyn Observer>>,
    ) -> Self {
        let shares = trial.shares();
        let json = JsonReports::new(test.name(), &context.options);
        let mut reporter = Self {
            log: &context.log,
            has_timed_out: false,
            test,
            settings,
            handle: trial.handle(),
            shares: Box::new(shares),
            since_report: Period::default(),
            since_checkpoint: Period::default(),
            queue_length: 0,
            dropped_count: 0,
            waited_s: 0,
            json,
            other,
        };
        reporter.since_report = reporter.period(0);
        reporter.since_checkpoint = reporter.period(0);
        reporter
    }

    /// Events that have begun and not ended.
    pub fn running_count(&self) -> u64 {
        let running = |share: &WorkerShare| share.offered_count.saturating_sub(share.ended_count);
        (self.shares)().iter().map(running).sum()
    }

    /// The last report.
    ///
    /// # Errors
    /// When it cannot be written where the user wants it.
    pub fn finish(&mut self, done: &Done, is_forced: bool) -> Result<(), Exit> {
        let running_count = self.running_count();
        let mut stat = self.stat(&self.since_checkpoint, done.duration_ns);
        stat.unfinished = is_forced.then_some(running_count);
        self.test.before_last_report();
        if self.settings.histogram {
            LogHistogram::of_latency(&stat.latency).tell(self.log);
        }
        self.full_report(&stat);
        if self.settings.debug {
            self.log.lines(Level::Debug, blocks::threads(&stat));
        }
        self.say(Level::Notice, &blocks::errors(&stat));
        let waiting_count = done.unfinished_count.saturating_sub(running_count);
        self.warn_backlog(waiting_count);
        self.json.write(&stat, self.settings, self.log)
    }

    /// A few that just fell due are no backlog.
    fn warn_backlog(&self, waiting_count: u64) {
        let a_tenth_of_a_second = self.settings.rate.unwrap_or(0) / 10;
        let dropped_count = self.dropped_count;
        if dropped_count > 0 || waiting_count > a_tenth_of_a_second.max(1) {
            self.say(
                Level::Warning,
                &format!(
                    "WARNING: {waiting_count} events were still waiting at the end and {dropped_count} were given up before: \
                     the threads could not keep up with the rate\n"
                ),
            );
        }
    }

    /// Says what sysbench would not: on standard error where reports have a form of their own, which somebody may read by
    /// program.
    fn say(&self, level: Level, lines: &str) {
        if !self.test.has_own_reports() {
            self.log.lines(level, lines);
        } else if !lines.is_empty() {
            self.log.complain(lines.trim_end());
        }
    }

    fn on_interval(&mut self, interval: &Interval) {
        let warm_up_ns = self.settings.warm_up_s * NS_PER_S;
        let to_ns = interval.to_ns;
        if to_ns <= warm_up_ns {
            if to_ns == warm_up_ns {
                self.since_report = self.period(to_ns);
                self.since_checkpoint = self.period(to_ns);
            }
            return;
        }
        for group in &interval.groups {
            self.since_report.add(&group.snapshot);
            self.since_checkpoint.add(&group.snapshot);
            self.queue_length = group.backlog_count;
            self.dropped_count += group.snapshot.counts().dropped;
        }
        let since_ns = to_ns - warm_up_ns;
        if since_ns % NS_PER_S == 0 {
            self.on_second(since_ns / NS_PER_S, to_ns);
        }
    }

    fn on_second(&mut self, second: u64, to_ns: u64) {
        if self.settings.report_interval_s.is_some_and(|every| second % every == 0) {
            let stat = self.stat(&self.since_report, to_ns);
            self.test.intermediate(&stat, self.log);
            self.json.add(&stat);
            self.since_report = self.period(to_ns);
        }
        if self.settings.checkpoints_s.contains(&second) {
            let stat = self.stat(&self.since_checkpoint, to_ns);
            self.log
                .line(Level::Notice, format_args!("[ {second}s ] Checkpoint report:"));
            self.full_report(&stat);
            self.since_checkpoint = self.period(to_ns);
        }
    }

    fn full_report(&mut self, stat: &Stat) {
        self.log.lines(Level::Notice, blocks::unfinished(stat));
        self.test.cumulative(stat, self.log);
    }

    fn period(&self, from_ns: u64) -> Period {
        Period::begin(from_ns, (self.shares)(), self.test.reconnects())
    }

    fn stat(&self, period: &Period, to_ns: u64) -> Stat {
        let warm_up_ns = self.settings.warm_up_s * NS_PER_S;
        let running_count = self.running_count();
        Stat {
            compat: self.settings.compat,
            has_rate: self.settings.rate.is_some(),
            threads_running: self.settings.threads,
            time_total_s: to_ns.saturating_sub(warm_up_ns) as f64 / 1e9,
            percentiles: self.settings.percentiles.clone(),
            queue_length: self.queue_length,
            concurrency: self.settings.rate.map_or(0, |_| running_count),
            ..period.stat(to_ns, &(self.shares)(), self.test.reconnects(), self.latency())
        }
    }

    /// What sysbench calls so: at a rate an event's time counts from when it was due, otherwise from when it began.
    fn latency(&self) -> Measure {
        self.settings.rate.map_or(Measure::Service, |_| Measure::Response)
    }

    fn on_ready(&mut self) {
        self.log.line(Level::Notice, "Threads started!\n");
        if self.settings.warm_up_s > 0 {
            let seconds = self.settings.warm_up_s;
            self.log
                .line(Level::Notice, format_args!("Warming up for {seconds} seconds...\n"));
            if let Some(other) = &mut self.other {
                other.on(&Message::Progress(Progress {
                    phase: "warm-up".to_owned(),
                    done_count: 0,
                    total_count: seconds,
                }));
            }
        }
        self.handle.start(None);
    }

    /// Once a second while threads come up.
    fn on_progress(&mut self) {
        self.waited_s += 1;
        let limit_s = self.settings.init_timeout_s;
        if self.waited_s > limit_s && !self.has_timed_out {
            self.has_timed_out = true;
            self.log.text(
                Level::Fatal,
                format_args!("Worker threads failed to initialize within {limit_s} seconds!"),
            );
            self.handle.stop();
        }
    }
}

/// Said to who keeps recordings, and not printed: to a user of sysbench it is no news.
fn no_server() -> Message {
    Message::Warning(EngineWarning {
        code: "no-server".to_owned(),
        evidence: "The script opened no connection to a server.".to_owned(),
        advice:
            "The figures are those of what the script does without one. If it was to use a server, let it connect by \
                 sysbench.sql."
                .to_owned(),
    })
}

impl Observer for Reporter<'_> {
    fn on(&mut self, event: &Message) {
        if let Some(other) = &mut self.other {
            if matches!(event, Message::Done(_)) && !self.test.has_server() {
                other.on(&no_server());
            }
            other.on(event);
        }
        match event {
            Message::Progress(_) => self.on_progress(),
            Message::Ready(_) => self.on_ready(),
            Message::Interval(interval) => self.on_interval(interval),
            Message::Warning(warning) if warning.code == STUCK => {} // the report says how many did not end
            Message::Warning(warning) => {
                self.say(Level::Warning, &format!("WARNING: {}\n", doubted(warning)));
            }
            _ => {}
        }
    }
}
