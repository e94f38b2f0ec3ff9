//! The socket below a connection: TCP or unix.
//!
//! Deliberately not here: opening it (`dial`), and what goes through it in plain and what encrypted (`transport`).

use std::io::{self, IoSlice, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, recv, send, sendmsg};

/// An open socket. Reading and writing need no exclusive access, so that an [`Interrupter`](crate::Interrupter) can share
/// it.
#[derive(Debug)]
pub enum Socket {
    Tcp(TcpStream),
    Unix(UnixSocket),
}

/// A unix socket, and how long it is waited for, nanoseconds; 0 for ever.
#[derive(Debug)]
pub struct UnixSocket {
    stream: UnixStream,
    read_limit_ns: AtomicI64,
}

impl Socket {
    pub fn tcp(stream: TcpStream) -> Self {
        Self::Tcp(stream)
    }

    pub fn unix(stream: UnixStream) -> Self {
        let read_limit_ns = AtomicI64::new(0);
        Self::Unix(UnixSocket { stream, read_limit_ns })
    }

    /// Limits each wait for bytes; `None` waits for ever.
    pub fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.set_read_timeout(timeout),
            Self::Unix(unix) => {
                let limit_ns = timeout.map_or(0, |timeout| i64::try_from(timeout.as_nanos()).unwrap_or(i64::MAX));
                unix.read_limit_ns.store(limit_ns, Ordering::Relaxed);
                Ok(())
            }
        }
    }

    /// Ends it for both sides: whoever waits is woken.
    pub fn shutdown(&self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.shutdown(Shutdown::Both),
            Self::Unix(unix) => unix.stream.shutdown(Shutdown::Both),
        }
    }
}

impl UnixSocket {
    /// Waits until there is something to read, or the other side is gone. Whoever waits in `recv` on a unix socket is woken
    /// also when the other side has taken what was sent, finds nothing, and sleeps again: two switches for each statement.
    /// `poll` sleeps through that, and costs less than the second one.
    #[inline]
    fn wait(&self) -> io::Result<()> {
        let limit_ns = self.read_limit_ns.load(Ordering::Relaxed);
        let limit = Timespec {
            tv_sec: limit_ns / 1_000_000_000,
            tv_nsec: limit_ns % 1_000_000_000,
        };
        let limit = if limit_ns == 0 { None } else { Some(&limit) };
        match poll(&mut [PollFd::new(&self.stream, PollFlags::IN)], limit)? {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            _ => Ok(()),
        }
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
