//! The tables of one reading: events, templates, literals, accounts, schemas, damage.

use std::io::{self, Write};

use super::csv::Csv;
use super::names::{Names, Number};
use crate::event::Event;
use crate::hash::{both, hash64};
use crate::statement::StatementKind;
use crate::statement::literal::{Kind, Literal};

/// Places of damage that are listed. More are only counted.
pub const DAMAGE_LISTED_MAX: u64 = 1000;

/// What is kept of a template's text at most, bytes.
const TEMPLATE_BYTES_MAX: usize = 1 << 16;

/// The text of the template of all statements that came when there were too many templates.
const MANY: &[u8] = b"(one of more than 1000000 templates)";

/// Where the tables go.
#[derive(Debug)]
pub struct Writers<W> {
    /// `events.csv`
    pub events: W,
    /// `templates.csv`
    pub templates: W,
    /// `literals.csv`
    pub literals: W,
    /// `accounts.csv`
    pub accounts: W,
    /// `schemas.csv`
    pub schemas: W,
    /// `damage.csv`
    pub damage: W,
}

/// The tables.
#[derive(Debug)]
pub struct Tables<W> {
    events: Csv<W>,
    templates: Csv<W>,
    literals: Csv<W>,
    accounts: Csv<W>,
    schemas: Csv<W>,
    damage: Csv<W>,
    template_names: Names,
    account_names: Names,
    schema_names: Names,
    damage_count: u64,
}

/// A template that may be new.
#[derive(Clone, Copy, Debug)]
pub struct Template<'a> {
    /// Its schema.
    pub schema: Option<u32>,
    /// Its kind.
    pub kind: StatementKind,
    /// The statement with `?` for literals.
    pub text: &'a [u8],
    /// How many there are.
    pub slots: u32,
}

impl<W: Write> Tables<W> {
    /// Empty ones.
    pub fn new(writers: Writers<W>) -> Self {
        Self {
            events: Csv::new(
                writers.events,
                "event,source,line,session,account,schema,start_us,end_us,query_us,lock_us,rows_sent,rows_examined,\
                 rows_affected,bytes_sent,errno,trx,pages,handler_reads,template,weight",
            ),
            templates: Csv::new(writers.templates, "template,schema,kind,text,slots"),
            literals: Csv::new(writers.literals, "event,slot,kind,value,length"),
            accounts: Csv::new(writers.accounts, "account,user,host"),
            schemas: Csv::new(writers.schemas, "schema,name"),
            damage: Csv::new(writers.damage, "source,line,reason"),
            template_names: Names::default(),
            account_names: Names::default(),
            schema_names: Names::default(),
            damage_count: 0,
        }
    }

    /// Places of damage so far.
    pub fn damage_count(&self) -> u64 {
        self.damage_count
    }

    /// The row of a template.
    pub fn template(&mut self, template: &Template<'_>) -> u32 {
        let hash = hash64(template.text);
        let place = u64::from(template.schema.map_or(0, |schema| schema + 1)) << 8 | template.kind as u64;
        let (number, text, schema, kind, slots) = match self.template_names.number(both(hash, place)) {
            Number::Known(number) => return number,
            Number::New(number) => (number, template.text, template.schema, template.kind, template.slots),
            Number::NewShared(number) => (number, MANY, None, StatementKind::Other, 0),
        };
        let text = &text[..text.len().min(TEMPLATE_BYTES_MAX)];
        self.templates.number(number.into(), b',');
        self.templates.optional(schema.map(Into::into), b',');
        self.templates.plain(kind.name().as_bytes(), b',');
        self.templates.text(text, b',');
        self.templates.number(slots.into(), b'\n');
        number
    }

    /// The row of an account.
    pub fn account(&mut self, user: &[u8], host: &[u8]) -> u32 {
        let (number, user, host) = match self.account_names.number(both(hash64(user), hash64(host))) {
            Number::Known(number) => return number,
            Number::New(number) => (number, user, host),
            Number::NewShared(number) => (number, MANY, MANY),
        };
        self.accounts.number(number.into(), b',');
        self.accounts.text(user, b',');
        self.accounts.text(host, b'\n');
        number
    }

    /// The row of a schema.
    pub fn schema(&mut self, name: &[u8]) -> u32 {
        let (number, name) = match self.schema_names.number(hash64(name)) {
            Number::Known(number) => return number,
            Number::New(number) => (number, name),
            Number::NewShared(number) => (number, MANY),
        };
        self.schemas.number(number.into(), b',');
        self.schemas.text(name, b'\n');
        number
    }

    /// One literal; `text` is that of its statement.
    pub fn literal(&mut self, event: u64, literal: &Literal, text: &[u8]) {
        let csv = &mut self.literals;
        csv.number(event, b',');
        csv.number(literal.slot.into(), b',');
        csv.plain(literal.kind.name().as_bytes(), b',');
        let written = text.get(literal.from as usize..literal.to as usize).unwrap_or_default();
        match literal.kind {
            Kind::Int | Kind::Decimal | Kind::Date => {
                if literal.is_negative {
                    csv.plain(b"", b'-');
                }
                csv.plain(written, b',');
                csv.plain(b"", b'\n');
            }
            Kind::Text => {
                csv.hash(literal.value, b',');
                csv.number(literal.length.into(), b'\n');
            }
            Kind::Null => csv.plain(b",", b'\n'),
            Kind::List => {
                csv.number(literal.value, b',');
                csv.plain(b"", b'\n');
            }
            Kind::Rows => {
                csv.number(literal.value, b',');
                csv.optional(Some(literal.to.into()).filter(|&each| each > 0), b'\n');
            }
        }
    }

    /// One event.
    pub fn event(&mut self, event: &Event) {
        let csv = &mut self.events;
        csv.number(event.number, b',');
        csv.number(event.source.into(), b',');
        csv.number(event.line, b',');
        for number in [event.session, event.account, event.schema] {
            csv.optional(number.map(Into::into), b',');
        }
        csv.time(event.start_us, b',');
        csv.time(event.end_us, b',');
        for figure in event.figures {
            csv.optional(figure, b',');
        }
        csv.number(event.template.into(), b',');
        csv.number(event.weight, b'\n');
    }

    /// A place that cannot be read.
    pub fn damage(&mut self, source: u32, line: u64, reason: &str) {
        self.damage_count += 1;
        if self.damage_count <= DAMAGE_LISTED_MAX {
            self.damage.number(source.into(), b',');
            self.damage.number(line, b',');
            self.damage.text(reason.as_bytes(), b'\n');
        }
    }

    /// Hands on what is complete, when it is much.
    ///
    /// # Errors
    /// Those of the writers.
    pub fn hand_on(&mut self) -> io::Result<()> {
        let [events, templates, literals] = [&mut self.events, &mut self.templates, &mut self.literals];
        events.hand_on()?;
        templates.hand_on()?;
        literals.hand_on()?;
        self.accounts.hand_on()?;
        self.schemas.hand_on()
    }

    /// Hands on everything.
    ///
    /// # Errors
    /// Those of the writers.
    pub fn end(&mut self) -> io::Result<()> {
        let first = [&mut self.events, &mut self.templates, &mut self.literals];
        let second = [&mut self.accounts, &mut self.schemas, &mut self.damage];
        first.into_iter().chain(second).try_for_each(Csv::end)
    }
}
