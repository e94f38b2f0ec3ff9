//! Reads and writes of files in a folder.

mod buffer;
mod checksum;
mod files;
mod io;
mod plan;
mod requests;
mod worker;

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use plimsoll_engine::WorkerFactory;

pub use checksum::BLOCK_BYTES_MIN as CHECKED_BLOCK_BYTES_MIN;
pub use files::{Action, FileFault, Files, Step, errno, name};
pub use plan::{IoMode, Mode, OpenFlags, Plan, Syncs};

use self::io::{Map, Shared, Traffic};
use self::requests::Queue;

/// A run on files that are open.
pub struct Run(Arc<Shared>);

impl Run {
    /// Opens the files, or makes them where the mode is to make them.
    ///
    /// # Errors
    /// Why that cannot be done.
    pub fn begin(files: &Files<'_>, mode: Mode) -> Result<Self, FileFault> {
        let plan = files.plan;
        let is_mapped = plan.io_mode == IoMode::Mmap;
        let opened = match mode {
            Mode::SeqWr => files.recreate(is_mapped),
            _ => files.open_all(),
        }?;
        let map_bytes = (plan.file_blocks() * plan.block_bytes) as usize;
        let map = |file| Map::new(file, map_bytes, mode.writes());
        let maps = if is_mapped {
            let mapped: Result<_, _> = opened.iter().map(map).collect();
            mapped.map_err(FileFault::Map)?
        } else {
            vec![]
        };
        Ok(Self(Arc::new(Shared {
            seed: files.seed,
            plan: plan.clone(),
            files: opened,
            maps,
            queue: Mutex::new(Queue::new(plan, mode)),
            busy: Mutex::new(HashSet::new()),
            traffic: Traffic::default(),
        })))
    }

    /// Its workers; a request is an event. Their threads have stacks of so many bytes.
    pub fn factory(&self, stack_bytes: usize) -> Box<dyn WorkerFactory> {
        Box::new(worker::Factory {
            shared: Arc::clone(&self.0),
            stack_bytes,
        })
    }

    /// Mean length of a request so far, bytes.
    pub fn request_bytes(&self) -> f64 {
        self.0.traffic.request_bytes(self.0.plan.block_bytes)
    }

    /// How many files were synchronised after the last event.
    pub fn end_syncs_count(&self) -> u64 {
        self.0.traffic.end_syncs_count.load(Ordering::Relaxed)
    }
}
