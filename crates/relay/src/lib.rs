//! Forwards connections to a server, each byte a fixed time after it came: a network delay for machines whose kernel or
//! whose rights allow no netem.
//!
//! Deliberately not here: loss, reordering and jitter. A relay forwards a stream, which TCP has repaired already.

#![forbid(unsafe_code)]

mod delay_line;
mod link;
mod stream;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use plimsoll_core::lock::lock;
use plimsoll_core::plan::Endpoint;

use stream::Stream;

/// Stack of each thread: they hold little more than a buffer, which is not on it.
const STACK_BYTES: usize = 128 * 1024;

/// After a refused `accept`, such as for want of open files: trying again at once would take a whole processor.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// A running relay. It closes all its connections when dropped.
#[derive(Debug)]
pub struct Relay {
    shared: Arc<Shared>,
    port: u16,
    listener: Option<JoinHandle<()>>,
}

/// What the threads of a relay share.
#[derive(Debug)]
struct Shared {
    to: Endpoint,
    delay: Duration,
    stopping: AtomicBool,
    /// Open sockets of both ends, and some closed ones not yet swept out.
    sockets: Mutex<Vec<Weak<Stream>>>,
}

impl Relay {
    /// Listens on a free port of the loopback address.
    ///
    /// # Errors
    /// When the machine has no port or no thread to give.
    pub fn start(to: Endpoint, delay: Duration) -> io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared {
            to,
            delay,
            stopping: AtomicBool::new(false),
            sockets: Mutex::default(),
        });
        let theirs = Arc::clone(&shared);
        let thread = thread::Builder::new().spawn(move || accept(&listener, &theirs))?;
        Ok(Self {
            shared,
            port,
            listener: Some(thread),
        })
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)); // wakes the listener
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
        let sockets = lock(&self.shared.sockets);
        for socket in sockets.iter().filter_map(Weak::upgrade) {
            socket.shutdown_both();
        }
    }
}

impl Shared {
    /// Makes sure that a socket is closed with the relay. One that comes after the end is closed here.
    fn watch(&self, socket: &Arc<Stream>) {
        let mut sockets = lock(&self.sockets);
        sockets.retain(|socket| socket.strong_count() > 0);
        sockets.push(Arc::downgrade(socket));
        if self.stopping.load(Ordering::Relaxed) {
            socket.shutdown_both();
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    loop {
        let client = listener.accept();
        if shared.stopping.load(Ordering::Relaxed) {
            return;
        }
        let Ok((client, _)) = client else {
            thread::sleep(ACCEPT_PAUSE);
            continue;
        };
        let (client, theirs) = (Arc::new(Stream::tcp(client)), Arc::clone(shared));
        shared.watch(&client);
        // A machine without threads to give closes the connection, which its two ends report.
        let _ = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
            if let Ok(server) = Stream::connect(&theirs.to) {
                let server = Arc::new(server);
                theirs.watch(&server);
                link::forward(&client, &server, theirs.delay);
            }
        });
    }
}
