//! The installed sysbench, on the servers of the tests.

use std::process::Command;

use plimsoll_core::plan::Target;

use super::Server;

/// How much a run does.
pub struct Events<'a> {
    pub count: u64,
    pub options: &'a [&'a str],
}

/// Runs so many events of a script with one thread and rows drawn uniformly.
pub fn run_sysbench(server: &Server, target: &Target, script: &str, events: &Events<'_>) {
    let mut command = command(server, target, script);
    command.args(events.options);
    command.arg(format!("--events={}", events.count));
    let text = output(command.arg("run"));
    let done = format!("total number of events:              {}", events.count);
    assert!(text.contains(&done), "{text}");
}

/// Makes the tables of a script.
pub fn prepare_sysbench(server: &Server, target: &Target, script: &str, options: &[&str]) {
    output(command(server, target, script).args(options).arg("prepare"));
}

fn command(server: &Server, target: &Target, script: &str) -> Command {
    let mut command = Command::new("sysbench");
    command
        .arg(script)
        .arg(format!("--mysql-socket={}", server.socket().display()))
        .arg(format!("--mysql-db={}", target.database))
        .args(["--mysql-user=root", "--time=0", "--threads=1", "--rand-type=uniform"]);
    command
}

fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
    text
}
