//! Whether a data set still has the content that it was made with.
//!
//! The server reads each row once. Workloads that write change the content, and that is found as any other change.

use std::sync::Mutex;

use plimsoll_core::message::FailureClass;
use plimsoll_core::plan::{DataPlan, DataSet, OltpData};
use plimsoll_engine::WorkerFault;

use super::content::{Content, Slice, chunks};
use super::crew::Crew;
use super::{DataDone, DataEvent, check, checked, numbers};
use crate::oltp::tables;

/// Chunks that are told by name; of more there is only a number.
const TOLD_MAX: usize = 5;

/// Does all that [`check`] does, and compares each row.
///
/// # Errors
/// As [`check`]; and when rows differ.
pub fn verify(plan: &DataPlan, observe: &mut dyn FnMut(DataEvent)) -> Result<DataDone, WorkerFault> {
    let DataSet::Oltp(data) = checked(plan)? else {
        let message = "data_set: tables of a workload file can be counted, not compared: `plimsoll check --count-only`";
        return Err(WorkerFault::new(FailureClass::Spec, message));
    };
    let done = check(plan, observe)?;
    let differing = differing(&mut Crew::new(plan, observe), data)?;
    if differing.is_empty() {
        return Ok(done);
    }
    Err(WorkerFault::new(FailureClass::Data, told(&differing)))
}

/// The chunks whose rows are others than they were made, in order.
fn differing(crew: &mut Crew<'_>, data: &OltpData) -> Result<Vec<Slice>, WorkerFault> {
    let numbers: Vec<u32> = numbers(data).iter().collect();
    let chunks = chunks(&numbers, data.rows_each());
    let differing = Mutex::new(Vec::new());
    let total = data.rows_count();
    crew.work("content", total, &chunks, |connection, chunk, meter| {
        if Content::found(connection, *chunk)? != Content::wanted(data, *chunk) {
            let mut differing = differing.lock().expect("no loader panics while it notes a chunk");
            differing.push(*chunk);
        }
        meter.add(chunk.rows());
        Ok(())
    })?;
    let mut differing = differing.into_inner().expect("no loader panicked");
    differing.sort_by_key(|chunk| (chunk.table, chunk.first));
    Ok(differing)
}

fn told(differing: &[Slice]) -> String {
    let shown = |chunk: &Slice| format!("{} id {} to {}", tables::name(chunk.table), chunk.first, chunk.last);
    let mut places: Vec<String> = differing.iter().take(TOLD_MAX).map(shown).collect();
    if differing.len() > TOLD_MAX {
        places.push(format!("{} more places", differing.len() - TOLD_MAX));
    }
    format!(
        "rows are not as they were made: {}: a workload that writes changes them, or the table was made otherwise; to have them as they \
         were: `plimsoll cleanup`, then `plimsoll prepare`",
        places.join(", ")
    )
}
