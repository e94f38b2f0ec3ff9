//! The one read buffer of a connection: bytes that have arrived and are not used yet.

use std::io::{self, Read};

use crate::codec::CONTROL_PACKET_BYTES_MAX;
use crate::codec::packet::HEADER_BYTES;

/// Size at the start: the reply to a range select of a hundred rows fits.
const BYTES_START: usize = 16 * 1024;
/// It grows to this, so that any control packet fits, and stays.
const BYTES_MAX: usize = CONTROL_PACKET_BYTES_MAX + HEADER_BYTES;

/// Bytes between `start` and `end` have arrived and are not used yet.
#[derive(Debug)]
pub struct ReadBuffer {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl ReadBuffer {
    /// An empty buffer.
    pub fn new() -> Self {
        Self {
            bytes: vec![0; BYTES_START],
            start: 0,
            end: 0,
        }
    }

    /// What has arrived and is not used yet.
    #[inline]
    pub fn unread(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Marks the first `count` unread bytes as used.
    #[inline]
    pub fn consume(&mut self, count: usize) {
        assert!(count <= self.end - self.start);
        self.start += count;
    }

    /// Uses the first `count` unread bytes and returns them; they stay until the next read.
    #[inline]
    pub fn take(&mut self, count: usize) -> &[u8] {
        self.consume(count);
        &self.bytes[self.start - count..self.start]
    }

    /// Reads once from `source`, as much as there is room for; 0 means the end of the stream. A reply that filled the
    /// whole buffer makes it grow, so that long result sets take few reads.
    ///
    /// # Errors
    /// The source's.
    ///
    /// # Panics
    /// When the buffer is full at its largest; callers refuse longer packets first.
    pub fn fill(&mut self, source: &mut impl Read) -> io::Result<usize> {
        self.make_room();
        let count = source.read(&mut self.bytes[self.end..])?;
        self.end += count;
        Ok(count)
    }

    fn make_room(&mut self) {
        let was_full = self.end == self.bytes.len();
        self.bytes.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if was_full && self.bytes.len() < BYTES_MAX {
            self.bytes.resize((self.bytes.len() * 2).min(BYTES_MAX), 0);
        }
        assert!(self.end < self.bytes.len());
    }
}
