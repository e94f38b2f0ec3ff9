//! Throwaway servers for tests: MariaDB as installed, and whatever `PLIMSOLL_TEST_MYSQLD` names besides.
//!
//! Each lives in a folder of its own below /var/tmp and listens on a unix socket only. It is shared by the tests of one
//! binary that run at the same time, and gone with the last of them, also when the binary is killed.

#![allow(dead_code)] // each test binary uses its own part of this

pub mod counters;
pub mod disk;
pub mod killing;
pub mod namespace;
pub mod own_writes;
pub mod replication;
pub mod statements;
pub mod sysbench;
pub mod tpcc;
pub mod trial;

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak, mpsc};
use std::time::{Duration, Instant};

use plimsoll_core::plan::{Endpoint, Role, RoleTarget, Secret, ServerKey, Target, Tls};
use plimsoll_session::GroupServers;
use plimsoll_wire::{ConnectOptions, Connection};
use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, Signal, kill_process, set_parent_process_death_signal};

use namespace::Namespace;

/// A kind of server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    MariaDb,
    MySql,
}

/// A running server.
pub struct Server {
    pub kind: Kind,
    folder: PathBuf,
    process: Child,
    /// The command that starts it, and its options.
    line: (Vec<String>, Vec<String>),
}

/// One place for each kind.
static SHARED: [Mutex<Weak<Server>>; 2] = [const { Mutex::new(Weak::new()) }; 2];

/// Runs a test on each kind of server that is here, in an empty database of this name.
///
/// It holds all of them from its begin to its end: as long as tests follow each other, no server has to be made again.
pub fn on_each_server(database: &str, test: impl Fn(&Server, &Target)) {
    let servers = [Kind::MariaDb, Kind::MySql].map(shared);
    for server in servers.iter().flatten() {
        on(server, database, &test);
    }
}

/// The same on one kind of server, for what takes long and does not depend on it.
pub fn on_server(kind: Kind, database: &str, test: impl Fn(&Server, &Target)) {
    if let Some(server) = shared(kind) {
        on(&server, database, &test);
    }
}

/// The same on MariaDB, or on each kind of server where `PLIMSOLL_TEST_EACH_SERVER` is set, as `make endure` has it.
pub fn on_mariadb_or_each_server(database: &str, test: impl Fn(&Server, &Target)) {
    if is_for_each_server() {
        on_each_server(database, test);
    } else {
        on_server(Kind::MariaDb, database, test);
    }
}

/// Whether what needs one kind of server only is to run on each.
pub fn is_for_each_server() -> bool {
    std::env::var_os("PLIMSOLL_TEST_EACH_SERVER").is_some()
}

fn on(server: &Server, database: &str, test: &impl Fn(&Server, &Target)) {
    eprintln!("on {:?}:", server.kind);
    test(server, &server.create_database(database));
}

fn shared(kind: Kind) -> Option<Arc<Server>> {
    let mut shared = SHARED[kind as usize].lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(server) = shared.upgrade() {
        return Some(server);
    }
    let server = Arc::new(Server::start(kind, &[], Path::new("/var/tmp"))?);
    *shared = Arc::downgrade(&server);
    Some(server)
}

/// Says loudly what is left out; in CI that is a failure.
pub fn skip(why: &str) {
    assert!(
        std::env::var("CI").as_deref() != Ok("true"),
        "cannot be skipped in CI: {why}"
    );
    eprintln!("SKIPPED: {why}");
}

/// Whether a program is on the path.
pub fn installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).exists())
}

/// The words that start a server of this kind, before its options.
fn words(kind: Kind) -> Option<Vec<String>> {
    match kind {
        Kind::MariaDb if installed("mariadbd") => Some(vec!["mariadbd".to_owned()]),
        Kind::MariaDb => {
            skip("mariadbd is not installed (Debian: mariadb-server)");
            None
        }
        Kind::MySql => {
            let line = std::env::var("PLIMSOLL_TEST_MYSQLD");
            if line.is_err() {
                skip("PLIMSOLL_TEST_MYSQLD names no command that starts MySQL");
            }
            Some(line.ok()?.split_whitespace().map(str::to_owned).collect())
        }
    }
}

impl Server {
    /// Starts a server with further options and its data below `parent`; `None`, loudly, when there is none of this
    /// kind.
    pub fn start(kind: Kind, options: &[&str], parent: &Path) -> Option<Self> {
        Some(Self::start_by(words(kind)?, kind, options, parent))
    }

    /// The same in a network namespace, at this port of its address; any root may log in there.
    pub fn start_in(namespace: &Namespace, port: u16, kind: Kind) -> Option<Self> {
        let words = [namespace.words(), words(kind)?].concat();
        let port = format!("--port={port}");
        let options = ["--skip-networking=0", "--bind-address=0.0.0.0", &port];
        let server = Self::start_by(words, kind, &options, Path::new("/var/tmp"));
        let mut control = connect(&server.target(""));
        control.query("CREATE USER far@'%' IDENTIFIED BY ''").unwrap();
        control.query("GRANT ALL ON *.* TO far@'%'").unwrap();
        Some(server)
    }

    fn start_by(words: Vec<String>, kind: Kind, options: &[&str], parent: &Path) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = parent.join(format!("plimsoll-workloads-{}-{count}", std::process::id()));
        std::fs::create_dir_all(folder.join("tmp")).unwrap();
        match std::env::var_os("PLIMSOLL_TEST_NEW_DATA") {
            Some(shared) if parent == Path::new("/var/tmp") => copy_new_data(kind, &words, Path::new(&shared), &folder),
            _ => initialise(kind, &words, options, &folder),
        }
        let line = (words, options.iter().map(|option| (*option).to_owned()).collect());
        let server = Self {
            kind,
            process: launch(&line, &folder),
            folder,
            line,
        };
        server.wait_until_it_answers();
        server
    }

    /// Starts it again after it was killed. It may take a while until it answers.
    pub fn restart(&mut self) {
        self.process = launch(&self.line, &self.folder);
    }

    /// How to reach a database of this server.
    pub fn target(&self, database: &str) -> Target {
        Target {
            endpoint: Endpoint::Socket { path: self.socket() },
            user: "root".to_owned(),
            password: Secret::default(),
            database: database.to_owned(),
            tls: Tls::Preferred,
            server_key: ServerKey::None,
        }
    }

    /// Where it listens.
    pub fn socket(&self) -> PathBuf {
        self.folder.join("s")
    }

    /// Makes an empty database.
    pub fn create_database(&self, database: &str) -> Target {
        let mut control = connect(&self.target(""));
        control.query(&format!("DROP DATABASE IF EXISTS {database}")).unwrap();
        control.query(&format!("CREATE DATABASE {database}")).unwrap();
        self.target(database)
    }

    /// Stops it where it is, as a machine that hangs would, or lets it go on.
    pub fn signal(&self, signal: Signal) {
        let process = Pid::from_child(&self.process);
        kill_process(process, signal).unwrap();
    }

    /// Ends it at once, as a crash would.
    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    fn wait_until_it_answers(&self) {
        let begin = Instant::now();
        while let Err(error) = Connection::open(&self.target(""), &ConnectOptions::default()) {
            let log = || std::fs::read_to_string(self.folder.join("error.log")).unwrap_or_default();
            assert!(begin.elapsed() < Duration::from_secs(300), "{error}\n{}", log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Starts a server by its command and options.
fn launch((words, options): &(Vec<String>, Vec<String>), folder: &Path) -> Child {
    let log = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(folder.join("error.log"));
    let mut command = command(words, folder);
    command
        .arg(format!("--socket={}", folder.join("s").display()))
        .args([
            "--skip-networking",
            "--skip-log-bin",
            "--innodb-flush-log-at-trx-commit=0",
            "--max-connections=100",
        ])
        .args(options)
        .stdout(Stdio::null())
        .stderr(log.unwrap());
    spawn_bound_to_this_process(command)
}

/// A server that starts clears away what it takes for leftovers of its own, in a shared /tmp those of others too.
fn command(words: &[String], folder: &Path) -> Command {
    let tmp = folder.join("tmp");
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    if !words.iter().any(|word| word == "--no-defaults") {
        command.arg("--no-defaults");
    }
    command
        .env("TMPDIR", &tmp)
        .arg("--user=root")
        .arg(format!("--tmpdir={}", tmp.display()))
        .arg(format!("--datadir={}", folder.join("data").display()));
    command
}

fn initialise(kind: Kind, words: &[String], options: &[&str], folder: &Path) {
    let mut initialise = match kind {
        Kind::MySql => command(words, folder),
        Kind::MariaDb => command(&["mariadb-install-db".to_owned()], folder),
    };
    match kind {
        Kind::MySql => initialise.arg("--initialize-insecure"),
        Kind::MariaDb => initialise.args(["--auth-root-authentication-method=normal", "--skip-test-db"]),
    };
    let output = initialise.args(options).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Copies the data of a new server, which the first process that needs it makes for all that share this folder: that takes a
/// tenth of the time. A small disk has no room for it, and options may say how it is to be made there.
fn copy_new_data(kind: Kind, words: &[String], shared: &Path, folder: &Path) {
    let made = shared.join(format!("{kind:?}"));
    let lock = std::fs::File::create(shared.join("lock")).unwrap();
    flock(&lock, FlockOperation::LockExclusive).unwrap();
    if !made.exists() {
        let new = shared.join("new");
        std::fs::create_dir_all(new.join("tmp")).unwrap();
        initialise(kind, words, &[], &new);
        let _ = std::fs::remove_file(new.join("data/auto.cnf")); // where MySQL keeps who a server is
        std::fs::rename(new, &made).unwrap();
    }
    drop(lock);
    let mut copy = Command::new("cp");
    copy.arg("-a").arg(made.join("data")).arg(folder);
    let output = copy.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The kernel kills the process when the thread that started it ends, so a thread that never ends by itself starts it.
#[allow(unsafe_code)] // between fork and exec
fn spawn_bound_to_this_process(mut command: Command) -> Child {
    let set = || Ok(set_parent_process_death_signal(Some(Signal::KILL))?);
    // SAFETY: between fork and exec the closure makes one system call and neither allocates nor locks.
    unsafe { command.pre_exec(set) };
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        sender.send(command.spawn()).unwrap();
        loop {
            std::thread::park();
        }
    });
    receiver.recv().unwrap().unwrap()
}

/// A connection for the test itself.
pub fn connect(target: &Target) -> Connection {
    Connection::open(target, &ConnectOptions::default()).unwrap()
}

/// Waits until the server has forgotten all other connections of which this is true, those that it refused or that were
/// killed included: a statement that they had sent may still take effect until then.
pub fn await_no_others(control: &mut Connection, which: &str) {
    let begin = Instant::now();
    while count_others(control, which) != Some(0) {
        assert!(begin.elapsed() < Duration::from_secs(300), "connections stay");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// How many other connections there are of which this is true. `None` while MySQL cannot tell, since a statement of some other
/// test holds a character of four bytes.
pub fn count_others(control: &mut Connection, which: &str) -> Option<u64> {
    let sql = format!(
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() AND COMMAND <> 'Daemon' AND {which}"
    );
    match control.query_rows(&sql, 1) {
        Ok(rows) => Some(rows[0][0].as_ref().unwrap().parse().unwrap()),
        Err(error) if error.server_code() == Some(3854) => None,
        Err(error) => panic!("{error}"),
    }
}

/// The only value of a query.
pub fn value(connection: &mut Connection, sql: &str) -> String {
    let rows = connection.query_rows(sql, 1).unwrap();
    rows[0].last().unwrap().clone().unwrap_or_default()
}

/// A server over TCP, in plain, as an account without a password.
pub fn over_tcp(host: &str, port: u16, user: &str, database: &str) -> Target {
    Target {
        endpoint: Endpoint::Tcp {
            host: host.to_owned(),
            port,
        },
        user: user.to_owned(),
        password: Secret::default(),
        database: database.to_owned(),
        tls: Tls::Disabled,
        server_key: ServerKey::None,
    }
}

/// The target as the only server of a group.
pub fn servers(target: &Target) -> GroupServers {
    GroupServers::new(&source(target), None)
}

/// The servers of a group that nobody connects to.
pub fn nowhere() -> GroupServers {
    servers(&over_tcp("localhost", 1, "nobody", "nowhere"))
}

/// The target as the source of a group.
pub fn source(target: &Target) -> Vec<RoleTarget> {
    vec![RoleTarget {
        role: Role::Source,
        instance: None,
        target: target.clone(),
    }]
}
