//! The socket below a connection: TCP or unix.
//!
//! Deliberately not here: what goes through it in plain and what encrypted (`transport`).

use std::io::{self, IoSlice, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use plimsoll_core::plan::Endpoint;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendFlags, SocketAddrUnix, SocketFlags, SocketType, connect, recv,
    send, sendmsg, socket_with,
};

use crate::error::ConnectFailure;

/// An open socket. Reading and writing need no exclusive access, so that an [`Interrupter`] can share it.
#[derive(Debug)]
pub enum Socket {
    Tcp(TcpStream),
    Unix(UnixSocket),
}

/// A unix socket, and whether waits for it have a limit.
#[derive(Debug)]
pub struct UnixSocket {
    stream: UnixStream,
    is_limited: AtomicBool,
}

impl Socket {
    /// Opens a stream, trying all addresses of a host within the time given.
    pub fn connect(endpoint: &Endpoint, timeout: Duration) -> Result<Self, ConnectFailure> {
        match endpoint {
            Endpoint::Tcp { host, port } => connect_tcp(host, *port, timeout).map(Self::Tcp),
            Endpoint::Socket { path } => connect_unix(path, timeout).map(|stream| {
                Self::Unix(UnixSocket {
                    stream,
                    is_limited: AtomicBool::new(false),
                })
            }),
        }
    }

    pub fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.set_read_timeout(timeout),
            Self::Unix(unix) => {
                unix.is_limited.store(timeout.is_some(), Ordering::Relaxed);
                unix.stream.set_read_timeout(timeout)
            }
        }
    }

    fn shutdown(&self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.shutdown(Shutdown::Both),
            Self::Unix(unix) => unix.stream.shutdown(Shutdown::Both),
        }
    }
}

fn connect_tcp(host: &str, port: u16, timeout: Duration) -> Result<TcpStream, ConnectFailure> {
    let deadline = Instant::now() + timeout;
    let unknown = |error: io::Error| ConnectFailure::UnknownHost(error.to_string());
    let mut failure = ConnectFailure::UnknownHost("it has no address".to_owned());
    for address in (host, port).to_socket_addrs().map_err(unknown)? {
        let left = deadline
            .saturating_duration_since(Instant::now())
            .max(Duration::from_millis(1));
        match TcpStream::connect_timeout(&address, left) {
            Ok(stream) => {
                stream.set_nodelay(true).map_err(ConnectFailure::Other)?;
                return Ok(stream);
            }
            Err(error) => failure = connect_failure(error, timeout),
        }
    }
    Err(failure)
}

/// A server that takes no connections lets `connect` wait, for ever unless sending has a limit by then.
fn connect_unix(path: &Path, timeout: Duration) -> Result<UnixStream, ConnectFailure> {
    let connected = || -> Result<UnixStream, Errno> {
        let address = SocketAddrUnix::new(path)?;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        set_socket_timeout(&socket, Timeout::Send, Some(timeout))?;
        retry_on_intr(|| connect(&socket, &address))?;
        set_socket_timeout(&socket, Timeout::Send, None)?;
        Ok(UnixStream::from(socket))
    };
    connected().map_err(|error| connect_failure(error.into(), timeout))
}

fn connect_failure(error: io::Error, timeout: Duration) -> ConnectFailure {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => ConnectFailure::Refused,
        io::ErrorKind::NotFound => ConnectFailure::NoSocket,
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => ConnectFailure::TimedOut(timeout),
        _ => ConnectFailure::Other(error),
    }
}

impl UnixSocket {
    /// Waits until there is something to read, or the other side is gone. Whoever waits in `recv` on a unix socket is woken
    /// also when the other side has taken what was sent, finds nothing, and sleeps again: two switches for each statement.
    /// `poll` sleeps through that, and costs less than the second one. It knows nothing of the socket's own limit of time, so
    /// with one `recv` waits.
    #[inline]
    fn wait(&self) -> io::Result<()> {
        if !self.is_limited.load(Ordering::Relaxed) {
            poll(&mut [PollFd::new(&self.stream, PollFlags::IN)], None)?;
        }
        Ok(())
    }
}

/// Reading and writing go to the kernel straight: the C library's calls are points at which a thread may be cancelled, which
/// costs a good part of the time that a statement takes outside the kernel.
impl Read for &Socket {
    #[inline]
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if let Socket::Unix(unix) = self {
            unix.wait()?;
        }
        let (filled, _) = recv(self, bytes, RecvFlags::empty())?;
        Ok(filled)
    }
}

impl Write for &Socket {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(send(self, bytes, SendFlags::NOSIGNAL)?)
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        Ok(sendmsg(
            self,
            parts,
            &mut SendAncillaryBuffer::default(),
            SendFlags::NOSIGNAL,
        )?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(stream) => stream.as_fd(),
            Self::Unix(unix) => unix.stream.as_fd(),
        }
    }
}

/// Ends a connection from another thread: whatever it waits for fails at once. It does not keep the connection open.
#[derive(Clone, Debug)]
pub struct Interrupter {
    socket: Weak<Socket>,
}

impl Interrupter {
    pub(crate) fn new(socket: &Arc<Socket>) -> Self {
        Self {
            socket: Arc::downgrade(socket),
        }
    }

    /// Shuts the connection's socket down. Does nothing when the connection is gone already.
    pub fn interrupt(&self) {
        if let Some(socket) = self.socket.upgrade() {
            // A socket that the other side has closed cannot be shut down, and need not be.
            let _ = socket.shutdown();
        }
    }
}
