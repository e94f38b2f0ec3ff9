//! Bytes in pieces of any size become events. What is no event is passed over up to the next that is one.

use super::FORMAT_DESCRIPTION;
use crate::entry::TEXT_BYTES_MAX;

const HEADER_BYTES: usize = 19;
/// Servers write none that is longer (`max_allowed_packet`).
const EVENT_BYTES_MAX: u32 = (1 << 30) + (1 << 20);
/// What is kept of an event; the rest of a longer one is only counted and checked.
const KEPT_BYTES_MAX: usize = TEXT_BYTES_MAX + (1 << 16);
const CHECKSUM_BYTES: usize = 4;

/// An event whose frame is sound.
#[derive(Debug)]
pub struct Raw {
    /// Where it begins in the file, bytes.
    pub at: u64,
    pub kind: u8,
    /// When its statement started, seconds since 1970.
    pub second: u32,
    /// Without header and checksum.
    pub body: Vec<u8>,
    /// It is longer than what is kept.
    pub is_cut: bool,
}

/// What comes next.
#[derive(Debug)]
pub enum Piece {
    Event(Raw),
    Damage(u64, &'static str),
}

#[derive(Clone, Copy, Debug)]
struct Header {
    second: u32,
    kind: u8,
    length: u32,
    next: u32,
    flags: u16,
}

/// Finds events in bytes.
#[derive(Debug, Default)]
pub struct Framing {
    at: u64,
    /// The magic, a header, or what is kept of an event.
    buffer: Vec<u8>,
    event: Option<Event>,
    spare: Vec<u8>,
    has_magic: bool,
    has_checksums: bool,
    /// Where sound events ended.
    lost_at: Option<u64>,
}

/// An event that is being read.
#[derive(Debug)]
struct Event {
    at: u64,
    header: Header,
    left: usize,
    checksum: crc32fast::Hasher,
    /// The last bytes, which may be its checksum.
    tail: [u8; CHECKSUM_BYTES],
    is_cut: bool,
}

impl Framing {
    /// The next event or damage; `None` when more bytes are needed.
    pub fn next(&mut self, rest: &mut &[u8]) -> Option<Piece> {
        if !self.has_magic {
            self.fill(4, rest)?;
            self.buffer.clear();
            self.has_magic = true;
        }
        loop {
            if self.event.is_some() {
                return self.go_on(rest);
            }
            self.fill(HEADER_BYTES, rest)?;
            let begin = self.at - HEADER_BYTES as u64;
            let header = Header::of(&self.buffer);
            if header.is_sound(begin) {
                let lost_at = self.lost_at.take();
                self.begin(begin, header);
                if let Some(lost_at) = lost_at {
                    return Some(Piece::Damage(lost_at, "bytes that are no event"));
                }
            } else {
                self.lost_at.get_or_insert(begin);
                self.buffer.remove(0);
            }
        }
    }

    /// A buffer to be used again.
    pub fn give_back(&mut self, mut buffer: Vec<u8>) {
        buffer.clear();
        self.spare = buffer;
    }

    /// The file ended. Says where the event begins that it ended in.
    pub fn end(&mut self) -> Option<u64> {
        let unfinished = self.event.as_ref().map(|event| event.at);
        let partial = (!self.buffer.is_empty()).then(|| self.at - self.buffer.len() as u64);
        let found = self.lost_at.or(unfinished).or(partial);
        *self = Self::default();
        found
    }

    fn fill(&mut self, count: usize, rest: &mut &[u8]) -> Option<()> {
        let taken = (count - self.buffer.len().min(count)).min(rest.len());
        self.buffer.extend_from_slice(&rest[..taken]);
        *rest = &rest[taken..];
        self.at += taken as u64;
        (self.buffer.len() == count).then_some(())
    }

    fn begin(&mut self, at: u64, header: Header) {
        let mut checksum = crc32fast::Hasher::new();
        if header.kind == FORMAT_DESCRIPTION {
            self.buffer[17] &= !1; // the mark of a file in use is not part of the checksum
        }
        checksum.update(&self.buffer);
        self.buffer = std::mem::take(&mut self.spare);
        self.buffer.clear();
        self.event = Some(Event {
            at,
            header,
            left: header.length as usize - HEADER_BYTES,
            checksum,
            tail: [0; CHECKSUM_BYTES],
            is_cut: false,
        });
    }

    fn go_on(&mut self, rest: &mut &[u8]) -> Option<Piece> {
        let event = self.event.as_mut().expect("an event has begun");
        let taken = event.left.min(rest.len());
        let (bytes, behind) = rest.split_at(taken);
        *rest = behind;
        self.at += taken as u64;
        event.take(bytes, &mut self.buffer);
        if event.left > 0 {
            return None;
        }
        let event = self.event.take().expect("it is there");
        let mut body = std::mem::take(&mut self.buffer);
        if event.header.kind == FORMAT_DESCRIPTION {
            let kind = body.len().checked_sub(CHECKSUM_BYTES + 1).map(|place| body[place]);
            self.has_checksums = kind == Some(1);
        }
        if self.has_checksums {
            if event.checksum.finalize() != u32::from_le_bytes(event.tail) {
                return Some(Piece::Damage(event.at, "an event with a wrong checksum"));
            }
            if !event.is_cut {
                body.truncate(body.len() - CHECKSUM_BYTES.min(body.len()));
            }
        }
        Some(Piece::Event(Raw {
            at: event.at,
            kind: event.header.kind,
            second: event.header.second,
            body,
            is_cut: event.is_cut,
        }))
    }
}

impl Event {
    fn take(&mut self, bytes: &[u8], kept: &mut Vec<u8>) {
        let room = KEPT_BYTES_MAX - kept.len();
        self.is_cut |= bytes.len() > room;
        kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
        // all but the last four bytes count in the checksum, whether or not they are one
        let before = self.left.saturating_sub(CHECKSUM_BYTES).min(bytes.len());
        self.checksum.update(&bytes[..before]);
        for &byte in &bytes[before..] {
            self.tail.rotate_left(1);
            self.tail[CHECKSUM_BYTES - 1] = byte;
        }
        self.left -= bytes.len();
    }
}

impl Header {
    fn of(bytes: &[u8]) -> Self {
        let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        Self {
            second: number(0),
            kind: bytes[4],
            length: number(9),
            next: number(13),
            flags: u16::from_le_bytes([bytes[17], bytes[18]]),
        }
    }

    /// Whether an event can begin here: each says where it ends in its file.
    fn is_sound(self, at: u64) -> bool {
        let is_known = matches!(self.kind, 1..=50 | 160..=175) && self.flags < 0x1000;
        let is_there = (HEADER_BYTES as u32..=EVENT_BYTES_MAX).contains(&self.length);
        let ends_here = u64::from(self.next) == (at + u64::from(self.length)) & u64::from(u32::MAX);
        is_known && is_there && ends_here
    }
}
