//! Files that are mapped into memory: requests copy, synchronising is `msync`.

use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::ptr::{self, null_mut};
use std::sync::Arc;

use plimsoll_core::random::Random;
use plimsoll_engine::WorkerFault;
use rustix::mm::{MapFlags, MsyncFlags, ProtFlags, mmap, msync, munmap};

use super::super::buffer::Buffer;
use super::super::files::errno;
use super::super::requests::Place;
use super::{Io, Shared};

/// One file as memory.
pub(in super::super) struct Map {
    begin: *mut c_void,
    len: usize,
}

// SAFETY: it is an address of memory that stays mapped until the map is dropped; it is copied from and to as described at
// `copy_from` and `copy_to`.
unsafe impl Send for Map {}
// SAFETY: the same.
unsafe impl Sync for Map {}

impl Map {
    /// Maps the first `len` bytes of a file, which must have them.
    pub(in super::super) fn new(file: &File, len: usize, is_writable: bool) -> io::Result<Self> {
        let write = if is_writable {
            ProtFlags::WRITE
        } else {
            ProtFlags::empty()
        };
        // SAFETY: a new map at an address of the kernel's choice touches nothing that is there.
        let begin = unsafe { mmap(null_mut(), len, ProtFlags::READ | write, MapFlags::SHARED, file, 0) }?;
        Ok(Self { begin, len })
    }

    /// Copies out of the file. Where another thread writes there at that moment, bytes of both states may come: like
    /// another process, it is outside of what this program can know, and nothing depends on them. Where something does
    /// (checksums), one request at a time has the block.
    fn copy_to(&self, bytes: &mut [u8], offset: u64) {
        let offset = self.checked(offset, bytes.len());
        // SAFETY: the range lies within the map, and `bytes` is memory of its own.
        unsafe { ptr::copy_nonoverlapping(self.begin.cast::<u8>().add(offset), bytes.as_mut_ptr(), bytes.len()) };
    }

    /// Copies into the file, which was mapped to be written.
    fn copy_from(&self, bytes: &[u8], offset: u64) {
        let offset = self.checked(offset, bytes.len());
        // SAFETY: the same.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.begin.cast::<u8>().add(offset), bytes.len()) };
    }

    fn sync(&self) -> io::Result<()> {
        // SAFETY: it is this map.
        Ok(unsafe { msync(self.begin, self.len, MsyncFlags::SYNC) }?)
    }

    fn checked(&self, offset: u64, len: usize) -> usize {
        let offset = offset as usize;
        assert!(offset <= self.len && len <= self.len - offset, "outside of the map");
        offset
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: it is this map, and nobody can reach it any more. It fails only for what is no map.
        let _ = unsafe { munmap(self.begin, self.len) };
    }
}

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
    fn read(&mut self, place: Place) -> Result<(), WorkerFault> {
        let (shared, bytes) = (&self.shared, &mut self.buffer.bytes_mut()[..place.len]);
        shared.alone(place, || shared.maps[place.file as usize].copy_to(bytes, place.offset));
        shared.check(bytes, place)
    }

    fn write(&mut self, place: Place, random: &mut Random) -> Result<(), WorkerFault> {
        let (shared, bytes) = (&self.shared, &mut self.buffer.bytes_mut()[..place.len]);
        shared.fill(bytes, place, random);
        shared.alone(place, || {
            shared.maps[place.file as usize].copy_from(bytes, place.offset);
        });
        Ok(())
    }

    fn sync(&mut self, file: u32) -> Result<(), WorkerFault> {
        self.shared.maps[file as usize].sync().map_err(|error| {
            let why = errno(&error);
            self.shared.fault(&format!("Failed to msync file! file: {file} {why}"))
        })
    }
}
