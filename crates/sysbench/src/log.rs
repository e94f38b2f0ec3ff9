//! What is printed, line by line, in sysbench's manner: a prefix for what is wrong, nothing for what is normal, and equal
//! messages in a row only once.
//!
//! Deliberately not here: buffers. Scripts print through C's standard output, and lines must come out in order.

use std::fmt::Display;
use std::io::Write;
use std::sync::{Mutex, MutexGuard};

use plimsoll_core::lock::lock;
use plimsoll_core::message::EngineWarning;

use crate::exit::Exit;

/// Longer messages lose their end: a statement may have megabytes.
pub const MESSAGE_BYTES_MAX: usize = 4096;

/// How much a message matters, by the numbers of `--verbosity`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The run ends.
    Fatal,
    /// A script uses the API wrongly.
    Alert,
    /// Something is not as the user may think.
    Warning,
    /// What everybody wants to know: reports.
    Notice,
    /// More of it.
    Info,
    /// What a developer wants to know.
    Debug,
}

impl Level {
    fn prefix(self) -> &'static str {
        match self {
            Self::Fatal => "FATAL: ",
            Self::Alert => "ALERT: ",
            Self::Warning => "WARNING: ",
            Self::Debug => "DEBUG: ",
            Self::Notice | Self::Info => "",
        }
    }
}

/// Where messages go.
pub struct Log(Mutex<Sinks>);

struct Sinks {
    out: Box<dyn Write + Send>,
    err: Box<dyn Write + Send>,
    /// The least level that is not printed any more, less one: `--verbosity`.
    verbosity: u8,
    last: String,
    repeated_count: u64,
}

impl Log {
    /// A log to standard output, and for a few errors of the command line to standard error. Both must be unbuffered.
    pub fn new(out: Box<dyn Write + Send>, err: Box<dyn Write + Send>) -> Self {
        Self(Mutex::new(Sinks {
            out,
            err,
            verbosity: Level::Notice as u8,
            last: String::new(),
            repeated_count: 0,
        }))
    }

    /// Prints messages up to this level, 0 to 5.
    pub fn set_verbosity(&self, verbosity: u8) {
        self.lock().verbosity = verbosity;
    }

    /// Prints a message, unless it is the last one again; how often it came is said before the next one.
    pub fn text(&self, level: Level, message: impl Display) {
        let mut sinks = self.lock();
        if level as u8 > sinks.verbosity {
            return;
        }
        let mut line = format!("{}{message}", level.prefix());
        cut(&mut line);
        line.push('\n');
        if line == sinks.last {
            sinks.repeated_count += 1;
            return;
        }
        sinks.end_repetition();
        sinks.print(&line);
        sinks.last = line;
    }

    /// Says why it cannot go on, and returns how the process ends then.
    pub fn fatal(&self, message: impl Display) -> Exit {
        self.text(Level::Fatal, message);
        Exit::FAILED
    }

    /// Prints a doubt about the numbers.
    pub fn doubt(&self, warning: &EngineWarning) {
        self.text(Level::Warning, doubted(warning));
    }

    /// Prints a line that may well be the last one again, such as a report.
    pub fn line(&self, level: Level, message: impl Display) {
        self.lines(level, format_args!("{message}\n"));
    }

    /// Prints lines, each with its end.
    pub fn lines(&self, level: Level, text: impl Display) {
        let mut sinks = self.lock();
        if level as u8 <= sinks.verbosity {
            sinks.end_repetition();
            sinks.print(&text.to_string());
        }
    }

    /// Prints to standard output, whatever the verbosity.
    pub fn print(&self, text: impl Display) {
        let mut sinks = self.lock();
        sinks.end_repetition();
        sinks.print(&text.to_string());
    }

    /// Prints a line to standard error, whatever the verbosity.
    pub fn complain(&self, message: impl Display) {
        let _ = self.lock().err.write_all(format!("{message}\n").as_bytes()); // there is nobody else to tell
    }

    /// What was to be said of repeated messages when all is over.
    pub fn finish(&self) {
        self.lock().end_repetition();
    }

    fn lock(&self) -> MutexGuard<'_, Sinks> {
        lock(&self.0)
    }
}

impl Sinks {
    fn end_repetition(&mut self) {
        let count = std::mem::take(&mut self.repeated_count);
        self.last.clear();
        if count > 0 {
            self.print(&format!("(last message repeated {count} times)\n"));
        }
    }

    /// Where nobody reads any more there is nobody to tell.
    fn print(&mut self, text: &str) {
        let _ = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
    }
}

/// A doubt about the numbers, as it is printed.
pub fn doubted(warning: &EngineWarning) -> String {
    let evidence = warning.evidence.trim_end_matches('.');
    format!("{evidence}. {}", warning.advice)
}

fn cut(text: &mut String) {
    if text.len() <= MESSAGE_BYTES_MAX {
        return;
    }
    let is_boundary = |at: &usize| text.is_char_boundary(*at);
    let end = (0..=MESSAGE_BYTES_MAX).rev().find(is_boundary).unwrap_or_default();
    text.truncate(end);
    text.push_str("...");
}

#[cfg(test)]
#[path = "../tests/page/mod.rs"]
mod page;

#[cfg(test)]
pub(crate) mod tests {
    use super::page::Page;
    use super::*;

    /// A log whose output can be read: standard output and standard error.
    pub(crate) fn log() -> (Log, Page, Page) {
        let (out, err) = (Page::default(), Page::default());
        (Log::new(Box::new(out.clone()), Box::new(err.clone())), out, err)
    }

    #[test]
    fn equal_messages_in_a_row_are_counted() {
        let (log, out, _) = log();
        for message in ["a", "a", "a", "b"] {
            assert_eq!(log.fatal(message), Exit::FAILED);
        }
        log.text(Level::Notice, "c");
        log.finish();
        assert_eq!(out.text(), "FATAL: a\n(last message repeated 2 times)\nFATAL: b\nc\n");
    }

    #[test]
    fn a_long_message_loses_its_end() {
        let (log, out, _) = log();
        log.text(Level::Fatal, format_args!("x{}", "é".repeat(100_000)));
        let text = out.text();
        assert!(
            text.starts_with("FATAL: xé") && text.ends_with("é...\n"),
            "{}",
            text.len()
        );
        assert!(
            (MESSAGE_BYTES_MAX - 2..=MESSAGE_BYTES_MAX + 4).contains(&text.len()),
            "{}",
            text.len()
        );
    }

    #[test]
    fn what_is_above_the_verbosity_is_not_printed() {
        let (log, out, err) = log();
        log.text(Level::Debug, "no");
        log.set_verbosity(0);
        log.text(Level::Alert, "no");
        log.line(Level::Notice, "no");
        log.text(Level::Fatal, "yes");
        log.complain("aside");
        assert_eq!((out.text().as_str(), err.text().as_str()), ("FATAL: yes\n", "aside\n"));
    }
}
