//! General logs of MySQL and MariaDB: a line for each command with its arrival; statements may go on over further lines.

use memchr::{memchr, memmem};

use super::header;
use crate::entry::{Command, Entry, Flavour, Found, When};
use crate::lines::Line;
use crate::time::{Moment, SECOND_US, moment, number};

/// Commands as servers name them. Anything else is a part of a statement.
const COMMANDS: [&[u8]; 35] = [
    b"Sleep",
    b"Quit",
    b"Init DB",
    b"Query",
    b"Field List",
    b"Create DB",
    b"Drop DB",
    b"Refresh",
    b"Shutdown",
    b"Statistics",
    b"Processlist",
    b"Connect",
    b"Kill",
    b"Debug",
    b"Ping",
    b"Time",
    b"Delayed insert",
    b"Change user",
    b"Binlog Dump",
    b"Table Dump",
    b"Connect Out",
    b"Register Slave",
    b"Register Replica",
    b"Prepare",
    b"Execute",
    b"Long Data",
    b"Close stmt",
    b"Reset stmt",
    b"Set option",
    b"Fetch",
    b"Daemon",
    b"Binlog Dump GTID",
    b"Reset Connection",
    b"Bulk_execute",
    b"Error",
];

/// The begin of an entry.
#[derive(Clone, Copy, Debug)]
struct Head<'a> {
    /// Empty: as in the entry before.
    time: &'a [u8],
    thread: u64,
    command: &'a [u8],
    argument: &'a [u8],
}

/// Reads one general log after the other.
#[derive(Debug, Default)]
pub struct GeneralParser {
    entry: Entry,
    is_in_entry: bool,
    after_opening: bool,
    opening: Vec<u8>,
    told_outside: bool,
    time: Option<Moment>,
    flavour: Flavour,
    local_offset_s: i32,
}

impl GeneralParser {
    /// For logs whose local times are so far ahead of UTC.
    pub fn new(local_offset_s: i32) -> Self {
        Self {
            local_offset_s,
            ..Self::default()
        }
    }

    /// Takes the next line.
    pub fn line(&mut self, line: &Line<'_>, found: &mut impl Found) {
        if let Some(head) = head(line.bytes) {
            self.finish(false, found);
            self.begin(line, &head, found);
        } else if header::is_opening(line.bytes) {
            self.finish(false, found);
            self.after_opening = true;
            self.opening = line.bytes.to_vec();
            found.opened(line.bytes);
        } else if self.after_opening && header::follows_opening(line.bytes) {
        } else if self.is_in_entry && !line.is_ended && self.may_be_cut_head(line.bytes) {
            self.finish(true, found);
            found.damage(line.number, "the file ends in the begin of an entry");
        } else if self.is_in_entry {
            self.entry.add_text(b"\n", false);
            self.entry.add_text(line.bytes, line.is_cut);
            self.is_ended(line, found);
        } else if !self.told_outside && !line.bytes.trim_ascii().is_empty() {
            self.told_outside = true;
            found.damage(line.number, "a part of an entry whose begin is missing");
        }
    }

    /// The log ended.
    pub fn end(&mut self, found: &mut impl Found) {
        self.finish(true, found);
        (self.time, self.told_outside) = (None, false);
    }

    fn begin(&mut self, line: &Line<'_>, head: &Head<'_>, found: &mut impl Found) {
        self.after_opening = false;
        if !head.time.is_empty() {
            self.time = moment(head.time, self.local_offset_s);
            let is_fine = self.time.is_some_and(|time| time.is_fine);
            self.flavour = if is_fine { Flavour::MySql } else { Flavour::MariaDb };
        }
        self.entry.begin(line.number);
        self.is_in_entry = true;
        let entry = &mut self.entry;
        entry.thread = Some(head.thread);
        entry.command = Command::of(head.command);
        entry.when = match self.time {
            Some(Moment { unix_us, is_fine: true }) => When::Start(unix_us),
            Some(Moment { unix_us, .. }) => When::StartSecond(unix_us.div_euclid(SECOND_US)),
            None => When::Unknown,
        };
        match entry.command {
            Command::Statement | Command::Prepare => entry.add_text(head.argument, line.is_cut),
            Command::Connect => connect(head.argument, entry),
            Command::InitDb => {
                entry.schema.extend_from_slice(head.argument);
                entry.has_schema = true;
            }
            _ => {}
        }
        if !matches!(entry.command, Command::Statement | Command::Prepare) {
            entry.add_text(head.command, false);
        }
        self.is_ended(line, found);
    }

    /// Whether the last line of a file is a piece of what stands between entries.
    fn may_be_cut_head(&self, piece: &[u8]) -> bool {
        piece
            .first()
            .is_some_and(|byte| *byte == b'\t' || byte.is_ascii_digit())
            || self.opening.starts_with(piece)
    }

    /// A line without its end is the last one, and perhaps not whole.
    fn is_ended(&mut self, line: &Line<'_>, found: &mut impl Found) {
        if !line.is_ended && !line.is_cut {
            self.is_in_entry = false;
            found.damage(self.entry.line, "the file ends in this entry");
        }
    }

    fn finish(&mut self, is_last: bool, found: &mut impl Found) {
        if !std::mem::take(&mut self.is_in_entry) {
            return;
        }
        let entry = &mut self.entry;
        entry.is_last = is_last;
        use_statement(entry);
        found.entry(entry, self.flavour);
    }
}

/// Whether an entry begins with this line.
pub fn is_head(line: &[u8]) -> bool {
    head(line).is_some()
}

/// Reads `time TAB id command TAB argument`, where the time may be a tab.
fn head(line: &[u8]) -> Option<Head<'_>> {
    let (time, rest) = match line {
        [b'\t', b'\t', rest @ ..] => (&b""[..], rest),
        [b'0'..=b'9', ..] => {
            let tab = memchr(b'\t', line).filter(|&tab| tab <= 40)?;
            moment(&line[..tab], 0)?;
            (&line[..tab], &line[tab + 1..])
        }
        _ => return None,
    };
    let rest = rest.trim_ascii_start();
    let space = memchr(b' ', rest).filter(|&space| space <= 20)?;
    let thread = number(&rest[..space])?;
    let rest = &rest[space + 1..];
    let tab = memchr(b'\t', rest).filter(|&tab| tab <= 20)?;
    let command = &rest[..tab];
    COMMANDS.contains(&command).then_some(Head {
        time,
        thread,
        command,
        argument: &rest[tab + 1..],
    })
}

/// Reads `user@host on schema using Socket`, where `as anonymous` may stand before `on`.
fn connect(argument: &[u8], entry: &mut Entry) {
    let Some(on) = memmem::find(argument, b" on ") else {
        return;
    };
    let account = &argument[..on];
    let account = account.strip_suffix(b" as anonymous").unwrap_or(account);
    let Some(at) = memchr::memrchr(b'@', account) else {
        return;
    };
    entry.user.extend_from_slice(&account[..at]);
    entry.host.extend_from_slice(&account[at + 1..]);
    entry.has_account = !account.contains(&b' ');
    let place = &argument[on + 4..];
    let schema = memmem::rfind(place, b"using ").map_or(place, |using| &place[..using]);
    entry.schema.extend_from_slice(schema.trim_ascii());
    entry.has_schema = true;
}

/// A statement `USE x` changes the schema like the command.
fn use_statement(entry: &mut Entry) {
    let is_use = entry.command == Command::Statement
        && entry
            .text
            .get(..4)
            .is_some_and(|word| word.eq_ignore_ascii_case(b"use "));
    if is_use {
        let name = entry.text[4..].trim_ascii();
        let name = name.strip_suffix(b";").unwrap_or(name).trim_ascii_end();
        let name = name
            .strip_prefix(b"`")
            .and_then(|name| name.strip_suffix(b"`"))
            .unwrap_or(name);
        entry.schema = name.to_vec();
        entry.has_schema = true;
    }
}
