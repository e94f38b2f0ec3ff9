//! Opens sockets: to an address or a path, within a time, and so that another thread can end the attempt.
//!
//! Deliberately not here: reading and writing (`socket`), and which host a name is (`lookup`).

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use plimsoll_core::plan::Endpoint;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::{Errno, ioctl_fionbio};
use rustix::net::sockopt::{
    Timeout, set_socket_keepalive, set_socket_timeout, set_tcp_keepidle, set_tcp_keepintvl, set_tcp_nodelay,
    set_tcp_user_timeout, socket_error,
};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

use crate::error::ConnectFailure;
use crate::interrupter::Interrupter;
use crate::lookup::Lookup;
use crate::socket::Socket;

/// How long one attempt at a unix socket waits before it looks whether it was interrupted: nothing else ends that wait.
const UNIX_ATTEMPT: Duration = Duration::from_millis(100);

/// The longest pause before a probe that Linux takes.
const PROBE_PAUSE_MAX: Duration = Duration::from_secs(32_767);

/// One attempt to reach a server.
#[derive(Clone, Copy)]
pub struct Dial<'a> {
    pub lookup: &'a Lookup,
    pub interrupter: &'a Interrupter,
    /// The lookup and connecting together may take so long.
    pub timeout: Duration,
    /// Over TCP: how long the other machine may say nothing although it was asked.
    pub network_timeout: Duration,
}

impl Dial<'_> {
    /// Opens a socket, trying all addresses of a host within the time.
    pub fn open(self, endpoint: &Endpoint) -> Result<Arc<Socket>, ConnectFailure> {
        let deadline = Instant::now() + self.timeout;
        let opened = match endpoint {
            Endpoint::Tcp { host, port } => self.tcp(host, *port, deadline),
            Endpoint::Socket { path } => self.unix(path, deadline),
        };
        opened.map_err(|failure| match failure {
            _ if self.interrupter.is_interrupted() => ConnectFailure::Interrupted,
            failure => failure,
        })
    }

    fn tcp(self, host: &str, port: u16, deadline: Instant) -> Result<Arc<Socket>, ConnectFailure> {
        let addresses = self
            .lookup
            .addresses((host, port), (deadline, self.timeout), self.interrupter)?;
        let mut failure = ConnectFailure::UnknownHost("it has no address".to_owned());
        for (tried, address) in (0..).zip(&addresses) {
            let left = deadline.saturating_duration_since(Instant::now());
            let share = left / (addresses.len() as u32 - tried);
            match self.address(*address, Instant::now() + share) {
                Ok(socket) => return Ok(socket),
                Err(ConnectFailure::Interrupted) => return Err(ConnectFailure::Interrupted),
                Err(other) => failure = other,
            }
        }
        Err(failure)
    }

    fn address(self, address: SocketAddr, until: Instant) -> Result<Arc<Socket>, ConnectFailure> {
        let fault = |error: Errno| connect_failure(error, self.timeout);
        let socket = tcp_socket(&address).map_err(fault)?;
        let socket = Arc::new(Socket::tcp(TcpStream::from(socket)));
        self.interrupter.watch_socket(&socket)?;
        match connect(&*socket, &address) {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(error) => return Err(fault(error)),
        }
        await_connected(&socket, until).map_err(fault)?;
        notice_silence(&socket, self.network_timeout).map_err(fault)?;
        ioctl_fionbio(&*socket, false).map_err(fault)?;
        Ok(socket)
    }

    /// A server that takes no connections lets `connect` wait, for ever unless sending has a limit by then.
    fn unix(self, path: &Path, deadline: Instant) -> Result<Arc<Socket>, ConnectFailure> {
        let fault = |error: Errno| connect_failure(error, self.timeout);
        let address = SocketAddrUnix::new(path).map_err(fault)?;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).map_err(fault)?;
        let socket = Arc::new(Socket::unix(UnixStream::from(socket)));
        loop {
            self.interrupter.watch_socket(&socket)?;
            let left = deadline.saturating_duration_since(Instant::now());
            let attempt = left.clamp(Duration::from_millis(1), UNIX_ATTEMPT);
            set_socket_timeout(&*socket, Timeout::Send, Some(attempt)).map_err(fault)?;
            match connect(&*socket, &address) {
                Ok(()) => break,
                Err(Errno::AGAIN | Errno::INTR) if !left.is_zero() => {}
                Err(error) => return Err(fault(error)),
            }
        }
        set_socket_timeout(&*socket, Timeout::Send, None).map_err(fault)?;
        Ok(socket)
    }
}

/// A socket that does not wait.
fn tcp_socket(address: &SocketAddr) -> Result<OwnedFd, Errno> {
    let family = if address.is_ipv4() {
        AddressFamily::INET
    } else {
        AddressFamily::INET6
    };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(family, SocketType::STREAM, flags, None)?;
    set_tcp_nodelay(&socket, true)?;
    Ok(socket)
}

/// Lets a connected socket notice that the other machine is gone without a word. While bytes lack an acknowledgement TCP sends
/// them again; while none do, it probes. Either way it gives up when nothing came for so long. What a server does with a
/// statement has nothing to do with it: its kernel answers.
fn notice_silence(socket: &Socket, network_timeout: Duration) -> Result<(), Errno> {
    let between = |pause: Duration| pause.clamp(Duration::from_secs(1), PROBE_PAUSE_MAX);
    set_socket_keepalive(socket, true)?;
    set_tcp_keepidle(socket, between(network_timeout / 2))?;
    set_tcp_keepintvl(socket, between(network_timeout / 6))?;
    set_tcp_user_timeout(socket, u32::try_from(network_timeout.as_millis()).unwrap_or(u32::MAX))
}

fn await_connected(socket: &Socket, until: Instant) -> Result<(), Errno> {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left).map_err(|_| Errno::INVAL)?;
        match poll(&mut [PollFd::new(socket, PollFlags::OUT)], Some(&timeout)) {
            Ok(0) => return Err(Errno::TIMEDOUT),
            Ok(_) => return socket_error(socket)?,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
}

fn connect_failure(error: Errno, timeout: Duration) -> ConnectFailure {
    let error = io::Error::from(error);
    match error.kind() {
        io::ErrorKind::ConnectionRefused => ConnectFailure::Refused,
        io::ErrorKind::NotFound => ConnectFailure::NoSocket,
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => ConnectFailure::TimedOut(timeout),
        _ => ConnectFailure::Other(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, TcpListener};

    use rustix::net::sockopt::{socket_keepalive, tcp_keepidle, tcp_user_timeout};

    #[test]
    fn a_socket_notices_silence_within_any_timeout_that_can_be_asked_for() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let endpoint = Endpoint::Tcp {
            host: "127.0.0.1".to_owned(),
            port: listener.local_addr().unwrap().port(),
        };
        for (network_s, probe_s) in [(1, 1), (30, 15), (86_400, 32_767)] {
            let dial = Dial {
                lookup: &Lookup::default(),
                interrupter: &Interrupter::default(),
                timeout: Duration::from_secs(10),
                network_timeout: Duration::from_secs(network_s),
            };
            let socket = dial.open(&endpoint).unwrap();
            assert!(socket_keepalive(&*socket).unwrap());
            assert_eq!(tcp_keepidle(&*socket).unwrap(), Duration::from_secs(probe_s));
            assert_eq!(u64::from(tcp_user_timeout(&*socket).unwrap()), network_s * 1_000);
        }
    }
}
