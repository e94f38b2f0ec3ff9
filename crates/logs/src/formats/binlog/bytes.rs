//! Numbers and parts out of the bytes of an event, each only if it is there.

/// What is left of an event.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    /// All of it.
    pub fn of(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The next so many bytes.
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// Leaves so many out.
    pub fn skip(&mut self, count: usize) -> Option<()> {
        self.take(count).map(|_| ())
    }

    /// The next byte.
    pub fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|taken| taken[0])
    }

    /// A number of up to eight bytes, the lowest first.
    pub fn number(&mut self, bytes: usize) -> Option<u64> {
        let taken = self.take(bytes)?;
        Some(
            taken
                .iter()
                .rev()
                .fold(0, |number, &byte| number << 8 | u64::from(byte)),
        )
    }

    /// A number whose length its first byte says.
    pub fn packed(&mut self) -> Option<usize> {
        let number = match self.byte()? {
            252 => self.number(2)?,
            253 => self.number(3)?,
            254 => self.number(8)?,
            251 | 255 => return None,
            small => small.into(),
        };
        usize::try_from(number).ok()
    }

    /// All that is left.
    pub fn rest(&self) -> &'a [u8] {
        self.0
    }
}
