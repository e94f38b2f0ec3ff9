//! The files: made, measured, opened and removed. Only regular files of the test's own numbers are ever changed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use plimsoll_core::random::keyed;
use rustix::fs::{FallocateFlags, fallocate};

use super::buffer::Buffer;
use super::checksum;
use super::plan::Plan;

/// How much is written at once where files are made, at least a block, bytes.
const CHUNK_BYTES: u64 = 1 << 20;

/// The files of one plan in one folder.
pub struct Files<'p> {
    /// Where they are.
    pub folder: &'p Path,
    /// What they are like.
    pub plan: &'p Plan,
    /// What stands in blocks with checksums follows from it.
    pub seed: u64,
}

/// What is done about one file so that it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It is made.
    Create,
    /// It is there, and long enough.
    Reuse,
    /// It is there, and made longer.
    Extend,
}

/// What could not be done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// To open it, or to make it.
    Open,
    /// To ask for its length.
    Measure,
    /// To write it.
    Write,
    /// To reserve its length.
    Allocate,
    /// To remove it.
    Remove,
}

/// Why files are not as they should be.
#[derive(Debug)]
pub enum FileFault {
    /// Something cannot be done to a file.
    Failed {
        /// What.
        action: Action,
        /// Number of the file.
        file: u32,
        /// Why.
        error: io::Error,
    },
    /// A file is shorter than the plan says.
    Short {
        /// Number of the file.
        file: u32,
        /// Its length, bytes.
        found_bytes: u64,
        /// The least length, bytes.
        expected_bytes: u64,
    },
    /// A file cannot be mapped into memory.
    Map(io::Error),
}

/// The name of a file in its folder.
pub fn name(file: u32) -> String {
    format!("test_file.{file}")
}

/// As messages tell an error: `errno = 2 (No such file or directory)`.
pub fn errno(error: &io::Error) -> String {
    let Some(number) = error.raw_os_error() else {
        return error.to_string();
    };
    let text = error.to_string();
    let end = format!(" (os error {number})");
    format!("errno = {number} ({})", text.strip_suffix(&end).unwrap_or(&text))
}

impl Files<'_> {
    /// Makes them, or makes them longer; `tell` learns what is done about each. Returns how many bytes were written.
    ///
    /// # Errors
    /// The first fault.
    pub fn prepare(&self, mut tell: impl FnMut(Step, u32)) -> Result<u64, FileFault> {
        let mut written_bytes = 0;
        for file in 0..self.plan.files_count {
            written_bytes += self.prepare_one(file, &mut tell)?;
        }
        Ok(written_bytes)
    }

    /// Begins again: removes them, and makes them empty, or of full length where they are to be mapped.
    pub(super) fn recreate(&self, is_mapped: bool) -> Result<Vec<File>, FileFault> {
        self.remove()?;
        let create = |number| {
            let file = self.open(number, true)?;
            if is_mapped {
                let bytes = self.plan.file_blocks() * self.plan.block_bytes;
                fallocate(&file, FallocateFlags::empty(), 0, bytes)
                    .map_err(|error| failed(Action::Allocate, number, error.into()))?;
            }
            Ok(file)
        };
        (0..self.plan.files_count).map(create).collect()
    }

    /// Opens them, all of the expected length.
    pub(super) fn open_all(&self) -> Result<Vec<File>, FileFault> {
        let open = |number| {
            let mut file = self.open(number, false)?;
            let found_bytes = file
                .seek(SeekFrom::End(0))
                .map_err(|error| failed(Action::Measure, number, error))?;
            let expected_bytes = self.plan.file_bytes();
            if found_bytes < expected_bytes {
                return Err(FileFault::Short {
                    file: number,
                    found_bytes,
                    expected_bytes,
                });
            }
            Ok(file)
        };
        (0..self.plan.files_count).map(open).collect()
    }

    /// Removes them.
    ///
    /// # Errors
    /// The first fault.
    pub fn remove(&self) -> Result<(), FileFault> {
        for number in 0..self.plan.files_count {
            let removed = match self.length(number) {
                Ok(Some(_)) => fs::remove_file(self.path(number)),
                other => other.map(|_| ()),
            };
            removed.map_err(|error| failed(Action::Remove, number, error))?;
        }
        Ok(())
    }

    /// Returns how many bytes were written.
    fn prepare_one(&self, number: u32, tell: &mut impl FnMut(Step, u32)) -> Result<u64, FileFault> {
        let block = self.plan.block_bytes;
        let wanted = self.plan.file_bytes().div_ceil(block) * block;
        let found = self
            .length(number)
            .map_err(|error| failed(Action::Open, number, error))?;
        let step = match found {
            None => Step::Create,
            Some(length) if length >= wanted => Step::Reuse,
            Some(_) => Step::Extend,
        };
        tell(step, number);
        let from = found.unwrap_or(0) / block * block;
        if from >= wanted && found.is_some() {
            return Ok(0);
        }
        let file = self.open(number, true)?;
        self.write(&file, number, from..wanted)
            .and_then(|()| file.sync_all())
            .map_err(|error| failed(Action::Write, number, error))?;
        Ok(wanted - from)
    }

    fn write(&self, file: &File, number: u32, range: std::ops::Range<u64>) -> io::Result<()> {
        let block = self.plan.block_bytes;
        let chunk = (CHUNK_BYTES / block).max(1) * block;
        let mut buffer = Buffer::new(chunk.min(range.end - range.start) as usize);
        let mut offset = range.start;
        while offset < range.end {
            let len = chunk.min(range.end - offset);
            let bytes = &mut buffer.bytes_mut()[..len as usize];
            if self.plan.is_validated {
                for (block_offset, content) in (offset..).step_by(block as usize).zip(bytes.chunks_mut(block as usize))
                {
                    let mut random = keyed(self.seed, number.into(), block_offset);
                    checksum::fill(content, number, block_offset, &mut random);
                }
            }
            file.write_all_at(bytes, offset)?;
            offset += len;
        }
        Ok(())
    }

    /// The length of a file that is there.
    fn length(&self, number: u32) -> io::Result<Option<u64>> {
        match fs::symlink_metadata(self.path(number)) {
            Ok(metadata) if metadata.is_file() => Ok(Some(metadata.len())),
            Ok(_) => Err(io::Error::other("it is no regular file")),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn open(&self, number: u32, may_create: bool) -> Result<File, FileFault> {
        let no_links = if may_create { libc::O_NOFOLLOW } else { 0 };
        let writes = may_create || self.plan.mode.is_some_and(super::plan::Mode::writes);
        let opened = OpenOptions::new()
            .read(true)
            .write(writes)
            .create(may_create)
            .truncate(false)
            .mode(0o600)
            .custom_flags(self.plan.flags.bits() | no_links)
            .open(self.path(number));
        opened.map_err(|error| failed(Action::Open, number, error))
    }

    fn path(&self, number: u32) -> PathBuf {
        self.folder.join(name(number))
    }
}

fn failed(action: Action, file: u32, error: io::Error) -> FileFault {
    FileFault::Failed { action, file, error }
}
