//! `plimsoll-engine relay`: a network delay in front of a server, as a process of its own, until its standard input ends.

use std::io::{self, BufReader};
use std::process::exit;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_core::message::{Done, FailureClass, Listening, Message, RelayCommand};
use plimsoll_engine::{WorkerFault, monotonic_ns, unix_ns};
use plimsoll_relay::Relay;

use crate::data_command::nothing_but;
use crate::input::Input;
use crate::output::{INTERRUPTED, Output};
use crate::process;
use crate::trial_command::check_protocol;

/// A longer one is a mistake: the bytes on their way would not fit the memory.
const DELAY_NS_MAX: u64 = 60_000_000_000;

/// Forwards connections until standard input ends.
///
/// # Errors
/// Why it could not be done.
pub fn run(output: &Arc<Output>) -> Result<Done, WorkerFault> {
    let mut input = Input::new(BufReader::new(io::stdin()));
    let Some(RelayCommand::Plan(plan)) = input.next()? else {
        return Err(WorkerFault::spec("standard input ended before a plan came"));
    };
    check_protocol(plan.protocol)?;
    if plan.delay_ns > DELAY_NS_MAX {
        let message = format!("delay_ns: must be at most {DELAY_NS_MAX}, is {}", plan.delay_ns);
        return Err(WorkerFault::spec(message));
    }
    let (started_unix_ns, begin_ns) = (unix_ns(), monotonic_ns());
    let relay = Relay::start(plan.to, Duration::from_nanos(plan.delay_ns))
        .map_err(|error| WorkerFault::new(FailureClass::Host, format!("127.0.0.1: cannot listen: {error}")))?;
    process::on_signal(|| exit(INTERRUPTED))?;
    output.say(&Message::Listening(Listening { port: relay.port() }));
    if input.next::<RelayCommand>()?.is_some() {
        return Err(WorkerFault::spec("a second plan: one engine is one relay"));
    }
    Ok(Done {
        started_unix_ns,
        duration_ns: monotonic_ns() - begin_ns,
        ..nothing_but(0)
    })
}
