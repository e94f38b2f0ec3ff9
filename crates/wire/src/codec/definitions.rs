//! Column definitions of a prepared statement's result as the server last sent them. MariaDB leaves out those that have
//! not changed, from the first execution on.

use std::cell::RefCell;

use super::ProtocolError;

/// All definitions of one result together may have so many bytes: more than both servers' most columns with their longest
/// names.
const BYTES_MAX: usize = 8 * 1024 * 1024;

/// Payloads of definitions, in the order of the columns. Those that a server sends with each execution, as for calls of
/// procedures, go into the same memory again.
#[derive(Debug, Default)]
pub struct Definitions(RefCell<Payloads>);

#[derive(Debug, Default)]
struct Payloads {
    bytes: Vec<u8>,
    /// Where each ends in `bytes`.
    ends: Vec<u32>,
}

impl Definitions {
    /// Forgets them, since others follow.
    pub fn clear(&self) {
        let mut payloads = self.0.borrow_mut();
        payloads.bytes.clear();
        payloads.ends.clear();
    }

    /// Appends the next one.
    ///
    /// # Errors
    /// When all together are too large.
    pub fn push(&self, payload: &[u8]) -> Result<(), ProtocolError> {
        let mut payloads = self.0.borrow_mut();
        let size = payloads.bytes.len() + payload.len();
        if size > BYTES_MAX {
            return Err(ProtocolError::TooLarge {
                what: "the size of all column definitions",
                size: size as u64,
                limit: BYTES_MAX as u64,
            });
        }
        payloads.bytes.extend_from_slice(payload);
        payloads.ends.push(size as u32);
        Ok(())
    }

    /// Hands all of them over, which must be `count`.
    ///
    /// # Errors
    /// When there are more or fewer, and whatever `take` says.
    pub fn each(
        &self,
        count: u64,
        mut take: impl FnMut(&[u8]) -> Result<(), ProtocolError>,
    ) -> Result<(), ProtocolError> {
        let payloads = self.0.borrow();
        if payloads.ends.len() as u64 != count {
            return Err(ProtocolError::Invalid {
                what: "column definitions were left out that never came",
            });
        }
        let mut begin = 0;
        for end in &payloads.ends {
            let end = *end as usize;
            take(&payloads.bytes[begin..end])?;
            begin = end;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_handed_over_in_order_when_all_are_there() {
        let definitions = Definitions::default();
        definitions.push(b"old").unwrap();
        definitions.clear();
        definitions.push(b"a").unwrap();
        definitions.push(b"b").unwrap();
        let mut seen = Vec::new();
        let mut see = |payload: &[u8]| {
            seen.extend_from_slice(payload);
            Ok(())
        };
        definitions.each(2, &mut see).unwrap();
        assert!(definitions.each(1, &mut see).is_err() && definitions.each(3, &mut see).is_err());
        assert_eq!(seen, b"ab");
    }

    #[test]
    fn they_take_no_memory_without_bound() {
        let definitions = Definitions::default();
        let large = vec![7; 100_000];
        let pushed = (0..1000).take_while(|_| definitions.push(&large).is_ok()).count();
        assert_eq!(pushed, BYTES_MAX / large.len());
    }
}
