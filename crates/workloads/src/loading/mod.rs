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
pub mod row;
pub mod sending;
pub mod table;
pub mod table_set;
pub mod verify;

use plimsoll_core::message::{EngineWarning, FailureClass, Message, Progress};
use plimsoll_engine::WorkerFault;

use pool::LoaderPool;

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

/// A data set with its options. Each workload's folder has one that implements this.
pub trait DataSet {
    /// What is wrong with the options, whatever the server is; nothing where they make sense.
    fn faults(&self) -> Vec<String>;

    /// Finds out what is there of it.
    ///
    /// # Errors
    /// Whatever the server said.
    fn find(&self, pool: &LoaderPool<'_>) -> Result<Box<dyn FoundSet + '_>, WorkerFault>;
}

/// What is there of a data set on a server, and what can be done about it.
pub trait FoundSet {
    /// The names of what is there and Plimsoll did not make.
    fn foreign(&self) -> Vec<String>;

    /// Makes what is missing, resumes what is unfinished, brings indexes and statistics up to date, and marks it as complete.
    /// What is complete is used as it is. Returns how many rows there are.
    ///
    /// # Errors
    /// When something stands in the way, or when the server says no.
    fn make(&self, pool: &mut LoaderPool<'_>) -> Result<u64, WorkerFault>;

    /// What [`Self::make`] does before it changes anything.
    ///
    /// # Errors
    /// When it would be refused.
    fn foresee(&self, pool: &mut LoaderPool<'_>) -> Result<(), WorkerFault>;

    /// Checks that all is there with its shape and rows, or any rows where workloads change them. Returns how many there are.
    ///
    /// # Errors
    /// When something is missing or different, or when the server says no.
    fn check(&self, pool: &mut LoaderPool<'_>) -> Result<u64, WorkerFault>;

    /// Compares each row, or whether rows are consistent where workloads change them.
    ///
    /// # Errors
    /// When rows differ, or when the server says no.
    fn compare(&self, pool: &mut LoaderPool<'_>) -> Result<(), WorkerFault>;

    /// Drops all that is there.
    ///
    /// # Errors
    /// When something is not ours and was not to be dropped: then nothing is. Or when the server says no.
    fn remove(&self, pool: &mut LoaderPool<'_>) -> Result<(), WorkerFault>;
}

/// What is wrong with the number of loaders.
pub fn loaders_fault(loaders: u32) -> Option<String> {
    (!(1..=LOADERS_MAX).contains(&loaders)).then(|| format!("loaders: must be within 1..={LOADERS_MAX}, is {loaders}"))
}

/// Refuses to drop what is not ours, unless told to.
///
/// # Errors
/// When there is such a thing, with its name.
pub fn refuse_foreign(names: &[String], drop_foreign: bool) -> Result<(), WorkerFault> {
    if names.is_empty() || drop_foreign {
        return Ok(());
    }
    let message = format!(
        "{} not made by Plimsoll, so nothing was dropped; to drop them too: `plimsoll cleanup --drop-foreign`",
        names.join(", ")
    );
    Err(WorkerFault::new(FailureClass::Target, message))
}
