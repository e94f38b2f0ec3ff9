//! One row as bytes: a line of LOAD DATA, a tuple of INSERT, or the content by which rows are compared.
//!
//! Deliberately not here: which values it has.

use crate::text::push_number;

/// How a row is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A line of LOAD DATA in [`LINE_FORMAT`].
    Line,
    /// A row of INSERT, with a comma after it.
    Tuple,
    /// What is compared: the values with a comma before each.
    Content,
}

/// Separators of [`Style::Line`], as LOAD DATA has them: tabs, backslashes before what would be misunderstood, ends of lines.
pub const LINE_FORMAT: &str = "FIELDS TERMINATED BY X'09' ESCAPED BY X'5C' LINES TERMINATED BY X'0A'";

/// Stands for NULL in [`Style::Content`]: no value is this byte.
pub const NULL_CONTENT: u8 = 0;

/// One row as it is written, or several.
pub struct RowWriter<'a> {
    style: Style,
    is_first: bool,
    out: &'a mut Vec<u8>,
}

impl<'a> RowWriter<'a> {
    /// Rows that are appended to `out`.
    #[inline]
    pub fn new(style: Style, out: &'a mut Vec<u8>) -> Self {
        Self {
            style,
            is_first: style != Style::Content,
            out,
        }
    }

    /// Begins a row. Without it, values are written with nothing around them.
    #[inline]
    pub fn begin(&mut self) {
        if self.style == Style::Tuple {
            self.out.push(b'(');
        }
        self.is_first = self.style != Style::Content;
    }

    /// Ends it.
    #[inline]
    pub fn end(&mut self) {
        match self.style {
            Style::Line => self.out.push(b'\n'),
            Style::Tuple => self.out.extend_from_slice(b"),"),
            Style::Content => {}
        }
    }

    #[inline]
    fn separate(&mut self) {
        if !std::mem::take(&mut self.is_first) {
            self.out.push(if self.style == Style::Line { b'\t' } else { b',' });
        }
    }

    /// A number, which `push` appends.
    #[inline]
    pub fn number_by(&mut self, push: impl FnOnce(&mut Vec<u8>)) {
        self.separate();
        push(self.out);
    }

    /// A whole number.
    #[inline]
    pub fn number(&mut self, number: u64) {
        self.number_by(|out| push_number(number, out));
    }

    /// NULL.
    pub fn null(&mut self) {
        self.separate();
        match self.style {
            Style::Line => self.out.extend_from_slice(b"\\N"),
            Style::Tuple => self.out.extend_from_slice(b"NULL"),
            Style::Content => self.out.push(NULL_CONTENT),
        }
    }

    /// A text that `push` appends, without anything in it that a server would take for something else: quotes, backslashes,
    /// control characters.
    #[inline]
    pub fn text_by(&mut self, push: impl FnOnce(&mut Vec<u8>)) {
        self.separate();
        if self.style == Style::Tuple {
            self.out.push(b'\'');
            push(self.out);
            self.out.push(b'\'');
        } else {
            push(self.out);
        }
    }

    /// Any bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.separate();
        match self.style {
            Style::Line => bytes.iter().for_each(|byte| push_escaped(*byte, self.out)),
            Style::Tuple => push_literal(bytes, self.out),
            Style::Content => self.out.extend_from_slice(bytes),
        }
    }
}

fn push_escaped(byte: u8, out: &mut Vec<u8>) {
    let escaped = match byte {
        b'\\' => b'\\',
        b'\t' => b't',
        b'\n' => b'n',
        0 => b'0',
        _ => return out.push(byte),
    };
    out.extend_from_slice(&[b'\\', escaped]);
}

/// In hexadecimal where a backslash or a control character could mean something else under some `sql_mode`.
fn push_literal(bytes: &[u8], out: &mut Vec<u8>) {
    if bytes.iter().any(|byte| *byte == b'\\' || *byte < b' ') {
        const DIGITS: &[u8] = b"0123456789ABCDEF";
        out.extend_from_slice(b"X'");
        for byte in bytes {
            out.extend_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
        }
    } else {
        out.push(b'\'');
        for byte in bytes {
            if *byte == b'\'' {
                out.push(b'\'');
            }
            out.push(*byte);
        }
    }
    out.push(b'\'');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(style: Style) -> String {
        let mut out = Vec::new();
        let mut row = RowWriter::new(style, &mut out);
        row.begin();
        row.number(7);
        row.text_by(|out| out.extend_from_slice(b"plain"));
        row.null();
        row.bytes(b"it's");
        row.bytes(b"a\tb\\");
        row.end();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_row_is_the_same_in_each_style_whatever_is_in_it() {
        assert_eq!(row(Style::Line), "7\tplain\t\\N\tit's\ta\\tb\\\\\n");
        assert_eq!(row(Style::Tuple), "(7,'plain',NULL,'it''s',X'6109625C'),");
        assert_eq!(row(Style::Content), ",7,plain,\0,it's,a\tb\\");
    }

    #[test]
    fn rows_follow_each_other() {
        let mut out = Vec::new();
        let mut rows = RowWriter::new(Style::Tuple, &mut out);
        for number in [1, 2] {
            rows.begin();
            rows.number(number);
            rows.end();
        }
        assert_eq!(out, b"(1),(2),");
    }
}
