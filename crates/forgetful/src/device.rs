//! The files of a device as a program sees them: what was flushed is on the device, what was not is in memory.
//!
//! Deliberately not here: what the kernel asks (`filesystem`).

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, Metadata, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};

use fuser::{FileAttr, FileType, INodeNo, OpenFlags};
use plimsoll_core::lock::lock;
use plimsoll_core::random::{keyed, unit};
use rustix::fs::{FallocateFlags, OFlags, fallocate};

use crate::Device;
use crate::cache::{BLOCK, Cache};
use crate::handles::OpenFile;
use crate::tree::Tree;

/// The entries of a directory as they were when it was opened.
pub type Listing = Arc<Vec<(FileType, std::ffi::OsString)>>;

/// The file system. Relative paths lead to the device.
#[derive(Debug)]
pub struct Forgetful {
    device: Device,
    tree: Mutex<Tree>,
    listings: Mutex<HashMap<u64, Listing>>,
    next: AtomicU64,
    unflushed_bytes: Arc<AtomicU64>,
    writes: AtomicU64,
}

impl Forgetful {
    /// Over the directory that is the current one.
    pub fn new(device: Device) -> Self {
        Self {
            device,
            tree: Mutex::new(Tree::new()),
            listings: Mutex::new(HashMap::new()),
            next: AtomicU64::new(1),
            unflushed_bytes: Arc::default(),
            writes: AtomicU64::new(0),
        }
    }

    /// Stores everything of every file.
    ///
    /// # Errors
    /// When the device cannot be written.
    pub fn store_all(&self) -> io::Result<()> {
        let files = lock(&self.tree).files();
        files.iter().try_for_each(|file| Self::store(file))
    }

    fn store(file: &OpenFile) -> io::Result<()> {
        file.change(Cache::store_all)
    }

    /// Where a file is.
    ///
    /// # Errors
    /// When it was removed.
    pub fn path(&self, number: INodeNo) -> io::Result<PathBuf> {
        let tree = lock(&self.tree);
        tree.path(number.0).map(Path::to_owned).ok_or_else(gone)
    }

    /// Where an entry of a directory is.
    ///
    /// # Errors
    /// When the directory was removed.
    pub fn child(&self, parent: INodeNo, name: &OsStr) -> io::Result<PathBuf> {
        lock(&self.tree).child(parent.0, name).ok_or_else(gone)
    }

    /// The open file of a number, which is opened for that if need be.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn file(&self, number: INodeNo) -> io::Result<Arc<OpenFile>> {
        let mut tree = lock(&self.tree);
        if let Some(file) = tree.file(number.0) {
            return Ok(file);
        }
        let path = tree.path(number.0).ok_or_else(gone)?;
        let file = Arc::new(OpenFile::open(path, &self.unflushed_bytes)?);
        tree.set_file(number.0, Arc::clone(&file));
        Ok(file)
    }

    /// What a program sees of a file.
    ///
    /// # Errors
    /// When it is not there.
    pub fn attributes(&self, number: INodeNo) -> io::Result<FileAttr> {
        let file = lock(&self.tree).file(number.0);
        match file {
            Some(file) => {
                let mut seen = attributes_of(number, &file.device.metadata()?)?;
                seen.size = file.size();
                Ok(seen)
            }
            None => attributes_of(number, &fs::symlink_metadata(self.path(number)?)?),
        }
    }

    /// An entry that was found or made.
    ///
    /// # Errors
    /// When it is not there.
    pub fn entry(&self, path: PathBuf) -> io::Result<FileAttr> {
        fs::symlink_metadata(&path)?;
        let number = INodeNo(lock(&self.tree).look_up(path));
        self.attributes(number)
    }

    /// What a program sees of a range.
    ///
    /// # Errors
    /// When the device cannot be read.
    pub fn read(&self, number: INodeNo, offset: u64, size: u32) -> io::Result<Vec<u8>> {
        let file = self.file(number)?;
        let mut content = vec![0; size as usize];
        let length = file.read(offset, &mut content)?;
        content.truncate(length);
        Ok(content)
    }

    /// Takes what is written into memory, and stores it where that is asked for or there is too much.
    ///
    /// # Errors
    /// When the device cannot be read or written.
    pub fn write(&self, number: INodeNo, offset: u64, data: &[u8], flags: OpenFlags) -> io::Result<()> {
        let file = self.file(number)?;
        file.change(|cache, device| {
            let touched = cache.write(device, offset, data)?;
            self.surviving(&touched)
                .try_for_each(|number| cache.store(device, number))
        })?;
        if OFlags::from_bits_retain(flags.0 as u32).intersects(OFlags::DSYNC | OFlags::SYNC) {
            self.flush(&file)?;
        } else if self.unflushed_bytes.load(Ordering::Relaxed) > self.device.memory_bytes_max {
            Self::store(&file)?;
        }
        Ok(())
    }

    /// Which of these blocks the device stores by itself.
    fn surviving(&self, touched: &[u64]) -> impl Iterator<Item = u64> {
        let ratio = self.device.survival_ratio;
        let mut random = keyed(self.device.seed, 0, self.writes.fetch_add(1, Ordering::Relaxed));
        touched.iter().copied().filter(move |_| unit(&mut random) < ratio)
    }

    /// What is answered when a flush was asked for. The device is really flushed, so that it takes as long as it would.
    ///
    /// # Errors
    /// When the device cannot be written.
    pub fn flush(&self, file: &OpenFile) -> io::Result<()> {
        if self.device.lies {
            return Ok(());
        }
        Self::store(file)?;
        file.device.sync_data()
    }

    /// Sets the size of a file, on the device at once.
    ///
    /// # Errors
    /// When the device refuses it.
    pub fn set_size(&self, number: INodeNo, size: u64) -> io::Result<()> {
        let file = self.file(number)?;
        file.change(|cache, device| cache.set_size(device, size))
    }

    /// Allocates room on the device at once.
    ///
    /// # Errors
    /// When the device refuses it, or a hole is wanted.
    pub fn allocate(&self, number: INodeNo, offset: u64, length: u64, mode: i32) -> io::Result<()> {
        let mode = FallocateFlags::from_bits(mode as u32).unwrap_or(FallocateFlags::all());
        if !(mode - FallocateFlags::KEEP_SIZE).is_empty() {
            return Err(rustix::io::Errno::OPNOTSUPP.into());
        }
        let file = self.file(number)?;
        file.change(|cache, device| {
            fallocate(device.as_fd(), mode, offset, length)?;
            if mode.is_empty() {
                cache.grow(offset + length);
            }
            Ok(())
        })
    }

    /// Makes a file, or opens the one that is there.
    ///
    /// # Errors
    /// When the device refuses it.
    pub fn create(&self, path: &Path, mode: u32, flags: i32) -> io::Result<FileAttr> {
        let flags = OFlags::from_bits_retain(flags as u32);
        let device = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(flags.contains(OFlags::TRUNC))
            .create_new(flags.contains(OFlags::EXCL))
            .mode(mode)
            .open(path)?;
        let mut tree = lock(&self.tree);
        let known = tree.file_at(path);
        let number = tree.look_up(path.to_owned());
        if let Some(known) = known {
            drop(tree);
            if flags.contains(OFlags::TRUNC) {
                known.change(|cache, device| cache.set_size(device, 0))?;
            }
        } else {
            tree.set_file(number, Arc::new(OpenFile::of(device, &self.unflushed_bytes)?));
            drop(tree);
        }
        self.attributes(INodeNo(number))
    }

    /// Notes the entries of a directory; returns the number by which they can be asked for.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn list(&self, number: INodeNo) -> io::Result<u64> {
        let mut entries = vec![(FileType::Directory, ".".into()), (FileType::Directory, "..".into())];
        for entry in fs::read_dir(self.path(number)?)? {
            let entry = entry?;
            let kind = FileType::from_std(entry.file_type()?).unwrap_or(FileType::RegularFile);
            entries.push((kind, entry.file_name()));
        }
        let handle = self.next.fetch_add(1, Ordering::Relaxed);
        lock(&self.listings).insert(handle, Arc::new(entries));
        Ok(handle)
    }

    /// What `list` noted.
    pub fn listing(&self, handle: u64) -> Option<Listing> {
        lock(&self.listings).get(&handle).cloned()
    }

    /// What `list` noted is no longer needed.
    pub fn end_listing(&self, handle: u64) {
        lock(&self.listings).remove(&handle);
    }

    /// A path was removed.
    pub fn discard(&self, path: &Path) {
        lock(&self.tree).remove(path);
    }

    /// A path was renamed.
    pub fn renamed(&self, from: &Path, to: &Path) {
        lock(&self.tree).rename(from, to);
    }

    /// The kernel forgets a number so many times.
    pub fn forget(&self, number: INodeNo, count: u64) {
        lock(&self.tree).forget(number.0, count);
    }
}

fn gone() -> io::Error {
    rustix::io::Errno::NOENT.into()
}

fn attributes_of(number: INodeNo, found: &Metadata) -> io::Result<FileAttr> {
    let kind = FileType::from_std(found.file_type()).ok_or_else(gone)?;
    let changed = UNIX_EPOCH + Duration::new(found.ctime().max(0) as u64, found.ctime_nsec() as u32);
    Ok(FileAttr {
        ino: number,
        size: found.size(),
        blocks: found.blocks(),
        atime: found.accessed()?,
        mtime: found.modified()?,
        ctime: changed,
        crtime: changed,
        kind,
        perm: (found.mode() & 0o7777) as u16,
        nlink: found.nlink() as u32,
        uid: found.uid(),
        gid: found.gid(),
        rdev: found.rdev() as u32,
        blksize: BLOCK as u32,
        flags: 0,
    })
}
