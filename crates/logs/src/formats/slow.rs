//! Slow logs of MySQL, Percona Server and MariaDB, plain and extended.
//!
//! An entry is a header of lines that begin with `# `, then `use` and `SET timestamp`, then the text up to the next header.
//! A text may have lines that look like a header's first: only the whole beginning of one starts an entry.

use memchr::memmem;

use super::header::{self, Header};
use crate::entry::{Command, Entry, Found};
use crate::lines::Line;
use crate::time::{Moment, moment, number};

const TIME: &[u8] = b"# Time: ";
const USER: &[u8] = b"# User@Host: ";
const COMMAND: &[u8] = b"# administrator command: ";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    /// Not in an entry.
    #[default]
    Outside,
    /// In lines that begin with `# `.
    Header,
    /// Before `SET timestamp`.
    Preamble,
    /// In the statement.
    Text,
}

/// Reads one slow log after the other.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // facts that are independent of each other
pub struct SlowParser {
    part: Part,
    entry: Entry,
    header: Header,
    is_broken: bool,
    /// Lines that may be the beginning of the next entry, with the number of the first.
    pending: Vec<u8>,
    pending_has_user: bool,
    pending_line: u64,
    /// The schema of the last `use` in this file.
    schema: Vec<u8>,
    time: Option<Moment>,
    stamp_s: Option<u64>,
    opening: Vec<u8>,
    local_offset_s: i32,
    stamps_are_ends: bool,
    /// Damage before the first entry was told.
    told_outside: bool,
}

impl SlowParser {
    /// For logs whose local times are so far ahead of UTC, and whose whole seconds are those of the end.
    pub fn new(local_offset_s: i32, stamps_are_ends: bool) -> Self {
        Self {
            local_offset_s,
            stamps_are_ends,
            ..Self::default()
        }
    }

    /// Whether the entries so far have fields of the extended formats.
    pub fn is_extended(&self) -> bool {
        self.header.is_extended
    }

    /// Takes the next line.
    pub fn line(&mut self, line: &Line<'_>, found: &mut impl Found) {
        if !self.pending.is_empty() && self.continues_pending(line, found) {
            return;
        }
        if header::is_opening(line.bytes) {
            self.finish(false, found);
            self.schema.clear();
            self.opening = line.bytes.to_vec();
            return found.opened(line.bytes);
        }
        match self.part {
            Part::Outside => self.outside(line, found),
            Part::Header => self.in_header(line, found),
            Part::Preamble => self.in_preamble(line),
            Part::Text if Self::may_begin(line) => self.hold(line),
            Part::Text => self.in_text(line),
        }
    }

    /// The file ended.
    pub fn end(&mut self, found: &mut impl Found) {
        if !self.pending.is_empty() {
            self.finish(false, found);
            self.pending.clear();
            found.damage(self.pending_line, "the file ends in the header of an entry");
        }
        self.finish(true, found);
        self.told_outside = false;
    }

    fn outside(&mut self, line: &Line<'_>, found: &mut impl Found) {
        if line.bytes.starts_with(TIME) || line.bytes.starts_with(USER) {
            self.begin(line.number);
            return self.in_header(line, found);
        }
        if !self.told_outside && !header::follows_opening(line.bytes) && !line.bytes.trim_ascii().is_empty() {
            self.told_outside = true;
            found.damage(line.number, "a part of an entry whose begin is missing");
        }
    }

    fn begin(&mut self, line: u64) {
        self.entry.begin(line);
        let Header {
            flavour, is_extended, ..
        } = self.header;
        self.header = Header {
            flavour,
            is_extended,
            ..Header::default()
        };
        (self.part, self.is_broken) = (Part::Header, false);
        (self.time, self.stamp_s) = (None, None);
    }

    fn in_header(&mut self, line: &Line<'_>, found: &mut impl Found) {
        let bytes = line.bytes.trim_ascii_end();
        if let Some(text) = bytes.strip_prefix(TIME) {
            if self.entry.line != line.number {
                self.lose(found, "an entry that ends in its header");
                self.begin(line.number);
            }
            self.time = moment(text, self.local_offset_s);
            self.is_broken |= self.time.is_none();
        } else if let Some(text) = bytes.strip_prefix(USER) {
            if self.entry.has_account {
                self.lose(found, "an entry that ends in its header");
                self.begin(line.number);
            }
            self.is_broken |= !header::account(text, &mut self.entry, &mut self.header);
        } else if let (Some(fields), false) = (bytes.strip_prefix(b"# "), bytes.starts_with(COMMAND)) {
            if !fields.starts_with(b"explain: ") {
                self.is_broken |= !header::fields(fields, &mut self.entry, &mut self.header);
            }
        } else if bytes != b"#" {
            self.part = Part::Preamble;
            self.in_preamble(line);
        }
    }

    /// `use` and `SET timestamp`; what follows is the statement.
    fn in_preamble(&mut self, line: &Line<'_>) {
        let bytes = line.bytes.trim_ascii_end();
        if let (Some(name), None) = (bytes.strip_prefix(b"use "), self.stamp_s) {
            let name = name.strip_suffix(b";").unwrap_or(name);
            let name = name
                .strip_prefix(b"`")
                .and_then(|name| name.strip_suffix(b"`"))
                .unwrap_or(name);
            self.schema.clear();
            self.schema.extend_from_slice(name);
        } else if let Some(stamp_s) = stamp(bytes) {
            self.stamp_s = Some(stamp_s);
            self.part = Part::Text;
        } else if self.stamp_s.is_none() && bytes.ends_with(b";") && !self.schema.is_empty() && !bytes.contains(&b' ') {
            // the end of a schema's name with a line end in it
            let end = bytes.len() - 1;
            self.schema.push(b'\n');
            self.schema.extend_from_slice(&bytes[..end]);
        } else {
            self.part = Part::Text;
            self.in_text(line);
        }
    }

    fn in_text(&mut self, line: &Line<'_>) {
        if !line.is_ended && self.is_whole() && self.may_be_cut_header(line.bytes) {
            (self.pending_line, self.pending) = (line.number, line.bytes.to_vec());
            return;
        }
        if self.entry.text.is_empty() {
            if let Some(name) = line.bytes.strip_prefix(COMMAND) {
                let name = name.trim_ascii_end();
                self.entry.command = Command::of(name.strip_suffix(b";").unwrap_or(name));
                return self.entry.add_text(name, line.is_cut);
            }
        } else {
            self.entry.add_text(b"\n", false);
        }
        self.entry.add_text(line.bytes, line.is_cut);
    }

    /// Whether the last line of a file is a piece of what stands between entries.
    fn may_be_cut_header(&self, piece: &[u8]) -> bool {
        [TIME, USER]
            .iter()
            .any(|head| head.starts_with(piece) || piece.starts_with(head))
            || self.opening.starts_with(piece)
    }

    /// Whether this line alone may be the first of an entry.
    fn may_begin(line: &Line<'_>) -> bool {
        let bytes = line.bytes;
        bytes.starts_with(b"# ") && line.is_ended && (bytes.starts_with(TIME) || bytes.starts_with(USER))
    }

    fn hold(&mut self, line: &Line<'_>) {
        self.pending_line = line.number;
        self.pending_has_user = line.bytes.starts_with(USER);
        self.pending.extend_from_slice(line.bytes);
    }

    /// The line after one that may have begun an entry. `true` when nothing is left to do with it.
    fn continues_pending(&mut self, line: &Line<'_>, found: &mut impl Found) -> bool {
        let is_user = self.pending_has_user;
        let goes_on = if is_user {
            [&b"# Query_time: "[..], b"# Thread_id: ", b"# Schema: "]
                .iter()
                .any(|head| line.bytes.starts_with(head))
        } else {
            line.bytes.starts_with(USER)
        };
        if goes_on && !is_user {
            self.pending.push(b'\n');
            self.pending.extend_from_slice(line.bytes);
            self.pending_has_user = true;
            return true;
        }
        if !goes_on && !line.is_ended && self.is_whole() {
            return true; // the file ends in a header
        }
        let mut held = std::mem::take(&mut self.pending);
        let first = self.pending_line;
        let lines = held.split(|&byte| byte == b'\n').zip(first..);
        if goes_on {
            self.finish(false, found);
            self.begin(first);
            lines.for_each(|(bytes, number)| self.in_header(&whole(number, bytes), found));
            held.clear();
            self.pending = held; // its memory is used again
            return false;
        }
        lines.for_each(|(bytes, number)| self.in_text(&whole(number, bytes)));
        false
    }

    fn is_whole(&self) -> bool {
        self.entry.is_cut || self.entry.text.trim_ascii_end().ends_with(b";")
    }

    /// The entry has ended, as nothing of it can follow.
    fn finish(&mut self, is_last: bool, found: &mut impl Found) {
        match self.part {
            Part::Outside => return,
            Part::Header | Part::Preamble => self.lose(found, "an entry that ends in its header"),
            Part::Text if self.is_broken => self.lose(found, "a value in the header cannot be read"),
            Part::Text if !self.entry.has_account => self.lose(found, "an entry without an account"),
            Part::Text if self.entry.query_us.is_none() => self.lose(found, "an entry without a duration"),
            Part::Text if !self.is_whole() => self.lose(found, "a statement without its end"),
            Part::Text => self.tell(is_last, found),
        }
        self.part = Part::Outside;
    }

    fn lose(&mut self, found: &mut impl Found, reason: &'static str) {
        found.damage(self.entry.line, reason);
    }

    fn tell(&mut self, is_last: bool, found: &mut impl Found) {
        let entry = &mut self.entry;
        if !entry.is_cut {
            let length = entry.text.trim_ascii_end().len();
            entry.text.truncate(length - 1);
        }
        if !entry.has_schema {
            entry.schema.extend_from_slice(&self.schema);
        }
        entry.is_last = is_last;
        let time = self.time.map(|time| (time.unix_us, time.is_fine));
        let query_us = entry.query_us.unwrap_or(0);
        entry.when = header::when(&self.header, time, self.stamp_s, query_us, self.stamps_are_ends);
        found.entry(entry, self.header.flavour);
    }
}

fn whole(number: u64, bytes: &[u8]) -> Line<'_> {
    Line {
        number,
        bytes,
        is_cut: false,
        is_ended: true,
    }
}

/// Reads `SET last_insert_id=5,insert_id=6,timestamp=1715363076;`, with or without a fraction.
fn stamp(line: &[u8]) -> Option<u64> {
    let line = line.strip_prefix(b"SET ")?.strip_suffix(b";")?;
    if let Some(seconds) = line.strip_prefix(b"timestamp=") {
        return number(seconds.split(|&byte| byte == b'.').next()?);
    }
    let at = memmem::rfind(line, b"timestamp=")?;
    let is_ours = line[..at]
        .iter()
        .all(|byte| byte.is_ascii_alphanumeric() || b"_=,".contains(byte));
    let seconds = line[at + 10..].split(|&byte| byte == b'.').next()?;
    number(seconds).filter(|_| is_ours)
}
