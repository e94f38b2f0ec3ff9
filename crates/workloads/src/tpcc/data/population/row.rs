//! One row as bytes: a line of LOAD DATA or a tuple of INSERT.
//!
//! Deliberately not here: which values it has.

use plimsoll_core::random::Random;

use crate::text::push_number;
use crate::tpcc::random::{push_alphanumeric, push_digits, push_letters, within};

/// How a row is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A line of LOAD DATA in [`LINE_FORMAT`].
    Line,
    /// A row of INSERT, with a comma after it.
    Tuple,
}

/// Separators of [`Style::Line`], as LOAD DATA has them. Nothing in the rows is a comma or an exclamation mark.
pub const LINE_FORMAT: &str = "CHARACTER SET latin1 FIELDS TERMINATED BY ',' ESCAPED BY '!' LINES TERMINATED BY '\\n'";

/// One row as it is written.
pub struct Row<'a> {
    style: Style,
    is_first: bool,
    out: &'a mut Vec<u8>,
}

impl<'a> Row<'a> {
    /// A row that is appended to `out`.
    pub fn new(style: Style, out: &'a mut Vec<u8>) -> Self {
        Self {
            style,
            is_first: true,
            out,
        }
    }

    /// Begins it, or the next one.
    pub fn begin(&mut self) {
        if self.style == Style::Tuple {
            self.out.push(b'(');
        }
        self.is_first = true;
    }

    /// Ends it.
    pub fn end(&mut self) {
        let after: &[u8] = if self.style == Style::Tuple { b")," } else { b"\n" };
        self.out.extend_from_slice(after);
    }

    fn separate(&mut self) {
        if !std::mem::take(&mut self.is_first) {
            self.out.push(b',');
        }
    }

    /// A whole number.
    pub fn number(&mut self, number: u32) {
        self.separate();
        push_number(u64::from(number), self.out);
    }

    /// Several of them.
    pub fn numbers(&mut self, numbers: &[u32]) {
        for number in numbers {
            self.number(*number);
        }
    }

    /// A number with two digits behind the point.
    pub fn hundredths(&mut self, number: u32) {
        self.number(number / 100);
        let rest = (number % 100) as u8;
        self.out.extend_from_slice(&[b'.', b'0' + rest / 10, b'0' + rest % 10]);
    }

    /// A number below one with four digits behind the point.
    pub fn ten_thousandths(&mut self, number: u32) {
        self.separate();
        self.out.extend_from_slice(b"0.");
        let digit = |power: u32| b'0' + (number / power % 10) as u8;
        self.out
            .extend_from_slice(&[digit(1_000), digit(100), digit(10), digit(1)]);
    }

    /// NULL.
    pub fn null(&mut self) {
        let null: &[u8] = if self.style == Style::Tuple { b"NULL" } else { b"!N" };
        self.separate();
        self.out.extend_from_slice(null);
    }

    /// A text that `push` appends.
    pub fn text(&mut self, push: impl FnOnce(&mut Vec<u8>)) {
        self.separate();
        if self.style == Style::Line {
            return push(self.out);
        }
        self.out.push(b'\'');
        push(self.out);
        self.out.push(b'\'');
    }

    /// An alphanumeric string of a length that is drawn too.
    pub fn drawn(&mut self, random: &mut Random, shortest: u32, longest: u32) {
        let length = if shortest == longest {
            shortest
        } else {
            within(random, shortest, longest)
        };
        self.text(|out| push_alphanumeric(random, length as usize, out));
    }

    /// Two streets, city, state and zip code.
    pub fn address(&mut self, random: &mut Random) {
        for _ in 0..3 {
            self.drawn(random, 10, 20);
        }
        self.text(|out| push_letters(random, 2, out));
        self.text(|out| {
            push_digits(random, 4, out);
            out.extend_from_slice(b"11111");
        });
    }
}
