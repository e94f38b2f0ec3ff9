//! Whether a data set still has the content that it was made with.
//!
//! The server reads each row once. Workloads that write change the content, and that is found as any other change.

use std::sync::Mutex;

use plimsoll_core::message::FailureClass;
use plimsoll_engine::WorkerFault;

use super::content::Content;
use super::pool::LoaderPool;
use super::table::{Slice, Table, chunks};

/// Chunks that are told by name; of more there is only a number.
const TOLD_MAX: usize = 5;

/// Compares each row of these tables.
///
/// # Errors
/// When rows differ, with their chunks; or whatever the server said.
pub fn compare(pool: &mut LoaderPool<'_>, tables: &[&dyn Table]) -> Result<(), WorkerFault> {
    let differing = differing(pool, tables)?;
    if differing.is_empty() {
        return Ok(());
    }
    Err(WorkerFault::new(FailureClass::Data, told(&differing)))
}

/// The chunks whose rows are others than they were made, in order.
fn differing<'a>(pool: &mut LoaderPool<'_>, tables: &[&'a dyn Table]) -> Result<Vec<Slice<'a>>, WorkerFault> {
    let chunks = chunks(tables);
    let positions: Vec<usize> = (0..chunks.len()).collect();
    let differing = Mutex::new(Vec::new());
    let total = tables.iter().map(|table| table.rows_count()).sum();
    pool.work("content", total, &positions, |connection, position, meter| {
        let chunk = chunks[*position];
        if Content::found(connection, chunk)? != Content::wanted(chunk) {
            let mut differing = differing.lock().expect("no loader panics while it notes a chunk");
            differing.push(*position);
        }
        meter.add(chunk.rows());
        Ok(())
    })?;
    let mut differing = differing.into_inner().expect("no loader panicked");
    differing.sort_unstable();
    Ok(differing.into_iter().map(|position| chunks[position]).collect())
}

fn told(differing: &[Slice<'_>]) -> String {
    let mut labels: Vec<String> = differing.iter().take(TOLD_MAX).map(|chunk| chunk.label()).collect();
    if differing.len() > TOLD_MAX {
        labels.push(format!("{} more places", differing.len() - TOLD_MAX));
    }
    format!(
        "rows are not as they were made: {}: a workload that writes changes them, or the table was made otherwise; to have them as they \
         were: `plimsoll cleanup`, then `plimsoll prepare`",
        labels.join(", ")
    )
}
