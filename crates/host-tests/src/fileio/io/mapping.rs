//! A file as memory.

use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::ptr::{self, null_mut};

use rustix::mm::{MapFlags, MsyncFlags, ProtFlags, mmap, msync, munmap};

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
    pub(super) fn copy_to(&self, bytes: &mut [u8], offset: u64) {
        let offset = self.checked(offset, bytes.len());
        // SAFETY: the range lies within the map, and `bytes` is memory of its own.
        unsafe { ptr::copy_nonoverlapping(self.begin.cast::<u8>().add(offset), bytes.as_mut_ptr(), bytes.len()) };
    }

    /// Copies into the file, which was mapped to be written.
    pub(super) fn copy_from(&self, bytes: &[u8], offset: u64) {
        let offset = self.checked(offset, bytes.len());
        // SAFETY: the same.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.begin.cast::<u8>().add(offset), bytes.len()) };
    }

    /// Synchronises the file with the device.
    pub(super) fn sync(&self) -> io::Result<()> {
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
