//! The executable as a child process, spoken to line by line, and a throwaway MariaDB for it.

use std::io::{BufRead, BufReader, Lines, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Signal, set_parent_process_death_signal};
use serde_json::{Value, json};

/// The executable.
pub const ENGINE: &str = env!("CARGO_BIN_EXE_plimsoll-engine");

/// A running engine.
pub struct Engine {
    pub process: Child,
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Engine {
    /// Starts `plimsoll-engine COMMAND` and hears its `hello`.
    pub fn start(command: &str) -> Self {
        Self::start_by(Command::new(ENGINE).arg(command))
    }

    /// Starts it by a command that ends in it.
    pub fn start_by(command: &mut Command) -> Self {
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = process.stdin.take();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut engine = Self { process, stdin, lines };
        assert_eq!(engine.hear()["type"], "hello");
        engine
    }

    /// Says one line. That the engine has ended already is no fault here: its last message says why.
    pub fn say(&mut self, line: &str) {
        let _ = writeln!(self.stdin.as_mut().expect("input is open"), "{line}");
    }

    /// Ends its standard input.
    pub fn end_input(&mut self) {
        self.stdin = None;
    }

    /// The next message.
    pub fn hear(&mut self) -> Value {
        let line = self.lines.next().expect("a message").unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// The next message of this type; what comes before is passed over, but not a failure.
    pub fn hear_type(&mut self, wanted: &str) -> Value {
        loop {
            let message = self.hear();
            if message["type"] == wanted {
                return message;
            }
            assert_ne!(message["type"], "failed", "{message}");
        }
    }

    /// Sends a signal.
    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// The exit code, after checking that nothing followed the last message.
    pub fn exit_code(mut self) -> i32 {
        assert!(self.lines.next().is_none(), "nothing follows the last message");
        self.process.wait().unwrap().code().expect("it exits by itself")
    }

    /// Says this, ends the input, and expects a failure: its class, its message and the exit code.
    pub fn refuse(command: &str, lines: &str) -> (String, String, i32) {
        let mut engine = Self::start(command);
        engine.say(lines);
        engine.end_input();
        let failed = engine.hear();
        assert_eq!(failed["type"], "failed", "{failed}");
        let text = |key: &str| failed[key].as_str().unwrap().to_owned();
        (text("class"), text("message"), engine.exit_code())
    }
}

/// A throwaway MariaDB that listens on a unix socket in a folder of its own.
pub struct Server {
    folder: PathBuf,
    process: Child,
}

impl Server {
    /// `None`, loudly, where none is installed; in CI that is a failure.
    pub fn start() -> Option<Self> {
        Self::start_with(&[])
    }

    /// The same with further options.
    pub fn start_with(options: &[&str]) -> Option<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        if !std::env::split_paths(&path).any(|folder| folder.join("mariadbd").exists()) {
            assert!(std::env::var("CI").as_deref() != Ok("true"), "CI must have mariadbd");
            eprintln!("SKIPPED: there is no mariadbd here");
            return None;
        }
        let folder = PathBuf::from(format!("/var/tmp/plimsoll-engine-cli-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let datadir = format!("--datadir={}", folder.join("data").display());
        // A server that starts clears away what it takes for leftovers of its own, in a shared /tmp those of others too.
        let installed = end_with_this_process(&mut Command::new("mariadb-install-db"))
            .env("TMPDIR", &folder)
            .args([
                "--no-defaults",
                "--user=root",
                "--auth-root-authentication-method=normal",
                &datadir,
            ])
            .output()
            .unwrap();
        assert!(
            installed.status.success(),
            "{}",
            String::from_utf8_lossy(&installed.stderr)
        );
        let process = end_with_this_process(&mut Command::new("mariadbd"))
            .env("TMPDIR", &folder)
            .args(["--no-defaults", "--user=root", "--skip-networking", &datadir])
            .arg(format!("--socket={}", folder.join("s").display()))
            .args(options)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let server = Self { folder, process };
        server.await_socket();
        Some(server)
    }

    /// How to reach it. The database `test` is there from the beginning.
    pub fn target(&self) -> Value {
        json!({"endpoint": {"socket": {"path": self.folder.join("s")}}, "user": "root", "database": "test"})
    }

    fn await_socket(&self) {
        let begin = Instant::now();
        while std::os::unix::net::UnixStream::connect(self.folder.join("s")).is_err() {
            assert!(begin.elapsed() < Duration::from_secs(300), "mariadbd does not answer");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// The kernel kills the process when the thread that started it ends; Rust's tests keep that thread until the test is over.
#[allow(unsafe_code)] // between fork and exec
fn end_with_this_process(command: &mut Command) -> &mut Command {
    let set = || Ok(set_parent_process_death_signal(Some(Signal::KILL))?);
    // SAFETY: between fork and exec the closure makes one system call and neither allocates nor locks.
    unsafe { command.pre_exec(set) }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A plan of a trial of point selects that ends after 60 s unless something ends it before.
pub fn trial_plan(target: &Value, stop_at_stdin_end: bool) -> String {
    json!({
        "type": "plan", "protocol": 1, "seed": 1, "interval_ms": 100, "duration_ms": 60_000,
        "stop_at_stdin_end": stop_at_stdin_end,
        "groups": [{
            "instance": "db", "targets": [{"role": "source", "target": target}],
            "workload": {"kind": "oltp_point_select", "table_size": 1_000},
            "arrivals": {"closed": {"transactions_max": null}}, "connections": 3,
        }],
    })
    .to_string()
}

/// A plan of a data set of one table.
pub fn data_plan(target: &Value, table_size: u64) -> String {
    json!({
        "type": "plan", "protocol": 1, "target": target, "loaders": 1, "method": "auto", "drop_foreign": false,
        "data_set": {"kind": "oltp", "tables": 1, "table_size": table_size, "seed": 1},
    })
    .to_string()
}
