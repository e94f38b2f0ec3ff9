//! Rows of CSV: fields between commas, quoted where they must be, in UTF-8.

use std::io::{self, Write};

/// Rows are handed on in pieces of so many bytes.
const PIECE_BYTES: usize = 1 << 18;

/// A table that grows by rows.
#[derive(Debug)]
pub struct Csv<W> {
    writer: W,
    rows: Vec<u8>,
}

impl<W: Write> Csv<W> {
    /// With a line for the names of columns.
    pub fn new(writer: W, columns: &str) -> Self {
        let rows = format!("{columns}\n").into_bytes();
        Self { writer, rows }
    }

    /// A whole number, and what separates it from the next.
    pub fn number(&mut self, number: u64, after: u8) {
        push_number(&mut self.rows, number);
        self.rows.push(after);
    }

    /// A whole number, or nothing.
    pub fn optional(&mut self, number: Option<u64>, after: u8) {
        if let Some(number) = number {
            push_number(&mut self.rows, number);
        }
        self.rows.push(after);
    }

    /// A time, which may lie before 1970.
    pub fn time(&mut self, us: Option<i64>, after: u8) {
        if us.is_some_and(|us| us < 0) {
            self.rows.push(b'-');
        }
        self.optional(us.map(i64::unsigned_abs), after);
    }

    /// Bytes that need no quotes.
    pub fn plain(&mut self, text: &[u8], after: u8) {
        self.rows.extend_from_slice(text);
        self.rows.push(after);
    }

    /// A hash, in 16 digits.
    pub fn hash(&mut self, hash: u64, after: u8) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digit = |place: u32| DIGITS[(hash >> (60 - 4 * place) & 15) as usize];
        self.rows.extend((0..16).map(digit));
        self.rows.push(after);
    }

    /// Any bytes. What is no UTF-8 and what controls terminals becomes U+FFFD.
    pub fn text(&mut self, text: &[u8], after: u8) {
        self.rows.push(b'"');
        for char in String::from_utf8_lossy(text).chars() {
            let shown = if char.is_control() {
                char::REPLACEMENT_CHARACTER
            } else {
                char
            };
            self.rows.extend_from_slice(shown.encode_utf8(&mut [0; 4]).as_bytes());
            if char == '"' {
                self.rows.push(b'"');
            }
        }
        self.rows.extend_from_slice(&[b'"', after]);
    }

    /// Hands rows on when there are many.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn hand_on(&mut self) -> io::Result<()> {
        if self.rows.len() < PIECE_BYTES {
            Ok(())
        } else {
            self.end()
        }
    }

    /// Hands all rows on.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn end(&mut self) -> io::Result<()> {
        self.writer.write_all(&self.rows)?;
        self.rows.clear();
        self.writer.flush()
    }
}

fn push_number(rows: &mut Vec<u8>, mut number: u64) {
    if number < 10 {
        return rows.push(b'0' + number as u8);
    }
    let mut digits = [0_u8; 20];
    let mut at = digits.len();
    while number >= 100 {
        let pair = (number % 100) as u8;
        number /= 100;
        at -= 2;
        (digits[at], digits[at + 1]) = (b'0' + pair / 10, b'0' + pair % 10);
    }
    if number >= 10 {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    at -= 1;
    digits[at] = b'0' + number as u8;
    rows.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_written_as_they_are_read() {
        let mut out = Vec::new();
        let mut csv = Csv::new(&mut out, "a,b");
        csv.number(0, b',');
        csv.number(u64::MAX, b'\n');
        for number in [9, 10, 99, 100, 1009] {
            csv.number(number, b'\n');
        }
        csv.time(Some(-5), b',');
        csv.optional(None, b'\n');
        csv.hash(0xAB, b',');
        csv.text(b"say \"x\"\xFF\n,", b'\n');
        csv.end().unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(
            text,
            "a,b\n0,18446744073709551615\n9\n10\n99\n100\n1009\n-5,\n00000000000000ab,\"say \"\"x\"\"\u{FFFD}\u{FFFD},\"\n"
        );
    }
}
