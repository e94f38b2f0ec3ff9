//! `cpu`, `memory`, `threads` and `mutex`, run for real.

mod harness;

use harness::{pattern, run_named, sysbench};
use plimsoll_sysbench::exit::Exit;

/// What each test prints of its own for a run, before and after the part that all have in common.
const PRINTED: [(&str, &[&str], &str); 5] = [
    (
        "cpu",
        &["events=5"],
        "Prime numbers limit: N\n\nCPU speed:\n events per second: N\n",
    ),
    (
        "memory",
        &["memory-total-size=1M"],
        "Running memory speed test with the following options:\n block size: NKiB\n total size: NMiB\n operation: \
         write\n scope: global\n\nTotal operations: N (N per second)\n\nN MiB transferred (N MiB/sec)\n\n",
    ),
    (
        "memory",
        &["memory-total-size=1M", "memory-oper=none", "memory-scope=local"],
        "Running memory speed test with the following options:\n block size: NKiB\n total size: NMiB\n operation: \
         none\n scope: local\n\nTotal operations: N (N per second)\n\n",
    ),
    ("threads", &["events=5", "thread-yields=2"], ""),
    ("mutex", &["mutex-locks=10", "mutex-loops=3"], ""),
];

#[test]
fn what_is_printed_is_what_sysbench_prints() {
    for (name, given, expected) in PRINTED {
        let outcome = run_named(name, given);
        assert_eq!(outcome.result, Ok(()));
        let printed = pattern(&outcome.text);
        assert!(printed.starts_with(expected), "{name}: {printed}");
    }
}

/// Line by line, in the manner of 1.0, which is what is installed.
#[test]
fn the_installed_sysbench_prints_the_same() {
    for (name, given, _) in PRINTED {
        let Some(theirs) = sysbench(name, given) else { return };
        assert_eq!(pattern(&run_named(name, given).text), theirs, "{name} {given:?}");
    }
}

#[test]
fn as_many_events_run_as_were_asked_for() {
    let count = |name, given: &[&str]| {
        let outcome = run_named(name, given);
        let shares: Vec<u64> = outcome.stat.shares.iter().map(|one| one.events).collect();
        assert_eq!(outcome.stat.events, shares.iter().sum::<u64>());
        shares
    };
    let sum = |shares: Vec<u64>| shares.iter().sum::<u64>();
    assert_eq!(sum(count("cpu", &["events=7", "threads=2", "cpu-max-prime=100"])), 7);
    assert_eq!(sum(count("threads", &["events=7", "threads=3", "thread-yields=10"])), 7);
    let few = ["threads=3", "mutex-locks=10", "events=1"];
    assert_eq!(
        count("mutex", &few),
        [1, 1, 1],
        "one for each thread, whatever --events says"
    );
    let size = ["threads=3", "memory-total-size=1M", "events=1"];
    assert_eq!(count("memory", &size), [342, 341, 341]);
}

#[test]
fn memory_works_in_every_mode() {
    for operation in ["read", "write", "none"] {
        for (mode, kind) in [
            ("seq", "uniform"),
            ("rnd", "uniform"),
            ("rnd", "gaussian"),
            ("rnd", "special"),
            ("rnd", "pareto"),
            ("rnd", "zipfian"),
        ] {
            for scope in ["global", "local"] {
                let given = [
                    "memory-total-size=64K".to_owned(),
                    "threads=2".to_owned(),
                    format!("memory-oper={operation}"),
                    format!("memory-access-mode={mode}"),
                    format!("rand-type={kind}"),
                    format!("memory-scope={scope}"),
                ];
                let given: Vec<&str> = given.iter().map(String::as_str).collect();
                let outcome = run_named("memory", &given);
                assert_eq!((outcome.result, outcome.stat.events), (Ok(()), 64), "{given:?}");
            }
        }
    }
}

#[test]
fn a_run_without_other_limits_ends_at_its_time() {
    for (name, given) in [
        ("cpu", &["time=1"][..]),
        ("threads", &["time=1", "threads=2"]),
        ("memory", &["time=1", "memory-total-size=0"]),
    ] {
        let stat = run_named(name, given).stat;
        assert!(stat.events > 0, "{name}");
        assert!(
            (1.0..60.0).contains(&stat.time_total_s),
            "{name}: {}",
            stat.time_total_s
        );
    }
}

#[test]
fn values_that_make_no_sense_are_refused() {
    for (name, given, message) in [
        ("cpu", "cpu-max-prime=0", "Invalid value of cpu-max-prime: 0."),
        (
            "memory",
            "memory-block-size=100",
            "Invalid value for memory-block-size: 100",
        ),
        (
            "memory",
            "memory-block-size=4",
            "Invalid value for memory-block-size: 4",
        ),
        ("memory", "memory-oper=x", "Invalid value for memory-oper: x"),
        ("memory", "memory-scope=x", "Invalid value for memory-scope: x"),
        (
            "memory",
            "memory-access-mode=x",
            "Invalid value for memory-access-mode: x",
        ),
        ("threads", "thread-locks=0", "Invalid value for thread-locks: 0."),
        ("threads", "thread-yields=-1", "Invalid value for thread-yields: -1."),
        ("mutex", "mutex-num=0", "Invalid value for mutex-num: 0."),
    ] {
        let outcome = run_named(name, &[given]);
        assert_eq!(outcome.result, Err(Exit::FAILED), "{given}");
        assert_eq!(outcome.text, format!("FATAL: {message}\n"));
    }
    let random = ["memory-access-mode=rnd", "rand-type=bla"];
    let outcome = run_named("memory", &random);
    assert_eq!(outcome.text, "FATAL: Invalid random numbers distribution: bla.\n");
}
