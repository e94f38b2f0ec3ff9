//! The options of a run, checked.

use plimsoll_engine::CONNECTIONS_MAX;

use crate::compat::Compat;
use crate::options::Options;

/// Most checkpoints of a run.
const CHECKPOINTS_MAX: usize = 256;

/// Most events a second: more cannot be scheduled as fast as they fall due.
const RATE_MAX: u64 = 10_000_000;

/// Largest stack of a thread, bytes.
const STACK_BYTES_MAX: u64 = 1 << 31;

/// How a run is led and told.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Whose defaults and reports.
    pub compat: Compat,
    /// Threads, at least one.
    pub threads: u32,
    /// Events at most.
    pub events_max: Option<u64>,
    /// How long, warm-up not counted, seconds.
    pub time_s: Option<u64>,
    /// Before that, seconds.
    pub warm_up_s: u64,
    /// What still runs so long after the time is given up, seconds.
    pub forced_shutdown_s: Option<u64>,
    /// How long threads may take to come up, seconds.
    pub init_timeout_s: u64,
    /// Events per second.
    pub rate: Option<u64>,
    /// Between two intermediate reports, seconds.
    pub report_interval_s: Option<u64>,
    /// When full reports are due, seconds, rising.
    pub checkpoints_s: Vec<u64>,
    /// Percentiles, in percent.
    pub percentiles: Vec<f64>,
    /// Whether a histogram is drawn.
    pub histogram: bool,
    /// Whether more is told.
    pub debug: bool,
    /// Whether what is read is checked.
    pub validate: bool,
    /// The seed that the user gave; `None` for the time.
    pub seed: Option<i64>,
    /// Where reports go as JSON.
    pub json: Option<String>,
}

impl Settings {
    /// Checks options.
    ///
    /// # Errors
    /// What is wrong with the first that makes no sense, as a message.
    pub fn of(options: &Options, compat: Compat) -> Result<Self, String> {
        let threads = threads(options)?;
        let stack_bytes = options.size("thread-stack-size");
        if !(1..STACK_BYTES_MAX).contains(&stack_bytes) {
            return Err(format!("Invalid value for thread-stack-size: {stack_bytes}.\n"));
        }
        let positive = |name: &str| not_negative(options, name).map(|value| (value > 0).then_some(value));
        // sysbench takes values below 0 for none here, too.
        let limit = |name: &str| u64::try_from(options.int(name)).ok().filter(|value| *value > 0);
        let time_s = limit("time");
        let percentiles = percentiles(options)?;
        let histogram = options.bool("histogram");
        if histogram && percentiles.is_empty() {
            return Err("--histogram cannot be used with --percentile=0".to_owned());
        }
        let distribution = options.string("rand-type");
        if !["uniform", "gaussian", "special", "pareto", "zipfian"].contains(&distribution) {
            return Err(format!("Invalid random numbers distribution: {distribution}."));
        }
        Ok(Self {
            compat,
            threads,
            events_max: limit("events"),
            time_s,
            warm_up_s: not_negative(options, "warmup-time")?,
            forced_shutdown_s: forced_shutdown(options.string("forced-shutdown"), time_s)?,
            init_timeout_s: not_negative(options, "thread-init-timeout")?,
            rate: rate(positive("rate")?)?,
            report_interval_s: limit("report-interval"),
            checkpoints_s: checkpoints(options.list("report-checkpoints"))?,
            percentiles,
            histogram,
            debug: options.bool("debug"),
            validate: options.bool("validate"),
            seed: Some(options.int("rand-seed")).filter(|seed| *seed != 0),
            json: json(options),
        })
    }
}

fn threads(options: &Options) -> Result<u32, String> {
    let given = options.int("threads");
    match u32::try_from(given) {
        Ok(0) | Err(_) => Err(format!("Invalid value for --threads: {given}.\n")),
        Ok(threads) if u64::from(threads) > CONNECTIONS_MAX => Err(format!(
            "Invalid value for --threads: {given}; at most {CONNECTIONS_MAX} are possible.\n"
        )),
        Ok(threads) => Ok(threads),
    }
}

fn not_negative(options: &Options, name: &str) -> Result<u64, String> {
    let value = options.int(name);
    u64::try_from(value).map_err(|_| format!("Invalid value for --{name}: {value}"))
}

fn percentiles(options: &Options) -> Result<Vec<f64>, String> {
    let percents = options.percentiles();
    match percents.iter().find(|one| !(**one > 0.0 && **one <= 100.0)) {
        Some(wrong) => Err(format!("Invalid value for --percentile: {wrong}")),
        None => Ok(percents.to_vec()),
    }
}

fn rate(given: Option<u64>) -> Result<Option<u64>, String> {
    match given.filter(|rate| *rate > RATE_MAX) {
        Some(rate) => Err(format!(
            "--rate={rate}: at most {RATE_MAX} events per second can be scheduled; leave --rate out for as many as the \
             threads can do"
        )),
        None => Ok(given),
    }
}

/// Seconds, `N%` of the time, or nothing for a twentieth of it.
fn forced_shutdown(text: &str, time_s: Option<u64>) -> Result<Option<u64>, String> {
    let fault = || format!("Invalid value for --forced-shutdown: '{text}'");
    let time_s = time_s.unwrap_or_default();
    match (text, text.strip_suffix('%')) {
        ("off", _) => Ok(None),
        ("", _) => Ok(Some(time_s / 20)),
        (_, Some(percent)) => {
            let percent: u32 = percent.parse().map_err(|_| fault())?;
            Ok(Some(time_s * u64::from(percent) / 100))
        }
        _ => text
            .parse::<u32>()
            .map(|seconds| Some(seconds.into()))
            .map_err(|_| fault()),
    }
}

fn checkpoints(given: &[String]) -> Result<Vec<u64>, String> {
    let fault = |text: &String| format!("Invalid value for --report-checkpoints: '{text}'");
    let read = |text: &String| match text.trim_start().parse::<i32>() {
        Ok(seconds @ 0..) => Ok(seconds.unsigned_abs().into()),
        _ => Err(fault(text)),
    };
    let mut points = given.iter().map(read).collect::<Result<Vec<u64>, String>>()?;
    if points.len() > CHECKPOINTS_MAX {
        return Err(format!(
            "Too many checkpoints in --report-checkpoints (up to {CHECKPOINTS_MAX} can be defined)"
        ));
    }
    points.sort_unstable();
    points.dedup();
    Ok(points)
}

fn json(options: &Options) -> Option<String> {
    match options.get("plimsoll-report-json") {
        Some(crate::options::Value::File(path)) if !path.is_empty() => Some(path.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Value;
    use crate::options::declared;
    use crate::options::line::CommandLine;

    fn settings(words: &[&str]) -> Result<Settings, String> {
        let mut options = Options::default();
        let mut line = CommandLine::split(words.iter().map(|word| (*word).to_owned())).unwrap();
        line.take_declared(&declared::all(Compat::V11), &mut options).unwrap();
        Settings::of(&options, Compat::V11)
    }

    #[test]
    fn zeros_mean_no_limit() {
        let settings = settings(&["--time=0", "--events=0", "--rate=0"]).unwrap();
        assert_eq!(
            (settings.time_s, settings.events_max, settings.rate),
            (None, None, None)
        );
    }

    #[test]
    fn nothing_is_0_and_limits_below_0_are_none() {
        let settings = settings(&[
            "--time=",
            "--rate",
            "--rand-seed=",
            "--percentile=",
            "--events=-1",
            "--report-interval=-2",
        ])
        .unwrap();
        assert_eq!((settings.time_s, settings.rate, settings.seed), (None, None, None));
        assert_eq!((settings.percentiles, settings.events_max), (vec![], None));
        assert_eq!(settings.report_interval_s, None);
        assert_eq!(super::tests::settings(&["--time=-1"]).unwrap().time_s, None);
        assert_eq!(super::tests::settings(&["--rand-seed=-5"]).unwrap().seed, Some(-5));
    }

    #[test]
    fn a_rate_that_no_schedule_keeps_up_with_is_refused() {
        assert!(
            settings(&["--rate=2000000000"])
                .unwrap_err()
                .starts_with("--rate=2000000000: at most")
        );
        assert_eq!(settings(&["--rate=1000000"]).unwrap().rate, Some(1_000_000));
    }

    #[test]
    fn forced_shutdown_is_seconds_a_share_or_a_twentieth() {
        let seconds = |word: &str| settings(&["--time=40", word]).unwrap().forced_shutdown_s;
        assert_eq!(seconds("--forced-shutdown=off"), None);
        assert_eq!(seconds("--forced-shutdown=3"), Some(3));
        assert_eq!(seconds("--forced-shutdown=10%"), Some(4));
        assert_eq!(seconds("--forced-shutdown"), Some(2));
    }

    #[test]
    fn nonsense_is_named() {
        let check = |words: &[&str], expect: &str| assert_eq!(settings(words), Err(expect.to_owned()));
        check(&["--threads=0"], "Invalid value for --threads: 0.\n");
        let many = "Invalid value for --threads: 2147483647; at most 100000 are possible.\n";
        check(&["--threads=2147483647"], many);
        let mut options = Options::default();
        let mut line = CommandLine::split(["--threads=1".to_owned()]).unwrap();
        line.take_declared(&declared::all(Compat::V11), &mut options).unwrap();
        options.set("threads", Value::Int(4_294_967_297)); // in 32 bits it would be 1
        let refused = Settings::of(&options, Compat::V11).unwrap_err();
        assert_eq!(refused, "Invalid value for --threads: 4294967297.\n");
        check(&["--rate=-1"], "Invalid value for --rate: -1");
        check(&["--percentile=101"], "Invalid value for --percentile: 101");
        check(&["--percentile=0,5"], "Invalid value for --percentile: 0");
        check(&["--thread-stack-size=K"], "Invalid value for thread-stack-size: 0.\n");
        check(&["--rand-type=foo"], "Invalid random numbers distribution: foo.");
        check(
            &["--percentile=0", "--histogram"],
            "--histogram cannot be used with --percentile=0",
        );
        check(
            &["--report-checkpoints=1,x"],
            "Invalid value for --report-checkpoints: 'x'",
        );
        check(&["--forced-shutdown=x"], "Invalid value for --forced-shutdown: 'x'");
    }

    #[test]
    fn checkpoints_are_sorted() {
        assert_eq!(settings(&["--report-checkpoints=5,1,5"]).unwrap().checkpoints_s, [1, 5]);
    }
}
