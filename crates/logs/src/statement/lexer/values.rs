//! Values: numbers, texts, bytes.

use memchr::memchr2;

use super::{Last, Lexer, is_word, word_end};
use crate::hash::{both, hash64};
use crate::statement::literal::{Kind, Literal, is_date, of_digits, of_hex, unescaped};

impl Lexer {
    /// A number, a name that begins with digits, or bytes in hexadecimal digits.
    pub(super) fn number(&mut self, text: &[u8], at: usize, is_negative: bool) -> usize {
        let digits = |from: usize| text[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if self.last == Last::Joint {
            let end = word_end(text, at);
            self.name(&text[at..end]);
            return end;
        }
        let mut end = at + digits(at);
        let mut is_whole = true;
        if text.get(end) == Some(&b'.') {
            is_whole = false;
            end += 1 + digits(end + 1);
        }
        if let Some(b'e' | b'E') = text.get(end) {
            let sign = usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
            let exponent = digits(end + 1 + sign);
            if exponent > 0 && word_end(text, end + 1 + sign) == end + 1 + sign + exponent {
                is_whole = false;
                end += 1 + sign + exponent;
            }
        }
        if is_whole && text.get(end).is_some_and(|&byte| is_word(byte)) {
            return self.digits_and_letters(text, at);
        }
        let kind = if is_whole {
            of_digits(&text[at..end], is_negative)
        } else {
            Kind::Decimal
        };
        let (from, to) = (at as u32, end as u32);
        self.literal(
            Literal {
                is_negative,
                from,
                to,
                ..Literal::plain(0, kind)
            },
            Last::Literal,
        );
        end
    }

    pub(super) fn digits_and_letters(&mut self, text: &[u8], at: usize) -> usize {
        let end = word_end(text, at);
        match &text[at..end] {
            [b'0', b'x', digits @ ..] if !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit) => {
                let (value, length) = of_hex(digits);
                self.literal(
                    Literal {
                        value,
                        length,
                        ..Literal::plain(0, Kind::Text)
                    },
                    Last::Literal,
                );
            }
            [b'0', b'b', bits @ ..] if !bits.is_empty() && bits.iter().all(|bit| matches!(bit, b'0' | b'1')) => {
                let (value, length) = (hash64(bits), bits.len().div_ceil(8) as u32);
                self.literal(
                    Literal {
                        value,
                        length,
                        ..Literal::plain(0, Kind::Text)
                    },
                    Last::Literal,
                );
            }
            letters => self.name(letters),
        }
        end
    }

    /// A text in quotes, which are at this place.
    pub(super) fn text(&mut self, text: &[u8], at: usize) -> usize {
        let (inside, end) = self.inside(text, at);
        if is_date(inside) {
            let (from, to) = (at as u32 + 1, (at + 1 + inside.len()) as u32);
            self.literal(
                Literal {
                    from,
                    to,
                    ..Literal::plain(0, Kind::Date)
                },
                Last::Literal,
            );
            return end;
        }
        let (value, length) = match unescaped(inside, text[at]) {
            Some(bytes) => (hash64(&bytes), bytes.len()),
            None => (hash64(inside), inside.len()),
        };
        match self.literals.last_mut() {
            Some(before) if self.last == Last::Text => {
                // texts in a row are one
                before.value = both(before.value, value);
                before.length = before.length.saturating_add(length as u32);
            }
            _ => {
                let length = length as u32;
                self.literal(
                    Literal {
                        value,
                        length,
                        ..Literal::plain(0, Kind::Text)
                    },
                    Last::Text,
                );
            }
        }
        end
    }

    pub(super) fn hex_text(&mut self, text: &[u8], at: usize) -> usize {
        let (inside, end) = self.inside(text, at);
        let (value, length) = of_hex(inside);
        self.literal(
            Literal {
                value,
                length,
                ..Literal::plain(0, Kind::Text)
            },
            Last::Text,
        );
        end
    }

    /// What is between quotes, and where they end.
    pub(super) fn inside<'t>(&mut self, text: &'t [u8], at: usize) -> (&'t [u8], usize) {
        let (quote, mut end) = (text[at], at + 1);
        loop {
            let Some(next) = memchr2(quote, b'\\', &text[end..]) else {
                self.is_open = true;
                return (&text[at + 1..], text.len());
            };
            end += next;
            if text[end] == b'\\' || text.get(end + 1) == Some(&quote) {
                end = (end + 2).min(text.len());
            } else {
                return (&text[at + 1..end], end + 1);
            }
        }
    }
}
