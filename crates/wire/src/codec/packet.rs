//! Packets on the stream: four bytes of header (length, sequence number), then the payload. A payload of 2^24-1 bytes
//! goes on in the next packet.
//!
//! [`Skipper`] walks over whole packets without looking inside, which is how rows are counted: it needs only what has
//! arrived so far, never a whole packet.

use super::ProtocolError;

/// Bytes of a packet's header.
pub const HEADER_BYTES: usize = 4;

/// A packet of this length is continued by the next one.
pub const PACKET_BYTES_MAX: usize = 0xFF_FFFF;

/// A packet's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Bytes of payload in this packet.
    pub length: usize,
    /// Its number within the exchange, modulo 256.
    pub sequence: u8,
}

impl Header {
    /// Reads a header.
    #[inline]
    pub fn decode(bytes: [u8; HEADER_BYTES]) -> Self {
        let [a, b, c, sequence] = bytes;
        Self {
            length: u32::from_le_bytes([a, b, c, 0]) as usize,
            sequence,
        }
    }

    /// Its bytes.
    ///
    /// # Panics
    /// When `length` does not fit in a packet, which is the caller's mistake.
    #[inline]
    pub fn encode(self) -> [u8; HEADER_BYTES] {
        assert!(self.length <= PACKET_BYTES_MAX);
        let length = (self.length as u32).to_le_bytes();
        [length[0], length[1], length[2], self.sequence]
    }

    /// Fails unless the packet has the number that is due.
    ///
    /// # Errors
    /// When it has not.
    #[inline]
    pub fn expect_sequence(self, expected: u8) -> Result<(), ProtocolError> {
        if self.sequence == expected {
            Ok(())
        } else {
            Err(ProtocolError::Sequence {
                expected,
                got: self.sequence,
            })
        }
    }
}

/// Which packets a [`Skipper`] walks over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipUntil {
    /// Column definitions: so many packets.
    Count(u64),
    /// Rows: up to the packet that ends them.
    RowsEnd,
}

/// Where a [`Skipper`] stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skipped {
    /// All given bytes up to `consumed` are used; more must arrive.
    NeedMore,
    /// The packet that ends the walk begins at `consumed`, or the walk is over there.
    Done,
}

/// Walks over packets in whatever pieces they arrive.
#[derive(Clone, Debug)]
pub struct Skipper {
    until: SkipUntil,
    /// Number due for the next packet.
    sequence: u8,
    /// Packets seen, continued ones counted once.
    packets: u64,
    /// Payload bytes of the current packet still to come.
    left: usize,
    /// The current packet is full, so the next one continues it.
    continued: bool,
}

impl Skipper {
    /// Starts before a packet with the given number.
    pub fn new(until: SkipUntil, sequence: u8) -> Self {
        Self {
            until,
            sequence,
            packets: 0,
            left: 0,
            continued: false,
        }
    }

    /// Packets walked over so far.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Number due for the packet after the last one walked over.
    pub fn sequence(&self) -> u8 {
        self.sequence
    }

    /// Walks on over `bytes`, which begin where the last call stopped. Returns how many were used and whether the walk is over.
    ///
    /// # Errors
    /// Packets out of order, or an empty packet where a column definition or row should be. An end or error packet ends
    /// the walk, also of columns that are not all there: compare [`Self::packets`].
    pub fn advance(&mut self, bytes: &[u8]) -> Result<(usize, Skipped), ProtocolError> {
        let mut at = 0;
        loop {
            let step = self.left.min(bytes.len() - at);
            at += step;
            self.left -= step;
            if self.left > 0 {
                return Ok((at, Skipped::NeedMore));
            }
            if !self.continued && self.until == SkipUntil::Count(self.packets) {
                return Ok((at, Skipped::Done));
            }
            let Some(head) = bytes[at..].first_chunk::<HEADER_BYTES>() else {
                return Ok((at, Skipped::NeedMore));
            };
            let header = Header::decode(*head);
            if !self.continued {
                // The first payload byte decides, so it must have arrived; an empty packet cannot be a row.
                match bytes[at..].get(HEADER_BYTES) {
                    _ if header.length == 0 => return Err(ProtocolError::Invalid { what: "a row is empty" }),
                    None => return Ok((at, Skipped::NeedMore)),
                    Some(&first) if ends_rows(first, header.length) => return Ok((at, Skipped::Done)),
                    Some(_) => self.packets += 1,
                }
            }
            header.expect_sequence(self.sequence)?;
            self.sequence = self.sequence.wrapping_add(1);
            self.continued = header.length == PACKET_BYTES_MAX;
            self.left = header.length;
            at += HEADER_BYTES;
        }
    }
}

/// Whether a packet is an end of rows or an error. A row may begin with 0xFE too, as the length of its first value, but then it
/// has at least 2^24 bytes and so a full packet; no row begins with 0xFF.
#[inline]
pub fn ends_rows(first: u8, length: usize) -> bool {
    first == 0xFF || (first == 0xFE && length < PACKET_BYTES_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
        let mut bytes = Header {
            length: payload.len(),
            sequence,
        }
        .encode()
        .to_vec();
        bytes.extend_from_slice(payload);
        bytes
    }

    fn walk(until: SkipUntil, stream: &[u8], piece: usize) -> Result<(u64, usize), ProtocolError> {
        let mut skipper = Skipper::new(until, 0);
        let (mut at, mut arrived) = (0, 0);
        loop {
            let (used, state) = skipper.advance(&stream[at..arrived])?;
            at += used;
            if state == Skipped::Done {
                return Ok((skipper.packets(), at));
            }
            assert!(arrived < stream.len(), "walk does not end");
            arrived = (arrived + piece).min(stream.len());
        }
    }

    #[test]
    fn rows_are_counted_in_pieces_of_any_size() {
        let mut stream = Vec::new();
        for sequence in 0..100 {
            stream.extend(packet(sequence, &vec![0; usize::from(sequence) + 1]));
        }
        let end = stream.len();
        stream.extend(packet(100, &[0xFE, 0, 0, 2, 0]));
        for piece in [1, 2, 3, 5, 7, 64, stream.len()] {
            assert_eq!(
                walk(SkipUntil::RowsEnd, &stream, piece),
                Ok((100, end)),
                "pieces of {piece}"
            );
        }
    }

    #[test]
    fn a_row_over_several_packets_is_one_row() {
        let mut stream = packet(0, &vec![0xFE; PACKET_BYTES_MAX]);
        stream.extend(packet(1, &[0xFE, 1, 2]));
        stream.extend(packet(2, &vec![1; PACKET_BYTES_MAX]));
        stream.extend(packet(3, &[]));
        let end = stream.len();
        stream.extend(packet(4, &[0xFE, 0, 0, 2, 0]));
        assert_eq!(walk(SkipUntil::RowsEnd, &stream, 1 << 20), Ok((2, end)));
    }

    #[test]
    fn columns_are_counted() {
        let mut stream = packet(0, b"\x03def");
        stream.extend(packet(1, b"\x03def"));
        let end = stream.len();
        stream.extend(packet(2, b"\x03def"));
        assert_eq!(walk(SkipUntil::Count(2), &stream, 3), Ok((2, end)));
        assert_eq!(walk(SkipUntil::Count(0), &stream, 3), Ok((0, 0)));
    }

    #[test]
    fn disorder_is_an_error() {
        let mut stream = packet(0, &[0, 1]);
        stream.extend(packet(2, &[0, 1]));
        assert_eq!(
            walk(SkipUntil::RowsEnd, &stream, 100),
            Err(ProtocolError::Sequence { expected: 1, got: 2 })
        );
        assert_eq!(
            walk(SkipUntil::RowsEnd, &packet(0, &[]), 1),
            Err(ProtocolError::Invalid { what: "a row is empty" })
        );
    }
}
