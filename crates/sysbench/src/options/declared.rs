//! The options that do not belong to a test, as sysbench 1.1 declares them; names that only 1.0 knew are taken too.

use super::{Kind, OptionSpec};
use crate::compat::Compat;

/// Options of the run.
pub fn general(compat: Compat) -> Vec<OptionSpec> {
    let with = OptionSpec::new;
    let (events, time) = if compat == Compat::V04 {
        ("10000", "0")
    } else {
        ("0", "10")
    };
    vec![
        with("threads", Kind::Int, "1", "number of threads to use"),
        with("events", Kind::Int, events, "limit for total number of events"),
        with("time", Kind::Int, time, "limit for total execution time in seconds"),
        with(
            "warmup-time",
            Kind::Int,
            "0",
            "execute events for this many seconds with statistics disabled before the actual benchmark run",
        ),
        with(
            "forced-shutdown",
            Kind::String,
            "off",
            "number of seconds to wait after the --time limit before forcing shutdown, or 'off' to disable",
        ),
        with("thread-stack-size", Kind::Size, "64K", "size of stack per thread"),
        with(
            "thread-init-timeout",
            Kind::Int,
            "30",
            "wait time in seconds for worker threads to initialize",
        ),
        with(
            "rate",
            Kind::Int,
            "0",
            "average transactions rate. 0 for unlimited rate",
        ),
        with(
            "report-interval",
            Kind::Int,
            "0",
            "periodically report intermediate statistics with a specified interval in seconds. 0 disables them",
        ),
        with(
            "report-checkpoints",
            Kind::List,
            "",
            "report full statistics and reset all counters at these points in time, seconds, separated by commas",
        ),
        with("debug", Kind::Bool, "off", "print more debugging info"),
        with(
            "validate",
            Kind::Bool,
            "off",
            "perform validation checks where possible",
        ),
        with("help", Kind::Bool, "off", "print help and exit"),
        with("version", Kind::Bool, "off", "print version and exit"),
        OptionSpec::without_default(
            "config-file",
            Kind::File,
            "file with command line options, one name=value a line",
        ),
        OptionSpec::without_default(
            "luajit-cmd",
            Kind::String,
            "perform LuaJIT control command, as `luajit -j` does: off, on, flush, opt=...",
        ),
        OptionSpec::without_default(
            "report-json",
            Kind::File,
            "Plimsoll: also write all reports to this file, as JSON",
        ),
        with(
            "compat",
            Kind::String,
            "1.1",
            "Plimsoll: defaults and report of this version of sysbench {1.0, 1.1}; also by SYSBENCH_COMPAT",
        ),
    ]
}

/// Options of random numbers.
pub fn random(compat: Compat) -> Vec<OptionSpec> {
    let with = OptionSpec::new;
    let kind = if compat == Compat::V11 { "uniform" } else { "special" };
    vec![
        with(
            "rand-type",
            Kind::String,
            kind,
            "random numbers distribution {uniform, gaussian, special, pareto, zipfian} to use by default",
        ),
        with(
            "rand-seed",
            Kind::Int,
            "0",
            "seed for random number generator. When 0, the current time is used as an RNG seed",
        ),
        with(
            "rand-pareto-h",
            Kind::Double,
            "0.2",
            "shape parameter for the Pareto distribution",
        ),
        with(
            "rand-zipfian-exp",
            Kind::Double,
            "0.8",
            "shape parameter (exponent, theta) for the Zipfian distribution",
        ),
        with(
            "rand-spec-iter",
            Kind::Int,
            "12",
            "number of uniform numbers averaged (gaussian and special distributions)",
        ),
        with(
            "rand-spec-pct",
            Kind::Int,
            "1",
            "percentage of values to be treated as 'special' (special distribution)",
        ),
        with(
            "rand-spec-res",
            Kind::Int,
            "75",
            "percentage of 'special' values to use (special distribution)",
        ),
    ]
}

/// Options of what is printed.
pub fn log() -> Vec<OptionSpec> {
    vec![OptionSpec::new(
        "verbosity",
        Kind::Int,
        "3",
        "verbosity level {5 - debug, 0 - only critical messages}",
    )]
}

/// Options of response times.
pub fn latency() -> Vec<OptionSpec> {
    let with = OptionSpec::new;
    vec![
        with(
            "percentile",
            Kind::Percentiles,
            "95",
            "percentiles to calculate in latency statistics (1-100), fractions and lists too. 0 disables them",
        ),
        with("histogram", Kind::Bool, "off", "print latency histogram in report"),
    ]
}

/// Options of databases in general.
pub fn database() -> Vec<OptionSpec> {
    let with = OptionSpec::new;
    vec![
        with(
            "db-driver",
            Kind::String,
            "mysql",
            "specifies database driver to use ('help' to get list of available drivers)",
        ),
        with(
            "db-ps-mode",
            Kind::String,
            "auto",
            "prepared statements usage mode {auto, disable}",
        ),
        with(
            "db-debug",
            Kind::Bool,
            "off",
            "print database-specific debug information",
        ),
    ]
}

/// Options of the MySQL driver.
pub fn mysql() -> Vec<OptionSpec> {
    let with = OptionSpec::new;
    vec![
        with("mysql-host", Kind::List, "localhost", "MySQL server host"),
        with("mysql-port", Kind::List, "3306", "MySQL server port"),
        OptionSpec::without_default("mysql-socket", Kind::List, "MySQL socket"),
        with("mysql-user", Kind::String, "sbtest", "MySQL user"),
        with("mysql-password", Kind::String, "", "MySQL password"),
        with("mysql-db", Kind::String, "sbtest", "MySQL database name"),
        with(
            "mysql-ssl",
            Kind::String,
            "disabled",
            "SSL mode {disabled, preferred, required, verify_ca, verify_identity}; on and off as in 1.0",
        ),
        OptionSpec::without_default(
            "mysql-ssl-key",
            Kind::String,
            "path name of the client private key file",
        ),
        OptionSpec::without_default("mysql-ssl-ca", Kind::String, "path name of the CA file"),
        OptionSpec::without_default(
            "mysql-ssl-cert",
            Kind::String,
            "path name of the client public key certificate",
        ),
        with(
            "mysql-ssl-cipher",
            Kind::String,
            "",
            "use specific cipher for SSL connections",
        ),
        with(
            "mysql-compression",
            Kind::Bool,
            "off",
            "use compression, if available in the client library",
        ),
        with(
            "mysql-compression-algorithms",
            Kind::String,
            "zlib",
            "compression algorithms to use",
        ),
        with("mysql-debug", Kind::Bool, "off", "trace all client library calls"),
        with(
            "mysql-ignore-errors",
            Kind::List,
            "1213,1020,1205",
            "list of errors to ignore, or \"all\"",
        ),
        with(
            "mysql-dry-run",
            Kind::Bool,
            "off",
            "dry run, pretend that all MySQL client API calls are successful without executing them",
        ),
    ]
}

/// What is written in 0.4 and 0.5 for an option of today. They are taken with a warning.
pub const DEPRECATED: [(&str, &str); 5] = [
    ("seed-rng", "rand-seed"),
    ("num-threads", "threads"),
    ("max-requests", "events"),
    ("max-time", "time"),
    ("tx-rate", "rate"),
];

/// Everything that does not belong to a test.
pub fn all(compat: Compat) -> Vec<OptionSpec> {
    [general(compat), random(compat), log(), latency(), database(), mysql()].concat()
}
