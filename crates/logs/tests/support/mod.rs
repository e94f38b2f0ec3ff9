//! Reading logs from memory into memory.

#![allow(dead_code)] // each test binary uses its own part of this

use std::cell::RefCell;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use plimsoll_core::plan::LogFormat;
use plimsoll_logs::{Facts, LogReader, Options, ReadFault, Writers};

/// A table in memory.
#[derive(Clone, Debug, Default)]
struct Table(Rc<RefCell<Vec<u8>>>);

impl Write for Table {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Table {
    fn rows(&self) -> Vec<Vec<String>> {
        let text = String::from_utf8(self.0.borrow().clone()).unwrap();
        text.lines().map(fields).collect()
    }
}

/// The fields of a row. None of the tests has a line end in one.
fn fields(row: &str) -> Vec<String> {
    let (mut found, mut is_quoted) = (vec![String::new()], false);
    let mut chars = row.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '"' if is_quoted && chars.next_if_eq(&'"').is_some() => found.last_mut().unwrap().push('"'),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => found.push(String::new()),
            other => found.last_mut().unwrap().push(other),
        }
    }
    found
}

/// What was read.
#[derive(Debug)]
pub struct Read {
    pub events: Vec<Vec<String>>,
    pub templates: Vec<Vec<String>>,
    pub literals: Vec<Vec<String>>,
    pub accounts: Vec<Vec<String>>,
    pub schemas: Vec<Vec<String>>,
    pub damage: Vec<Vec<String>>,
    pub facts: Facts,
}

impl Read {
    /// Values of columns of events.
    pub fn columns(&self, names: &[&str]) -> Vec<Vec<&str>> {
        let places: Vec<usize> = names.iter().map(|name| self.place(name)).collect();
        let mut rows = Vec::new();
        for event in &self.events[1..] {
            rows.push(places.iter().map(|&place| event[place].as_str()).collect());
        }
        rows
    }

    /// Values of a column of events as numbers.
    pub fn numbers(&self, name: &str) -> Vec<i64> {
        let place = self.place(name);
        self.events[1..]
            .iter()
            .map(|event| event[place].parse().unwrap())
            .collect()
    }

    /// Kind and text of each event's template.
    pub fn statements(&self) -> Vec<(&str, &str)> {
        let template = |event: &'_ Vec<String>| event[self.place("template")].parse::<usize>().unwrap() + 1;
        let named = |index: usize| (self.templates[index][2].as_str(), self.templates[index][3].as_str());
        self.events[1..].iter().map(|event| named(template(event))).collect()
    }

    /// Slot, kind and value of the literals of an event.
    pub fn literals_of(&self, event: usize) -> Vec<(&str, &str, &str)> {
        let event = event.to_string();
        let of_event = self.literals[1..].iter().filter(|row| row[0] == event);
        of_event
            .map(|row| (row[1].as_str(), row[2].as_str(), row[3].as_str()))
            .collect()
    }

    fn place(&self, name: &str) -> usize {
        self.events[0].iter().position(|column| column == name).unwrap()
    }
}

/// Reads logs, each in pieces of so many bytes.
pub fn read_in_pieces(format: LogFormat, logs: &[&[u8]], bytes: usize) -> Result<Read, ReadFault> {
    let tables: [Table; 6] = Default::default();
    let [events, templates, literals, accounts, schemas, damage] = tables.clone();
    let writers = Writers {
        events,
        templates,
        literals,
        accounts,
        schemas,
        damage,
    };
    let options = Options {
        format,
        time_zone_offset_s: 0,
        seconds_are_ends: false,
        literals_share: 1.0,
    };
    let mut reader = LogReader::new(options, writers);
    for (log, number) in logs.iter().zip(0..) {
        reader.begin(&format!("log {number}"));
        log.chunks(bytes).try_for_each(|piece| reader.feed(piece))?;
        reader.end()?;
    }
    let facts = reader.finish()?;
    let [events, templates, literals, accounts, schemas, damage] = tables.map(|table| table.rows());
    Ok(Read {
        events,
        templates,
        literals,
        accounts,
        schemas,
        damage,
        facts,
    })
}

/// Reads logs whose format is told by their begin.
pub fn read(logs: &[&[u8]]) -> Read {
    read_in_pieces(LogFormat::Auto, logs, 1 << 16).unwrap()
}

/// A log in `tests/logs`.
pub fn sample(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(name)).unwrap()
}

/// All of them.
pub fn samples() -> Vec<(String, Vec<u8>)> {
    let names = std::fs::read_dir(folder()).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.map(|name| (name.clone(), sample(&name))).collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/logs")
}
