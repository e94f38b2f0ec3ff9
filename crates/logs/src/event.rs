//! Events: statements with numbers in the place of names, and times as exact as the log allows.
//!
//! Some servers write only the second. Its statements are held back until the next second begins, and spread over it in
//! their order: each ends after the one before it, and in its session starts after that one's end, as far as the second allows.

use crate::entry::When;
use crate::sessions::Sessions;
use crate::time::SECOND_US;

/// Statements of one second that are held back at most.
const HELD_MAX: usize = 1 << 17;

/// A statement, as one row of a table.
#[derive(Clone, Copy, Debug, Default)]
pub struct Event {
    /// Its number, from 0.
    pub number: u64,
    /// Which log, from 0.
    pub source: u32,
    /// Line of its begin, from 1.
    pub line: u64,
    /// The server's id of the connection.
    pub thread: Option<u64>,
    /// Number of the session.
    pub session: Option<u32>,
    /// Row of the account.
    pub account: Option<u32>,
    /// Row of the schema.
    pub schema: Option<u32>,
    /// When, as the log says.
    pub when: When,
    /// Start, microseconds since 1970.
    pub start_us: Option<i64>,
    /// End, microseconds since 1970.
    pub end_us: Option<i64>,
    /// Numbers in the order of columns: duration, lock, rows sent, examined, affected, bytes, error, transaction, pages,
    /// handler reads.
    pub figures: [Option<u64>; 10],
    /// Row of the template.
    pub template: u32,
    /// How many statements it stands for.
    pub weight: u64,
}

/// Gives events their times, in order.
#[derive(Debug, Default)]
pub struct Clock {
    held: Vec<Event>,
    second: i64,
    last_end_us: i64,
}

impl Clock {
    /// Takes the next event. Calls `tell` for those whose times are known now.
    pub fn take(&mut self, event: &Event, sessions: &mut Sessions, tell: &mut impl FnMut(&Event)) {
        match event.when {
            When::StartSecond(second) | When::EndSecond(second) => {
                if (second > self.second || self.held.len() >= HELD_MAX) && !self.held.is_empty() {
                    self.flush(sessions, tell);
                }
                self.second = if self.held.is_empty() { second } else { self.second };
                self.held.push(*event);
            }
            _ => {
                self.flush(sessions, tell);
                let (start_us, end_us) = match event.when {
                    When::Both(start_us, end_us) => (Some(start_us), Some(end_us)),
                    When::Start(start_us) => (
                        Some(start_us),
                        event.duration_us().map(|us| start_us.saturating_add(us)),
                    ),
                    When::End(end_us) => (event.duration_us().map(|us| end_us.saturating_sub(us)), Some(end_us)),
                    _ => (None, None),
                };
                settle(
                    Event {
                        start_us,
                        end_us,
                        ..*event
                    },
                    sessions,
                    tell,
                );
            }
        }
    }

    /// Nothing more comes for a while: the log ended.
    pub fn flush(&mut self, sessions: &mut Sessions, tell: &mut impl FnMut(&Event)) {
        let count = i64::try_from(self.held.len()).unwrap_or(i64::MAX);
        for (index, event) in (0..).zip(std::mem::take(&mut self.held)) {
            let at_us = self
                .second
                .saturating_mul(SECOND_US)
                .saturating_add((index * 2 + 1) * SECOND_US / (2 * count));
            let (start_us, end_us) = self.placed(&event, at_us, sessions);
            let end_us = event.figures[0].map(|_| end_us);
            settle(
                Event {
                    start_us: Some(start_us),
                    end_us,
                    ..event
                },
                sessions,
                tell,
            );
        }
    }

    /// Start and end of an event that should end at this time, but not before others.
    fn placed(&mut self, event: &Event, at_us: i64, sessions: &mut Sessions) -> (i64, i64) {
        let span_us = event.duration_us().unwrap_or(0);
        let before = event
            .thread
            .zip(event.session)
            .and_then(|(thread, number)| sessions.clock(thread, number));
        let before_us = before.map_or(i64::MIN, |session| session.end_us);
        let wanted_us = at_us.max(self.last_end_us).max(before_us.saturating_add(span_us));
        let within = |us: i64, second: i64| {
            us.clamp(
                second.saturating_mul(SECOND_US),
                second.saturating_mul(SECOND_US) + SECOND_US - 1,
            )
        };
        let (start_us, end_us) = match event.when {
            When::EndSecond(second) => {
                let end_us = within(wanted_us, second);
                (end_us.saturating_sub(span_us), end_us)
            }
            When::StartSecond(second) => {
                let start_us = within(wanted_us.saturating_sub(span_us), second);
                (start_us, start_us.saturating_add(span_us))
            }
            _ => (at_us, at_us),
        };
        self.last_end_us = end_us;
        (start_us, end_us)
    }
}

impl Event {
    fn duration_us(&self) -> Option<i64> {
        self.figures[0].map(|us| i64::try_from(us).unwrap_or(i64::MAX))
    }
}

/// Within a session, no statement starts before the one that came before it.
fn settle(mut event: Event, sessions: &mut Sessions, tell: &mut impl FnMut(&Event)) {
    if let Some(session) = event
        .thread
        .zip(event.session)
        .and_then(|(thread, number)| sessions.clock(thread, number))
    {
        if let Some(start_us) = &mut event.start_us {
            *start_us = (*start_us).max(session.start_us);
            session.start_us = *start_us;
        }
        if let Some(end_us) = &mut event.end_us {
            *end_us = (*end_us).max(event.start_us.unwrap_or(*end_us));
            session.end_us = *end_us;
        }
    }
    tell(&event);
}
