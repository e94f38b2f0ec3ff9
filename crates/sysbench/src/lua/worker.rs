//! The workers of a run: one Lua state each.

use std::sync::{Arc, Mutex};

use plimsoll_core::lock::lock;
use plimsoll_core::message::FailureClass;
use plimsoll_engine::{Gate, Interrupter, Worker, WorkerFactory, WorkerFault};

use super::shared::Shared;
use super::state::{Kind, State};
use super::thread_context::Early;
use crate::log::Level;

/// LuaJIT nests calls within bounds of its own, and TLS takes some as well. What is not touched costs nothing.
const STACK_BYTES: usize = 512 * 1024;

/// Builds the workers of a script.
pub struct ScriptFactory {
    shared: Arc<Shared>,
    /// What the leading state did before; the first worker tells it.
    early: Mutex<Early>,
}

impl ScriptFactory {
    /// Workers of this script; what its leading state did before counts as theirs.
    pub fn new(shared: &Arc<Shared>, early: Early) -> Self {
        Self {
            shared: Arc::clone(shared),
            early: Mutex::new(early),
        }
    }
}

impl WorkerFactory for ScriptFactory {
    fn transaction_names(&self) -> Vec<String> {
        vec!["event".to_owned()]
    }

    fn stack_bytes(&self) -> usize {
        STACK_BYTES
    }

    fn build(&self, worker: u32) -> Result<Box<dyn Worker>, WorkerFault> {
        let state = State::load(&self.shared, Kind::Worker, worker).map_err(|text| {
            self.shared.log.text(Level::Fatal, text);
            unborn()
        })?;
        if state.has("thread_init") {
            let outcome = state.call::<()>("call", ("thread_init", worker));
            outcome.map_err(|text| {
                say(&state, "thread_init", &text);
                unborn()
            })?;
        }
        let early = std::mem::take(&mut *lock(&self.early));
        state.host.thread.add_early(early);
        Ok(Box::new(ScriptWorker { state, tid: worker }))
    }
}

struct ScriptWorker {
    state: State,
    tid: u32,
}

impl Worker for ScriptWorker {
    fn run(&mut self, gate: &mut Gate<'_>) -> Result<(), WorkerFault> {
        let outcome = self.phase(gate, "thread_run");
        gate.withdraw(); // the event that stopped it, or was cut
        outcome?;
        if self.state.has("thread_done") {
            let ended = self.phase(gate, "thread_done");
            gate.withdraw();
            if self.state.host.is_broken() {
                return ended;
            }
            // What failed otherwise was said, and the run has its report.
        }
        gate.flush();
        Ok(())
    }

    fn interrupter(&self) -> Interrupter {
        self.state.host.thread.cuts.interrupter()
    }
}

impl ScriptWorker {
    fn phase(&self, gate: &mut Gate<'_>, name: &str) -> Result<(), WorkerFault> {
        let state = &self.state;
        let outcome = state
            .host
            .with_gate(gate, || state.call_entered::<()>("call", (name, self.tid)));
        match outcome {
            Err(_) if state.host.thread.is_cut_off() => Ok(()),
            Err(text) => {
                say(state, name, &text);
                Err(fault("")) // it was said
            }
            Ok(()) => Ok(()),
        }
    }
}

/// Says what went wrong in one of the script's functions.
fn say(state: &State, name: &str, text: &str) {
    state
        .host
        .thread
        .log(Level::Fatal, format_args!("`{name}' function failed: {text}"));
}

fn unborn() -> WorkerFault {
    fault("Thread initialization failed!")
}

fn fault(message: &str) -> WorkerFault {
    WorkerFault::new(FailureClass::Spec, message)
}
