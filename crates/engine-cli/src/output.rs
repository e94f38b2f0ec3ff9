//! Messages to standard output: one line each, flushed, from whatever thread. After the last one nothing follows.

use std::io::{self, ErrorKind, Write};
use std::process::{ExitCode, exit};
use std::sync::{Mutex, MutexGuard};

use plimsoll_core::lock::lock;
use plimsoll_core::message::{Done, Encryption, FailureClass, Message, Ready};
use plimsoll_engine::{Observer, WorkerFault};

/// Exit code of somebody who was interrupted.
pub const INTERRUPTED: i32 = 130;

/// Standard output as a sequence of messages.
pub struct Output(Mutex<io::Stdout>);

impl Output {
    /// Takes standard output.
    pub fn new() -> Self {
        Self(Mutex::new(io::stdout()))
    }

    /// Writes one message that is not the last.
    pub fn say(&self, message: &Message) {
        write(&mut self.lock(), message);
    }

    /// Writes the last message and ends the process.
    pub fn done(&self, done: Done) -> ! {
        self.end(&Message::Done(done), 0)
    }

    /// Writes why it could not be done and ends the process.
    pub fn fail(&self, fault: WorkerFault) -> ! {
        let code = match fault.class {
            FailureClass::Spec => 2,
            FailureClass::Target | FailureClass::Host => 3,
            FailureClass::Data => 4,
            FailureClass::Bug => 70,
        };
        self.end(&Message::Failed(fault.into()), code)
    }

    /// The lock is held to the end of the process: nobody can write after the last message.
    fn end(&self, message: &Message, code: i32) -> ! {
        let mut stdout = self.lock();
        write(&mut stdout, message);
        exit(code)
    }

    fn lock(&self) -> MutexGuard<'_, io::Stdout> {
        lock(&self.0)
    }
}

/// Passes on what a trial tells, except its end: the account is written as the last message.
pub struct TrialReporter<'o> {
    /// Where to.
    pub output: &'o Output,
    /// What `ready` says of encryption, which the trial knows nothing of.
    pub encryptions: Vec<Encryption>,
}

impl Observer for TrialReporter<'_> {
    fn on(&mut self, message: &Message) {
        match message {
            Message::Ready(ready) => self.output.say(&Message::Ready(Ready {
                encryptions: self.encryptions.clone(),
                ..ready.clone()
            })),
            Message::Done(_) => {}
            other => self.output.say(other),
        }
    }
}

/// Prints a text to standard output.
pub fn print(text: &str) -> ExitCode {
    send(&mut io::stdout(), text.as_bytes());
    ExitCode::SUCCESS
}

fn write(stdout: &mut io::Stdout, message: &Message) {
    let mut line = serde_json::to_vec(message).expect("messages are plain values");
    line.push(b'\n');
    send(stdout, &line);
}

/// Where nobody reads any more there is nobody to tell, so a broken pipe ends the process without a word.
fn send(stdout: &mut io::Stdout, bytes: &[u8]) {
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => exit(INTERRUPTED),
        Err(error) => {
            eprintln!("plimsoll-engine: standard output cannot be written: {error}");
            exit(3)
        }
    }
}
