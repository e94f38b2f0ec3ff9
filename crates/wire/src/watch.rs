//! Gives connections up on which the server has said nothing, or taken nothing, for too long.
//!
//! A limit of the socket itself would do the same, and cost a timer in the kernel for each wait: about a tenth of what a
//! statement costs over a unix socket. Here a connection counts its waits, and one thread looks at the counts of all.

use std::io;
use std::sync::{Arc, Mutex, Weak};
use std::thread;
use std::time::{Duration, Instant};

use plimsoll_core::lock::lock;

use crate::interrupter::{Interrupter, Line};

/// How often connections are looked at, unless the limit is short.
const LOOK: Duration = Duration::from_secs(1);

/// Shorter limits are looked at so often.
const LOOKS_MIN: u32 = 8;

/// Ends connections that wait for the server longer than a limit. Their error is that of a read timeout, and comes up to a
/// second after the limit, or an eighth of it where that is less.
#[derive(Debug)]
pub struct Watch {
    limit: Duration,
    watched: Arc<Mutex<Watched>>,
}

#[derive(Debug, Default)]
struct Watched {
    lines: Vec<Seen>,
    is_looking: bool,
}

/// A connection, its wait at the last look, and when that wait was seen first.
#[derive(Debug)]
struct Seen {
    line: Weak<Line>,
    wait: Option<u64>,
    since: Instant,
}

impl Watch {
    /// Over no connection yet.
    pub fn new(limit: Duration) -> Self {
        Self {
            limit,
            watched: Arc::default(),
        }
    }

    /// Looks after the connections that are opened with this interrupter, one after the other, for as long as it is there.
    ///
    /// # Errors
    /// When this machine gives no thread.
    pub fn add(&self, interrupter: &Interrupter) -> io::Result<()> {
        let mut watched = lock(&self.watched);
        watched.lines.push(Seen {
            line: Arc::downgrade(&interrupter.0),
            wait: None,
            since: Instant::now(),
        });
        if watched.is_looking {
            return Ok(());
        }
        let (limit, theirs) = (self.limit, Arc::downgrade(&self.watched));
        thread::Builder::new()
            .name("watch".to_owned())
            .stack_size(64 * 1024)
            .spawn(move || look_after(&theirs, limit))?;
        watched.is_looking = true;
        Ok(())
    }
}

/// Looks until the watch is gone.
fn look_after(watched: &Weak<Mutex<Watched>>, limit: Duration) {
    loop {
        thread::sleep(LOOK.min(limit / LOOKS_MIN));
        let Some(watched) = watched.upgrade() else { return };
        let now = Instant::now();
        lock(&watched).lines.retain_mut(|seen| seen.look(now, limit));
    }
}

impl Seen {
    /// Gives the connection up if its time is over. False when nobody has it any more.
    fn look(&mut self, now: Instant, limit: Duration) -> bool {
        let Some(line) = self.line.upgrade() else { return false };
        let wait = line.wait_number();
        if wait.is_none() || wait != self.wait {
            (self.wait, self.since) = (wait, now);
        } else if now - self.since >= limit {
            line.give_up();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(8);

    #[test]
    fn a_wait_is_given_up_after_the_limit_and_the_next_one_begins_anew() {
        let interrupter = Interrupter::default();
        let line = &interrupter.0;
        let begin = Instant::now();
        let mut seen = Seen {
            line: Arc::downgrade(line),
            wait: None,
            since: begin,
        };
        let mut at = |seconds: u64| {
            assert!(seen.look(begin + Duration::from_secs(seconds), LIMIT));
            line.is_given_up()
        };
        assert!(!at(100), "it does not wait");
        line.begin_wait();
        assert!(!at(101) && !at(108));
        line.end_wait();
        line.begin_wait();
        assert!(!at(109), "another wait");
        assert!(!at(116) && at(117));
    }

    #[test]
    fn a_connection_that_is_gone_is_forgotten() {
        let watch = Watch::new(LIMIT);
        let interrupter = Interrupter::default();
        watch.add(&interrupter).unwrap();
        let now = Instant::now();
        lock(&watch.watched).lines.retain_mut(|seen| seen.look(now, LIMIT));
        assert_eq!(lock(&watch.watched).lines.len(), 1);
        drop(interrupter);
        lock(&watch.watched).lines.retain_mut(|seen| seen.look(now, LIMIT));
        assert!(lock(&watch.watched).lines.is_empty());
    }
}
