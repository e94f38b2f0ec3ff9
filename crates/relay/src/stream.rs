//! A connection of either kind, TCP or unix socket, used by a thread that reads and one that writes.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use plimsoll_core::plan::Endpoint;
use rustix::net::{Shutdown, shutdown};

/// How long an address of the server may take to answer.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// One end of a link.
#[derive(Debug)]
pub(crate) struct Stream(File);

impl Stream {
    /// Takes a TCP connection, and lets it send at once what it is given.
    pub(crate) fn tcp(stream: TcpStream) -> Self {
        let _ = stream.set_nodelay(true); // refused by no kernel that has TCP
        Self(File::from(OwnedFd::from(stream)))
    }

    /// Connects to a server, trying all addresses of its host.
    pub(crate) fn connect(to: &Endpoint) -> io::Result<Self> {
        match to {
            Endpoint::Socket { path } => Ok(Self(File::from(OwnedFd::from(UnixStream::connect(path)?)))),
            Endpoint::Tcp { host, port } => {
                let mut refused = io::Error::from(io::ErrorKind::AddrNotAvailable);
                for address in (host.as_str(), *port).to_socket_addrs()? {
                    match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
                        Ok(stream) => return Ok(Self::tcp(stream)),
                        Err(error) => refused = error,
                    }
                }
                Err(refused)
            }
        }
    }

    /// No more is read: a thread that reads comes back. The end may be closed already.
    pub(crate) fn shutdown_read(&self) {
        let _ = shutdown(&self.0, Shutdown::Read);
    }

    /// Says that no more will be sent.
    pub(crate) fn shutdown_write(&self) {
        let _ = shutdown(&self.0, Shutdown::Write);
    }

    /// Ends both directions.
    pub(crate) fn shutdown_both(&self) {
        let _ = shutdown(&self.0, Shutdown::Both);
    }
}

impl Read for &Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&self.0).read(buffer)
    }
}

impl Write for &Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&self.0).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(()) // nothing is held back
    }
}
