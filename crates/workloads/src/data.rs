//! Data sets, whichever workload they belong to: made, checked, compared, removed.

use plimsoll_core::message::FailureClass;
use plimsoll_core::plan::{DataPlan, DataSet};
use plimsoll_engine::WorkerFault;

pub use crate::loading::{DataDone, DataEvent};

use crate::custom::data as custom;
use crate::oltp::data as oltp;
use crate::tpcc::data as tpcc;

/// Makes the tables with their rows, index and statistics. What is there already, made by us from the same seed and
/// complete, is used as it is after a check. What an earlier attempt at the same data set left unfinished is resumed, and at
/// another one made again.
///
/// # Errors
/// When a table is there that is not ours or is another one, or when the server says no.
pub fn prepare(plan: &DataPlan, observe: &mut dyn FnMut(DataEvent)) -> Result<DataDone, WorkerFault> {
    match checked(plan)? {
        DataSet::Oltp(data) => oltp::prepare(plan, data, observe),
        DataSet::Statements(data) => custom::prepare(plan, data, observe),
        DataSet::Tpcc(data) => tpcc::prepare(plan, data, observe),
    }
}

/// Checks that all tables are there with their shape and rows, or any rows where workloads change them. Who made them does
/// not matter, as long as they are complete.
///
/// # Errors
/// When something is missing or different, or when the server says no.
pub fn check(plan: &DataPlan, observe: &mut dyn FnMut(DataEvent)) -> Result<DataDone, WorkerFault> {
    match checked(plan)? {
        DataSet::Oltp(data) => oltp::check(plan, data, observe),
        DataSet::Statements(data) => custom::check(plan, data, observe),
        DataSet::Tpcc(data) => tpcc::check(plan, data),
    }
}

/// Does all that [`check`] does, and compares each row, or whether rows are consistent where workloads change them.
///
/// # Errors
/// As [`check`]; and when rows differ.
pub fn verify(plan: &DataPlan, observe: &mut dyn FnMut(DataEvent)) -> Result<DataDone, WorkerFault> {
    match checked(plan)? {
        DataSet::Oltp(data) => oltp::verify(plan, data, observe),
        DataSet::Statements(data) => custom::verify(plan, data, observe),
        DataSet::Tpcc(data) => tpcc::verify(plan, data, observe),
    }
}

/// Drops the tables that Plimsoll made, and others of these names only when told to.
///
/// # Errors
/// When a table is not ours and was not to be dropped: then none is. Or when the server says no.
pub fn cleanup(plan: &DataPlan, observe: &mut dyn FnMut(DataEvent)) -> Result<DataDone, WorkerFault> {
    match checked(plan)? {
        DataSet::Oltp(data) => oltp::cleanup(plan, data, observe),
        DataSet::Statements(data) => custom::cleanup(plan, data, observe),
        DataSet::Tpcc(_) => tpcc::cleanup(plan, observe),
    }?;
    Ok(DataDone { rows_count: 0 })
}

/// Does what [`check`] does. Where that finds that the data set is to be made, finds out whether [`prepare`] would be
/// refused; and with `resets` whether [`cleanup`] would. Changes nothing: for somebody who would otherwise meet it hours
/// later. Whether the account may do it servers tell only when they are asked to.
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
        DataSet::Oltp(data) => oltp::foresee(plan, data, observe)?,
        DataSet::Statements(data) => custom::foresee(plan, data, observe)?,
        DataSet::Tpcc(data) => tpcc::foresee(plan, data)?,
    }
    Ok(DataDone { rows_count: 0 })
}

/// Checks that a plan makes sense, without a server.
///
/// # Errors
/// All that is wrong with it.
pub fn check_plan(plan: &DataPlan) -> Result<(), WorkerFault> {
    checked(plan).map(|_| ())
}

fn checked(plan: &DataPlan) -> Result<&DataSet, WorkerFault> {
    let faults = match &plan.data_set {
        DataSet::Oltp(data) => oltp::faults(plan, data),
        DataSet::Statements(data) => custom::faults(plan, data),
        DataSet::Tpcc(data) => tpcc::faults(plan, data),
    };
    if faults.is_empty() {
        Ok(&plan.data_set)
    } else {
        Err(WorkerFault::new(FailureClass::Spec, faults.join("; ")))
    }
}

/// What the engine found itself, without an error of the server, is a reason to make tables.
fn is_missing(fault: &WorkerFault) -> bool {
    fault.code.is_none() && matches!(fault.class, FailureClass::Data | FailureClass::Target)
}

fn refuse_reset(plan: &DataPlan, set: &DataSet) -> Result<(), WorkerFault> {
    let names = match set {
        DataSet::Oltp(data) => oltp::not_ours(plan, data)?,
        DataSet::Statements(data) => custom::not_ours(plan, data)?,
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
