//! The sysbench-compatible command line beside sysbench 1.0.20 itself: the same command lines, the same streams, the same exit codes.
//!
//! Numbers, and spaces around them, differ from run to run and are left out of comparisons.

mod beside;

use beside::{Told, our_command, ours, output, their_command, theirs};

#[test]
fn what_makes_no_sense_is_refused_in_the_same_words() {
    for line in [
        "--threads=0 cpu run",
        "cpu --percentile=101 run",
        "cpu --debug=foo run",
        "cpu --verbosity=9 run",
        "cpu --threads=x run",
        "cpu run baz",
        "cpu --threads 2 run",
        "cpu -x run",
        "cpu",
        "cpu frob",
        "cpu prepare",
        "cpu cleanup",
        "cpu --foo=1 run",
        "cpu --cpu-max-prime=0 run",
        "cpu --rand-type=foo run",
        "cpu --percentile=0 --histogram run",
        "cpu --report-checkpoints=1,x run",
        "cpu --forced-shutdown=x --time=1 run",
        "nothere run",
        "--test=nothere run",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(ours(&words), theirs(&words), "{line}");
    }
}

#[test]
fn runs_are_told_in_the_same_words() {
    for line in [
        "cpu --time=1 run",
        "cpu --events=30 --threads=3 --rand-seed=7 run",
        "cpu --time=0 --events=10 --percentile=0 run",
        "cpu --time=1 --rate=100 --percentile=99 run",
        "cpu --time=1 --validate --forced-shutdown=5 run",
        "--test=cpu --num-threads=2 --max-time=1 run",
        "--max-requests=5 --tx-rate=1000 cpu run",
        "threads --time=1 --threads=2 run",
        "mutex --mutex-locks=100 --mutex-loops=10 --threads=2 run",
        "memory --memory-total-size=64M run",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(ours(&words), theirs(&words), "{line}");
    }
}

#[test]
fn reports_in_between_are_told_in_the_same_words() {
    let words = "cpu --time=3 --report-interval=1 --report-checkpoints=2 run";
    let words: Vec<&str> = words.split(' ').collect();
    let (ours, theirs) = (ours(&words), theirs(&words));
    let kinds = |told: &Told| {
        let mut lines: Vec<String> = told.out.clone();
        lines.sort();
        lines.dedup();
        lines
    };
    assert_eq!((kinds(&ours), ours.code), (kinds(&theirs), theirs.code));
    let count = |line: &str| ours.out.iter().filter(|one| one.as_str() == line).count();
    assert_eq!(count("[ #s ] thds: # eps: # lat (ms,#%): #"), 3, "{:?}", ours.out);
    assert_eq!(count("[ #s ] Checkpoint report:"), 1);
}

/// Lines in their order, those of buckets as one.
fn without_buckets(told: &Told) -> Vec<&str> {
    let mut lines: Vec<&str> = told
        .out
        .iter()
        .map(|line| if line.contains(" |") { "buckets" } else { line })
        .collect();
    lines.dedup();
    lines
}

#[test]
fn after_a_checkpoint_the_last_report_has_the_histogram_and_the_time_of_the_whole() {
    let words = ["cpu", "--time=2", "--report-checkpoints=1", "--histogram", "run"];
    let (told, theirs) = (ours(&words), theirs(&words));
    assert_eq!(without_buckets(&told), without_buckets(&theirs));
    for program in [our_command, their_command] {
        let text = String::from_utf8(output(program(), &words, "").stdout).unwrap();
        let times: Vec<f64> = text
            .lines()
            .filter_map(|line| line.trim_start().strip_prefix("total time:"))
            .map(|time| time.trim().trim_end_matches('s').parse().unwrap())
            .collect();
        // A busy machine may be late with either.
        assert!(
            times.len() == 2 && times[0] >= 1.0 && times[1] >= 2.0 && times[1] > times[0],
            "{times:?}"
        );
    }
}

#[test]
fn each_verbosity_tells_as_much() {
    for verbosity in 0..=3 {
        let word = format!("--verbosity={verbosity}");
        let words = ["cpu", "--histogram", "--events=20", &word, "run"];
        let (ours, theirs) = (ours(&words), theirs(&words));
        assert_eq!(without_buckets(&ours), without_buckets(&theirs), "{word}");
        assert_eq!((&ours.err, ours.code), (&theirs.err, theirs.code), "{word}");
    }
}

#[test]
fn help_has_all_options_of_sysbench() {
    let names = |words: &[&str], run: fn(&[&str]) -> Told| -> Vec<String> {
        let told = run(words);
        assert_eq!((told.code, told.err.len()), (Some(0), 0));
        let names = told.out.iter().filter_map(|line| line.trim_start().strip_prefix("--"));
        names
            .filter_map(|rest| rest.split(['=', '[', ' ']).next().map(str::to_owned))
            .collect()
    };
    for words in [
        &["--help"][..],
        &["cpu", "help"],
        &["memory", "help"],
        &["threads", "help"],
        &["mutex", "help"],
        &["fileio", "help"],
    ] {
        let ours = names(words, ours);
        for theirs in names(words, theirs) {
            assert!(
                theirs.starts_with("pgsql-") || ours.contains(&theirs),
                "{words:?}: --{theirs} is missing"
            );
        }
    }
}

#[test]
fn it_says_who_it_is_and_whose_manners_it_has() {
    let first_line = |words: &[&str]| {
        let text = exactly_all(words);
        text.lines().next().unwrap_or_default().to_owned()
    };
    let ours = concat!("Plimsoll ", env!("CARGO_PKG_VERSION"));
    assert_eq!(first_line(&["--version"]), format!("sysbench 1.0.20 ({ours})"));
    let line = first_line(&["cpu", "--events=1", "run"]);
    let end = format!("; {ours}, defaults and report of 1.0; --plimsoll-compat=1.1 for 1.1)");
    assert!(
        line.starts_with("sysbench 1.0.20 (using bundled LuaJIT 2.1.") && line.ends_with(&end),
        "{line}"
    );
    let newer = ["--plimsoll-compat=1.1", "cpu", "--events=1", "run"];
    let line = first_line(&newer);
    assert!(
        line.starts_with("sysbench 1.1.0 (") && line.ends_with(&format!("; {ours}, defaults and report of 1.1)")),
        "{line}"
    );
    assert!(exactly_all(&newer).contains("\nThroughput:\n    events/s (eps): "));
    assert!(exactly_all(&newer[1..]).contains("\nGeneral statistics:\n"));
}

/// Standard output as it is.
fn exactly_all(words: &[&str]) -> String {
    String::from_utf8(output(our_command(), words, "").stdout).unwrap()
}
