//! Where and when the parts of a script run, beside sysbench 1.0.20, without a server: its body, its functions, its reports.

mod beside;

use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use beside::{Folder, exactly, is_of_a_busy_machine, our_command, ours, output, their_command, theirs};
use rustix::process::Signal;

/// Sleeps within events, so that there is something to report.
const SLEEP: &str = "ffi.cdef[[int usleep(unsigned);]] function event() ffi.C.usleep(100000) end\n";

#[test]
fn what_is_in_a_body_runs_with_a_command_and_without() {
    let folder = Folder::new();
    let script = folder.script(
        "print(type(sysbench.opt), tostring(sysbench.cmdline.command), sysbench.tid, test:match('[^/]*$'))
         print(sysbench.rand.uniform(2, 1), sysbench.rand.default(1, 1), sysbench.version)
         function prepare() print(sysbench.opt.threads) end",
    );
    for words in [
        &["--threads=3"][..],
        &["--threads=3", "prepare"],
        &["--foo=1"],
        &["--foo=1", "prepare"],
    ] {
        let words = [&[script.as_str()], words].concat();
        let [ours, theirs] = [our_command, their_command].map(|program| exactly(&output(program(), &words, "")));
        assert_eq!(ours, theirs, "{words:?}");
    }
    let declares = folder.script("sysbench.cmdline.options = {a = {'A', 1}} print('body')");
    let words = [declares.as_str(), "--no-such-option=1"];
    assert_eq!(ours(&words), theirs(&words), "without a command nobody looks for it");
}

#[test]
fn scripts_find_the_names_that_sysbench_gives_and_no_others() {
    let folder = Folder::new();
    let show = "local function names(t)
           local all = {} for name in pairs(t) do all[#all + 1] = tostring(name) end
           table.sort(all) return table.concat(all, ' ') end
         function prepare() print(names(_G)) print(names(sysbench.opt)) print(tostring(warmup_time)) end";
    let declares = [show, " sysbench.cmdline.options = {a = {'A', 1}}"].concat();
    for (text, words) in [
        (show, &[][..]),
        (show, &["--warmup-time=5", "--foo", "--num-threads=2"]),
        (&declares, &["--a=5"]),
    ] {
        let script = folder.script(text);
        let words = [&[script.as_str()], words, &["prepare"]].concat();
        let [ours, theirs] = [our_command, their_command].map(|program| exactly(&output(program(), &words, "")));
        assert_eq!(ours, theirs, "{words:?}");
        assert!(ours.0.contains(" mysql_user ") && ours.2 == Some(0), "{ours:?}");
    }
}

#[test]
fn a_script_from_standard_input_runs_its_body_alone() {
    let script = "#!/usr/bin/env sysbench
        print('body', tostring(sysbench.cmdline.command), tostring(test), tostring(sysbench.cmdline.script_path))
        function prepare() print('prepare') end function event() print('event') end function help() print('help') end";
    for words in [
        &[][..],
        &["-"],
        &["-", "prepare"],
        &["-", "--events=1", "run"],
        &["-", "help"],
        &["-", "frobnicate"],
        &["--threads=2"],
        &["-", "--foo=1", "prepare"],
    ] {
        let [ours, theirs] = [our_command, their_command].map(|program| exactly(&output(program(), words, script)));
        assert_eq!(ours, theirs, "{words:?}");
        assert!(ours.0.contains("body"), "{ours:?}");
    }
    for broken in ["print('body'", "error('no')", ""] {
        let [ours, theirs] = [our_command, their_command].map(|program| exactly(&output(program(), &["-"], broken)));
        assert_eq!(ours, theirs, "{broken}");
    }
}

#[test]
fn reports_that_fail_or_are_none_end_as_under_sysbench() {
    const EVENTS: &[&str] = &["--events=2"];
    let folder = Folder::new();
    for (text, words) in [
        (
            "sysbench.hooks.report_cumulative = function() error('boom') end",
            EVENTS,
        ),
        ("sysbench.hooks.report_cumulative = function() error({}) end", EVENTS),
        ("sysbench.hooks.report_cumulative = 3", EVENTS),
        (
            "sysbench.hooks.report_cumulative = setmetatable({}, {__call = error})",
            EVENTS,
        ),
        (
            "function init() sysbench.hooks.report_cumulative = function() print('not called') end end",
            EVENTS,
        ),
        (
            "sysbench.hooks.report_cumulative = error function init() sysbench.hooks.report_cumulative = nil end",
            EVENTS,
        ),
        (
            "sysbench.hooks.report_cumulative = function(stat)
               if sysbench.tid ~= 0 then error('at the checkpoint') end print('last', stat.threads_running) end",
            &["--time=2", "--report-checkpoints=1"],
        ),
        ("function thread_done() error('td') end", EVENTS),
    ] {
        let script = folder.script(&[SLEEP, text].concat());
        let words = [&[script.as_str()], words, &["run"]].concat();
        let (ours, theirs) = (ours(&words), theirs(&words));
        assert_eq!(ours, theirs, "{text}");
        assert_eq!(ours.code, Some(0), "{text}");
    }
}

#[test]
fn reports_are_written_in_states_of_their_own_that_close_before_the_last_one() {
    let folder = Folder::new();
    let script = folder.script(
        &[
            SLEEP,
            "local function told(name) return function(stat)
           io.write(name .. ' ' .. sysbench.tid .. ' of ' .. stat.threads_running .. '\\n') end end
         sysbench.hooks.report_intermediate = told('stretch')
         sysbench.hooks.report_cumulative = told('whole')
         local guard = newproxy(true)
         getmetatable(guard).__gc = function() io.write('closed ' .. sysbench.tid .. '\\n') end
         keep = guard",
        ]
        .concat(),
    );
    let words = [
        script.as_str(),
        "--threads=2",
        "--time=3",
        "--report-interval=2",
        "--report-checkpoints=1",
        "run",
    ];
    let (out, err, code) = exactly(&output(our_command(), &words, ""));
    assert!(err.lines().all(is_of_a_busy_machine), "{err}");
    assert_eq!(code, Some(0));
    // After a second, or later on a busy machine.
    let told: Vec<&str> = out
        .lines()
        .skip_while(|line| !line.ends_with("s ] Checkpoint report:"))
        .skip(1)
        .collect();
    assert_eq!(told[..2], ["whole 2 of 2", "closed 2"], "{out}");
    // Threads close when they end, in any order; the state of the stretches after them, the leading one at the very end.
    let last = told.iter().position(|line| *line == "whole 0 of 0").expect(&out);
    assert!(
        told[..last].contains(&"stretch 2 of 2") && told[last - 1] == "closed 2",
        "{out}"
    );
    assert_eq!(told[last + 1..], ["closed 0"], "{out}");
    let theirs = exactly(&output(their_command(), &words, "")).0;
    let kinds = |text: &str| {
        let lines = text.lines().filter(|line| !is_of_a_busy_machine(line));
        let without_time = |line: &str| line.split_once("s ] ").map_or(line, |(_, rest)| rest).to_owned();
        let mut lines: Vec<String> = lines.map(without_time).collect();
        lines.sort();
        lines.dedup();
        lines
    };
    assert_eq!(kinds(&out), kinds(&theirs));
}

#[test]
fn both_reports_as_json_are_two_documents() {
    let folder = Folder::new();
    let script = folder.script(&[
        SLEEP,
        "sysbench.hooks.report_intermediate, sysbench.hooks.report_cumulative = sysbench.report_json, sysbench.report_json",
    ]
    .concat());
    let words = [script.as_str(), "--time=2", "--report-interval=1", "--rate=1000", "run"];
    for program in [our_command, their_command] {
        let out = exactly(&output(program(), &words, "")).0;
        let json = &out[out.find("[\n").expect(&out)..];
        let documents: Vec<serde_json::Value> = serde_json::Deserializer::from_str(json)
            .into_iter()
            .map(|document| document.unwrap_or_else(|error| panic!("{error}: {json}")))
            .collect();
        let sizes: Vec<usize> = documents
            .iter()
            .map(|document| document.as_array().unwrap().len())
            .collect();
        assert!(sizes.len() == 2 && sizes[0] >= 1 && sizes[1] == 1, "{json}");
    }
    let err = exactly(&output(our_command(), &words, "")).1;
    assert!(
        err.starts_with("WARNING: ") && err.contains("could not keep up with the rate"),
        "{err}"
    );
}

#[test]
fn an_option_of_a_script_comes_before_one_that_only_another_version_has() {
    let folder = Folder::new();
    let script = folder.script(
        "local C = sysbench.cmdline
         C.options = {
           warmup_time = {'Mine', 'none'}, report_json = {'Mine', false}, compat = {'Mine', 'x'},
           record = {'Mine', ''}, mysql_ssl_ca = {'Mine', 1, C.ARG_INT}, time = {'Mine', 77},
         }
         local function show() local o = sysbench.opt print(o.warmup_time, tostring(o.report_json), o.compat,
           o.record, o.mysql_ssl_ca, o.time) end
         prepare = show
         function event() show() return 1 end",
    );
    for line in [
        "prepare",
        "--warmup-time=5m --report_json=yes prepare",
        "--warmup-time=5m --report_json --compat=9.9 --record=there --mysql-ssl-ca=3 prepare",
        "--warmup_time=3600 --report-json=on run",
        "--warmup_time=3600 --time=1 run",
        "--mysql-ssl-ca=x prepare",
        "help",
    ] {
        let words: Vec<&str> = [script.as_str()].into_iter().chain(line.split(' ')).collect();
        assert_eq!(ours(&words), theirs(&words), "{line}");
    }
    assert!(!std::path::Path::new("yes").exists());
}

#[test]
fn what_has_our_prefix_is_ours_alone() {
    let folder = Folder::new();
    let script = folder
        .script("function prepare() print(tostring(plimsoll_compat), tostring(sysbench.opt.plimsoll_compat)) end");
    let told = |word: &str| {
        let (out, err, code) = exactly(&output(our_command(), &[&script, word, "prepare"], ""));
        (out.trim_start_matches("sysbench").trim().to_owned(), err, code)
    };
    assert_eq!(
        told("--plimsoll-compat=1.1"),
        ("nil\tnil".to_owned(), String::new(), Some(0))
    );
    let refused = "invalid option: --plimsoll-compt=1.1\n";
    assert_eq!(
        told("--plimsoll-compt=1.1"),
        (String::new(), refused.to_owned(), Some(1))
    );
    let refused = "Invalid value for --plimsoll-compat: '0.9'; 1.0 and 1.1 are known\n";
    assert_eq!(
        told("--plimsoll-compat=0.9"),
        (String::new(), refused.to_owned(), Some(1))
    );
}

#[test]
fn a_rate_that_nothing_keeps_up_with_ends_at_once() {
    let (out, _, code) = exactly(&output(
        our_command(),
        &["cpu", "--rate=2000000000", "--time=2", "run"],
        "",
    ));
    assert!(
        out.starts_with("FATAL: --rate=2000000000: at most 10000000 events per second"),
        "{out}"
    );
    assert_eq!(code, Some(1));
    assert_eq!(theirs(&["cpu", "--rate=2000000000", "--time=2", "run"]).code, Some(1));
}

#[test]
fn a_rate_far_beyond_the_threads_ends_at_the_first_signal() {
    let mut command = our_command();
    command
        .args(["cpu", "--rate=10000000", "--time=60", "--threads=2", "run"])
        .stdout(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let mut out = BufReader::new(process.stdout.take().unwrap());
    let mut text = String::new();
    while !text.ends_with("Threads started!\n") {
        assert!(out.read_line(&mut text).unwrap() > 0, "{text}");
    }
    let begin = Instant::now();
    rustix::process::kill_process(rustix::process::Pid::from_child(&process), Signal::TERM).unwrap();
    out.read_to_string(&mut text).unwrap();
    assert_eq!(process.wait().unwrap().signal(), Some(Signal::TERM.as_raw()), "{text}");
    assert!(text.contains("events per second:"), "{text}");
    assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
}
