//! Bytes in pieces of any size become lines of bounded length.

use memchr::memchr;

/// What is kept of a line at most, bytes. Longer ones are cut.
pub const LINE_BYTES_MAX: usize = 1 << 20;

/// A line of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// From 1.
    pub number: u64,
    /// Without the line feed.
    pub bytes: &'a [u8],
    /// More of it was left out.
    pub is_cut: bool,
    /// It ended with a line feed, not with the file.
    pub is_ended: bool,
}

/// Puts lines together that come in pieces.
#[derive(Debug, Default)]
pub struct Lines {
    partial: Vec<u8>,
    is_cut: bool,
    has_begun: bool,
    count: u64,
}

impl Lines {
    /// Calls `each` for all lines that end in these bytes.
    pub fn feed(&mut self, bytes: &[u8], each: &mut impl FnMut(Line<'_>)) {
        let mut rest = bytes;
        while let Some(end) = memchr(b'\n', rest) {
            let line = &rest[..end];
            rest = &rest[end + 1..];
            self.count += 1;
            if self.has_begun || line.len() > LINE_BYTES_MAX {
                self.keep(line);
                self.give(true, each);
            } else {
                each(Line {
                    number: self.count,
                    bytes: line,
                    is_cut: false,
                    is_ended: true,
                });
            }
        }
        if !rest.is_empty() {
            self.keep(rest);
        }
    }

    /// The input ended: calls `each` for a line without a line feed, if there is one, and begins again with line 1.
    pub fn end(&mut self, each: &mut impl FnMut(Line<'_>)) {
        if self.has_begun {
            self.count += 1;
            self.give(false, each);
        }
        self.count = 0;
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.has_begun = true;
        let room = LINE_BYTES_MAX - self.partial.len();
        self.is_cut |= bytes.len() > room;
        self.partial.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn give(&mut self, is_ended: bool, each: &mut impl FnMut(Line<'_>)) {
        each(Line {
            number: self.count,
            bytes: &self.partial,
            is_cut: self.is_cut,
            is_ended,
        });
        self.partial.clear();
        (self.is_cut, self.has_begun) = (false, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pieces: &[&[u8]]) -> Vec<(u64, Vec<u8>, bool, bool)> {
        let mut found = Vec::new();
        let mut each = |line: Line<'_>| found.push((line.number, line.bytes.to_vec(), line.is_cut, line.is_ended));
        let mut lines = Lines::default();
        for piece in pieces {
            lines.feed(piece, &mut each);
        }
        lines.end(&mut each);
        found
    }

    #[test]
    fn pieces_make_no_difference() {
        let text = b"one\n\ntwo three\nfour";
        let whole = lines(&[text]);
        assert_eq!(whole.len(), 4);
        assert_eq!(whole[3], (4, b"four".to_vec(), false, false));
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(lines(&bytes), whole);
        assert_eq!(lines(&[b"a\n", b"", b"\n"]).len(), 2);
    }

    #[test]
    fn a_line_without_end_is_cut() {
        let long = vec![b'x'; LINE_BYTES_MAX + 1];
        let found = lines(&[&long, &long, b"\nnext\n"]);
        assert_eq!((found[0].1.len(), found[0].2), (LINE_BYTES_MAX, true));
        assert_eq!(found[1], (2, b"next".to_vec(), false, true));
    }
}
