//! Throwaway servers for tests: MariaDB as installed, MySQL from `PLIMSOLL_TEST_MYSQLD`. Each has a directory of its own
//! below /var/tmp, a free port and a socket, and ends with the test, also when the test is killed.

use std::ffi::OsString;
use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use plimsoll_core::plan::{Endpoint, Secret, ServerKey, Target, Tls};
use plimsoll_wire::{ConnectOptions, Connection, Connector, Interrupter, Watch};
use rustix::process::{Signal, set_parent_process_death_signal};

/// How long a server may take to answer its first login.
const START_MAX: Duration = Duration::from_secs(300);

/// How long a connection of a test waits for an answer.
const ANSWER_MAX: Duration = Duration::from_secs(100);

/// Over the connections of all tests.
static WATCH: LazyLock<Watch> = LazyLock::new(|| Watch::new(ANSWER_MAX));

/// A server that runs for one test.
#[derive(Debug)]
pub struct Server {
    child: Child,
    directory: PathBuf,
    port: u16,
}

impl Server {
    /// Starts MariaDB with these options, or says why not.
    pub fn mariadb(options: &[String]) -> Option<Self> {
        let Some(command) = find_in_path("mariadbd") else {
            return skip("mariadbd is not installed (Debian: mariadb-server)");
        };
        let directory = make_directory();
        let data = data_option(&directory);
        run_to_end(
            Command::new("mariadb-install-db")
                .env("TMPDIR", directory.join("tmp"))
                .args([
                    "--no-defaults",
                    "--user=root",
                    "--auth-root-authentication-method=normal",
                ])
                .args(["--skip-test-db", &data]),
        );
        Some(Self::start(&[command.into_os_string()], directory, options))
    }

    /// Starts MySQL by the command line in `PLIMSOLL_TEST_MYSQLD`, or says why not.
    pub fn mysql() -> Option<Self> {
        let Some(line) = std::env::var("PLIMSOLL_TEST_MYSQLD")
            .ok()
            .filter(|line| !line.is_empty())
        else {
            return skip("PLIMSOLL_TEST_MYSQLD is not set (tests/tools/get-mysql9 DIR prints a value)");
        };
        let command: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let directory = make_directory();
        let data = data_option(&directory);
        run_to_end(base_command(&command).args(["--user=root", "--initialize-insecure", &data]));
        Some(Self::start(&command, directory, &["--mysqlx=OFF".to_owned()]))
    }

    fn start(command: &[OsString], directory: PathBuf, options: &[String]) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let log = File::create(directory.join("log")).unwrap();
        let mut server = base_command(command);
        server
            .args([
                "--user=root",
                "--bind-address=127.0.0.1",
                "--local-infile=ON",
                &data_option(&directory),
            ])
            .arg(format!("--tmpdir={}", directory.join("tmp").display()))
            .args([
                "--innodb-buffer-pool-size=64M",
                "--max-connections=40",
                "--max-allowed-packet=64M",
            ])
            .arg(format!("--port={port}"))
            .arg(format!("--socket={}", directory.join("socket").display()))
            .args(options)
            .stderr(log);
        let child = end_with_this_process(&mut server)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut server = Self { child, directory, port };
        server.wait_until_ready();
        server
    }

    fn wait_until_ready(&mut self) {
        let deadline = Instant::now() + START_MAX;
        while let Err(error) = Connection::open(&self.by_socket("root", ""), &ConnectOptions::default()) {
            let log = || fs::read_to_string(self.directory.join("log")).unwrap_or_default();
            if let Some(status) = self.child.try_wait().unwrap() {
                panic!("the server ended with {status}:\n{}", log());
            }
            assert!(
                Instant::now() < deadline,
                "the server does not answer: {error}\n{}",
                log()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// An account at the server's socket, without a database.
    pub fn by_socket(&self, user: &str, password: &str) -> Target {
        target(
            Endpoint::Socket {
                path: self.directory.join("socket"),
            },
            user,
            password,
        )
    }

    /// An account at the server's port, without a database.
    pub fn by_tcp(&self, user: &str, password: &str) -> Target {
        target(
            Endpoint::Tcp {
                host: "127.0.0.1".to_owned(),
                port: self.port,
            },
            user,
            password,
        )
    }

    /// A file in its data directory.
    #[allow(dead_code)] // not all tests look there
    pub fn data_file(&self, name: &str) -> PathBuf {
        self.directory.join("data").join(name)
    }

    /// A connection as root. A server that waits for bytes we never send makes a test fail, not hang.
    pub fn root(&self) -> Connection {
        let options = ConnectOptions {
            local_infile: true,
            ..ConnectOptions::default()
        };
        let interrupter = Interrupter::default();
        WATCH.add(&interrupter).unwrap();
        let server = Connector::new(self.by_socket("root", ""));
        server.open(&options, &interrupter).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// A target without a database.
pub fn target(endpoint: Endpoint, user: &str, password: &str) -> Target {
    Target {
        endpoint,
        user: user.to_owned(),
        password: Secret::new(password.to_owned()),
        database: String::new(),
        tls: Tls::Preferred,
        server_key: ServerKey::None,
    }
}

/// A server that is not there is a loud skip on a developer's machine and a failure in CI.
pub fn skip(reason: &str) -> Option<Server> {
    assert!(
        std::env::var("CI").as_deref() != Ok("true"),
        "cannot be skipped in CI: {reason}"
    );
    eprintln!("SKIPPED: {reason}");
    None
}

fn find_in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    folders
        .map(|folder: PathBuf| folder.join(name))
        .find(|file| file.is_file())
}

/// Directories are named after the process that made them; those of processes that are gone are removed first. Each has
/// a `tmp` of its own: a server that starts clears away what it takes for leftovers, in a shared /tmp those of others too.
fn make_directory() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    sweep();
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let directory = Path::new("/var/tmp").join(format!("plimsoll-wire-{}-{number}", std::process::id()));
    fs::create_dir(&directory).unwrap();
    fs::create_dir(directory.join("tmp")).unwrap();
    directory
}

fn sweep() {
    for entry in fs::read_dir("/var/tmp").unwrap().flatten() {
        let name = entry.file_name();
        let owner = name
            .to_str()
            .and_then(|name| name.strip_prefix("plimsoll-wire-")?.split('-').next());
        let gone = |process: &str| process.parse::<u32>().is_ok() && !Path::new("/proc").join(process).exists();
        if owner.is_some_and(gone) {
            let _ = fs::remove_dir_all(entry.path()); // another test may sweep too
        }
    }
}

fn data_option(directory: &Path) -> String {
    format!("--datadir={}", directory.join("data").display())
}

fn base_command(command: &[OsString]) -> Command {
    let mut process = Command::new(&command[0]);
    process.args(&command[1..]);
    if !command.contains(&OsString::from("--no-defaults")) {
        process.arg("--no-defaults");
    }
    process
}

fn run_to_end(command: &mut Command) {
    let output = end_with_this_process(command).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{command:?} ended with {}:\n{text}",
        output.status
    );
}

/// The kernel kills the process when the thread that started it ends; Rust's tests keep that thread until the test is over.
#[allow(unsafe_code)] // between fork and exec
fn end_with_this_process(command: &mut Command) -> &mut Command {
    let set = || Ok(set_parent_process_death_signal(Some(Signal::KILL))?);
    // SAFETY: between fork and exec the closure makes one system call and neither allocates nor locks.
    unsafe { command.pre_exec(set) }
}
