//! In the place of sysbench, for whoever starts it: signals and closed pipes, paths of scripts that are not installed, drivers
//! that are not there, and logins that a busy server drops.

mod beside;

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

use beside::{Folder, Told, our_command, ours, output, their_command, theirs};
use plimsoll_sim::{Script, Sim};
use rustix::process::{Pid, Signal, kill_process};

/// A run of a minute whose threads have started.
fn started(mut command: Command) -> (Child, BufReader<ChildStdout>) {
    let words = ["cpu", "--time=60", "--report-interval=1", "run"];
    let mut process = command.args(words).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(process.stdout.take().unwrap());
    let mut line = String::new();
    while line != "Threads started!\n" {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0, "it ended before");
    }
    (process, out)
}

fn signalled(signal: Signal) -> (ExitStatus, String) {
    let (mut process, mut out) = started(our_command());
    kill_process(Pid::from_child(&process), signal).unwrap();
    let mut text = String::new();
    out.read_to_string(&mut text).unwrap();
    (process.wait().unwrap(), text)
}

#[test]
fn a_signal_ends_it_after_the_report_and_is_seen_by_the_starter() {
    for signal in [Signal::TERM, Signal::INT] {
        let (status, text) = signalled(signal);
        assert_eq!(status.signal(), Some(signal.as_raw()), "{status}");
        assert!(text.contains("events per second:"), "{text}");
    }
}

#[test]
fn a_signal_that_the_starter_ignores_is_ignored() {
    let mut command = Command::new("sh");
    let engine = env!("CARGO_BIN_EXE_plimsoll-engine");
    command.args(["-c", "trap '' INT; exec \"$@\"", "sh", engine, "sysbench"]);
    let (mut process, mut out) = started(command);
    let pid = Pid::from_child(&process);
    kill_process(pid, Signal::INT).unwrap();
    let mut line = String::new();
    out.read_line(&mut line).unwrap(); // an empty one, and then reports
    out.read_line(&mut line).unwrap();
    out.read_line(&mut line).unwrap();
    assert_eq!(process.try_wait().unwrap(), None, "{line}");
    kill_process(pid, Signal::TERM).unwrap();
    assert_eq!(process.wait().unwrap().signal(), Some(Signal::TERM.as_raw()));
}

#[test]
fn where_nobody_reads_any_more_it_ends_as_sysbench_does() {
    for program in [our_command, their_command] {
        let (mut process, out) = started(program());
        drop(out);
        assert_eq!(process.wait().unwrap().signal(), Some(Signal::PIPE.as_raw()));
    }
}

#[test]
fn a_script_that_is_not_there_has_its_workload_run() {
    let folder = Folder::new();
    let path = folder.file("oltp_read_only.lua", "");
    let (folder, _) = path.rsplit_once('/').unwrap();
    let dry = |path: &str, words: &[&str]| {
        let words = [&[path, "--mysql-dry-run", "--events=1"], words].concat();
        output(our_command(), &words, "")
    };
    let run = dry(&format!("{folder}/oltp_read_write.lua"), &["--tables=2", "run"]);
    let (out, err) = (
        String::from_utf8_lossy(&run.stdout),
        String::from_utf8_lossy(&run.stderr),
    );
    assert!(
        run.status.success() && out.contains("total number of events:              1\n"),
        "{out}"
    );
    assert_eq!(err.lines().count(), 1, "{err}");
    assert!(
        err.contains("oltp_read_write.lua; the built-in workload oltp_read_write runs in its place"),
        "{err}"
    );
    let old = "--test=/nothere/tests/db/oltp.lua";
    let run = dry(
        old,
        &[
            "--oltp-tables-count=2",
            "--oltp-test-mode=complex",
            "--oltp-read-only=on",
            "run",
        ],
    );
    let err = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{err}");
    assert!(
        err.contains("workload oltp_read_only") && err.contains("no option --oltp-test-mode: it is passed"),
        "{err}"
    );
    let theirs = dry(&path, &["run"]); // an empty script, which is the user's
    assert!(String::from_utf8_lossy(&theirs.stdout).contains("cannot find the event() function"));
}

#[test]
fn a_driver_for_another_database_is_refused_before_anything_is_printed() {
    for words in [
        &["--db-driver=pgsql", "oltp_read_write", "run"][..],
        &["oltp_read_write", "--db-driver=pgsql", "help"],
        &["--test=oltp", "--db-driver=pgsql", "run"],
        &[
            "--db-driver=pgsql",
            "--pgsql-host=db",
            "/nothere/oltp_read_only.lua",
            "prepare",
        ],
    ] {
        let Told { out, err, code } = ours(words);
        assert_eq!((out.len(), code), (0, Some(1)), "{words:?}: {out:?}");
        let said = err.last().unwrap();
        assert!(
            said.starts_with("--db-driver=pgsql: ") && said.contains("use sysbench itself"),
            "{said}"
        );
    }
    assert_eq!(ours(&["--db-driver=pgsql", "cpu", "--events=1", "run"]).code, Some(0));
}

#[test]
fn the_first_line_has_luajit_where_parsers_look_for_it() {
    let first = |told: Command| {
        let text = output(told, &["cpu", "--events=1", "run"], "").stdout;
        let text = String::from_utf8(text).unwrap();
        let (version, engine) = text.lines().next().unwrap().split_once(" (using ").unwrap();
        let engine = engine
            .strip_prefix("system ")
            .or(engine.strip_prefix("bundled "))
            .unwrap();
        assert!(engine.ends_with(')'), "{engine}");
        (version.to_owned(), engine[..engine.find("2.1.").unwrap()].to_owned())
    };
    assert_eq!(first(our_command()), first(their_command()));
}

#[test]
fn options_of_old_versions_are_taken_and_others_are_told_as_they_were_written() {
    let told = ours(&[
        "cpu",
        "--init-rng=on",
        "--rand-init",
        "--seed-rng=7",
        "--events=1",
        "run",
    ]);
    assert_eq!(told.code, Some(0), "{told:?}");
    assert!(told.out.iter().any(|line| line.ends_with("from seed (#).")), "{told:?}");
    for size in ["-1", "3K", "abc", "1.5K"] {
        let words = ["memory", &format!("--memory-block-size={size}"), "run"];
        assert_eq!(
            (ours(&words).out, ours(&words).code),
            (theirs(&words).out, Some(1)),
            "{size}"
        );
    }
}

#[test]
fn tables_are_prewarmed_in_the_words_of_the_version() {
    let words = ["oltp_read_only", "--mysql-dry-run", "--tables=2", "prewarm"];
    assert_eq!(ours(&words).out, theirs(&words).out);
    let newer = ours(&[&words[..], &["--plimsoll-compat=1.1"]].concat());
    assert_eq!(newer.out.last().unwrap(), "Preloading table sbtest#");
}

#[test]
fn what_is_to_be_recorded_is_handed_over_to_plimsoll() {
    let folder = Folder::new();
    let path = folder.file("plimsoll", "#!/bin/sh\necho \"$@\"\nexit 9\n");
    fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    let words = ["oltp_read_only", "--plimsoll-record", "study", "--time=1", "run"];
    let handed = |search: &str| {
        let mut command = our_command();
        command.env("PATH", search);
        output(command, &words, "")
    };
    let told = handed(path.rsplit_once('/').unwrap().0);
    assert_eq!(
        String::from_utf8_lossy(&told.stdout),
        format!("sysbench {}\n", words.join(" "))
    );
    assert_eq!(told.status.code(), Some(9));
    let told = handed("/nothere");
    let said = String::from_utf8_lossy(&told.stderr);
    assert!(
        said.starts_with("--plimsoll-record: runs are recorded by `plimsoll`"),
        "{said}"
    );
    assert_eq!(told.status.code(), Some(3));
}

#[test]
fn logins_that_are_dropped_are_tried_again() {
    let sim = Sim::start(Script {
        dropped_logins: 2,
        ..Script::default()
    })
    .unwrap();
    let folder = Folder::new();
    let script = folder.script(
        "function thread_init() con = sysbench.sql.driver():connect() end
         function event() con:query('SELECT 1') end",
    );
    let port = format!("--mysql-port={}", sim.port());
    let told = ours(&[
        &script,
        "--mysql-host=127.0.0.1",
        &port,
        "--threads=3",
        "--events=9",
        "run",
    ]);
    assert_eq!(told.code, Some(0), "{told:?}");
    assert_eq!(sim.login_begins().len(), 5);
}
