//! `plimsoll-engine read-logs`: logs of a production server become tables in a folder.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, ErrorKind, Read, Stdin, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::exit;
use std::sync::Arc;
use std::time::{Duration, Instant};

use plimsoll_core::message::{Done, FailureClass, Message, Progress, ReadLogsCommand};
use plimsoll_core::plan::{LogInput, LogsPlan};
use plimsoll_engine::{WorkerFault, client_cpu, monotonic_ns, unix_ns};
use plimsoll_logs::{LogReader, Options, ReadFault, Writers};

use crate::data_command::nothing_but;
use crate::input::Input;
use crate::output::{INTERRUPTED, Output};
use crate::process;
use crate::trial_command::check_protocol;

/// Bytes that are read at a time.
const PIECE_BYTES: usize = 1 << 18;

/// How often progress is told.
const PROGRESS: Duration = Duration::from_millis(500);

/// Reads all logs of the plan.
///
/// # Errors
/// Why it could not be done.
pub fn run(output: &Arc<Output>) -> Result<Done, WorkerFault> {
    let mut input = Input::new(BufReader::new(io::stdin()));
    let Some(ReadLogsCommand::Plan(plan)) = input.next()? else {
        return Err(WorkerFault::spec("standard input ended before a plan came"));
    };
    check(&plan)?;
    process::on_signal(|| exit(INTERRUPTED))?;
    let (started_unix_ns, begin_ns) = (unix_ns(), monotonic_ns());
    let mut reading = Reading::of(&plan, output)?;
    let mut stdin = None;
    if plan.inputs.iter().any(is_stdin) {
        stdin = Some(input.rest());
    } else {
        process::beside(output, move |output| listen(input, output));
    }
    for input in &plan.inputs {
        reading.read(input, stdin.as_mut())?;
    }
    let events_count = reading.finish(&plan.to)?;
    Ok(Done {
        started_unix_ns,
        duration_ns: monotonic_ns() - begin_ns,
        client: client_cpu(),
        ..nothing_but(events_count)
    })
}

fn check(plan: &LogsPlan) -> Result<(), WorkerFault> {
    check_protocol(plan.protocol)?;
    let share = plan.literals.sessions_share;
    if plan.inputs.is_empty() {
        return Err(WorkerFault::spec("plan.inputs: at least one log is needed"));
    }
    if plan.inputs.iter().filter(|input| is_stdin(input)).count() > 1 {
        return Err(WorkerFault::spec("plan.inputs: standard input can be read once"));
    }
    if !(0.0..=1.0).contains(&share) {
        return Err(WorkerFault::spec(format!(
            "plan.literals.sessions_share: must be 0 to 1, is {share}"
        )));
    }
    Ok(())
}

fn is_stdin(input: &LogInput) -> bool {
    input.path.as_os_str() == "-"
}

/// Nothing may follow the plan. The end of a pipe means that the starter is gone; the end of a file means nothing.
fn listen(mut input: Input<BufReader<Stdin>>, output: &Output) {
    match input.next::<ReadLogsCommand>() {
        Ok(Some(ReadLogsCommand::Plan(_))) => {
            output.fail(WorkerFault::spec("a second plan: one engine does one thing"))
        }
        Err(fault) => output.fail(fault),
        Ok(None) if std::fs::metadata("/dev/stdin").is_ok_and(|stdin| stdin.is_file()) => {}
        Ok(None) => exit(INTERRUPTED),
    }
}

/// Logs that are being read.
struct Reading<'o> {
    output: &'o Output,
    reader: LogReader<File>,
    piece: Vec<u8>,
    done_bytes: u64,
    total_bytes: u64,
    told: Instant,
}

impl<'o> Reading<'o> {
    fn of(plan: &LogsPlan, output: &'o Output) -> Result<Self, WorkerFault> {
        let table = |name: &str| create(&plan.to, name);
        let writers = Writers {
            events: table("events.csv")?,
            templates: table("templates.csv")?,
            literals: table("literals.csv")?,
            accounts: table("accounts.csv")?,
            schemas: table("schemas.csv")?,
            damage: table("damage.csv")?,
        };
        let options = Options {
            format: plan.format.clone(),
            time_zone_offset_s: plan.time_zone_offset_s,
            seconds_are_ends: plan.seconds_are_ends,
            literals_share: plan.literals.sessions_share,
        };
        Ok(Self {
            output,
            reader: LogReader::new(options, writers),
            piece: vec![0; PIECE_BYTES],
            done_bytes: 0,
            total_bytes: total_bytes(&plan.inputs),
            told: Instant::now(),
        })
    }

    fn read(&mut self, input: &LogInput, stdin: Option<&mut BufReader<Stdin>>) -> Result<(), WorkerFault> {
        self.reader.begin(&input.name);
        if let Some(stdin) = stdin.filter(|_| is_stdin(input)) {
            return self.read_from(stdin, input);
        }
        let mut file = File::open(&input.path).map_err(|error| unreadable(input, &error))?;
        self.read_from(&mut file, input)
    }

    fn read_from(&mut self, from: &mut impl Read, input: &LogInput) -> Result<(), WorkerFault> {
        loop {
            match from.read(&mut self.piece) {
                Ok(0) => break,
                Ok(length) => {
                    self.done_bytes += length as u64;
                    let fed = self.reader.feed(&self.piece[..length]);
                    fed.map_err(|fault| refused(fault, input))?;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(unreadable(input, &error)),
            }
            if self.told.elapsed() >= PROGRESS {
                self.tell();
            }
        }
        self.reader.end().map_err(|fault| refused(fault, input))
    }

    fn tell(&mut self) {
        self.told = Instant::now();
        self.output.say(&Message::Progress(Progress {
            phase: "read".to_owned(),
            done_count: self.done_bytes,
            total_count: if self.total_bytes == 0 {
                0
            } else {
                self.total_bytes.max(self.done_bytes)
            },
        }));
    }

    /// Writes what is left, and `facts.json`. Gives the number of events.
    fn finish(mut self, to: &Path) -> Result<u64, WorkerFault> {
        self.tell();
        let facts = self.reader.finish().map_err(|error| unwritable(&error))?;
        let text = serde_json::to_vec_pretty(&facts).expect("facts are plain values");
        create(to, "facts.json")?
            .write_all(&text)
            .map_err(|error| unwritable(&error))?;
        Ok(facts.events_count)
    }
}

/// A table, for this user only: it has what stood in the log. The name may lead to an empty file that the caller made;
/// what already holds something is not overwritten.
fn create(to: &Path, name: &str) -> Result<File, WorkerFault> {
    let path = to.join(name);
    let opened = || -> io::Result<File> {
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)?;
        match file.metadata()?.len() {
            0 => Ok(file),
            _ => Err(io::ErrorKind::AlreadyExists.into()),
        }
    };
    opened().map_err(|error| {
        WorkerFault::new(
            FailureClass::Host,
            format!("{}: cannot be made: {error}", path.display()),
        )
    })
}

/// Bytes of all inputs together; 0 when one of them is no file.
fn total_bytes(inputs: &[LogInput]) -> u64 {
    let length = |input: &LogInput| {
        let metadata = std::fs::metadata(&input.path).ok().filter(std::fs::Metadata::is_file)?;
        Some(metadata.len())
    };
    inputs.iter().map(length).sum::<Option<u64>>().unwrap_or(0)
}

fn unreadable(input: &LogInput, error: &io::Error) -> WorkerFault {
    WorkerFault::new(FailureClass::Host, format!("{}: cannot be read: {error}", input.name))
}

fn unwritable(error: &io::Error) -> WorkerFault {
    WorkerFault::new(FailureClass::Host, format!("tables cannot be written: {error}"))
}

fn refused(fault: ReadFault, input: &LogInput) -> WorkerFault {
    let name = &input.name;
    match fault {
        ReadFault::Write(error) => unwritable(&error),
        ReadFault::Unknown => WorkerFault::spec(format!(
            "{name}: no slow log, general log or binary log; name the columns of an audit log in plan.format"
        )),
        ReadFault::Encrypted => WorkerFault::spec(format!(
            "{name}: is encrypted; have the server write one that is not (binlog_encryption or encrypt_binlog OFF), or let \
             mysqlbinlog --read-from-remote-server --raw fetch it"
        )),
        ReadFault::Compressed(method) => {
            WorkerFault::spec(format!("{name}: is compressed by {method}; decompress it before"))
        }
    }
}
