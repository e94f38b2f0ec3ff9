//! Binary logs of MySQL and MariaDB: transactions that were committed, in order, with the tables that they changed.
//!
//! What each event holds: MySQL 8.4 source, `libs/mysql/binlog/event`, and its internals manual (binary log event
//! formats); MariaDB documentation, "Replication Protocol" (GTID events, annotated and compressed events).
//! Deliberately not here: the values of rows, and transactions that were compressed as a whole.

mod bytes;
mod framing;
mod rows;

use crate::entry::{Command, Entry, Flavour, Found, RowChange, When};
use crate::time::SECOND_US;
use bytes::Bytes;
use framing::{Framing, Piece, Raw};
use rows::TableMap;

/// What a file begins with.
pub const MAGIC: &[u8] = b"\xfebin";
/// What an encrypted file of MySQL begins with.
pub const ENCRYPTED_MAGIC: &[u8] = b"\xfdbin";

/// Tables that are remembered by their ids. Servers map a table again in each transaction.
const TABLES_MAX: usize = 4096;

const QUERY: u8 = 2;
const STOP: u8 = 3;
const FORMAT_DESCRIPTION: u8 = 15;
const XID: u8 = 16;
const TABLE_MAP: u8 = 19;
const ROWS_QUERY: u8 = 29;
const GTID: u8 = 33;
const ANONYMOUS_GTID: u8 = 34;
const XA_PREPARE: u8 = 38;
const TRANSACTION_PAYLOAD: u8 = 40;
const GTID_TAGGED: u8 = 42;
const MARIADB_ANNOTATE_ROWS: u8 = 160;
const MARIADB_GTID: u8 = 162;
const MARIADB_START_ENCRYPTION: u8 = 164;
const MARIADB_QUERY_COMPRESSED: u8 = 165;

/// Flag of MariaDB's GTID event: no event ends the group.
const STANDALONE: u8 = 1;

/// The id of no table: an event that only ends a statement.
const NO_TABLE: u64 = 0x00FF_FFFF;

/// Row events that end a statement have it.
const STATEMENT_END: u16 = 1;

/// A statement whose row events are not all there yet: those of one table.
#[derive(Debug)]
struct Change {
    line: u64,
    kind: RowChange,
    table_id: u64,
    /// `None` when a row could not be counted.
    rows: Option<u64>,
}

/// Reads one binary log after the other.
#[derive(Debug)]
pub struct BinlogParser {
    framing: Framing,
    entry: Entry,
    is_mariadb: bool,
    tables: Vec<(u64, TableMap)>,
    /// When the transaction was committed, as far as its first event tells.
    when: When,
    /// The connection of the transaction; 0 where nobody says.
    thread: u64,
    in_transaction: bool,
    changes: Vec<Change>,
    /// The statement as it was sent, where servers log that beside rows.
    sent: Option<Vec<u8>>,
}

impl Default for BinlogParser {
    fn default() -> Self {
        Self {
            framing: Framing::default(),
            entry: Entry::default(),
            is_mariadb: false,
            tables: Vec::new(),
            when: When::Unknown,
            thread: 0,
            in_transaction: false,
            changes: Vec::new(),
            sent: None,
        }
    }
}

impl BinlogParser {
    /// Takes the next bytes. An error says that the rest is encrypted.
    pub fn feed(&mut self, bytes: &[u8], found: &mut impl Found) -> Result<(), Encrypted> {
        let mut rest = bytes;
        loop {
            let mut framing = std::mem::take(&mut self.framing);
            let piece = framing.next(&mut rest);
            let told = match &piece {
                Some(Piece::Event(raw)) => self.event(raw, found),
                Some(Piece::Damage(at, reason)) => {
                    found.damage(*at, reason);
                    Ok(())
                }
                None => Ok(()),
            };
            let is_done = piece.is_none();
            if let Some(Piece::Event(raw)) = piece {
                framing.give_back(raw.body);
            }
            self.framing = framing;
            told?;
            if is_done {
                return Ok(());
            }
        }
    }

    /// The log ended.
    pub fn end(&mut self, found: &mut impl Found) {
        self.finish_statement(found);
        if let Some(at) = self.framing.end() {
            found.damage(at, "the file ends in this event");
        }
        let (entry, is_mariadb) = (std::mem::take(&mut self.entry), self.is_mariadb);
        *self = Self {
            entry,
            is_mariadb,
            ..Self::default()
        };
    }

    fn event(&mut self, raw: &Raw, found: &mut impl Found) -> Result<(), Encrypted> {
        if raw.kind == MARIADB_START_ENCRYPTION {
            return Err(Encrypted);
        }
        if self.read(raw, found).is_none() {
            found.damage(raw.at, "an event that is shorter than its kind");
        }
        Ok(())
    }

    /// Takes an event whose frame is sound; `None` when its content is not.
    fn read(&mut self, raw: &Raw, found: &mut impl Found) -> Option<()> {
        let mut body = Bytes::of(&raw.body);
        match raw.kind {
            FORMAT_DESCRIPTION => {
                body.skip(2)?;
                let version = body.take(50)?;
                let version = &version[..version.iter().position(|&byte| byte == 0).unwrap_or(50)];
                self.is_mariadb = version.windows(7).any(|part| part.eq_ignore_ascii_case(b"mariadb"));
                found.opened(version);
            }
            GTID | ANONYMOUS_GTID => {
                self.finish_statement(found);
                self.begin(raw, mysql_commit_us(&mut body));
            }
            GTID_TAGGED => {
                self.finish_statement(found);
                self.begin(raw, None);
            }
            MARIADB_GTID => {
                self.finish_statement(found);
                body.skip(12)?;
                let flags = body.byte()?;
                self.begin(raw, None);
                if flags & STANDALONE == 0 {
                    self.in_transaction = true;
                    self.tell_text(raw, b"BEGIN", found);
                }
            }
            QUERY => self.query(raw, &mut body, found)?,
            XID | XA_PREPARE => {
                self.finish_statement(found);
                self.tell_text(raw, b"COMMIT", found);
                self.in_transaction = false;
            }
            ROWS_QUERY => self.sent = Some(body.rest().get(1..)?.to_vec()),
            MARIADB_ANNOTATE_ROWS => self.sent = Some(body.rest().to_vec()),
            TABLE_MAP => self.table(&mut body, raw.is_cut)?,
            TRANSACTION_PAYLOAD => found.damage(raw.at, "a compressed transaction, which is not read"),
            MARIADB_QUERY_COMPRESSED => found.damage(raw.at, "a compressed statement, which is not read"),
            STOP => self.finish_statement(found),
            kind => {
                if let Some((change, layout)) = rows::change_of(kind) {
                    self.rows(raw, change, layout, &mut body, found)?;
                }
            }
        }
        Some(())
    }

    fn begin(&mut self, raw: &Raw, commit_us: Option<i64>) {
        self.when = commit_us.map_or(When::StartSecond(raw.second.into()), When::Start);
        self.thread = 0;
        self.in_transaction = false;
    }

    fn query(&mut self, raw: &Raw, body: &mut Bytes<'_>, found: &mut impl Found) -> Option<()> {
        let thread = body.number(4)?;
        body.skip(4)?;
        let schema_len = body.byte()?.into();
        body.skip(2)?;
        let status_len = body.number(2)?;
        body.skip(status_len as usize)?;
        let schema = body.take(schema_len)?;
        body.skip(1)?;
        let text = body.rest();
        self.finish_statement(found);
        if !self.is_mariadb {
            self.thread = thread;
        }
        match text {
            b"BEGIN" => {
                self.in_transaction = true;
                self.tell_text(raw, b"BEGIN", found);
            }
            _ if text.starts_with(b"XA START") => {
                self.in_transaction = true;
                self.tell_text(raw, b"BEGIN", found);
            }
            _ if text.starts_with(b"XA ") => {}
            _ => {
                self.prepare(raw.at, raw.second);
                self.entry.schema.extend_from_slice(schema);
                self.entry.has_schema = true;
                self.entry.add_text(text, raw.is_cut);
                found.entry(&self.entry, self.flavour());
                if matches!(text, b"COMMIT" | b"ROLLBACK") {
                    self.in_transaction = false;
                }
            }
        }
        Some(())
    }

    fn table(&mut self, body: &mut Bytes<'_>, is_cut: bool) -> Option<()> {
        let id = body.number(6)?;
        body.skip(2)?;
        let map = TableMap::read(body, is_cut)?;
        if let Some((_, known)) = self.tables.iter_mut().find(|(known, _)| *known == id) {
            *known = map;
            return Some(());
        }
        if self.tables.len() >= TABLES_MAX {
            self.tables.remove(0);
        }
        self.tables.push((id, map));
        Some(())
    }

    fn rows(
        &mut self,
        raw: &Raw,
        kind: RowChange,
        layout: rows::Layout,
        body: &mut Bytes<'_>,
        found: &mut impl Found,
    ) -> Option<()> {
        let table_id = body.number(6)?;
        let flags = body.number(2)? as u16;
        if let Some((_, map)) = self.tables.iter().find(|(id, _)| *id == table_id) {
            let rows = if raw.is_cut { None } else { map.rows(layout, kind, body) };
            let known = self
                .changes
                .iter_mut()
                .find(|known| known.table_id == table_id && known.kind == kind);
            match known {
                Some(known) => known.rows = known.rows.zip(rows).map(|(before, more)| before + more),
                None => self.changes.push(Change {
                    line: raw.at,
                    kind,
                    table_id,
                    rows,
                }),
            }
        } else if table_id != NO_TABLE {
            found.damage(raw.at, "rows of a table that was not named before");
        }
        if flags & STATEMENT_END != 0 || self.changes.len() >= TABLES_MAX {
            self.finish_statement_at(raw.second, found);
        }
        Some(())
    }

    fn finish_statement(&mut self, found: &mut impl Found) {
        self.finish_statement_at(0, found);
    }

    /// Tells the statement whose rows were read: as it was sent, or what it did to each table.
    fn finish_statement_at(&mut self, second: u32, found: &mut impl Found) {
        let sent = self.sent.take();
        let changes = std::mem::take(&mut self.changes);
        let rows = changes.iter().map(|change| change.rows).sum::<Option<u64>>();
        for (number, change) in changes.iter().enumerate() {
            let Some(place) = self.tables.iter().position(|(id, _)| *id == change.table_id) else {
                continue;
            };
            if number > 0 && sent.is_some() {
                break;
            }
            self.prepare(change.line, second);
            let map = &self.tables[place].1;
            self.entry.schema.extend_from_slice(&map.schema);
            self.entry.has_schema = true;
            if let Some(sent) = &sent {
                self.entry.rows_affected = rows;
                self.entry.add_text(sent, false);
            } else {
                self.entry.rows_affected = change.rows;
                self.entry.command = Command::Rows(change.kind);
                self.entry.text = map.statement(change.kind);
            }
            found.entry(&self.entry, self.flavour());
        }
    }

    fn tell_text(&mut self, raw: &Raw, text: &[u8], found: &mut impl Found) {
        self.prepare(raw.at, raw.second);
        self.entry.add_text(text, false);
        found.entry(&self.entry, self.flavour());
    }

    fn prepare(&mut self, line: u64, second: u32) {
        self.entry.begin(line);
        self.entry.thread = Some(self.thread);
        self.entry.when = match self.when {
            When::Unknown if second > 0 => When::StartSecond(second.into()),
            known => known,
        };
    }

    fn flavour(&self) -> Flavour {
        if self.is_mariadb {
            Flavour::MariaDb
        } else {
            Flavour::MySql
        }
    }
}

/// The log goes on encrypted.
#[derive(Clone, Copy, Debug)]
pub struct Encrypted;

/// When MySQL committed the transaction of a GTID event, microseconds since 1970; `None` before MySQL 8.0.1.
fn mysql_commit_us(body: &mut Bytes<'_>) -> Option<i64> {
    body.skip(1 + 16 + 8)?;
    if body.byte()? != 2 {
        return None;
    }
    body.skip(16)?;
    // 55 bits; the highest bit says that the time of the first server follows
    let us = i64::try_from(body.number(7)? & ((1 << 55) - 1)).ok()?;
    (us > SECOND_US).then_some(us)
}
