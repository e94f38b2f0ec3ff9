//! Connection ids become sessions that are unique over restarts of the server and reuse of ids.

use crate::entry::{Command, Entry};
use crate::hash::ByNumber;

/// Sessions that are remembered. Beyond that, those that were silent for longest are taken for ended.
const SESSIONS_MAX: usize = 1 << 18;

/// What is known of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Session {
    /// Its number, from 0.
    pub number: u32,
    /// Row of its account.
    pub account: Option<u32>,
    /// Row of its default schema, where only some entries say it.
    pub schema: Option<u32>,
    /// Start of its last statement, microseconds since 1970.
    pub start_us: i64,
    /// End of its last statement, microseconds since 1970.
    pub end_us: i64,
    has_ended: bool,
    since_opening: bool,
    last_event: u64,
}

/// Sessions by the server's ids.
#[derive(Debug, Default)]
pub struct Sessions {
    live: ByNumber<Session>,
    count: u32,
    highest: u64,
    /// The file was opened again: the server may have been restarted.
    is_doubtful: bool,
}

impl Sessions {
    /// How many there were.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// A server opens its logs when it starts, and when it is told to flush them: ids will tell which it was.
    pub fn opened(&mut self) {
        self.is_doubtful = !self.live.is_empty();
        self.live.values_mut().for_each(|session| session.since_opening = false);
    }

    /// The session of an entry, an old or a new one.
    pub fn of(&mut self, thread: u64, entry: &Entry, account: Option<u32>, event: u64) -> &mut Session {
        let known = self.live.get(&thread);
        let is_new = known.is_none_or(|session| {
            let is_other = account.is_some() && session.account.is_some() && session.account != account;
            session.has_ended
                || entry.command == Command::Connect
                || (self.is_doubtful && !session.since_opening && is_other)
        });
        if self.is_doubtful && is_new {
            self.is_doubtful = false;
            // ids only grow: a new connection with a lower one is of another run of the server
            if thread <= self.highest && known.is_none_or(|session| !session.since_opening) {
                self.live.clear();
                self.highest = 0;
            }
        }
        self.highest = self.highest.max(thread);
        if is_new {
            self.make_room();
            let number = self.count;
            self.count += 1;
            self.live.insert(thread, Session::new(number, account));
        }
        let session = self.live.get_mut(&thread).expect("it was there or is new");
        session.since_opening = true;
        session.has_ended = entry.command == Command::Quit;
        session.last_event = event;
        session.account = account.or(session.account);
        session
    }

    /// A session, if it is still the one of this id.
    pub fn clock(&mut self, thread: u64, number: u32) -> Option<&mut Session> {
        self.live.get_mut(&thread).filter(|session| session.number == number)
    }

    fn make_room(&mut self) {
        if self.live.len() < SESSIONS_MAX {
            return;
        }
        let mut events: Vec<u64> = self.live.values().map(|session| session.last_event).collect();
        let (_, &mut middle, _) = events.select_nth_unstable(SESSIONS_MAX / 2);
        self.live.retain(|_, session| session.last_event > middle);
    }
}

impl Session {
    fn new(number: u32, account: Option<u32>) -> Self {
        Self {
            number,
            account,
            schema: None,
            start_us: i64::MIN,
            end_us: i64::MIN,
            has_ended: false,
            since_opening: true,
            last_event: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(sessions: &mut Sessions, threads: &[u64]) -> Vec<u32> {
        let entry = Entry::default();
        threads
            .iter()
            .map(|&thread| sessions.of(thread, &entry, Some(0), 0).number)
            .collect()
    }

    #[test]
    fn flushed_logs_go_on_and_restarted_servers_begin_again() {
        let mut sessions = Sessions::default();
        assert_eq!(numbers(&mut sessions, &[90, 91, 90]), [0, 1, 0]);
        sessions.opened();
        assert_eq!(
            numbers(&mut sessions, &[91, 92, 90]),
            [1, 2, 0],
            "flushed: new ids are higher"
        );
        sessions.opened();
        assert_eq!(
            numbers(&mut sessions, &[8, 9, 90, 8]),
            [3, 4, 5, 3],
            "restarted: new ids are lower"
        );
    }

    #[test]
    fn ids_are_used_again_after_quit_and_connect() {
        let mut sessions = Sessions::default();
        let quit = Entry {
            command: Command::Quit,
            ..Entry::default()
        };
        let connect = Entry {
            command: Command::Connect,
            ..Entry::default()
        };
        assert_eq!(numbers(&mut sessions, &[5]), [0]);
        assert_eq!(sessions.of(5, &quit, None, 1).number, 0);
        assert_eq!(numbers(&mut sessions, &[5]), [1]);
        assert_eq!(sessions.of(5, &connect, None, 2).number, 2);
    }

    #[test]
    fn memory_is_bounded() {
        let mut sessions = Sessions::default();
        let entry = Entry::default();
        for thread in 0..3 * SESSIONS_MAX as u64 {
            sessions.of(thread, &entry, None, thread);
        }
        assert!(sessions.live.len() <= SESSIONS_MAX);
        assert_eq!(sessions.count() as usize, 3 * SESSIONS_MAX);
    }
}
