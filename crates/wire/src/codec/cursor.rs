//! Reads the protocol's basic fields from a slice, and writes the few that a client sends.
//!
//! Deliberately not here: any meaning of the fields.

use super::ProtocolError;

/// A position in a packet's payload. Each method takes its field off the front.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    /// Starts at the front of a payload.
    pub fn new(payload: &'a [u8]) -> Self {
        Self { rest: payload }
    }

    /// What has not been read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next `count` bytes.
    ///
    /// # Errors
    /// When fewer are left; the same for all fields below.
    pub fn bytes(&mut self, count: usize, what: &'static str) -> Result<&'a [u8], ProtocolError> {
        let (field, rest) = self
            .rest
            .split_at_checked(count)
            .ok_or(ProtocolError::Truncated { what })?;
        self.rest = rest;
        Ok(field)
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], ProtocolError> {
        let (field, rest) = self
            .rest
            .split_first_chunk::<N>()
            .ok_or(ProtocolError::Truncated { what })?;
        self.rest = rest;
        Ok(*field)
    }

    /// One byte.
    ///
    /// # Errors
    /// When none is left.
    pub fn u8(&mut self, what: &'static str) -> Result<u8, ProtocolError> {
        Ok(self.array::<1>(what)?[0])
    }

    /// Two bytes, little-endian.
    ///
    /// # Errors
    /// When fewer are left.
    pub fn u16(&mut self, what: &'static str) -> Result<u16, ProtocolError> {
        Ok(u16::from_le_bytes(self.array(what)?))
    }

    /// Four bytes, little-endian.
    ///
    /// # Errors
    /// When fewer are left.
    pub fn u32(&mut self, what: &'static str) -> Result<u32, ProtocolError> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    /// A length-encoded integer: 1, 3, 4 or 9 bytes.
    ///
    /// # Errors
    /// When it is cut short or starts with 0xFB (NULL) or 0xFF, which are not integers.
    pub fn lenenc(&mut self, what: &'static str) -> Result<u64, ProtocolError> {
        match self.u8(what)? {
            small @ 0..=0xFA => Ok(u64::from(small)),
            0xFC => Ok(u64::from(self.u16(what)?)),
            0xFD => {
                let [a, b, c] = self.array(what)?;
                Ok(u64::from(u32::from_le_bytes([a, b, c, 0])))
            }
            0xFE => Ok(u64::from_le_bytes(self.array(what)?)),
            byte => Err(ProtocolError::Unexpected { what, byte }),
        }
    }

    /// A string with its length-encoded length in front.
    ///
    /// # Errors
    /// When the length is more than what is left.
    pub fn lenenc_bytes(&mut self, what: &'static str) -> Result<&'a [u8], ProtocolError> {
        let length = self.lenenc(what)?;
        let length = usize::try_from(length).map_err(|_| ProtocolError::Truncated { what })?;
        self.bytes(length, what)
    }

    /// A string that ends with a zero byte, which is taken off too.
    ///
    /// # Errors
    /// When there is no zero byte.
    pub fn nul_bytes(&mut self, what: &'static str) -> Result<&'a [u8], ProtocolError> {
        let end = self
            .rest
            .iter()
            .position(|&b| b == 0)
            .ok_or(ProtocolError::Truncated { what })?;
        let field = &self.rest[..end];
        self.rest = &self.rest[end + 1..];
        Ok(field)
    }
}

/// Appends a length-encoded integer in its shortest form.
#[inline]
pub fn put_lenenc(out: &mut Vec<u8>, value: u64) {
    let bytes = value.to_le_bytes();
    match value {
        0..=0xFA => out.push(bytes[0]),
        0xFB..=0xFFFF => {
            out.push(0xFC);
            out.extend_from_slice(&bytes[..2]);
        }
        0x1_0000..=0xFF_FFFF => {
            out.push(0xFD);
            out.extend_from_slice(&bytes[..3]);
        }
        _ => {
            out.push(0xFE);
            out.extend_from_slice(&bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expect: &Result<u64, ProtocolError>) {
        assert_eq!(Cursor::new(bytes).lenenc("n"), *expect, "{bytes:02x?}");
    }

    #[test]
    fn lenenc_integers_have_four_sizes() {
        check(&[0xFA], &Ok(250));
        check(&[0xFC, 0xFB, 0x00], &Ok(251));
        check(&[0xFD, 0x00, 0x00, 0x01], &Ok(0x1_0000));
        check(&[0xFE, 1, 0, 0, 0, 0, 0, 0, 0x80], &Ok(0x8000_0000_0000_0001));
        check(&[], &Err(ProtocolError::Truncated { what: "n" }));
        check(&[0xFC, 1], &Err(ProtocolError::Truncated { what: "n" }));
        check(&[0xFB], &Err(ProtocolError::Unexpected { what: "n", byte: 0xFB }));
        check(&[0xFF], &Err(ProtocolError::Unexpected { what: "n", byte: 0xFF }));
    }

    #[test]
    fn strings_longer_than_the_packet_are_errors() {
        let huge = [0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, b'x'];
        assert_eq!(
            Cursor::new(&huge).lenenc_bytes("name"),
            Err(ProtocolError::Truncated { what: "name" })
        );
        assert_eq!(
            Cursor::new(b"abc").nul_bytes("name"),
            Err(ProtocolError::Truncated { what: "name" })
        );
        assert_eq!(Cursor::new(b"\x03abcd").lenenc_bytes("name"), Ok(&b"abc"[..]));
    }
}
