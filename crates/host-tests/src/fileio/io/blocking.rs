//! Calls that return when all is done.

use std::os::unix::fs::FileExt;
use std::sync::Arc;

use plimsoll_core::random::Random;
use plimsoll_engine::WorkerFault;

use super::super::buffer::Buffer;
use super::super::requests::Extent;
use super::{Io, Shared, failed};

/// One worker's calls.
pub(super) struct Blocking {
    shared: Arc<Shared>,
    buffer: Buffer,
}

impl Blocking {
    /// With a buffer for the longest request.
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self {
            buffer: Buffer::new(shared.plan.request_bytes_max() as usize),
            shared,
        }
    }
}

impl Io for Blocking {
    fn read(&mut self, extent: Extent) -> Result<(), WorkerFault> {
        let (shared, bytes) = (&self.shared, &mut self.buffer.bytes_mut()[..extent.len]);
        shared.alone(extent, || {
            shared.files[extent.file as usize]
                .read_exact_at(bytes, extent.offset)
                .map_err(|error| failed("read", extent, &error))?;
            shared.check(bytes, extent)
        })
    }

    fn write(&mut self, extent: Extent, random: &mut Random) -> Result<(), WorkerFault> {
        let (shared, bytes) = (&self.shared, &mut self.buffer.bytes_mut()[..extent.len]);
        shared.fill(bytes, extent, random);
        shared.alone(extent, || {
            shared.files[extent.file as usize]
                .write_all_at(bytes, extent.offset)
                .map_err(|error| failed("write", extent, &error))
        })
    }

    fn sync(&mut self, file: u32) -> Result<(), WorkerFault> {
        self.shared.sync(file)
    }
}
