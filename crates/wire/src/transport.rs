//! The stream below a connection: a socket, as it is or under TLS.

use std::io::{self, IoSlice, Read, Write};
use std::sync::Arc;

use crate::socket::Socket;
use crate::tls::TlsStream;

/// What packets are written to and read from.
#[derive(Debug)]
pub enum Transport {
    Plain(Arc<Socket>),
    Tls(Box<TlsStream>),
}

impl Transport {
    /// The socket at the bottom.
    #[inline]
    pub fn socket(&self) -> &Arc<Socket> {
        match self {
            Self::Plain(socket) => socket,
            Self::Tls(stream) => stream.socket(),
        }
    }

    /// Whether nobody between the two ends can read along, so that a password may be sent as it is.
    pub fn is_private(&self) -> bool {
        match self {
            Self::Plain(socket) => matches!(**socket, Socket::Unix(_)),
            Self::Tls(_) => true,
        }
    }
}

impl Read for Transport {
    #[inline]
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => (&**socket).read(bytes),
            Self::Tls(stream) => stream.read(bytes),
        }
    }
}

impl Write for Transport {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => (&**socket).write(bytes),
            Self::Tls(stream) => stream.write(bytes),
        }
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => (&**socket).write_vectored(parts),
            Self::Tls(stream) => stream.write_vectored(parts),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
