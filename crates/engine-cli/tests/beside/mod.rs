//! The front door and sysbench beside each other. Numbers, and spaces around them, differ from run to run and are left out.

#![allow(dead_code)] // each test binary uses its own part of this

use std::process::{Command, Output, Stdio};

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

/// Lines with each number as `#`, spaces in a row as one, and the version left out.
fn pattern(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    text.lines().map(without_numbers).map(without_version).collect()
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

fn run(mut command: Command, words: &[&str]) -> Told {
    let command = command.args(words).stdin(Stdio::null()).env("SYSBENCH_COMPAT", "1.0");
    told(&command.output().expect("the program runs"))
}

/// Under the front door, in the words of version 1.0.
pub fn ours(words: &[&str]) -> Told {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll-engine"));
    command.arg("sysbench");
    run(command, words)
}

/// Under sysbench.
pub fn theirs(words: &[&str]) -> Told {
    run(Command::new("sysbench"), words)
}
