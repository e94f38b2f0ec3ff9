//! Fake MySQL server with scripted delays, stalls and hostile bytes, for tests that need to know the truth: what the
//! server did and when is written in its script, so what the client reports can be compared with it. It also serves to
//! learn what a client can drive at most, since hardly any server answers faster.
//!
//! It writes the protocol by itself and shares no code with `wire`, the client under test. Deliberately not here: SQL, data,
//! passwords (any login is let in), and anything no test uses.

#![forbid(unsafe_code)]

pub mod hostile;
pub mod packets;
mod serve;
mod stream;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use hostile::Step;
use plimsoll_core::lock::lock;
use stream::{Address, Listener, Stream};

/// Rows as text; NULL is `None`.
pub type Rows = Vec<Vec<Option<String>>>;

/// How the server behaves.
#[derive(Clone, Debug)]
pub struct Script {
    /// Each statement's reply comes so long after the statement arrived.
    pub statement_delay: Duration,
    /// Times in which no reply is sent; a reply due then is sent at the end.
    pub stalls: Vec<Stall>,
    /// Makes statements fail.
    pub failure: Option<Failure>,
    /// A login takes so long.
    pub login_delay: Duration,
    /// So many of the first logins are cut off.
    pub dropped_logins: usize,
    /// Rows of the result set of a statement that begins with SELECT.
    pub rows: u32,
    /// Bytes of the one column of such a row.
    pub row_bytes: usize,
    /// Result sets of other shapes. The first match counts.
    pub shapes: Vec<Shape>,
    /// Control queries and what they answer; they are not delayed, stalled, failed or counted. The first match counts.
    pub answers: Vec<Answer>,
    /// Offers the newer end of rows, without EOF packets.
    pub deprecate_eof: bool,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            statement_delay: Duration::ZERO,
            stalls: Vec::new(),
            failure: None,
            login_delay: Duration::ZERO,
            dropped_logins: 0,
            rows: 1,
            row_bytes: 1,
            shapes: Vec::new(),
            answers: Vec::new(),
            deprecate_eof: true,
        }
    }
}

/// The result set of statements with a certain text in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The text, letter case as in the statement; `?` stands for any value.
    pub contains: String,
    /// How many rows.
    pub rows: u32,
    /// The columns of each; at least one.
    pub columns: Vec<ShapeColumn>,
}

/// A column of a result set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapeColumn {
    /// Its name.
    pub name: String,
    /// Bytes of its text in each row; `None` for a column that holds the whole number 1.
    pub text_bytes: Option<usize>,
}

impl Shape {
    /// Whether its text is in a statement, one piece between values behind the other.
    fn is_of(&self, sql: &str) -> bool {
        let mut rest = Some(sql);
        for piece in self.contains.split('?') {
            rest = rest.and_then(|rest| rest.split_once(piece)).map(|(_, behind)| behind);
        }
        rest.is_some()
    }
}

/// A time in which the server sends no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// When it begins, counted from the start of the server.
    pub after: Duration,
    /// How long it lasts.
    pub lasts: Duration,
}

/// Statements that fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Every n-th statement over all connections, unless it is a rollback; 1 means all.
    pub every: u64,
    /// MySQL's error number.
    pub code: u16,
    /// Five characters.
    pub sqlstate: String,
    /// The text.
    pub message: String,
}

/// The answer to a control query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The query begins with this, letter case ignored.
    pub begins_with: String,
    /// What it returns.
    pub rows: Rows,
}

/// What the server's threads share.
#[derive(Debug)]
struct Shared {
    script: Script,
    started: Instant,
    statements: AtomicU64,
    logins: Mutex<Logins>,
    /// Whether nobody is let in.
    shut: AtomicBool,
    stopping: AtomicBool,
    /// Open connections, and some closed ones not yet swept out.
    connections: Mutex<Vec<Weak<Stream>>>,
}

/// Who logs in, and did.
#[derive(Debug, Default)]
struct Logins {
    current: u64,
    most: u64,
    /// When each began, counted from the start of the server.
    begins: Vec<Duration>,
}

impl Shared {
    fn logins(&self) -> MutexGuard<'_, Logins> {
        lock(&self.logins)
    }
}

/// What is done with each connection.
type Handler = Arc<dyn Fn(&Shared, &Stream) + Send + Sync>;

/// A running fake server. It stops when dropped.
#[derive(Debug)]
pub struct Sim {
    shared: Arc<Shared>,
    address: Address,
    listener: Option<JoinHandle<()>>,
}

impl Sim {
    /// Starts a server that follows a script, on a free port of the loopback address.
    ///
    /// # Errors
    /// When the machine has no port or no thread to give.
    pub fn start(script: Script) -> io::Result<Self> {
        let (listener, address) = free_port()?;
        Self::listen(script, listener, address, Arc::new(serve::serve))
    }

    /// Starts a server that follows a script, on a unix socket that does not exist yet.
    ///
    /// # Errors
    /// When the socket cannot be made, or the machine has no thread to give.
    pub fn start_at(script: Script, path: &Path) -> io::Result<Self> {
        let listener = Listener::Unix(UnixListener::bind(path)?);
        Self::listen(script, listener, Address::Unix(path.to_owned()), Arc::new(serve::serve))
    }

    /// Starts a server that plays these steps on each connection and then closes it.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn play(steps: Vec<Step>) -> io::Result<Self> {
        let (listener, address) = free_port()?;
        let handler = Arc::new(move |_: &Shared, stream: &Stream| hostile::play(&steps, stream));
        Self::listen(Script::default(), listener, address, handler)
    }

    fn listen(script: Script, listener: Listener, address: Address, handler: Handler) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            script,
            started: Instant::now(),
            statements: AtomicU64::new(0),
            logins: Mutex::default(),
            shut: AtomicBool::new(false),
            stopping: AtomicBool::new(false),
            connections: Mutex::new(Vec::new()),
        });
        let theirs = Arc::clone(&shared);
        let thread = thread::Builder::new().spawn(move || accept(&listener, &theirs, &handler))?;
        Ok(Self {
            shared,
            address,
            listener: Some(thread),
        })
    }

    /// The port it listens on; 0 when it listens on a unix socket.
    pub fn port(&self) -> u16 {
        match self.address {
            Address::Tcp(address) => address.port(),
            Address::Unix(_) => 0,
        }
    }

    /// Statements that have arrived so far over all connections, control queries not counted.
    pub fn statements(&self) -> u64 {
        self.shared.statements.load(Ordering::Relaxed)
    }

    /// The most clients that were logging in at the same time.
    pub fn logging_in_max(&self) -> u64 {
        self.shared.logins().most
    }

    /// When each client began to log in, refused ones included, counted from the start of the server.
    pub fn login_begins(&self) -> Vec<Duration> {
        self.shared.logins().begins.clone()
    }

    /// Lets nobody in from now on, because of too many connections, until [`Self::open`]. Returns when that began,
    /// counted from the start of the server.
    pub fn shut(&self) -> Duration {
        self.shared.shut.store(true, Ordering::Relaxed);
        self.shared.started.elapsed()
    }

    /// Lets clients in again.
    pub fn open(&self) {
        self.shared.shut.store(false, Ordering::Relaxed);
    }

    /// Ends all connections, as a server does that is restarted; new ones are still accepted.
    pub fn disconnect_all(&self) {
        let mut connections = lock(&self.shared.connections);
        for connection in connections.drain(..).filter_map(|connection| connection.upgrade()) {
            connection.shutdown();
        }
    }
}

impl Drop for Sim {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::Relaxed);
        let _ = self.address.connect(); // wakes the listener
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
        self.disconnect_all();
    }
}

fn free_port() -> io::Result<(Listener, Address)> {
    let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    let address = Address::Tcp(listener.local_addr()?);
    Ok((Listener::Tcp(listener), address))
}

fn accept(listener: &Listener, shared: &Arc<Shared>, handler: &Handler) {
    loop {
        let stream = listener.accept();
        if shared.stopping.load(Ordering::Relaxed) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let stream = Arc::new(stream);
        remember(shared, &stream);
        let (shared, handler) = (Arc::clone(shared), Arc::clone(handler));
        // A machine without threads to give closes the connection, which the client reports.
        let _ = thread::Builder::new()
            .stack_size(256 * 1024)
            .spawn(move || handler(&shared, &stream));
    }
}

fn remember(shared: &Shared, stream: &Arc<Stream>) {
    let mut connections = lock(&shared.connections);
    connections.retain(|connection| connection.strong_count() > 0);
    connections.push(Arc::downgrade(stream));
}
