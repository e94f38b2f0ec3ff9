//! Commands from standard input: one JSON document a line, of bounded length.

use std::io::{self, BufRead, Read};

use plimsoll_core::message::FailureClass;
use plimsoll_engine::WorkerFault;
use serde::de::DeserializeOwned;

/// No plan comes near it; without a bound a broken starter could fill the memory.
const LINE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Lines of one reader, as commands.
pub struct Input<R> {
    reader: R,
    line: Vec<u8>,
    line_number: u64,
}

impl<R: BufRead> Input<R> {
    /// Reads from `reader`.
    pub fn new(reader: R) -> Self {
        Self {
            reader,
            line: Vec::new(),
            line_number: 0,
        }
    }

    /// What follows the last command, as it is.
    #[cfg(feature = "logs")]
    pub fn rest(self) -> R {
        self.reader
    }

    /// The next command; `None` at the end of input. Empty lines are passed over.
    ///
    /// # Errors
    /// A fault of class `spec` when a line is too long or is no such command, of class `host` when reading fails.
    pub fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, WorkerFault> {
        while self.read_line()? {
            if !self.line.trim_ascii().is_empty() {
                return self.parse().map(Some);
            }
        }
        Ok(None)
    }

    fn read_line(&mut self) -> Result<bool, WorkerFault> {
        self.line.clear();
        self.line_number += 1;
        let mut bounded = (&mut self.reader).take(LINE_BYTES_MAX + 1);
        let length = bounded
            .read_until(b'\n', &mut self.line)
            .map_err(|error| unreadable(&error))?;
        if self.line.len() as u64 > LINE_BYTES_MAX {
            return Err(self.fault(&format!("is longer than {LINE_BYTES_MAX} bytes")));
        }
        Ok(length > 0)
    }

    fn parse<T: DeserializeOwned>(&self) -> Result<T, WorkerFault> {
        serde_json::from_slice(&self.line).map_err(|error| self.fault(&without_values(&error.to_string())))
    }

    fn fault(&self, what: &str) -> WorkerFault {
        let message = format!(
            "line {} of standard input: {what}; `plimsoll-engine schema` says what is expected",
            self.line_number
        );
        WorkerFault::new(FailureClass::Spec, message)
    }
}

/// What serde says, without the value that it repeats: a URL with a password in it may stand where it does not belong.
/// Names that are merely misspelt stay.
fn without_values(said: &str) -> String {
    let is_name = |value: &str| {
        value
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
    };
    for (before, after) in [(" \"", "\", expected"), (" `", "`, expected")] {
        let (Some(from), Some(to)) = (said.find(before), said.rfind(after)) else {
            continue;
        };
        let value_from = from + before.len();
        if value_from <= to && !(before == " `" && is_name(&said[value_from..to])) {
            return format!("{}{}", &said[..from], &said[to + 1..]);
        }
    }
    said.to_owned()
}

fn unreadable(error: &io::Error) -> WorkerFault {
    WorkerFault::new(FailureClass::Host, format!("standard input cannot be read: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_core::message::TrialCommand;

    fn next(bytes: impl AsRef<[u8]>) -> Result<Option<TrialCommand>, String> {
        Input::new(bytes.as_ref()).next().map_err(|fault| fault.message)
    }

    #[test]
    fn commands_are_read_with_or_without_a_last_newline_and_between_empty_lines() {
        let mut input = Input::new(&b"\n{\"type\":\"stop\"}\n \n{\"type\":\"start\",\"at_unix_ns\":7}"[..]);
        assert_eq!(input.next(), Ok(Some(TrialCommand::Stop {})));
        assert_eq!(input.next(), Ok(Some(TrialCommand::Start { at_unix_ns: Some(7) })));
        assert_eq!(input.next::<TrialCommand>(), Ok(None));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let message = |text: &str| next(text).unwrap_err();
        assert!(message("{\"type\":\"stpo\"}").contains("stpo"));
        assert!(message("{\"type\":\"plan\",\"protocol\":1}").contains("missing field `seed`"));
        assert!(message("hello").starts_with("line 1 of standard input: expected value"));
        assert!(message("\n\u{0}").starts_with("line 2"));
        assert!(next([0xFF, 0xFE, b'\n']).is_err());
    }

    #[test]
    fn values_are_not_repeated_since_a_password_may_be_among_them() {
        let plan = |group: &str| {
            let text = format!(
                "{{\"type\":\"plan\",\"protocol\":1,\"seed\":1,\"interval_ms\":1,\"duration_ms\":1,\
                 \"stop_at_stdin_end\":true,\"groups\":[{{\"targets\":[{{\"role\":\"source\",\"target\":{group}}}]}}]}}"
            );
            next(text).unwrap_err()
        };
        let url = "\"mysql://u:hush@db/x\\\"y\"";
        assert!(
            plan(url).contains("invalid type: string, expected struct Target"),
            "{}",
            plan(url)
        );
        let endpoint = plan(&format!("{{\"endpoint\":{url}}}"));
        assert!(
            endpoint.contains("unknown variant, expected `tcp` or `socket`"),
            "{endpoint}"
        );
    }

    #[test]
    fn a_line_without_end_is_refused_before_it_fills_the_memory() {
        let endless = io::BufReader::new(io::repeat(b'x'));
        let message = Input::new(endless).next::<TrialCommand>().unwrap_err().message;
        assert!(message.contains("longer than 16777216 bytes"), "{message}");
    }
}
