//! `plimsoll-engine prepare`, `check`, `verify` and `cleanup`: a plan becomes a data set, or the knowledge about one.

use std::fs;
use std::io::{self, BufReader, Stdin};
use std::process::exit;
use std::sync::Arc;

use plimsoll_core::message::{DataCommand, Done, EndReason, FailureClass};
use plimsoll_core::plan::DataPlan;
use plimsoll_engine::{WorkerFault, client_cpu, memory_bytes_max, monotonic_ns, unix_ns};
use plimsoll_workloads::data::{self, DataEvent};

use crate::args::DataVerb;
use crate::input::Input;
use crate::output::{INTERRUPTED, Output};
use crate::process;
use crate::trial_command::check_protocol;

/// Does what the plan says. When this process is interrupted it just ends: connections are dropped, and what is half
/// made is marked as such on the server.
///
/// # Errors
/// Why it could not be done.
pub fn run(verb: DataVerb, output: &Arc<Output>) -> Result<Done, WorkerFault> {
    let mut input = Input::new(BufReader::new(io::stdin()));
    let plan = read_plan(&mut input)?;
    process::on_signal(|| exit(INTERRUPTED))?;
    process::beside(output, move |output| listen(input, output));
    let started_unix_ns = unix_ns();
    let begin_ns = monotonic_ns();
    let mut observe = |event: DataEvent| output.say(&event.into());
    let done = match verb {
        DataVerb::Prepare => data::prepare(&plan, &mut observe),
        DataVerb::Check => data::check(&plan, &mut observe),
        DataVerb::Verify => data::verify(&plan, &mut observe),
        DataVerb::Foresee { resets } => data::foresee(&plan, resets, &mut observe),
        DataVerb::Cleanup => data::cleanup(&plan, &mut observe),
    }?;
    Ok(Done {
        started_unix_ns,
        duration_ns: monotonic_ns() - begin_ns,
        ..nothing_but(done.rows_count)
    })
}

/// The account of what drove no load.
pub fn nothing_but(rows_count: u64) -> Done {
    Done {
        reason: EndReason::Completed,
        started_unix_ns: unix_ns(),
        duration_ns: 0,
        offered_count: 0,
        unfinished_count: 0,
        client: client_cpu(),
        memory_bytes_max: memory_bytes_max(),
        rows_count,
        outages: Vec::new(),
        outages_count: 0,
    }
}

fn read_plan(input: &mut Input<BufReader<Stdin>>) -> Result<DataPlan, WorkerFault> {
    let Some(DataCommand::Plan(plan)) = input.next()? else {
        let message = "standard input ended before a plan came";
        return Err(WorkerFault::new(FailureClass::Spec, message));
    };
    check_protocol(plan.protocol)?;
    Ok(plan)
}

/// Nothing may follow the plan. The end of a pipe means that the starter is gone; the end of a file means nothing.
fn listen(mut input: Input<BufReader<Stdin>>, output: &Output) {
    match input.next::<DataCommand>() {
        Ok(Some(DataCommand::Plan(_))) => {
            let message = "a second plan: one engine does one thing";
            output.fail(WorkerFault::new(FailureClass::Spec, message))
        }
        Err(fault) => output.fail(fault),
        Ok(None) if fs::metadata("/dev/stdin").is_ok_and(|stdin| stdin.is_file()) => {}
        Ok(None) => exit(INTERRUPTED),
    }
}
