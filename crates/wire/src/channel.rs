//! Packets over a stream: one read buffer, one write buffer, the sequence number that both share.
//!
//! Deliberately not here: what packets mean.

use std::io::{self, IoSlice, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::ClientConnection;

use crate::buffer::ReadBuffer;
use crate::codec::packet::{HEADER_BYTES, Header, PACKET_BYTES_MAX, SkipUntil, Skipped, Skipper};
use crate::codec::reply::ServerError;
use crate::codec::{CONTROL_PACKET_BYTES_MAX, ProtocolError, STATEMENT_BYTES_MAX};
use crate::error::{Cause, WireError};
use crate::interrupter::{Interrupter, Line};
use crate::socket::Socket;
use crate::tls::{Encryption, TlsStream};
use crate::transport::Transport;

/// A write buffer that a long statement grew beyond this is not kept.
const WRITE_BUFFER_KEPT_BYTES: usize = 1024 * 1024;

/// How long to wait for the reason of a write that failed; it was sent before the connection was closed.
const LAST_WORDS_MAX: Duration = Duration::from_millis(200);

/// The packet level of one connection.
#[derive(Debug)]
pub struct Channel {
    transport: Transport,
    /// Where it says whether it waits.
    line: Arc<Line>,
    pub endpoint: String,
    buffer: ReadBuffer,
    /// Room for a header, then the payload of the packet being built.
    out: Vec<u8>,
    /// Number of the next packet, whoever sends it.
    sequence: u8,
    /// While it is being opened: no read goes on after this.
    deadline: Option<Instant>,
}

impl Channel {
    pub fn new(socket: Arc<Socket>, endpoint: String, interrupter: &Interrupter) -> Self {
        Self {
            transport: Transport::Plain(socket),
            line: Arc::clone(&interrupter.0),
            endpoint,
            buffer: ReadBuffer::new(),
            out: Vec::with_capacity(512),
            sequence: 0,
            deadline: None,
        }
    }

    pub fn socket(&self) -> &Arc<Socket> {
        self.transport.socket()
    }

    /// What ends this connection from another thread.
    pub fn interrupter(&self) -> Interrupter {
        Interrupter(Arc::clone(&self.line))
    }

    /// Whether nobody between the two ends can read along.
    pub fn is_private(&self) -> bool {
        self.transport.is_private()
    }

    /// How what is sent is encrypted, if it is.
    pub fn encryption(&self) -> Option<Encryption> {
        match &self.transport {
            Transport::Plain(_) => None,
            Transport::Tls(stream) => stream.encryption(),
        }
    }

    /// Encrypts everything from here on. Bytes that came before it and were not asked for are refused: they would pass
    /// for the server's own afterwards, whoever sent them.
    pub fn encrypt(&mut self, session: ClientConnection) -> Result<(), WireError> {
        if !self.buffer.unread().is_empty() {
            let what = "the server went on in plain where encryption was to begin";
            return Err(ProtocolError::Invalid { what }.into());
        }
        let mut stream = TlsStream::new(Arc::clone(self.socket()), session);
        while stream.is_handshaking() {
            match self.limit_read().and_then(|()| stream.shake_hands()) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(self.lost(error)),
                _ => {}
            }
        }
        self.transport = Transport::Tls(Box::new(stream));
        Ok(())
    }

    /// Limits all reads together, until the limit is lifted.
    pub fn set_deadline(&mut self, deadline: Instant) {
        self.deadline = Some(deadline);
    }

    /// Waits for as long as it takes from here on, unless somebody watches.
    pub fn lift_deadline(&mut self) -> Result<(), WireError> {
        self.deadline = None;
        let lifted = self.socket().set_read_timeout(None);
        lifted.map_err(|source| self.lost(source))
    }

    /// Starts a new exchange; its first payload goes into the buffer returned, behind what is there.
    #[inline]
    pub fn begin(&mut self) -> &mut Vec<u8> {
        self.sequence = 0;
        self.go_on()
    }

    /// Starts another packet of the same exchange.
    #[inline]
    pub fn go_on(&mut self) -> &mut Vec<u8> {
        self.out.clear();
        self.out.extend_from_slice(&[0; HEADER_BYTES]);
        &mut self.out
    }

    /// Sends the payload built, in one write unless it is longer than a packet can be.
    pub fn send(&mut self) -> Result<(), WireError> {
        let size_bytes = self.out.len() - HEADER_BYTES;
        if size_bytes > STATEMENT_BYTES_MAX {
            self.out = Vec::new();
            return Err(Cause::StatementTooLong { size_bytes }.into());
        }
        let mut start = 0;
        loop {
            // Each header is written over bytes that have been sent already.
            let length = (self.out.len() - HEADER_BYTES - start).min(PACKET_BYTES_MAX);
            let header = Header {
                length,
                sequence: self.sequence,
            }
            .encode();
            self.out[start..start + HEADER_BYTES].copy_from_slice(&header);
            let packet = &self.out[start..start + HEADER_BYTES + length];
            self.line.begin_wait();
            let written = self.transport.write_all(packet);
            self.line.end_wait();
            if let Err(source) = written {
                return Err(self.last_words(source));
            }
            self.sequence = self.sequence.wrapping_add(1);
            start += length;
            if length < PACKET_BYTES_MAX {
                break;
            }
        }
        self.out.shrink_to(WRITE_BUFFER_KEPT_BYTES);
        Ok(())
    }

    /// Sends bytes of the caller's as one packet, without copying them. An empty slice is an empty packet.
    pub fn send_slice(&mut self, payload: &[u8]) -> Result<(), WireError> {
        let header = Header {
            length: payload.len(),
            sequence: self.sequence,
        }
        .encode();
        self.sequence = self.sequence.wrapping_add(1);
        self.line.begin_wait();
        let written = write_both(&mut self.transport, &header, payload);
        self.line.end_wait();
        written.map_err(|source| self.last_words(source))
    }

    /// A server that ends the connection while a statement is still being sent says why before it does.
    #[cold]
    fn last_words(&mut self, source: io::Error) -> WireError {
        let _ = self.socket().set_read_timeout(Some(LAST_WORDS_MAX)); // the connection is lost anyway
        match self.error_packet() {
            Ok(error) => error.into(),
            Err(_) => self.lost(source),
        }
    }

    /// Reads an error packet of any number.
    fn error_packet(&mut self) -> Result<ServerError, WireError> {
        self.arrive(HEADER_BYTES)?;
        self.sequence = self.header().sequence;
        Ok(ServerError::decode(self.packet()?)?)
    }

    /// Reads one packet whole and returns its payload, at most [`CONTROL_PACKET_BYTES_MAX`].
    #[inline]
    pub fn packet(&mut self) -> Result<&[u8], WireError> {
        self.arrive(HEADER_BYTES)?;
        let header = self.header();
        if header.length > CONTROL_PACKET_BYTES_MAX {
            let (size, limit) = (header.length as u64, CONTROL_PACKET_BYTES_MAX as u64);
            return Err(ProtocolError::TooLarge {
                what: "a control packet's size",
                size,
                limit,
            }
            .into());
        }
        self.arrive(HEADER_BYTES + header.length)?;
        if header.sequence != self.sequence {
            self.out_of_turn(header)?;
        }
        self.sequence = self.sequence.wrapping_add(1);
        Ok(&self.buffer.take(HEADER_BYTES + header.length)[HEADER_BYTES..])
    }

    /// A server that ends a connection on its own says so with an error packet numbered 0 whenever it likes; any other packet
    /// out of order is a fault.
    #[cold]
    fn out_of_turn(&mut self, header: Header) -> Result<(), WireError> {
        let payload = &self.buffer.unread()[HEADER_BYTES..HEADER_BYTES + header.length];
        match ServerError::decode(payload) {
            Ok(error) if header.sequence == 0 => Err(error.into()),
            _ => Ok(header.expect_sequence(self.sequence)?),
        }
    }

    /// Walks over packets without looking inside; returns how many.
    #[inline]
    pub fn skip(&mut self, until: SkipUntil) -> Result<u64, WireError> {
        let mut skipper = Skipper::new(until, self.sequence);
        loop {
            let (used, state) = skipper.advance(self.buffer.unread())?;
            self.buffer.consume(used);
            if state == Skipped::Done {
                self.sequence = skipper.sequence();
                return Ok(skipper.packets());
            }
            self.fill()?;
        }
    }

    /// The length and first payload byte of the next packet, which stays unread. An empty packet's first byte is `None`.
    pub fn peek(&mut self) -> Result<(usize, Option<u8>), WireError> {
        self.arrive(HEADER_BYTES)?;
        let length = self.header().length;
        self.arrive(HEADER_BYTES + length.min(1))?;
        Ok((
            length,
            self.buffer.unread()[HEADER_BYTES..]
                .first()
                .copied()
                .filter(|_| length > 0),
        ))
    }

    /// Appends a payload of any number of packets to `out`, which may then have `bytes_max` bytes.
    pub fn payload_into(&mut self, out: &mut Vec<u8>, bytes_max: usize) -> Result<(), WireError> {
        loop {
            self.arrive(HEADER_BYTES)?;
            let header = self.header();
            header.expect_sequence(self.sequence)?;
            self.sequence = self.sequence.wrapping_add(1);
            if out.len() + header.length > bytes_max {
                let (size, limit) = ((out.len() + header.length) as u64, bytes_max as u64);
                return Err(ProtocolError::TooLarge {
                    what: "a row's size",
                    size,
                    limit,
                }
                .into());
            }
            self.buffer.consume(HEADER_BYTES);
            self.copy(header.length, out)?;
            if header.length < PACKET_BYTES_MAX {
                return Ok(());
            }
        }
    }

    fn copy(&mut self, count: usize, out: &mut Vec<u8>) -> Result<(), WireError> {
        let mut left = count;
        loop {
            let step = left.min(self.buffer.unread().len());
            out.extend_from_slice(self.buffer.take(step));
            left -= step;
            if left == 0 {
                return Ok(());
            }
            self.fill()?;
        }
    }

    #[inline]
    fn header(&self) -> Header {
        let head = self.buffer.unread().first_chunk().expect("a header has arrived");
        Header::decode(*head)
    }

    /// The bytes that have arrived and were not understood, for a message.
    pub fn unread(&self) -> &[u8] {
        self.buffer.unread()
    }

    #[inline]
    fn arrive(&mut self, count: usize) -> Result<(), WireError> {
        while self.buffer.unread().len() < count {
            self.fill()?;
        }
        Ok(())
    }

    fn fill(&mut self) -> Result<(), WireError> {
        loop {
            let limited = self.limit_read();
            self.line.begin_wait();
            let outcome = limited.and_then(|()| self.buffer.fill(&mut self.transport));
            self.line.end_wait();
            match outcome {
                Ok(0) => return Err(self.lost(io::ErrorKind::UnexpectedEof.into())),
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.lost(error)),
            }
        }
    }

    fn limit_read(&self) -> io::Result<()> {
        let Some(deadline) = self.deadline else { return Ok(()) };
        let left = deadline.saturating_duration_since(Instant::now());
        if left == Duration::ZERO {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.socket().set_read_timeout(Some(left))
    }

    /// Whatever a socket says that was shut down here: the reason is why that was done.
    #[cold]
    pub fn lost(&self, source: io::Error) -> WireError {
        let source = if self.line.is_given_up() {
            io::ErrorKind::WouldBlock.into()
        } else {
            source
        };
        let endpoint = self.endpoint.clone();
        Cause::Lost { endpoint, source }.into()
    }
}

/// Writes a header and a payload, in one call where the socket takes them whole.
fn write_both(stream: &mut Transport, header: &[u8], payload: &[u8]) -> io::Result<()> {
    let mut parts = [IoSlice::new(header), IoSlice::new(payload)];
    let mut parts = &mut parts[..];
    while !parts.is_empty() {
        match stream.write_vectored(parts) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => IoSlice::advance_slices(&mut parts, count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
