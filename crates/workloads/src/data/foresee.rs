//! What would keep a data set from being made or put back, before anything is changed: for somebody who would meet it hours
//! later.
//!
//! Deliberately not here: whether the account may do it, which servers tell only when they are asked to.

use plimsoll_core::message::FailureClass;
use plimsoll_core::plan::{DataPlan, DataSet};
use plimsoll_engine::WorkerFault;

use super::crew::Crew;
use super::{DataDone, DataEvent, check, checked, foreign, look, sort_and_count};
use crate::statements::data as statements;
use crate::tpcc::data as tpcc;

/// Does what [`check`] does. Where that finds that the data set is to be made, looks whether [`super::prepare`] would be
/// refused; and with `resets` whether [`super::cleanup`] would. Changes nothing.
///
/// # Errors
/// When one of them would be refused, or when the server says no.
pub fn foresee(plan: &DataPlan, resets: bool, observe: &mut dyn FnMut(DataEvent)) -> Result<DataDone, WorkerFault> {
    let set = checked(plan)?;
    if resets && !plan.drop_foreign {
        refuse_reset(plan, set)?;
    }
    match check(plan, observe) {
        Err(fault) if is_missing(&fault) => {}
        other => return other,
    }
    match set {
        DataSet::Oltp(data) => {
            let found = look(plan, data)?;
            sort_and_count(&mut Crew::new(plan, observe), &found, data, plan.drop_foreign)?;
        }
        DataSet::Statements(data) => statements::foresee(plan, data, observe)?,
        DataSet::Tpcc(data) => tpcc::foresee(plan, data)?,
    }
    Ok(DataDone { rows_count: 0 })
}

/// What the engine found itself, without an error of the server, is a reason to make tables.
fn is_missing(fault: &WorkerFault) -> bool {
    fault.code.is_none() && matches!(fault.class, FailureClass::Data | FailureClass::Target)
}

fn refuse_reset(plan: &DataPlan, set: &DataSet) -> Result<(), WorkerFault> {
    let names = match set {
        DataSet::Oltp(data) => foreign(&look(plan, data)?),
        DataSet::Statements(data) => statements::not_ours(plan, data)?,
        DataSet::Tpcc(_) => tpcc::not_ours(plan)?,
    };
    if names.is_empty() {
        return Ok(());
    }
    let message = format!(
        "{} not made by Plimsoll, so it cannot be put back: to measure it as it is, say reset = \"never\"; otherwise name \
         another database",
        names.join(", ")
    );
    Err(WorkerFault::new(FailureClass::Data, message))
}
