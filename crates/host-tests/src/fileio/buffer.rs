//! Buffers that begin at a page, as direct access to a device wants them.

/// The begin of a buffer is a multiple of it, bytes.
const ALIGNMENT: usize = 4096;

/// So many zeros.
pub(super) struct Buffer {
    bytes: Vec<u8>,
    begin: usize,
    len: usize,
}

impl Buffer {
    /// A buffer of `len` bytes. It does not move.
    pub(super) fn new(len: usize) -> Self {
        let bytes = vec![0; len + ALIGNMENT];
        Self {
            begin: bytes.as_ptr().align_offset(ALIGNMENT),
            bytes,
            len,
        }
    }

    /// Its content.
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.begin..self.begin + self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_begins_at_a_page() {
        let mut buffer = Buffer::new(1_000);
        let bytes = buffer.bytes_mut();
        assert_eq!((bytes.len(), bytes.as_ptr().addr() % ALIGNMENT), (1_000, 0));
    }
}
