//! Audit logs of clouds and plug-ins: values between separators, in the columns that a map names.
//!
//! A record may go on over lines within quotes. If a quote is missing, the next line that is a whole record by itself begins
//! again, so that the damage ends there.

use memchr::{memchr, memmem};
use plimsoll_core::plan::{AuditEscape, AuditPlan, AuditTime};

use crate::entry::{Command, Entry, Flavour, Found, TEXT_BYTES_MAX, When};
use crate::lines::Line;
use crate::time::{SECOND_US, moment, number};

/// Operations that are statements or say where a session begins and ends; plug-ins log others besides.
const OPERATIONS: [(&[u8], Command); 6] = [
    (b"QUERY", Command::Statement),
    (b"EXECUTE", Command::Statement),
    (b"CONNECT", Command::Connect),
    (b"DISCONNECT", Command::Quit),
    (b"PREPARE", Command::Prepare),
    (b"QUIT", Command::Quit),
];

/// Reads one audit log after the other.
#[derive(Debug)]
pub struct AuditParser {
    plan: AuditPlan,
    local_offset_s: i32,
    /// Lines of a record whose quotes are open.
    record: Vec<u8>,
    record_line: u64,
    entry: Entry,
}

/// What a record turned out to be.
enum Record {
    /// It has all columns and a time.
    Whole,
    /// It is of an operation that is left out.
    LeftOut,
    /// Quotes are open: it goes on.
    Open,
    /// It is none.
    Broken(&'static str),
}

impl AuditParser {
    /// For logs with these columns, whose local times are so far ahead of UTC.
    pub fn new(plan: AuditPlan, local_offset_s: i32) -> Self {
        Self {
            plan,
            local_offset_s,
            record: Vec::new(),
            record_line: 0,
            entry: Entry::default(),
        }
    }

    /// Takes the next line.
    pub fn line(&mut self, line: &Line<'_>, found: &mut impl Found) {
        if self.record.is_empty() {
            return self.first(line, found);
        }
        if matches!(self.read(line.bytes, line.number), Record::Whole) && !line.is_cut {
            found.damage(self.record_line, "a record whose quotes have no end");
            self.record.clear();
            return self.tell(found);
        }
        let room = TEXT_BYTES_MAX - self.record.len().min(TEXT_BYTES_MAX);
        if line.bytes.len() >= room {
            // nobody can say where it ends: what follows is looked at line by line
            found.damage(self.record_line, "a record that is longer than what is kept");
            return self.record.clear();
        }
        self.record.push(b'\n');
        self.record.extend_from_slice(line.bytes);
        if self.quotes_in(line.bytes) {
            let record = std::mem::take(&mut self.record);
            self.judge(&record, self.record_line, !line.is_ended, found);
        }
    }

    /// The log ended.
    pub fn end(&mut self, found: &mut impl Found) {
        if !self.record.is_empty() {
            found.damage(self.record_line, "the file ends in this record");
            self.record.clear();
        }
    }

    fn first(&mut self, line: &Line<'_>, found: &mut impl Found) {
        if line.bytes.trim_ascii().is_empty() {
            return;
        }
        if line.is_cut {
            return found.damage(line.number, "a record that is longer than what is kept");
        }
        self.judge(line.bytes, line.number, !line.is_ended, found);
    }

    fn judge(&mut self, record: &[u8], line: u64, is_last: bool, found: &mut impl Found) {
        match self.read(record, line) {
            Record::Whole => {
                self.entry.is_last = is_last;
                self.tell(found);
            }
            Record::LeftOut => {}
            Record::Open => {
                self.record_line = line;
                self.record = record.to_vec();
            }
            Record::Broken(reason) => found.damage(line, reason),
        }
    }

    fn tell(&mut self, found: &mut impl Found) {
        found.entry(&self.entry, Flavour::Unknown);
    }

    /// Whether a line may close quotes: only then is a record looked at again.
    fn quotes_in(&self, line: &[u8]) -> bool {
        memmem::find(line, self.plan.quote.as_bytes()).is_some()
    }

    /// Reads a record into the entry.
    fn read(&mut self, record: &[u8], line: u64) -> Record {
        let mut entry = std::mem::take(&mut self.entry);
        entry.begin(line);
        let found = self.read_into(&mut entry, record.strip_suffix(b"\r").unwrap_or(record));
        self.entry = entry;
        found
    }

    fn read_into(&self, entry: &mut Entry, record: &[u8]) -> Record {
        let plan = &self.plan;
        let values = Values {
            plan,
            rest: Some(record),
        };
        let mut column = 0;
        let (mut time, mut query_time) = (None, None);
        for value in values {
            let Ok(value) = value else {
                return Record::Open;
            };
            let here = |place: Option<u32>| place == Some(column);
            if column == plan.time {
                time = self.time_us(value.trim_ascii());
            } else if column == plan.session {
                entry.thread = number(value.trim_ascii());
            } else if column == plan.sql {
                let text = unquoted(value, plan);
                entry.add_text(&text, false);
            } else if here(plan.query_time) {
                query_time = number(value.trim_ascii());
            } else if here(plan.user) || here(plan.client) {
                let place = if here(plan.user) {
                    &mut entry.user
                } else {
                    &mut entry.host
                };
                place.extend_from_slice(value);
                entry.has_account = true;
            } else if here(plan.schema) {
                entry.schema.extend_from_slice(value);
                entry.has_schema = true;
            } else if here(plan.operation) {
                let operation = value.trim_ascii();
                let Some((_, command)) = OPERATIONS.iter().find(|(name, _)| operation.eq_ignore_ascii_case(name))
                else {
                    return Record::LeftOut;
                };
                entry.command = *command;
            } else {
                self.figure(entry, column, value);
            }
            column += 1;
        }
        if column != plan.columns {
            return Record::Broken("a record with another number of columns");
        }
        let (Some(time_us), Some(_)) = (time, entry.thread) else {
            return Record::Broken("a record without a time or a connection's id");
        };
        entry.query_us = query_time.map(|units| units.saturating_mul(plan.query_unit_us.into()));
        entry.when = self.when(time_us, entry.query_us);
        if entry.command == Command::Connect || entry.command == Command::Quit {
            let name: &[u8] = if entry.command == Command::Quit {
                b"Quit"
            } else {
                b"Connect"
            };
            entry.text.clear();
            entry.add_text(name, false);
        }
        Record::Whole
    }

    fn figure(&self, entry: &mut Entry, column: u32, value: &[u8]) {
        let plan = &self.plan;
        for (place, slot) in [
            (plan.errno, &mut entry.errno),
            (plan.rows_sent, &mut entry.rows_sent),
            (plan.rows_examined, &mut entry.rows_examined),
            (plan.rows_affected, &mut entry.rows_affected),
        ] {
            if place == Some(column) {
                *slot = number(value.trim_ascii());
            }
        }
    }

    /// Microseconds since 1970.
    fn time_us(&self, text: &[u8]) -> Option<i64> {
        let scaled = |scale: i64| i64::try_from(number(text)?).ok()?.checked_mul(scale);
        match self.plan.time_format {
            AuditTime::DateTime => moment(text, self.local_offset_s).map(|moment| moment.unix_us),
            AuditTime::UnixS => scaled(SECOND_US),
            AuditTime::UnixMs => scaled(1000),
            AuditTime::UnixUs => scaled(1),
        }
    }

    /// Times without a part of a second are taken for whole seconds.
    fn when(&self, time_us: i64, query_us: Option<u64>) -> When {
        let is_whole =
            time_us % SECOND_US == 0 && matches!(self.plan.time_format, AuditTime::UnixS | AuditTime::DateTime);
        let second = time_us.div_euclid(SECOND_US);
        let span_us = query_us.map(|us| i64::try_from(us).unwrap_or(i64::MAX));
        match (self.plan.time_is_end, is_whole, span_us) {
            (true, true, _) => When::EndSecond(second),
            (false, true, _) => When::StartSecond(second),
            (true, false, Some(span_us)) => When::Both(time_us.saturating_sub(span_us), time_us),
            (true, false, None) => When::End(time_us),
            (false, false, Some(span_us)) => When::Both(time_us, time_us.saturating_add(span_us)),
            (false, false, None) => When::Start(time_us),
        }
    }
}

/// The values of a record. An error means that quotes are open.
struct Values<'a> {
    plan: &'a AuditPlan,
    rest: Option<&'a [u8]>,
}

impl<'a> Iterator for Values<'a> {
    type Item = Result<&'a [u8], ()>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest?;
        let (quote, separator) = (self.plan.quote.as_bytes(), self.plan.separator.as_bytes());
        if quote.is_empty() || !rest.starts_with(quote) {
            let end = memmem::find(rest, separator);
            self.rest = end.map(|end| &rest[end + separator.len()..]);
            return Some(Ok(&rest[..end.unwrap_or(rest.len())]));
        }
        let inside = &rest[quote.len()..];
        let Some(end) = quotes_end(inside, self.plan) else {
            self.rest = None;
            return Some(Err(()));
        };
        let behind = &inside[end + quote.len()..];
        self.rest = memmem::find(behind, separator).map(|at| &behind[at + separator.len()..]);
        Some(Ok(&inside[..end]))
    }
}

/// Where the quotes end whose inside this is.
fn quotes_end(inside: &[u8], plan: &AuditPlan) -> Option<usize> {
    let quote = plan.quote.as_bytes();
    let mut at = 0;
    loop {
        let next = at + memmem::find(&inside[at..], quote)?;
        let behind = next + quote.len();
        match plan.escape {
            AuditEscape::Doubled if inside[behind..].starts_with(quote) => at = behind + quote.len(),
            AuditEscape::Backslash if is_escaped(&inside[..next]) => at = behind,
            _ => return Some(next),
        }
    }
}

/// Whether an odd number of backslashes stands at the end.
fn is_escaped(before: &[u8]) -> bool {
    before.iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 1
}

/// A statement as the server got it.
fn unquoted(value: &[u8], plan: &AuditPlan) -> Vec<u8> {
    let quote = plan.quote.as_bytes();
    match plan.escape {
        _ if quote.is_empty() => value.to_vec(),
        AuditEscape::Doubled => undoubled(value, quote),
        AuditEscape::Backslash => unescaped(value),
    }
}

fn undoubled(value: &[u8], quote: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(value.len());
    let mut from = 0;
    for at in memmem::find_iter(value, &[quote, quote].concat()) {
        text.extend_from_slice(&value[from..at]);
        text.extend_from_slice(quote);
        from = at + 2 * quote.len();
    }
    text.extend_from_slice(&value[from..]);
    text
}

/// MariaDB's plug-in also writes backslashes and control characters with a backslash.
fn unescaped(value: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = memchr(b'\\', rest) {
        text.extend_from_slice(&rest[..at]);
        let Some(&escaped) = rest.get(at + 1) else {
            rest = &rest[at..];
            break;
        };
        text.push(match escaped {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'b' => 8,
            b'f' => 12,
            other => other,
        });
        rest = &rest[at + 2..];
    }
    text.extend_from_slice(rest);
    text
}
