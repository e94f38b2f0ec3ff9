//! What a log turned out to be: the contents of `facts.json`.

use serde::Serialize;

use crate::entry::{Entry, Flavour, When};
use crate::time::SECOND_US;

/// Different values of one thing that are told.
const TOLD_MAX: usize = 16;

/// All logs of one reading.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Facts {
    /// In the order of the plan.
    pub sources: Vec<SourceFacts>,
    /// Statements that were written.
    pub events_count: u64,
    /// Sessions that were found.
    pub sessions_count: u32,
    /// Places that could not be read.
    pub damaged_count: u64,
}

/// One log.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SourceFacts {
    /// As in the plan.
    pub name: String,
    /// `slow`, `general`, `audit`, `binlog`, or `empty` for a file without a byte.
    pub format: &'static str,
    /// `mysql`, `percona` or `mariadb`, as far as entries tell; none of an audit log or of one without entries.
    pub flavour: Option<&'static str>,
    /// What the server first said of itself when it opened the file.
    pub program: Option<String>,
    /// Entries that were whole.
    pub entries_count: u64,
    /// Places that could not be read.
    pub damaged_count: u64,
    /// Entries whose statement was longer than what is kept.
    pub cut_count: u64,
    /// Bytes that were read.
    pub bytes_read: u64,
    /// First time that is written, microseconds since 1970.
    pub first_us: Option<i64>,
    /// The last.
    pub last_us: Option<i64>,
    /// To how many microseconds times are exact; the coarsest, if entries differ.
    pub resolution_us: u64,
    /// Shortest duration, microseconds.
    pub query_us_min: Option<u64>,
    /// Numbers above 1 that entries stand for, by the log itself.
    pub rate_limits: Vec<u64>,
    /// Entries with fields of extended formats were there.
    pub is_extended: bool,
}

impl SourceFacts {
    /// Of a log that begins.
    pub fn of(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            format: "empty",
            flavour: None,
            program: None,
            entries_count: 0,
            damaged_count: 0,
            cut_count: 0,
            bytes_read: 0,
            first_us: None,
            last_us: None,
            resolution_us: 1,
            query_us_min: None,
            rate_limits: Vec::new(),
            is_extended: false,
        }
    }

    /// Counts an entry.
    pub fn add(&mut self, entry: &Entry) {
        self.entries_count += 1;
        self.cut_count += u64::from(entry.is_cut);
        let times = match entry.when {
            When::Unknown => None,
            When::Start(us) | When::End(us) => Some((us, us)),
            When::Both(start_us, end_us) => Some((start_us, end_us)),
            When::StartSecond(second) | When::EndSecond(second) => {
                self.resolution_us = SECOND_US as u64;
                let us = second.saturating_mul(SECOND_US);
                Some((us, us))
            }
        };
        if let Some((start_us, end_us)) = times {
            self.first_us = Some(self.first_us.map_or(start_us, |first| first.min(start_us)));
            self.last_us = Some(self.last_us.map_or(end_us, |last| last.max(end_us)));
        }
        if let Some(us) = entry.query_us {
            self.query_us_min = Some(self.query_us_min.map_or(us, |least| least.min(us)));
        }
        if entry.weight > 1 && !self.rate_limits.contains(&entry.weight) && self.rate_limits.len() < TOLD_MAX {
            self.rate_limits.push(entry.weight);
        }
    }

    /// Notes who wrote it.
    pub fn opened(&mut self, program: &[u8]) {
        let text: String = String::from_utf8_lossy(program).trim().chars().take(200).collect();
        let text = text.strip_suffix(". started with:").unwrap_or(&text).to_owned();
        self.program.get_or_insert(text);
    }

    /// Notes what an entry tells of its server.
    pub fn of_flavour(&mut self, flavour: Flavour) {
        self.flavour = match flavour {
            Flavour::MySql => Some("mysql"),
            Flavour::Percona => Some("percona"),
            Flavour::MariaDb => Some("mariadb"),
            Flavour::Unknown => None,
        };
    }
}
