//! Calls that return when all is done.

use std::os::unix::fs::FileExt;
use std::sync::Arc;

use plimsoll_core::random::Random;
use plimsoll_engine::WorkerFault;

use super::super::buffer::Buffer;
use super::super::requests::Place;
use super::{Io, Shared};

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
    fn read(&mut self, place: Place) -> Result<(), WorkerFault> {
        let (shared, bytes) = (&self.shared, &mut self.buffer.bytes_mut()[..place.len]);
        shared.alone(place, || {
            shared.files[place.file as usize]
                .read_exact_at(bytes, place.offset)
                .map_err(|error| shared.failed("read", place, &error))?;
            shared.check(bytes, place)
        })
    }

    fn write(&mut self, place: Place, random: &mut Random) -> Result<(), WorkerFault> {
        let (shared, bytes) = (&self.shared, &mut self.buffer.bytes_mut()[..place.len]);
        shared.fill(bytes, place, random);
        shared.alone(place, || {
            shared.files[place.file as usize]
                .write_all_at(bytes, place.offset)
                .map_err(|error| shared.failed("write", place, &error))
        })
    }

    fn sync(&mut self, file: u32) -> Result<(), WorkerFault> {
        self.shared.sync(file)
    }
}
