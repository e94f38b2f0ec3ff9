//! Makes, resumes and compares tables, whatever is in them. Tables carry a mark in their comment, by which Plimsoll knows its
//! own and how far their making came; what it did not make it does not touch unless told to.
//!
//! Deliberately not here: which tables there are and what is in them (each workload has a data set of its own), and any
//! setting of the server that makes data less durable.

pub mod content;
pub mod fault;
pub mod foreign_keys;
pub mod make;
pub mod mark;
pub mod options;
pub mod pool;
pub mod resume;
pub mod sending;
pub mod table;
pub mod table_set;
pub mod verify;

use plimsoll_core::message::{EngineWarning, FailureClass, Message, Progress};
use plimsoll_core::plan::DataPlan;
use plimsoll_engine::WorkerFault;

/// Most connections that load at the same time: each is a thread, and servers gain nothing from so many.
const LOADERS_MAX: u32 = 1_000;

/// What happens while a data set is made, checked or removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataEvent {
    /// How far it is, at least twice a second.
    Progress(Progress),
    /// A doubt about the data.
    Warning(EngineWarning),
}

impl From<DataEvent> for Message {
    fn from(event: DataEvent) -> Self {
        match event {
            DataEvent::Progress(progress) => Self::Progress(progress),
            DataEvent::Warning(warning) => Self::Warning(warning),
        }
    }
}

/// The data set as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataDone {
    /// Rows, all tables together.
    pub rows_count: u64,
}

/// What is wrong with the number of loaders.
pub fn loaders_fault(plan: &DataPlan) -> Option<String> {
    let loaders = plan.loaders;
    (!(1..=LOADERS_MAX).contains(&loaders)).then(|| format!("loaders: must be within 1..={LOADERS_MAX}, is {loaders}"))
}

/// Refuses to drop what is not ours, unless told to.
///
/// # Errors
/// When there is such a thing, with its name.
pub fn refuse_foreign<T: AsRef<str>>(names: &[T], plan: &DataPlan) -> Result<(), WorkerFault> {
    if names.is_empty() || plan.drop_foreign {
        return Ok(());
    }
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    let message = format!(
        "{} not made by Plimsoll, so nothing was dropped; to drop them too: `plimsoll cleanup --drop-foreign`",
        names.join(", ")
    );
    Err(WorkerFault::new(FailureClass::Target, message))
}
