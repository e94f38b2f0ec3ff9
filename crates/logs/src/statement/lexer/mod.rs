//! The lexer: bytes of a statement become a template and literals, in one pass.

mod folding;
mod values;

use memchr::{memchr, memmem};

use super::fold::{Fold, Place};
use super::kind::{Seen, StatementKind};
use super::literal::{Kind, Literal};
use super::words::{FOLDED_STATEMENTS, KEYWORDS, Word};

/// What came before: it decides what a sign, NULL or a parenthesis means, and where spaces stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Last {
    /// Nothing yet, or a word after which a value may come.
    #[default]
    Keyword,
    /// A name, or a parenthesis that closes.
    Name,
    /// A literal that is no text.
    Literal,
    /// A text.
    Text,
    /// A point or `@`: a name follows.
    Joint,
    /// Anything else, by its byte.
    Punctuation(u8),
}

/// Reads statements one after the other. What it found of the last one stays until the next.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // facts that are independent of each other
pub struct Lexer {
    template: Vec<u8>,
    literals: Vec<Literal>,
    slots: u32,
    fold: Fold,
    has_rows: bool,
    last: Last,
    /// Nothing may stand between the last token and the next.
    glues: bool,
    operator_end: usize,
    depth: u32,
    in_executed: bool,
    folds_all: bool,
    seen: Seen,
    is_open: bool,
}

impl Lexer {
    /// The statement with `?` for literals.
    pub fn template(&self) -> &[u8] {
        &self.template
    }

    /// All literals, in order.
    pub fn literals(&self) -> &[Literal] {
        &self.literals
    }

    /// How many `?` and `(...)` the template has.
    pub fn slots(&self) -> u32 {
        self.slots
    }

    /// Whether quotes or a comment have no end.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// What kind of statement it is.
    pub fn kind(&self, text: &[u8]) -> StatementKind {
        self.seen.kind(&self.template, &self.literals, text)
    }

    /// Reads a statement of less than 4 GiB.
    pub fn read(&mut self, text: &[u8]) {
        let (mut template, mut literals) = (std::mem::take(&mut self.template), std::mem::take(&mut self.literals));
        template.clear();
        literals.clear();
        *self = Self {
            template,
            literals,
            glues: true,
            operator_end: usize::MAX,
            ..Self::default()
        };
        let mut at = 0;
        while let Some(&byte) = text.get(at) {
            at = match byte {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C => at + 1,
                b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | 0x80.. => self.word(text, at),
                b'0'..=b'9' => self.number(text, at, false),
                b'\'' | b'"' => self.text(text, at),
                b'`' => self.quoted_name(text, at),
                b'-' | b'#' | b'/' | b'*' => self.comment_or_operator(text, at),
                b'.' if text.get(at + 1).is_some_and(u8::is_ascii_digit) && !self.is_operand() => {
                    self.number(text, at, false)
                }
                _ => self.punctuation(text, at),
            };
        }
        self.end_fold();
        while let [.., b' ' | b';'] = self.template[..] {
            self.template.pop();
        }
    }

    fn is_operand(&self) -> bool {
        matches!(self.last, Last::Name | Last::Literal | Last::Text | Last::Joint)
    }

    fn gap(&mut self) {
        if !self.glues {
            self.template.push(b' ');
        }
        self.glues = false;
    }

    fn place(&self) -> Place {
        Place {
            template: self.template.len(),
            literals: self.literals.len(),
            slots: self.slots,
        }
    }

    fn word(&mut self, text: &[u8], at: usize) -> usize {
        let end = word_end(text, at);
        let letters = &text[at..end];
        let next = text.get(end).copied().unwrap_or(b' ');
        if next == b'\'' || next == b'"' {
            match letters {
                [b'x' | b'X'] => return self.hex_text(text, end),
                [b'b' | b'B' | b'n' | b'N'] | [b'_', ..] => return self.text(text, end),
                _ => {}
            }
        }
        if letters[0] == b'_' && next == b' ' && text.get(end + 1) == Some(&b'\'') {
            return self.text(text, end + 1);
        }
        if self.last == Last::Joint {
            self.name(letters);
            return end;
        }
        match KEYWORDS.find(letters, next == b'(') {
            Some(keyword) if keyword.word == Word::Null && self.expects_literal() => {
                self.literal(Literal::plain(0, Kind::Null), Last::Literal);
            }
            Some(keyword) => self.keyword(keyword.text, keyword.word, next == b'('),
            None if self.seen.first_len == 0 || self.folds_all => self.first_word(letters),
            None => self.name(letters),
        }
        end
    }

    /// NULL is a value in lists and assignments, and a part of the statement in `IS NULL`.
    fn expects_literal(&self) -> bool {
        matches!(self.last, Last::Punctuation(b',' | b'(' | b'='))
    }

    fn keyword(&mut self, text: &'static str, word: Word, is_call: bool) {
        self.other();
        self.gap();
        self.template.extend_from_slice(text.as_bytes());
        self.seen.word(text.as_bytes(), word, self.depth, self.template.len());
        self.folds_all |= self.seen.count == 1 && FOLDED_STATEMENTS.contains(&text.as_bytes());
        match word {
            Word::In if matches!(self.fold, Fold::None) => self.fold = Fold::In,
            Word::Values if self.seen.writes_rows() && !self.has_rows && matches!(self.fold, Fold::None) => {
                self.fold = Fold::Values;
            }
            _ => {}
        }
        let is_value = word == Word::Value || (is_call && super::words::is_function(text));
        self.last = if is_value { Last::Name } else { Last::Keyword };
    }

    /// Verbs that are no reserved words, and words of statements that name nothing.
    fn first_word(&mut self, letters: &[u8]) {
        self.other();
        self.gap();
        let from = self.template.len();
        self.template.extend(letters.iter().map(u8::to_ascii_uppercase));
        let to = self.template.len();
        self.seen.word(&self.template[from..to], Word::Other, self.depth, to);
        self.folds_all |= self.seen.count == 1 && FOLDED_STATEMENTS.contains(&&self.template[from..to]);
        self.last = Last::Name;
    }

    fn name(&mut self, letters: &[u8]) {
        self.other();
        self.gap();
        self.template.extend_from_slice(letters);
        self.seen.count += 1;
        self.last = Last::Name;
    }

    fn quoted_name(&mut self, text: &[u8], at: usize) -> usize {
        let mut end = at + 1;
        loop {
            match memchr(b'`', &text[end..]) {
                Some(next) if text.get(end + next + 1) == Some(&b'`') => end += next + 2,
                Some(next) => {
                    end += next + 1;
                    break;
                }
                None => {
                    self.is_open = true;
                    end = text.len();
                    break;
                }
            }
        }
        self.name(&text[at..end]);
        end
    }

    fn comment_or_operator(&mut self, text: &[u8], at: usize) -> usize {
        match &text[at..] {
            [b'#', ..] | [b'-', b'-'] | [b'-', b'-', 0..=b' ', ..] => {
                memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end)
            }
            [b'/', b'*', b'!', ..] => self.executed(text, at + 3),
            [b'/', b'*', b'M', b'!', ..] => self.executed(text, at + 4),
            [b'/', b'*', kind, ..] => {
                let end = self.comment_end(text, at);
                if *kind == b'+' {
                    self.other();
                    self.gap(); // hints belong to the statement
                    self.template.extend_from_slice(&text[at..end]);
                }
                end
            }
            [b'*', b'/', ..] if self.in_executed => {
                self.in_executed = false;
                at + 2
            }
            [b'-', rest @ ..] if !self.is_operand() => {
                let number = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                match &rest[number..] {
                    [b'0'..=b'9', ..] | [b'.', b'0'..=b'9', ..] => self.number(text, at + 1 + number, true),
                    _ => self.punctuation(text, at),
                }
            }
            _ => self.punctuation(text, at),
        }
    }

    /// What stands in `/*! */` is executed: only its version is passed over.
    fn executed(&mut self, text: &[u8], at: usize) -> usize {
        self.in_executed = true;
        at + text[at..]
            .iter()
            .take(6)
            .take_while(|byte| byte.is_ascii_digit())
            .count()
    }

    fn comment_end(&mut self, text: &[u8], at: usize) -> usize {
        let end = memmem::find(&text[at + 2..], b"*/");
        self.is_open |= end.is_none();
        end.map_or(text.len(), |end| at + 2 + end + 2)
    }

    fn punctuation(&mut self, text: &[u8], at: usize) -> usize {
        match text[at] {
            b'(' => self.open(),
            b')' => self.close(),
            b',' => self.comma(),
            b'?' => {
                self.literal_place();
                self.last = Last::Literal;
            }
            joint @ (b'.' | b'@') => {
                self.other();
                if joint == b'@' && self.last != Last::Joint {
                    self.gap();
                }
                self.template.push(joint);
                self.glues = true;
                self.last = Last::Joint;
            }
            byte => {
                self.other();
                let joins = self.operator_end == at && b"=<>|&".contains(&byte);
                self.glues |= joins || byte == b';';
                self.gap();
                self.template.push(byte);
                self.operator_end = if b"<>=!:|&-".contains(&byte) {
                    at + 1
                } else {
                    usize::MAX
                };
                self.last = Last::Punctuation(byte);
            }
        }
        at + 1
    }
}

fn is_word(byte: u8) -> bool {
    IS_WORD[usize::from(byte)]
}

/// Bytes of words and names; most bytes of statements are.
const IS_WORD: [bool; 256] = {
    let mut found = [true; 256];
    let mut byte = 0;
    while byte < 128 {
        found[byte] = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_' || byte as u8 == b'$';
        byte += 1;
    }
    found
};

fn word_end(text: &[u8], at: usize) -> usize {
    let rest = &text[at..];
    at + rest.iter().position(|&byte| !is_word(byte)).unwrap_or(rest.len())
}
