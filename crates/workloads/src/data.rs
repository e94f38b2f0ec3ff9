//! Data sets, whichever workload they belong to: made, checked, compared, removed.

use plimsoll_core::message::FailureClass;
use plimsoll_core::plan::{self, DataPlan};
use plimsoll_engine::WorkerFault;

pub use crate::loading::{DataDone, DataEvent};

use crate::loading::pool::{LoadOptions, LoaderPool};
use crate::loading::{DataSet, loaders_fault};

/// A data set, and where and how it is made.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// The data set.
    pub set: &'a dyn DataSet,
    /// Where and how.
    pub options: LoadOptions<'a>,
}

impl<'a> From<&'a DataPlan> for Job<'a> {
    fn from(plan: &'a DataPlan) -> Self {
        Self {
            set: of(&plan.data_set),
            options: LoadOptions {
                target: &plan.target,
                loaders: plan.loaders,
                method: plan.method,
                drop_foreign: plan.drop_foreign,
            },
        }
    }
}

/// The data set of a plan. A new kind of data set is one arm here.
fn of(set: &plan::DataSet) -> &dyn DataSet {
    match set {
        plan::DataSet::Oltp(data) => data,
        plan::DataSet::Statements(data) => data,
        plan::DataSet::Tpcc(data) => data,
    }
}

/// Makes the tables with their rows, index and statistics. What is there already, made by us from the same seed and
/// complete, is used as it is after a check. What an earlier attempt at the same data set left unfinished is resumed, and at
/// another one made again.
///
/// # Errors
/// When a table is there that is not ours or is another one, or when the server says no.
pub fn prepare<'a>(job: impl Into<Job<'a>>, observe: &mut dyn FnMut(DataEvent)) -> Result<DataDone, WorkerFault> {
    let (set, mut pool) = begin(job.into(), observe)?;
    let rows_count = set.find(&pool)?.make(&mut pool)?;
    Ok(DataDone { rows_count })
}

/// Checks that all tables are there with their shape and rows, or any rows where workloads change them. Who made them does
/// not matter, as long as they are complete.
///
/// # Errors
/// When something is missing or different, or when the server says no.
pub fn check<'a>(job: impl Into<Job<'a>>, observe: &mut dyn FnMut(DataEvent)) -> Result<DataDone, WorkerFault> {
    let (set, mut pool) = begin(job.into(), observe)?;
    let rows_count = set.find(&pool)?.check(&mut pool)?;
    Ok(DataDone { rows_count })
}

/// Does all that [`check`] does, and compares each row, or whether rows are consistent where workloads change them.
///
/// # Errors
/// As [`check`]; and when rows differ.
pub fn verify<'a>(job: impl Into<Job<'a>>, observe: &mut dyn FnMut(DataEvent)) -> Result<DataDone, WorkerFault> {
    let (set, mut pool) = begin(job.into(), observe)?;
    let found = set.find(&pool)?;
    let rows_count = found.check(&mut pool)?;
    found.compare(&mut pool)?;
    Ok(DataDone { rows_count })
}

/// Drops the tables that Plimsoll made, and others of these names only when told to.
///
/// # Errors
/// When a table is not ours and was not to be dropped: then none is. Or when the server says no.
pub fn cleanup<'a>(job: impl Into<Job<'a>>, observe: &mut dyn FnMut(DataEvent)) -> Result<DataDone, WorkerFault> {
    let (set, mut pool) = begin(job.into(), observe)?;
    set.find(&pool)?.remove(&mut pool)?;
    Ok(DataDone { rows_count: 0 })
}

/// Does what [`check`] does. Where that finds that the data set is to be made, finds out whether [`prepare`] would be
/// refused; and with `resets` whether [`cleanup`] would. Changes nothing: for somebody who would otherwise meet it hours
/// later. Whether the account may do it servers tell only when they are asked to.
///
/// # Errors
/// When one of them would be refused, or when the server says no.
pub fn foresee<'a>(
    job: impl Into<Job<'a>>,
    resets: bool,
    observe: &mut dyn FnMut(DataEvent),
) -> Result<DataDone, WorkerFault> {
    let (set, mut pool) = begin(job.into(), observe)?;
    let found = set.find(&pool)?;
    if resets && !pool.drop_foreign() {
        refuse_reset(&found.foreign())?;
    }
    match found.check(&mut pool) {
        Err(fault) if is_missing(&fault) => {}
        checked => return checked.map(|rows_count| DataDone { rows_count }),
    }
    found.foresee(&mut pool)?;
    Ok(DataDone { rows_count: 0 })
}

/// Checks that a plan makes sense, without a server.
///
/// # Errors
/// All that is wrong with it.
pub fn check_plan<'a>(job: impl Into<Job<'a>>) -> Result<(), WorkerFault> {
    let job = job.into();
    let mut faults = job.set.faults();
    faults.extend(loaders_fault(job.options.loaders));
    if faults.is_empty() {
        return Ok(());
    }
    Err(WorkerFault::new(FailureClass::Spec, faults.join("; ")))
}

fn begin<'a>(
    job: Job<'a>,
    observe: &'a mut dyn FnMut(DataEvent),
) -> Result<(&'a dyn DataSet, LoaderPool<'a>), WorkerFault> {
    check_plan(job)?;
    Ok((job.set, LoaderPool::new(job.options, observe)))
}

/// What the engine found itself, without an error of the server, is a reason to make tables.
fn is_missing(fault: &WorkerFault) -> bool {
    fault.code.is_none() && matches!(fault.class, FailureClass::Data | FailureClass::Target)
}

fn refuse_reset(foreign: &[String]) -> Result<(), WorkerFault> {
    if foreign.is_empty() {
        return Ok(());
    }
    let message = format!(
        "{} not made by Plimsoll, so it cannot be put back: to measure it as it is, say reset = \"never\"; otherwise name \
         another database",
        foreign.join(", ")
    );
    Err(WorkerFault::new(FailureClass::Data, message))
}
