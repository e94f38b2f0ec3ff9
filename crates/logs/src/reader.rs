//! The driver: bytes of logs in, tables out. It reads no files itself; whoever owns them feeds it.

use std::io::{self, Write};

use plimsoll_core::plan::LogFormat;

use crate::entry::{Command, Entry, Flavour, Found, RowChange};
use crate::event::{Clock, Event};
use crate::facts::{Facts, SourceFacts};
use crate::formats::Parser;
use crate::formats::binlog::{ENCRYPTED_MAGIC, Encrypted};
use crate::formats::detect::{self, Detected};
use crate::hash::both;
use crate::lines::Lines;
use crate::sessions::Sessions;
use crate::statement::{Lexer, StatementKind};
use crate::tables::{Tables, Template, Writers};

/// How to read.
#[derive(Clone, Debug)]
pub struct Options {
    /// Format of all logs.
    pub format: LogFormat,
    /// What local times are ahead of UTC, seconds.
    pub time_zone_offset_s: i32,
    /// Whole seconds in slow logs are those of the end.
    pub seconds_are_ends: bool,
    /// Share of the sessions whose literals are written, 0..1.
    pub literals_share: f64,
}

/// Why a log cannot be read at all.
#[derive(Debug)]
pub enum ReadFault {
    /// A table cannot be written.
    Write(io::Error),
    /// Its begin is in none of the formats.
    Unknown,
    /// It is compressed, by this method.
    Compressed(&'static str),
    /// It is encrypted.
    Encrypted,
}

impl From<Encrypted> for ReadFault {
    fn from(_: Encrypted) -> Self {
        Self::Encrypted
    }
}

impl From<io::Error> for ReadFault {
    fn from(error: io::Error) -> Self {
        Self::Write(error)
    }
}

/// Reads logs one after the other.
#[derive(Debug)]
pub struct LogReader<W> {
    options: Options,
    parser: Option<Parser>,
    /// That of the log before: what it knows goes on in the next file of a rotated log.
    before: Option<Parser>,
    /// The begin of a log whose format is not known yet.
    begin: Vec<u8>,
    lines: Lines,
    collector: Collector<W>,
}

impl<W: Write> LogReader<W> {
    /// Writes to these.
    pub fn new(options: Options, writers: Writers<W>) -> Self {
        let collector = Collector::new(options.literals_share, writers);
        Self {
            options,
            parser: None,
            before: None,
            begin: Vec::new(),
            lines: Lines::default(),
            collector,
        }
    }

    /// A log begins.
    pub fn begin(&mut self, name: &str) {
        self.parser = match self.options.format.clone() {
            LogFormat::Auto => None,
            LogFormat::Slow => Some(self.parser_of(Detected::Slow)),
            LogFormat::General => Some(self.parser_of(Detected::General)),
            LogFormat::Binlog => Some(self.parser_of(Detected::Binlog)),
            LogFormat::Audit(plan) => Some(Parser::audit(&plan, self.options.time_zone_offset_s)),
        };
        self.collector.facts.push(SourceFacts::of(name));
    }

    /// Takes its next bytes, any number of them.
    ///
    /// # Errors
    /// When tables cannot be written, or it is no log that can be read.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(), ReadFault> {
        let is_first = self.collector.source().bytes_read == 0;
        self.collector.source().bytes_read += bytes.len() as u64;
        if is_first {
            if let Some(method) = detect::compression(bytes) {
                return Err(ReadFault::Compressed(method));
            }
            if bytes.starts_with(ENCRYPTED_MAGIC) {
                return Err(ReadFault::Encrypted);
            }
        }
        if self.parser.is_some() {
            return self.parse(bytes);
        }
        self.begin.extend_from_slice(bytes);
        if self.begin.len() < detect::BYTES_NEEDED {
            Ok(())
        } else {
            self.decide()
        }
    }

    /// The log ended.
    ///
    /// # Errors
    /// As `feed`.
    pub fn end(&mut self) -> Result<(), ReadFault> {
        if !self.begin.is_empty() {
            self.decide()?;
        }
        if let Some(mut parser) = self.parser.take() {
            let collector = &mut self.collector;
            parser.end(&mut self.lines, collector);
            let source = collector.source();
            if source.bytes_read > 0 {
                source.format = parser.name();
            }
            source.is_extended = parser.is_extended();
            collector.flush();
            self.before = Some(parser);
        }
        Ok(self.collector.tables.hand_on()?)
    }

    /// All logs ended: hands on what is left, and says what they were.
    ///
    /// # Errors
    /// When tables cannot be written.
    pub fn finish(mut self) -> io::Result<Facts> {
        self.collector.tables.end()?;
        Ok(Facts {
            events_count: self.collector.events,
            sessions_count: self.collector.sessions.count(),
            damaged_count: self.collector.tables.damage_count(),
            sources: self.collector.facts,
        })
    }

    fn parser_of(&mut self, detected: Detected) -> Parser {
        if let Some(parser) = self.before.take().filter(|parser| parser.reads(detected)) {
            return parser;
        }
        Parser::of(detected, self.options.time_zone_offset_s, self.options.seconds_are_ends)
    }

    fn decide(&mut self) -> Result<(), ReadFault> {
        let begin = std::mem::take(&mut self.begin);
        let detected = detect::detect(&begin).ok_or(ReadFault::Unknown)?;
        self.parser = Some(self.parser_of(detected));
        self.parse(&begin)
    }

    fn parse(&mut self, bytes: &[u8]) -> Result<(), ReadFault> {
        let (collector, parser) = (&mut self.collector, self.parser.as_mut().expect("the format is known"));
        parser.feed(bytes, &mut self.lines, collector)?;
        Ok(collector.tables.hand_on()?)
    }
}

/// Makes rows of what parsers find.
#[derive(Debug)]
struct Collector<W> {
    tables: Tables<W>,
    facts: Vec<SourceFacts>,
    lexer: Lexer,
    sessions: Sessions,
    clock: Clock,
    events: u64,
    /// Literals of sessions with hashes below it are written.
    literals_below: u64,
}

impl<W: Write> Collector<W> {
    fn new(literals_share: f64, writers: Writers<W>) -> Self {
        Self {
            tables: Tables::new(writers),
            facts: Vec::new(),
            lexer: Lexer::default(),
            sessions: Sessions::default(),
            clock: Clock::default(),
            events: 0,
            literals_below: (literals_share * u64::MAX as f64) as u64,
        }
    }

    fn source(&mut self) -> &mut SourceFacts {
        self.facts.last_mut().expect("a log has begun")
    }

    fn flush(&mut self) {
        let tables = &mut self.tables;
        self.clock.flush(&mut self.sessions, &mut |event| tables.event(event));
    }

    fn has_literals(&self, session: Option<u32>) -> bool {
        self.literals_below == u64::MAX || session.is_some_and(|number| both(number.into(), 0) < self.literals_below)
    }

    /// Account, session and schema of an entry.
    fn place(&mut self, entry: &Entry, event: &mut Event) {
        event.account = entry.has_account.then(|| self.tables.account(&entry.user, &entry.host));
        event.schema = (!entry.schema.is_empty()).then(|| self.tables.schema(&entry.schema));
        event.thread = entry.thread;
        if let Some(thread) = entry.thread {
            let session = self.sessions.of(thread, entry, event.account, self.events);
            if entry.has_schema || event.schema.is_some() {
                session.schema = event.schema;
            }
            event.session = Some(session.number);
            event.account = session.account;
            event.schema = session.schema;
        }
    }

    /// The row of the entry's template, and its literals. `None` when its text has no end.
    fn template(&mut self, entry: &Entry, event: &Event) -> Option<u32> {
        let lexer = &mut self.lexer;
        let (kind, is_text) = match entry.command {
            Command::Statement => (None, true),
            Command::Prepare => (Some(StatementKind::Prepare), entry.text != b"Prepare"),
            Command::Connect => (Some(StatementKind::Connect), false),
            Command::Quit => (Some(StatementKind::Quit), false),
            Command::InitDb => (Some(StatementKind::Use), false),
            Command::Ping => (Some(StatementKind::Ping), false),
            Command::Close => (Some(StatementKind::Close), false),
            Command::Admin => (Some(StatementKind::Admin), false),
            Command::Rows(RowChange::Insert) => (Some(StatementKind::Insert), false),
            Command::Rows(RowChange::Update) => (Some(StatementKind::Update), false),
            Command::Rows(RowChange::Delete) => (Some(StatementKind::Delete), false),
        };
        if !is_text {
            let kind = kind.expect("commands have a kind");
            let template = Template {
                schema: matches!(entry.command, Command::Rows(_))
                    .then_some(event.schema)
                    .flatten(),
                kind,
                text: &entry.text,
                slots: 0,
            };
            return Some(self.tables.template(&template));
        }
        lexer.read(&entry.text);
        if entry.is_last && lexer.is_open() && !entry.is_cut {
            return None;
        }
        let kind = kind.unwrap_or_else(|| lexer.kind(&entry.text));
        let text = lexer.template();
        let template = Template {
            schema: event.schema,
            kind,
            text,
            slots: lexer.slots(),
        };
        Some(self.tables.template(&template))
    }
}

impl<W: Write> Found for Collector<W> {
    fn entry(&mut self, entry: &Entry, flavour: Flavour) {
        let mut event = Event {
            number: self.events,
            source: (self.facts.len() - 1) as u32,
            line: entry.line,
            when: entry.when,
            figures: [
                entry.query_us,
                entry.lock_us,
                entry.rows_sent,
                entry.rows_examined,
                entry.rows_affected,
                entry.bytes_sent,
                entry.errno,
                entry.trx,
                entry.pages,
                entry.handler_reads,
            ],
            weight: entry.weight,
            ..Event::default()
        };
        self.place(entry, &mut event);
        let Some(template) = self.template(entry, &event) else {
            return self.damage(entry.line, "a statement whose quotes have no end");
        };
        event.template = template;
        if self.has_literals(event.session) && matches!(entry.command, Command::Statement) {
            for literal in self.lexer.literals() {
                self.tables.literal(event.number, literal, &entry.text);
            }
        }
        self.events += 1;
        self.source().of_flavour(flavour);
        self.source().add(entry);
        let tables = &mut self.tables;
        self.clock
            .take(&event, &mut self.sessions, &mut |event| tables.event(event));
    }

    fn damage(&mut self, line: u64, reason: &'static str) {
        let source = (self.facts.len() - 1) as u32;
        self.source().damaged_count += 1;
        self.tables.damage(source, line, reason);
    }

    fn opened(&mut self, program: &[u8]) {
        self.sessions.opened();
        self.source().opened(program);
    }
}
