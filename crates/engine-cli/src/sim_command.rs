//! `plimsoll-engine sim`: the fake server as a process of its own, until its standard input ends.

use std::io::{self, BufReader};
use std::path::Path;
use std::process::exit;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_core::message::{Done, EndReason, FailureClass, Listening, Message, SimCommand};
use plimsoll_core::plan::{SimColumn, SimPlan, SimShape};
use plimsoll_engine::{WorkerFault, client_cpu, memory_bytes_max, monotonic_ns, unix_ns};
use plimsoll_sim::{Script, Shape, ShapeColumn, Sim};

use crate::input::Input;
use crate::output::Output;
use crate::process;
use crate::trial_command::check_protocol;

/// A row goes in one packet.
const ROW_BYTES_MAX: u64 = 8 << 20;
/// A result set is buffered for each connection that prepared its statement.
const RESULT_BYTES_MAX: u64 = 64 << 20;
/// What a row takes beside its texts, for each column.
const COLUMN_BYTES: u64 = 10;

/// Serves until standard input ends.
///
/// # Errors
/// Why it could not be done.
pub fn run(output: &Arc<Output>) -> Result<Done, WorkerFault> {
    let mut input = Input::new(BufReader::new(io::stdin()));
    let Some(SimCommand::Plan(plan)) = input.next()? else {
        return Err(WorkerFault::spec("standard input ended before a plan came"));
    };
    check_protocol(plan.protocol)?;
    let script = script(&plan)?;
    let (started_unix_ns, begin_ns) = (unix_ns(), monotonic_ns());
    let sim = start(script, plan.socket.as_deref())?;
    let socket = plan.socket.clone();
    process::on_signal(move || {
        remove(socket.as_deref());
        exit(crate::output::INTERRUPTED)
    })?;
    output.say(&Message::Listening(Listening { port: sim.port() }));
    let surplus = input.next::<SimCommand>();
    drop(sim); // it ends by a call to its own socket
    remove(plan.socket.as_deref());
    if surplus?.is_some() {
        return Err(WorkerFault::spec("a second plan: one engine serves one"));
    }
    Ok(Done {
        reason: EndReason::Stopped,
        started_unix_ns,
        duration_ns: monotonic_ns() - begin_ns,
        offered_count: 0,
        unfinished_count: 0,
        client: client_cpu(),
        memory_bytes_max: memory_bytes_max(),
        rows_count: 0,
        outages: Vec::new(),
        outages_count: 0,
    })
}

fn start(script: Script, socket: Option<&Path>) -> Result<Sim, WorkerFault> {
    match socket {
        Some(path) => Sim::start_at(script, path).map_err(|error| (path.display().to_string(), error)),
        None => Sim::start(script).map_err(|error| ("127.0.0.1".to_owned(), error)),
    }
    .map_err(|(place, error)| WorkerFault::new(FailureClass::Host, format!("{place}: cannot listen: {error}")))
}

/// Only ever the socket that this process made: it refuses to start where one was.
fn remove(socket: Option<&Path>) {
    if let Some(path) = socket {
        let _ = std::fs::remove_file(path);
    }
}

fn script(plan: &SimPlan) -> Result<Script, WorkerFault> {
    if let Some(shape) = plan.shapes.iter().find(|shape| !fits(shape)) {
        return Err(WorkerFault::spec(format!(
            "plan.shapes: must have a column, rows of at most {ROW_BYTES_MAX} bytes, and {RESULT_BYTES_MAX} bytes in all, \
             which {:?} has not",
            shape.contains
        )));
    }
    let column = |column: &SimColumn| ShapeColumn {
        name: column.name.clone(),
        text_bytes: column.text_bytes.map(|bytes| bytes as usize),
    };
    let shapes = plan.shapes.iter().map(|shape| Shape {
        contains: shape.contains.clone(),
        rows: shape.rows,
        columns: shape.columns.iter().map(column).collect(),
    });
    Ok(Script {
        shapes: shapes.collect(),
        statement_delay: Duration::from_nanos(plan.delay_ns),
        ..Script::default()
    })
}

fn fits(shape: &SimShape) -> bool {
    let bytes = |column: &SimColumn| COLUMN_BYTES + u64::from(column.text_bytes.unwrap_or(0));
    let row_bytes: u64 = shape.columns.iter().map(bytes).sum();
    !shape.columns.is_empty() && row_bytes <= ROW_BYTES_MAX && row_bytes * u64::from(shape.rows) <= RESULT_BYTES_MAX
}
