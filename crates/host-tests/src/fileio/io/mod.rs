//! How requests are done: calls that wait, calls that do not, or memory that is a file.

mod aio;
mod blocking;
mod map;
#[allow(unsafe_code)] // memory that the kernel shares with others
mod mapping;

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use plimsoll_core::lock::lock;
use plimsoll_core::message::FailureClass;
use plimsoll_core::random::Random;
use plimsoll_engine::WorkerFault;
use rustix::fs::{fdatasync, fsync};

use super::checksum::{self, Fault};
use super::files::errno;
use super::plan::{IoMode, Plan};
use super::requests::{Extent, Queue};

pub(super) use mapping::Map;

/// What all workers of a run share.
pub(super) struct Shared {
    pub(super) seed: u64,
    pub(super) plan: Plan,
    pub(super) files: Vec<File>,
    /// The files as memory, where they are.
    pub(super) maps: Vec<Map>,
    pub(super) queue: Mutex<Queue>,
    /// Blocks that a request is about, where blocks carry checksums: half a block of one and half of another would look
    /// like a fault of the device.
    pub(super) busy: Mutex<HashSet<(u32, u64)>>,
    pub(super) traffic: Traffic,
}

/// What was moved. Counted only where requests have several lengths.
#[derive(Default)]
pub(super) struct Traffic {
    pub(super) bytes: AtomicU64,
    pub(super) requests_count: AtomicU64,
    /// Files that were synchronised after the last event.
    pub(super) end_syncs_count: AtomicU64,
}

/// Does the requests of one worker.
pub(super) trait Io {
    /// Reads, or begins to.
    fn read(&mut self, extent: Extent) -> Result<(), WorkerFault>;

    /// Writes, or begins to; what is written comes from `random` where blocks carry checksums.
    fn write(&mut self, extent: Extent, random: &mut Random) -> Result<(), WorkerFault>;

    /// Synchronises a file with the device.
    fn sync(&mut self, file: u32) -> Result<(), WorkerFault>;

    /// Waits for whatever was begun.
    fn finish(&mut self) -> Result<(), WorkerFault> {
        Ok(())
    }
}

/// What does the requests of a worker.
pub(super) fn of(shared: std::sync::Arc<Shared>) -> Result<Box<dyn Io>, WorkerFault> {
    Ok(match shared.plan.io_mode {
        IoMode::Sync => Box::new(blocking::Blocking::new(shared)),
        IoMode::Async => Box::new(aio::Aio::new(shared)?),
        IoMode::Mmap => Box::new(map::Mapped::new(shared)),
    })
}

impl Shared {
    pub(super) fn queue(&self) -> MutexGuard<'_, Queue> {
        lock(&self.queue)
    }

    /// Counts what is moved.
    pub(super) fn moved(&self, extent: Extent) {
        if self.plan.merged_count > 1 {
            self.traffic.bytes.fetch_add(extent.len as u64, Ordering::Relaxed);
            self.traffic.requests_count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Fills a request's blocks for their extents, if they carry checksums.
    fn fill(&self, bytes: &mut [u8], extent: Extent, random: &mut Random) {
        if self.plan.is_validated {
            for (offset, block) in self
                .blocks(extent)
                .zip(bytes.chunks_mut(self.plan.block_bytes as usize))
            {
                checksum::fill(block, extent.file, offset, random);
            }
        }
    }

    /// Checks that a request's blocks are what was written there, if they carry checksums.
    fn check(&self, bytes: &[u8], extent: Extent) -> Result<(), WorkerFault> {
        if self.plan.is_validated {
            for (offset, block) in self.blocks(extent).zip(bytes.chunks(self.plan.block_bytes as usize)) {
                checksum::check(block, extent.file, offset).map_err(|fault| corrupt(extent.file, offset, fault))?;
            }
        }
        Ok(())
    }

    /// Takes a request's blocks for one worker; false while another one has some of them.
    fn try_take(&self, extent: Extent) -> bool {
        if !self.plan.is_validated {
            return true;
        }
        let mut busy = lock(&self.busy);
        if self.blocks(extent).any(|offset| busy.contains(&(extent.file, offset))) {
            return false;
        }
        busy.extend(self.blocks(extent).map(|offset| (extent.file, offset)));
        true
    }

    /// Gives them back.
    fn give_back(&self, extent: Extent) {
        if self.plan.is_validated {
            let mut busy = lock(&self.busy);
            for offset in self.blocks(extent) {
                busy.remove(&(extent.file, offset));
            }
        }
    }

    /// Takes, works, gives back.
    fn alone<T>(&self, extent: Extent, work: impl FnOnce() -> T) -> T {
        while !self.try_take(extent) {
            std::thread::yield_now();
        }
        let result = work();
        self.give_back(extent);
        result
    }

    fn blocks(&self, extent: Extent) -> impl Iterator<Item = u64> + use<> {
        (extent.offset..extent.offset + extent.len as u64).step_by(self.plan.block_bytes as usize)
    }

    fn sync(&self, file: u32) -> Result<(), WorkerFault> {
        let descriptor = &self.files[file as usize];
        let (result, name) = if self.plan.syncs.is_data_only {
            (fdatasync(descriptor), "fdatasync")
        } else {
            (fsync(descriptor), "fsync")
        };
        result.map_err(|error| {
            let why = errno(&error.into());
            host_fault(&format!("Failed to {name} file! file: {file} {why}"))
        })
    }
}

fn failed(verb: &str, extent: Extent, error: &io::Error) -> WorkerFault {
    let why = errno(error);
    let (file, offset) = (extent.file, extent.offset);
    host_fault(&format!("Failed to {verb} file! file: {file} pos: {offset} {why}"))
}

/// What is wrong with a block, in lines.
fn corrupt(file: u32, offset: u64, fault: Fault) -> WorkerFault {
    let what = match fault {
        Fault::Checksum { calculated, stored } => format!(
            "Checksum mismatch in block with offset: {offset}\n    Calculated value: {calculated:#x}    Stored value: \
             {stored:#x}"
        ),
        Fault::Elsewhere {
            file: stored_file,
            offset: stored,
        } => format!(
            "Offset mismatch in block with offset: {offset}\n    It was written for file {stored_file}, offset {stored}"
        ),
    };
    host_fault(&format!(
        "{what}\nValidation failed on file {file}, block offset {offset}, exiting..."
    ))
}

fn host_fault(message: &str) -> WorkerFault {
    WorkerFault::new(FailureClass::Host, message)
}

impl Traffic {
    /// Mean length of a request, bytes; `block_bytes` where none were merged.
    pub(super) fn request_bytes(&self, block_bytes: u64) -> f64 {
        match self.requests_count.load(Ordering::Relaxed) {
            0 => block_bytes as f64,
            count => self.bytes.load(Ordering::Relaxed) as f64 / count as f64,
        }
    }
}
