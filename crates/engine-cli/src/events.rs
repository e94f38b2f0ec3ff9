//! A trial as messages of the engine protocol on a descriptor of its own, beside what sysbench would print: for the program
//! that started this one and keeps recordings.

use std::env;
use std::fs::File;
use std::io::Write;
use std::os::fd::FromRawFd;

use plimsoll_core::message::Message;
use plimsoll_engine::{Observer, TrialEvent};

use crate::process;

/// Names the descriptor, a number above 2, in the environment.
const DESCRIPTOR: &str = "PLIMSOLL_EVENTS_FD";

/// Writes to the descriptor that the starter named; `None` where it named none.
pub fn observer() -> Option<Box<dyn Observer>> {
    let number: i32 = env::var(DESCRIPTOR).ok()?.parse().ok().filter(|number| *number > 2)?;
    // SAFETY: the starter opened the descriptor for this purpose and said so; nothing else in this process knows it.
    let mut events = Events(unsafe { File::from_raw_fd(number) });
    events.say(&Message::Hello(process::hello()));
    Some(Box::new(events))
}

struct Events(File);

impl Events {
    /// Whether somebody reads it is the starter's business.
    fn say(&mut self, message: &Message) {
        let mut line = serde_json::to_vec(message).expect("messages are plain values");
        line.push(b'\n');
        let _ = self.0.write_all(&line);
    }
}

impl Observer for Events {
    fn on(&mut self, event: &TrialEvent) {
        self.say(&match event.clone() {
            TrialEvent::Progress(progress) => Message::Progress(progress),
            TrialEvent::Ready(ready) => Message::Ready(ready),
            TrialEvent::Interval(interval) => Message::Interval(interval),
            TrialEvent::Warning(warning) => Message::Warning(warning),
            TrialEvent::Done(done) => Message::Done(done),
        });
    }
}
