//! Whether a data set still has the content that it was made with.
//!
//! The server reads each row once. Workloads that write change the content, and that is found as any other change.

use std::sync::Mutex;

use plimsoll_core::message::FailureClass;
use plimsoll_core::plan::{DataPlan, DataSet};
use plimsoll_engine::WorkerFault;

use super::content::Content;
use super::crew::Crew;
use super::oltp_table::OltpTable;
use super::table::{Slice, Table, chunks};
use super::{DataDone, DataEvent, as_tables, check, checked, numbers};
use crate::statements::data as statements;
use crate::tpcc::data as tpcc;

/// Chunks that are told by name; of more there is only a number.
const TOLD_MAX: usize = 5;

/// Does all that [`check`] does, and compares each row.
///
/// # Errors
/// As [`check`]; and when rows differ.
pub fn verify(plan: &DataPlan, observe: &mut dyn FnMut(DataEvent)) -> Result<DataDone, WorkerFault> {
    match checked(plan)? {
        DataSet::Oltp(data) => {
            let done = check(plan, observe)?;
            let tables: Vec<OltpTable<'_>> = numbers(data)
                .iter()
                .map(|number| OltpTable::new(data, number))
                .collect();
            compare(&mut Crew::new(plan, observe), &tables)?;
            Ok(done)
        }
        DataSet::Statements(data) => {
            let done = check(plan, observe)?;
            statements::tell_uncompared(data, observe);
            compare(
                &mut Crew::new(plan, observe),
                &statements::own_tables(&data.tables, data.seed),
            )?;
            Ok(done)
        }
        DataSet::Tpcc(data) => tpcc::verify(plan, data, observe),
    }
}

/// Compares each row of these tables.
fn compare<T: Table>(crew: &mut Crew<'_>, tables: &[T]) -> Result<(), WorkerFault> {
    let differing = differing(crew, &as_tables(tables))?;
    if differing.is_empty() {
        return Ok(());
    }
    Err(WorkerFault::new(FailureClass::Data, told(&differing)))
}

/// The chunks whose rows are others than they were made, in order.
fn differing<'a>(crew: &mut Crew<'_>, tables: &[&'a dyn Table]) -> Result<Vec<Slice<'a>>, WorkerFault> {
    let chunks = chunks(tables);
    let places: Vec<usize> = (0..chunks.len()).collect();
    let differing = Mutex::new(Vec::new());
    let total = tables.iter().map(|table| table.rows_count()).sum();
    crew.work("content", total, &places, |connection, place, meter| {
        let chunk = chunks[*place];
        if Content::found(connection, chunk)? != Content::wanted(chunk) {
            let mut differing = differing.lock().expect("no loader panics while it notes a chunk");
            differing.push(*place);
        }
        meter.add(chunk.rows());
        Ok(())
    })?;
    let mut differing = differing.into_inner().expect("no loader panicked");
    differing.sort_unstable();
    Ok(differing.into_iter().map(|place| chunks[place]).collect())
}

fn told(differing: &[Slice<'_>]) -> String {
    let mut places: Vec<String> = differing.iter().take(TOLD_MAX).map(|chunk| chunk.shown()).collect();
    if differing.len() > TOLD_MAX {
        places.push(format!("{} more places", differing.len() - TOLD_MAX));
    }
    format!(
        "rows are not as they were made: {}: a workload that writes changes them, or the table was made otherwise; to have them as they \
         were: `plimsoll cleanup`, then `plimsoll prepare`",
        places.join(", ")
    )
}
