//! The sysbench-compatible command line and sysbench beside each other. Numbers, and spaces around them, differ from run to run and are left out.

#![allow(dead_code)] // each test binary uses its own part of this

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// What a command printed and how it ended.
#[derive(Debug, PartialEq, Eq)]
pub struct Told {
    pub out: Vec<String>,
    pub err: Vec<String>,
    pub code: Option<i32>,
}

fn told(output: &Output) -> Told {
    Told {
        out: pattern(&output.stdout),
        err: pattern(&output.stderr),
        code: output.status.code(),
    }
}

/// Lines with each number as `#`, spaces in a row as one, and the version left out; and so is what a busy machine lets the
/// sysbench-compatible command line say.
fn pattern(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let lines = text.lines().filter(|line| !is_of_a_busy_machine(line));
    lines.map(without_numbers).map(without_version).collect()
}

/// Whether a line only says that the machine is busy.
pub fn is_of_a_busy_machine(line: &str) -> bool {
    line.contains(" were taken late by a whole interval")
        || line.contains("the threads could not keep up with the rate")
}

fn without_numbers(line: &str) -> String {
    let mut shown = String::new();
    for character in line.trim_end().chars() {
        let next = match character {
            '0'..='9' => '#',
            '.' if shown.ends_with('#') => '#',
            other => other,
        };
        if !(matches!(next, '#' | ' ') && shown.ends_with(next)) {
            shown.push(next);
        }
    }
    shown
}

fn without_version(line: String) -> String {
    if line.starts_with("sysbench #") {
        "sysbench".to_owned()
    } else {
        line
    }
}

/// Everything as it was printed but the version, for what has no numbers that differ.
pub fn exactly(output: &Output) -> (String, String, Option<i32>) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let without_version = |line: &str| {
        let end = if line.starts_with("sysbench ") {
            "sysbench".len()
        } else {
            line.len()
        };
        line[..end].to_owned() + "\n"
    };
    let out: String = text(&output.stdout).lines().map(without_version).collect();
    (out, text(&output.stderr), output.status.code())
}

/// A program with words, which reads `input`.
pub fn output(mut command: Command, words: &[&str], input: &str) -> Output {
    let command = command
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut process = command.spawn().expect("the program runs");
    let _ = process.stdin.take().unwrap().write_all(input.as_bytes()); // it need not read it
    process.wait_with_output().unwrap()
}

/// The sysbench-compatible command line.
pub fn our_command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll-engine"));
    command.arg("sysbench").env_remove("SYSBENCH_COMPAT");
    command
}

/// sysbench itself.
pub fn their_command() -> Command {
    Command::new("sysbench")
}

/// Under our command line.
pub fn ours(words: &[&str]) -> Told {
    told(&output(our_command(), words, ""))
}

/// Under sysbench.
pub fn theirs(words: &[&str]) -> Told {
    told(&output(their_command(), words, ""))
}

/// A folder for scripts that is gone afterwards.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = Path::new("/var/tmp").join(format!("plimsoll-beside-{}-{count}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Writes a file and returns its path.
    pub fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// The script of this folder.
    pub fn script(&self, text: &str) -> String {
        self.file("script.lua", text)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Workloads by their names: those that only read, and those that write.
pub const READING: [&str; 4] = [
    "oltp_point_select",
    "oltp_read_only",
    "select_random_points",
    "select_random_ranges",
];
pub const WRITING: [&str; 6] = [
    "oltp_update_index",
    "oltp_update_non_index",
    "oltp_read_write",
    "oltp_write_only",
    "oltp_insert",
    "oltp_delete",
];

/// The number behind a label of a report.
pub fn number(report: &str, label: &str) -> u64 {
    let line = report.lines().find_map(|line| line.trim_start().strip_prefix(label));
    let number = line.and_then(|rest| rest.split_whitespace().next());
    number
        .and_then(|number| number.parse().ok())
        .unwrap_or_else(|| panic!("{label} is not in\n{report}"))
}
