//! Files that are mapped into memory: requests copy, synchronising is `msync`.

use std::sync::Arc;

use plimsoll_core::random::Random;
use plimsoll_engine::WorkerFault;

use super::super::buffer::Buffer;
use super::super::files::errno;
use super::super::requests::Extent;
use super::{Io, Shared, host_fault};

/// One worker's copies.
pub(super) struct Mapped {
    shared: Arc<Shared>,
    buffer: Buffer,
}

impl Mapped {
    /// With a buffer for the longest request.
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self {
            buffer: Buffer::new(shared.plan.request_bytes_max() as usize),
            shared,
        }
    }
}

impl Io for Mapped {
    fn read(&mut self, extent: Extent) -> Result<(), WorkerFault> {
        let (shared, bytes) = (&self.shared, &mut self.buffer.bytes_mut()[..extent.len]);
        shared.alone(extent, || {
            shared.maps[extent.file as usize].copy_to(bytes, extent.offset);
        });
        shared.check(bytes, extent)
    }

    fn write(&mut self, extent: Extent, random: &mut Random) -> Result<(), WorkerFault> {
        let (shared, bytes) = (&self.shared, &mut self.buffer.bytes_mut()[..extent.len]);
        shared.fill(bytes, extent, random);
        shared.alone(extent, || {
            shared.maps[extent.file as usize].copy_from(bytes, extent.offset);
        });
        Ok(())
    }

    fn sync(&mut self, file: u32) -> Result<(), WorkerFault> {
        self.shared.maps[file as usize].sync().map_err(|error| {
            let why = errno(&error);
            host_fault(&format!("Failed to msync file! file: {file} {why}"))
        })
    }
}
