//! The options that do not belong to a test, as sysbench declares them, with those that only another version has, and our
//! own. Those two kinds are extra: a script may have options of the same names.

use super::{Kind, OptionSpec};
use crate::compat::Compat;

/// Options of the run.
pub fn general(compat: Compat) -> Vec<OptionSpec> {
    let with = OptionSpec::new;
    let is_1_0 = compat == Compat::V10;
    let (events, time) = if compat == Compat::V04 {
        ("10000", "0")
    } else {
        ("0", "10")
    };
    let today = vec![
        with("threads", Kind::Int, "1", "number of threads to use"),
        with("events", Kind::Int, events, "limit for total number of events"),
        with("time", Kind::Int, time, "limit for total execution time in seconds"),
        with(
            "warmup-time",
            Kind::Int,
            "0",
            "execute events for this many seconds with statistics disabled before the actual benchmark run",
        )
        .extra(is_1_0),
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
        )
        .extra(is_1_0),
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
        )
        .extra(is_1_0),
    ];
    [today, deprecated(compat)].concat()
}

/// Names that 1.0 has for options of today; the values that mean that nothing was given.
pub const DEPRECATED: [(&str, &str, i64); 5] = [
    ("num-threads", "threads", 1),
    ("max-requests", "events", 0),
    ("max-time", "time", 0),
    ("tx-rate", "rate", 0),
    (SEED_OF_0_4, "rand-seed", 0),
];

/// The seed in 0.4. 1.0 does not have it.
const SEED_OF_0_4: &str = "seed-rng";

/// The options of 1.0 and before that another one takes the place of.
fn deprecated(compat: Compat) -> Vec<OptionSpec> {
    let spec = |(old, new, nothing): (&str, &str, i64)| {
        let help = format!("deprecated alias for --{new}");
        let is_extra = compat == Compat::V11 || old == SEED_OF_0_4;
        OptionSpec::new(old, Kind::Int, &nothing.to_string(), &help).extra(is_extra)
    };
    DEPRECATED.map(spec).to_vec()
}

/// What stands before the name of each option of our own, so that no script has one like it.
pub const OWN: &str = "plimsoll-";

/// Options that sysbench has not.
pub fn own(compat: Compat) -> Vec<OptionSpec> {
    let version = match compat {
        Compat::V11 => "1.1",
        _ => "1.0",
    };
    vec![
        OptionSpec::new(
            "plimsoll-compat",
            Kind::String,
            version,
            "defaults and report of this version of sysbench {1.0, 1.1}; also by SYSBENCH_COMPAT",
        )
        .extra(true),
        OptionSpec::without_default(
            "plimsoll-report-json",
            Kind::File,
            "also write all reports to this file, as JSON",
        )
        .extra(true),
    ]
}

/// Options of random numbers.
pub fn random(compat: Compat) -> Vec<OptionSpec> {
    let with = OptionSpec::new;
    let is_1_1 = compat == Compat::V11;
    let kind = if is_1_1 { "uniform" } else { "special" };
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
        )
        .extra(!is_1_1),
        with(
            "rand-spec-iter",
            Kind::Int,
            "12",
            "number of uniform numbers averaged (gaussian and special distributions)",
        )
        .extra(is_1_1),
        with(
            "rand-spec-pct",
            Kind::Int,
            "1",
            "percentage of values to be treated as 'special' (special distribution)",
        )
        .extra(is_1_1),
        with(
            "rand-spec-res",
            Kind::Int,
            "75",
            "percentage of 'special' values to use (special distribution)",
        )
        .extra(is_1_1),
        with("init-rng", Kind::Bool, "off", SEEDED_ANYHOW).extra(true),
        with("rand-init", Kind::Bool, "off", SEEDED_ANYHOW).extra(true),
    ]
}

/// What is said of the switches of 0.4 and 0.5.
const SEEDED_ANYHOW: &str = "(old versions) seed the random number generator, which is always done";

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
pub fn mysql(compat: Compat) -> Vec<OptionSpec> {
    let with = OptionSpec::new;
    let is_1_0 = compat == Compat::V10;
    vec![
        with("mysql-host", Kind::List, "localhost", "MySQL server host"),
        with("mysql-port", Kind::List, "3306", "MySQL server port"),
        OptionSpec::without_default("mysql-socket", Kind::List, "MySQL socket"),
        with("mysql-user", Kind::String, "sbtest", "MySQL user"),
        with("mysql-password", Kind::String, "", "MySQL password"),
        with("mysql-db", Kind::String, "sbtest", "MySQL database name"),
        with(
            "mysql-ssl",
            Kind::Mode,
            if is_1_0 { "off" } else { "disabled" },
            "encryption: on, off, or a mode of 1.1 {disabled, preferred, required, verify_ca, verify_identity}",
        ),
        OptionSpec::without_default(
            "mysql-ssl-key",
            Kind::String,
            "path name of the client private key file",
        )
        .extra(is_1_0),
        OptionSpec::without_default("mysql-ssl-ca", Kind::String, "path name of the CA file").extra(is_1_0),
        OptionSpec::without_default(
            "mysql-ssl-cert",
            Kind::String,
            "path name of the client public key certificate",
        )
        .extra(is_1_0),
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
        )
        .extra(is_1_0),
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

/// Options of the `pgsql` driver. They are taken, since scripts for both drivers have them, and shown nowhere.
fn postgres() -> Vec<OptionSpec> {
    let with = |name, default| OptionSpec::new(name, Kind::String, default, "");
    vec![
        with("pgsql-host", "localhost"),
        OptionSpec::new("pgsql-port", Kind::Int, "5432", ""),
        with("pgsql-user", "sbtest"),
        with("pgsql-password", ""),
        with("pgsql-db", "sbtest"),
    ]
}

/// What is written in 0.4 for an option of today.
pub const RENAMED: [(&str, &str); 5] = [
    (SEED_OF_0_4, "rand-seed"),
    ("num-threads", "threads"),
    ("max-requests", "events"),
    ("max-time", "time"),
    ("tx-rate", "rate"),
];

/// Everything that does not belong to a test.
pub fn all(compat: Compat) -> Vec<OptionSpec> {
    [
        general(compat),
        own(compat),
        random(compat),
        log(),
        latency(),
        database(),
        mysql(compat),
        postgres(),
    ]
    .concat()
}
