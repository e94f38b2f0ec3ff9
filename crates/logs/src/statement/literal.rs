//! Literals of a statement: where they stand and what they are.

use crate::hash::hash64;

/// What a literal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number that fits into 128 bits with its sign.
    Int,
    /// Any other number.
    Decimal,
    /// Text or bytes.
    Text,
    /// A date, with or without a time, as text.
    Date,
    /// No value.
    Null,
    /// How many items an IN list has; they follow with the same slot.
    List,
    /// How many rows an INSERT has; their values follow with the same slot, row by row.
    Rows,
}

impl Kind {
    /// As it is written to files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Int => "int",
            Self::Decimal => "decimal",
            Self::Text => "text",
            Self::Date => "date",
            Self::Null => "null",
            Self::List => "list",
            Self::Rows => "rows",
        }
    }
}

/// One literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Literal {
    /// Which `?` or `(...)` of the template it stands for, from 0.
    pub slot: u32,
    /// What it is.
    pub kind: Kind,
    /// Numbers: a minus before them.
    pub is_negative: bool,
    /// Numbers and dates: where they stand in the text.
    pub from: u32,
    /// Numbers and dates: where they end. For `Rows`, the values in each row, 0 if rows differ.
    pub to: u32,
    /// Text: a hash of its bytes. `List` and `Rows`: how many.
    pub value: u64,
    /// Text: its bytes.
    pub length: u32,
}

impl Literal {
    /// One that is no number and no text.
    pub fn plain(slot: u32, kind: Kind) -> Self {
        Self {
            slot,
            kind,
            is_negative: false,
            from: 0,
            to: 0,
            value: 0,
            length: 0,
        }
    }
}

/// A number of decimal digits.
pub fn of_digits(digits: &[u8], is_negative: bool) -> Kind {
    // 39 digits are the most that 128 bits hold; nearly all numbers are far from that.
    let fits = digits.len() <= 38 || {
        let text = std::str::from_utf8(digits).unwrap_or_default();
        format!("{}{text}", if is_negative { "-" } else { "" })
            .parse::<i128>()
            .is_ok()
    };
    if fits { Kind::Int } else { Kind::Decimal }
}

/// What stands between quotes, with what it means in place of escapes. `None` when nothing is escaped.
pub fn unescaped(inside: &[u8], quote: u8) -> Option<Vec<u8>> {
    memchr::memchr2(b'\\', quote, inside)?;
    let mut bytes = Vec::with_capacity(inside.len());
    let mut rest = inside.iter();
    while let Some(&byte) = rest.next() {
        if byte == quote {
            rest.next(); // the second of two
        }
        let meant = match byte {
            b'\\' => match rest.next() {
                Some(b'n') => b'\n',
                Some(b't') => b'\t',
                Some(b'r') => b'\r',
                Some(b'0') => 0,
                Some(b'b') => 8,
                Some(b'Z') => 26,
                Some(&other) => other,
                None => b'\\',
            },
            other => other,
        };
        bytes.push(meant);
    }
    Some(bytes)
}

/// Bytes that are written as hexadecimal digits; of an odd number, the first has one digit.
pub fn of_hex(digits: &[u8]) -> (u64, u32) {
    let value = |digit: u8| (digit as char).to_digit(16).unwrap_or(0) as u8;
    let (first, rest) = digits.split_at(digits.len() % 2);
    let mut bytes: Vec<u8> = first.iter().map(|&digit| value(digit)).collect();
    bytes.extend(rest.chunks(2).map(|pair| value(pair[0]) << 4 | value(pair[1])));
    (hash64(&bytes), bytes.len() as u32)
}

/// Whether a text is a date such as `2026-11-23` or `2026-11-23 10:00:00.5`.
pub fn is_date(text: &[u8]) -> bool {
    const SHAPE: &[u8] = b"0000-00-00 00:00:00.000000";
    let fits = |(byte, shape): (&u8, &u8)| match shape {
        b'0' => byte.is_ascii_digit(),
        b' ' => matches!(byte, b' ' | b'T'),
        other => byte == other,
    };
    matches!(text.len(), 10 | 19 | 21..=26) && text.iter().zip(SHAPE).all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_what_servers_make_of_them() {
        assert_eq!(unescaped(b"it''s", b'\''), Some(b"it's".to_vec()));
        assert_eq!(unescaped(b"it\\'s\\n\\%", b'\''), Some(b"it's\n%".to_vec()));
        assert_eq!(unescaped(b"plain", b'\''), None);
        assert_eq!(of_hex(b"616"), (hash64(&[6, 0x16]), 2));
    }

    #[test]
    fn dates_have_their_shape() {
        assert!(is_date(b"2026-11-23") && is_date(b"2026-11-23 10:00:00") && is_date(b"2026-11-23T10:00:00.25"));
        assert!(!is_date(b"2026-11-2") && !is_date(b"2026-11-23 10:00") && !is_date(b"20261123 x"));
    }

    #[test]
    fn numbers_beyond_128_bits_are_decimal() {
        let most = i128::MAX.to_string();
        assert_eq!(of_digits(most.as_bytes(), false), Kind::Int);
        assert_eq!(of_digits(&i128::MIN.to_string().as_bytes()[1..], true), Kind::Int);
        assert_eq!(of_digits(&i128::MIN.to_string().as_bytes()[1..], false), Kind::Decimal);
    }
}
