//! A trial as messages of the engine protocol on a descriptor of its own, beside what sysbench would print: for the program
//! that started this one and keeps recordings.

use std::env;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::process::exit;
use std::sync::{Arc, Mutex};

use plimsoll_core::lock::lock;
use plimsoll_core::message::{Failed, FailureClass, Message};
use plimsoll_engine::Observer;
use rustix::io::{FdFlags, fcntl_setfd};

use crate::output::INTERRUPTED;
use crate::{inherited, process};

/// Names the descriptor, a number above 2, in the environment.
const DESCRIPTOR: &str = "PLIMSOLL_EVENTS_FD";

/// Bytes of what went wrong that are told at most.
const REASON_BYTES_MAX: usize = 2_000;

/// Where messages go.
pub struct Events(File);

impl Events {
    /// The descriptor that the starter named; `None` where it named none. Programs that scripts start do not get it.
    pub fn open() -> Option<Self> {
        let number: i32 = env::var(DESCRIPTOR).ok()?.parse().ok().filter(|number| *number > 2)?;
        let file = inherited::file(number);
        fcntl_setfd(&file, FdFlags::CLOEXEC).ok()?;
        let mut events = Self(file);
        events.say(&Message::Hello(process::hello()));
        Some(events)
    }

    /// Tells a trial.
    pub fn observer(&self) -> Option<Box<dyn Observer>> {
        Some(Box::new(Self(self.0.try_clone().ok()?)))
    }

    /// Tells that it went wrong, and why. The class is the usual one: what was printed does not say whose fault it was.
    pub fn fail(&mut self, message: String) {
        self.say(&Message::Failed(Failed {
            class: FailureClass::Target,
            code: None,
            sqlstate: None,
            message,
        }));
    }

    /// Where the starter is gone there is nobody to work for.
    fn say(&mut self, message: &Message) {
        let mut line = serde_json::to_vec(message).expect("messages are plain values");
        line.push(b'\n');
        if matches!(self.0.write_all(&line), Err(error) if error.kind() == ErrorKind::BrokenPipe) {
            exit(INTERRUPTED);
        }
    }
}

impl Observer for Events {
    fn on(&mut self, message: &Message) {
        self.say(message);
    }
}

/// What was printed about the end of a run that failed.
#[derive(Clone, Default)]
pub struct Reason(Arc<Mutex<String>>);

impl Reason {
    /// The messages, a line each; empty where there were none.
    pub fn text(&self) -> String {
        lock(&self.0).trim().to_owned()
    }

    fn hear(&self, bytes: &[u8]) {
        let mut heard = lock(&self.0);
        for line in String::from_utf8_lossy(bytes).lines() {
            if let Some(message) = line.strip_prefix("FATAL: ") {
                if heard.len() + message.len() < REASON_BYTES_MAX {
                    heard.push_str(message);
                    heard.push('\n');
                }
            }
        }
    }
}

/// Prints, and hears what went wrong.
pub struct Overheard {
    /// Where it is printed.
    pub out: Box<dyn Write + Send>,
    /// What was heard.
    pub reason: Reason,
}

impl Write for Overheard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.reason.hear(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_went_wrong_is_heard_up_to_a_limit() {
        let reason = Reason::default();
        let mut out = Overheard {
            out: Box::new(io::sink()),
            reason: reason.clone(),
        };
        out.write_all(b"Threads started!\n").unwrap();
        out.write_all(b"FATAL: one\nwith a second line\n").unwrap();
        out.write_all(b"FATAL: two\n").unwrap();
        out.write_all(format!("FATAL: {}\n", "x".repeat(REASON_BYTES_MAX)).as_bytes())
            .unwrap();
        assert_eq!(reason.text(), "one\ntwo");
    }
}
