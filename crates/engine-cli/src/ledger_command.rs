//! `plimsoll-engine ledger`: numbered transactions, and a note of each that was acknowledged.

use std::io::{self, BufReader};
use std::sync::Arc;

use plimsoll_core::message::{Done, EndReason, LedgerCommand, Message, Progress, Ready};
use plimsoll_engine::{WorkerFault, monotonic_ns, unix_ns};
use plimsoll_workloads::ledger::{Ledger, LedgerEvent};

use crate::data_command::nothing_but;
use crate::input::Input;
use crate::output::Output;
use crate::process;
use crate::trial_command::check_protocol;

/// Connects, waits for `start`, and writes until the end is asked for.
///
/// # Errors
/// Why it could not be done: above all a ledger that cannot be written.
pub fn run(output: &Arc<Output>) -> Result<Done, WorkerFault> {
    let mut input = Input::new(BufReader::new(io::stdin()));
    let Some(LedgerCommand::Plan(plan)) = input.next()? else {
        return Err(WorkerFault::spec("standard input ended before a plan came"));
    };
    check_protocol(plan.protocol)?;
    let begin_ns = monotonic_ns();
    let ledger = Ledger::open(&plan)?;
    output.say(&Message::Ready(Ready {
        connections: plan.connections,
        wanted_count: plan.connections,
        connect_ms: (monotonic_ns() - begin_ns) / 1_000_000,
        failures: Vec::new(),
        encryptions: Vec::new(),
        statements: Vec::new(),
    }));
    match input.next()? {
        Some(LedgerCommand::Start { .. }) => {}
        Some(LedgerCommand::Plan(_)) => return Err(WorkerFault::spec("a second plan: one engine does one thing")),
        Some(LedgerCommand::Promoted { .. }) => return Err(WorkerFault::spec("`promoted` came before `start`")),
        Some(LedgerCommand::Stop {}) | None => return Ok(nothing_but(0)),
    }
    let (at_signal, beside) = (ledger.control(), ledger.control());
    process::on_signal(move || at_signal.stop())?;
    process::beside(output, move |_| {
        while let Ok(Some(LedgerCommand::Promoted { target })) = input.next() {
            beside.promote(*target);
        }
        beside.stop(); // `stop`, the end of input, or nonsense: nobody wants more
    });
    let (started_unix_ns, start_ns) = (unix_ns(), monotonic_ns());
    let done = ledger.write(&|event| output.say(&message(event)))?;
    Ok(Done {
        reason: EndReason::Stopped,
        started_unix_ns,
        duration_ns: monotonic_ns() - start_ns,
        offered_count: done.sent_count,
        unfinished_count: done.sent_count - done.acknowledged_count,
        ..nothing_but(0)
    })
}

fn message(event: LedgerEvent) -> Message {
    match event {
        LedgerEvent::Acknowledged(done_count) => Message::Progress(Progress {
            phase: "ledger".to_owned(),
            done_count,
            total_count: 0,
        }),
        LedgerEvent::Lost(lost) => Message::Lost(lost),
        LedgerEvent::Resumed(resumed) => Message::Resumed(resumed),
    }
}
