//! One connection of the scripted server: lets the client in and answers its commands.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, BufReader, Write};
use std::num::NonZeroU64;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Instant;

use crate::hostile::read_packet;
use crate::packets::{self, Column, ColumnKind, DEPRECATE_EOF, ResultSet, RowFormat, packet};
use crate::stream::Stream;
use crate::{Answer, Shape, Shared};

/// A statement and its values fit, so that a command is one read.
const INCOMING_BYTES: usize = 4096;

/// One connection and what was prepared on it.
struct Service<'a> {
    shared: &'a Shared,
    stream: &'a Stream,
    incoming: BufReader<&'a Stream>,
    deprecate_eof: bool,
    prepared: HashMap<u32, Prepared>,
    prepared_count: u32,
}

/// Somebody who logs in, counted until dropped.
struct LogsIn<'a> {
    shared: &'a Shared,
    /// 1 for the first.
    ordinal: usize,
}

impl<'a> LogsIn<'a> {
    fn new(shared: &'a Shared) -> Self {
        let mut logins = shared.logins();
        logins.current += 1;
        logins.most = logins.most.max(logins.current);
        logins.begins.push(shared.started.elapsed());
        let ordinal = logins.begins.len();
        drop(logins);
        Self { shared, ordinal }
    }
}

impl Drop for LogsIn<'_> {
    fn drop(&mut self) {
        self.shared.logins().current -= 1;
    }
}

/// A prepared statement.
struct Prepared {
    is_control: bool,
    is_rollback: bool,
    /// What it answers, ready to be sent.
    reply: Vec<u8>,
}

/// Serves until the client quits or goes away.
pub(crate) fn serve(shared: &Shared, stream: &Stream) {
    // The default slack of 50 us would lengthen every scripted delay; without the right to change it they are longer.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    stream.hurry();
    if let Ok(mut service) = Service::log_in(shared, stream) {
        while let Ok(true) = service.answer_command() {}
    }
}

impl<'a> Service<'a> {
    fn log_in(shared: &'a Shared, mut stream: &'a Stream) -> io::Result<Self> {
        let login_counts = LogsIn::new(shared);
        if shared.shut.load(Ordering::Relaxed) {
            stream.write_all(&packet(0, &packets::error(1040, "08004", "Too many connections")))?;
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        let offered = shared.script.deprecate_eof;
        stream.write_all(&packet(0, &packets::greeting("8.0.0-sim", 1, offered)))?;
        let mut incoming = BufReader::with_capacity(INCOMING_BYTES, stream);
        let (sequence, login) = read_packet(&mut incoming)?;
        let flags = login.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        thread::sleep(shared.script.login_delay);
        if login_counts.ordinal <= shared.script.dropped_logins {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        drop(login_counts); // the client may go on, and another one come, as soon as it is let in
        stream.write_all(&packet(sequence.wrapping_add(1), &packets::ok(0)))?;
        let deprecate_eof = offered && flags & DEPRECATE_EOF != 0;
        Ok(Self {
            shared,
            stream,
            incoming,
            deprecate_eof,
            prepared: HashMap::new(),
            prepared_count: 0,
        })
    }

    /// Answers one command; false when the client quits.
    fn answer_command(&mut self) -> io::Result<bool> {
        let (_, payload) = read_packet(&mut self.incoming)?;
        let arrived = Instant::now();
        let mut stream = self.stream;
        let Some((command, argument)) = payload.split_first() else {
            return Ok(false);
        };
        let reply = match command {
            0x01 => return Ok(false),
            0x03 => Cow::Owned(self.query(&String::from_utf8_lossy(argument), arrived)),
            0x0E => Cow::Owned(packet(1, &packets::ok(0))),
            0x16 => Cow::Owned(self.prepare(&String::from_utf8_lossy(argument))),
            0x17 => self.execute(argument, arrived),
            0x19 => {
                self.prepared.remove(&statement_id(argument));
                return Ok(true);
            }
            _ => Cow::Owned(packet(1, &packets::error(1047, "08S01", "Unknown command"))),
        };
        stream.write_all(&reply)?;
        Ok(true)
    }

    fn prepare(&mut self, sql: &str) -> Vec<u8> {
        self.prepared_count += 1;
        let id = self.prepared_count;
        let parameters = sql.bytes().filter(|&b| b == b'?').count() as u16;
        let columns = self.result_of(sql).map_or(0, |result| result.columns.len() as u16);
        let statement = Prepared {
            is_control: self.answer_to(sql).is_some(),
            is_rollback: is_rollback(sql),
            reply: self.reply(sql, RowFormat::Binary),
        };
        self.prepared.insert(id, statement);
        packets::prepared(id, parameters, columns, self.deprecate_eof)
    }

    fn execute(&self, argument: &[u8], arrived: Instant) -> Cow<'_, [u8]> {
        let Some(statement) = self.prepared.get(&statement_id(argument)) else {
            return Cow::Owned(packet(
                1,
                &packets::error(1243, "HY000", "Unknown prepared statement handler"),
            ));
        };
        let failed = if statement.is_control {
            None
        } else {
            self.run(arrived, statement.is_rollback)
        };
        failed.map_or(Cow::Borrowed(&statement.reply[..]), Cow::Owned)
    }

    fn query(&self, sql: &str, arrived: Instant) -> Vec<u8> {
        let failed = if self.answer_to(sql).is_some() {
            None
        } else {
            self.run(arrived, is_rollback(sql))
        };
        failed.unwrap_or_else(|| self.reply(sql, RowFormat::Text))
    }

    /// Counts a statement and takes its time. The error that it meets, if it is one of those that do; no server fails a
    /// rollback, which also comes at an uncertain place in the count.
    fn run(&self, arrived: Instant, is_rollback: bool) -> Option<Vec<u8>> {
        let number = self.shared.statements.fetch_add(1, Ordering::Relaxed) + 1;
        self.delay(arrived);
        let failure = self.shared.script.failure.as_ref();
        failure
            .filter(|failure| number % failure.every == 0 && !is_rollback)
            .map(|failure| packet(1, &packets::error(failure.code, &failure.sqlstate, &failure.message)))
    }

    /// What a statement that succeeds is answered.
    fn reply(&self, sql: &str, format: RowFormat) -> Vec<u8> {
        match self.result_of(sql) {
            Some(result) => packets::result_set(&result, format, self.deprecate_eof),
            None => packet(
                1,
                &packets::changed(changes_rows(sql).into(), begins_with(sql, "insert").into()),
            ),
        }
    }

    /// Waits until the reply is due, and then until no stall is left.
    fn delay(&self, arrived: Instant) {
        let script = &self.shared.script;
        sleep_until(arrived + script.statement_delay);
        for stall in &script.stalls {
            let begin = self.shared.started + stall.after;
            if Instant::now() >= begin {
                sleep_until(begin + stall.lasts);
            }
        }
    }

    fn answer_to(&self, sql: &str) -> Option<&Answer> {
        self.shared
            .script
            .answers
            .iter()
            .find(|answer| begins_with(sql, &answer.begins_with))
    }

    /// What a statement returns that returns rows.
    fn result_of(&self, sql: &str) -> Option<ResultSet> {
        if let Some(answer) = self.answer_to(sql) {
            return Some(ResultSet::of_texts(answer.rows.clone()));
        }
        let script = &self.shared.script;
        if let Some(shape) = script.shapes.iter().find(|shape| shape.is_of(sql)) {
            return Some(shaped(shape));
        }
        let row = || vec![Some("x".repeat(script.row_bytes))];
        begins_with(sql, "select").then(|| ResultSet::of_texts((0..script.rows).map(|_| row()).collect()))
    }
}

fn shaped(shape: &Shape) -> ResultSet {
    let kind = |text_bytes: Option<usize>| text_bytes.map_or(ColumnKind::Integer, |_| ColumnKind::Text);
    let value = |text_bytes: Option<usize>| text_bytes.map_or_else(|| "1".to_owned(), |bytes| "x".repeat(bytes));
    let columns = shape.columns.iter().map(|column| Column {
        name: column.name.clone(),
        kind: kind(column.text_bytes),
    });
    let row: Vec<Option<String>> = shape.columns.iter().map(|one| Some(value(one.text_bytes))).collect();
    ResultSet {
        columns: columns.collect(),
        rows: vec![row; shape.rows as usize],
    }
}

fn sleep_until(due: Instant) {
    thread::sleep(due.saturating_duration_since(Instant::now()));
}

fn statement_id(argument: &[u8]) -> u32 {
    argument.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

fn begins_with(sql: &str, prefix: &str) -> bool {
    sql.trim_start()
        .get(..prefix.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

fn is_rollback(sql: &str) -> bool {
    begins_with(sql, "rollback")
}

fn changes_rows(sql: &str) -> bool {
    ["insert", "update", "delete", "replace"]
        .iter()
        .any(|verb| begins_with(sql, verb))
}
