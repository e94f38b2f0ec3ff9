//! Open files of the device, each with what is only in memory of it, and how much that is of all.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use plimsoll_core::lock::lock;

use crate::cache::{BLOCK, Cache};

/// One file, however often it is open.
#[derive(Debug)]
pub struct OpenFile {
    /// Of the device.
    pub device: File,
    cache: Mutex<Cache>,
    unflushed_bytes: Arc<AtomicU64>,
}

impl OpenFile {
    /// Opens a file of the device, for writing too where that is permitted.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(path: &Path, unflushed_bytes: &Arc<AtomicU64>) -> io::Result<Self> {
        let device = match OpenOptions::new().read(true).write(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => File::open(path)?,
            other => other?,
        };
        Self::of(device, unflushed_bytes)
    }

    /// One that was just opened or made. What is in memory of it is added to the count of all files.
    ///
    /// # Errors
    /// When its size is not to be had.
    pub fn of(device: File, unflushed_bytes: &Arc<AtomicU64>) -> io::Result<Self> {
        let cache = Mutex::new(Cache::new(&device)?);
        let unflushed_bytes = Arc::clone(unflushed_bytes);
        Ok(Self {
            device,
            cache,
            unflushed_bytes,
        })
    }

    /// Size that readers see, bytes.
    pub fn size(&self) -> u64 {
        let cache = lock(&self.cache);
        cache.size()
    }

    /// Whether something is in memory only.
    pub fn has_unflushed(&self) -> bool {
        let cache = lock(&self.cache);
        cache.count() > 0
    }

    /// Reads what readers see.
    ///
    /// # Errors
    /// When the device cannot be read.
    pub fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let cache = lock(&self.cache);
        cache.read(&self.device, offset, into)
    }

    /// Changes what is in memory.
    ///
    /// # Errors
    /// Those of the change.
    pub fn change(&self, change: impl FnOnce(&mut Cache, &File) -> io::Result<()>) -> io::Result<()> {
        let mut cache = lock(&self.cache);
        let before = cache.count();
        let done = change(&mut cache, &self.device);
        let added = cache.count().wrapping_sub(before).wrapping_mul(BLOCK as u64); // wraps where there are fewer
        self.unflushed_bytes.fetch_add(added, Ordering::Relaxed);
        done
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        let count = lock(&self.cache).count();
        self.unflushed_bytes.fetch_sub(count * BLOCK as u64, Ordering::Relaxed);
    }
}
