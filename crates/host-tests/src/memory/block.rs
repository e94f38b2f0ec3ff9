//! A block of memory that any number of threads read and write at once, word by word.
//!
//! Words are atomic and relaxed: plain loads and stores of the processor, of which the compiler leaves none out, joins
//! none and moves none out of the loop.

use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};

use plimsoll_core::message::FailureClass;
use plimsoll_engine::WorkerFault;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// Length of a word, bytes.
pub(super) const WORD_BYTES: u64 = size_of::<u64>() as u64;

/// The block. All of it was written once, so that it lies in memory.
pub(super) struct Block {
    map: NonNull<c_void>,
    words_count: usize,
}

// SAFETY: the map belongs to this block alone until it is dropped, and is reached only through atomic words.
unsafe impl Send for Block {}
// SAFETY: the same.
unsafe impl Sync for Block {}

impl Block {
    /// A block of so many bytes, from the pool of huge pages if wanted.
    ///
    /// # Errors
    /// A fault of class `host` when this machine has not so much memory.
    pub(super) fn new(bytes: u64, is_huge: bool) -> Result<Self, WorkerFault> {
        let kind = if is_huge { "HugeTLB memory" } else { "memory" };
        let failed = |why: &str| {
            let message = format!("Failed to allocate {bytes} bytes of {kind}: {why}");
            WorkerFault::new(FailureClass::Host, message)
        };
        let len = usize::try_from(bytes).map_err(|_| failed("more than there are addresses"))?;
        let flags = if is_huge {
            MapFlags::HUGETLB
        } else {
            MapFlags::NORESERVE
        };
        // SAFETY: a new map at an address of the kernel's choice touches nothing that is there.
        let map = unsafe {
            mmap_anonymous(
                null_mut(),
                len,
                ProtFlags::READ | ProtFlags::WRITE,
                flags | MapFlags::PRIVATE,
            )
        };
        let map = map.map_err(|error| failed(&format!("errno = {}", error.raw_os_error())))?;
        let block = Self {
            map: NonNull::new(map).expect("the kernel maps nothing at 0"),
            words_count: len / size_of::<u64>(),
        };
        (0..block.words()).for_each(|at| block.store(at, at));
        Ok(block)
    }

    /// How many words it has.
    pub(super) fn words(&self) -> u64 {
        self.words_count as u64
    }

    /// Reads one word, and forgets it.
    #[inline]
    pub(super) fn touch(&self, at: u64) {
        self.slice()[at as usize].load(Ordering::Relaxed);
    }

    /// Writes one word.
    #[inline]
    pub(super) fn store(&self, at: u64, value: u64) {
        self.slice()[at as usize].store(value, Ordering::Relaxed);
    }

    #[inline]
    fn slice(&self) -> &[AtomicU64] {
        // SAFETY: the map is so long, aligned to pages, initialised (the kernel's pages are zero), and lives as long as
        // `self`.
        unsafe { slice::from_raw_parts(self.map.as_ptr().cast(), self.words_count) }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: the map is this block's own, and nobody can reach it any more. Huge pages want the length of whole pages:
        // the kernel then refuses and gives the map back when the process ends.
        let _ = unsafe { munmap(self.map.as_ptr(), self.words_count * size_of::<u64>()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_keeps_what_is_written_into_it() {
        let block = Block::new(1_024, false).unwrap();
        block.store(127, 7);
        let word = |at: usize| block.slice()[at].load(Ordering::Relaxed);
        assert_eq!((block.words(), word(127), word(126)), (128, 7, 126));
    }

    #[test]
    fn what_no_machine_has_is_refused() {
        let refused = Block::new(1 << 60, false).err();
        assert!(
            refused
                .unwrap()
                .message
                .starts_with("Failed to allocate 1152921504606846976 bytes of memory")
        );
    }
}
