//! `plimsoll-engine faults`: a plan of a trial or of a data set, checked as it would be before it is carried out, and no
//! further: nothing is connected.

use std::io::{self, BufReader};
use std::sync::Arc;

use plimsoll_core::message::{DataCommand, Done, FailureClass, TrialCommand};
use plimsoll_engine::WorkerFault;
use plimsoll_workloads::data;
use serde::Deserialize;

use crate::data_command::nothing_but;
use crate::input::Input;
use crate::output::Output;
use crate::trial_command::{build, check_protocol, check_size, servers};

/// A plan of either kind.
#[derive(Deserialize)]
#[serde(untagged)]
enum AnyPlan {
    Data(DataCommand),
    Trial(TrialCommand),
}

/// Reads a plan and tells what is wrong with it.
///
/// # Errors
/// All that is wrong.
pub fn run(_output: &Arc<Output>) -> Result<Done, WorkerFault> {
    let mut input = Input::new(BufReader::new(io::stdin()));
    match input.next()? {
        Some(AnyPlan::Data(DataCommand::Plan(plan))) => {
            check_protocol(plan.protocol)?;
            data::check_plan(&plan)?;
        }
        Some(AnyPlan::Trial(TrialCommand::Plan(plan))) => {
            check_protocol(plan.protocol)?;
            check_size(&plan)?;
            build(&plan, &servers(&plan))?;
        }
        _ => {
            let message = "a plan must come first, of a trial or of a data set";
            return Err(WorkerFault::new(FailureClass::Spec, message));
        }
    }
    Ok(nothing_but(0))
}
