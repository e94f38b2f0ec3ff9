//! The files: made, looked at, opened and removed. Only regular files of the test's own numbers are ever changed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;
use std::time::Instant;

use plimsoll_core::random::keyed;
use rustix::fs::{FallocateFlags, fallocate};

use super::buffer::Buffer;
use super::plan::Plan;
use super::{checksum, size};
use crate::exit::Exit;
use crate::log::{Level, Log};

/// How much is written at once where files are made, at least a block, bytes.
const CHUNK_BYTES: u64 = 1 << 20;

/// The files of one plan in one folder.
pub(super) struct Files<'p> {
    pub(super) folder: &'p PathBuf,
    pub(super) plan: &'p Plan,
    pub(super) log: &'p Log,
    pub(super) seed: u64,
}

/// As messages name a file.
pub(super) fn name(file: u32) -> String {
    format!("test_file.{file}")
}

/// `errno = 2 (No such file or directory)`.
pub(super) fn errno(error: &io::Error) -> String {
    let Some(number) = error.raw_os_error() else {
        return error.to_string();
    };
    let text = error.to_string();
    let end = format!(" (os error {number})");
    format!("errno = {number} ({})", text.strip_suffix(&end).unwrap_or(&text))
}

impl Files<'_> {
    /// Makes them, or makes them longer.
    pub(super) fn prepare(&self) -> Result<(), Exit> {
        let plan = self.plan;
        let (each, count) = (plan.file_bytes(), plan.files_count);
        let total_mib = each * u64::from(count) / (1 << 20);
        self.notice(format_args!(
            "{count} files, {}Kb each, {total_mib}Mb total",
            each / 1024
        ));
        self.notice("Creating files for the test...");
        self.notice(plan.flags.shown());
        let (begin, mut written_bytes) = (Instant::now(), 0);
        for file in 0..count {
            written_bytes += self.prepare_one(file)?;
        }
        let seconds = begin.elapsed().as_secs_f64();
        if written_bytes == 0 {
            self.notice("No bytes written.");
        } else {
            let mib_per_s = written_bytes as f64 / f64::from(1 << 20) / seconds;
            self.notice(format_args!(
                "{written_bytes} bytes written in {seconds:.2} seconds ({mib_per_s:.2} MiB/sec)."
            ));
        }
        Ok(())
    }

    /// Removes them.
    pub(super) fn cleanup(&self) -> Result<(), Exit> {
        self.notice("Removing test files...");
        self.remove()
    }

    /// Begins anew: removes them, and makes them empty, or of full length where they are to be mapped.
    pub(super) fn recreate(&self, is_mapped: bool) -> Result<Vec<File>, Exit> {
        self.remove()?;
        let create = |number| {
            let file = self.open(number, true)?;
            if is_mapped {
                let bytes = self.plan.file_blocks() * self.plan.block_bytes;
                fallocate(&file, FallocateFlags::empty(), 0, bytes)
                    .map_err(|error| self.failed("Failed to allocate", number, &error.into()))?;
            }
            Ok(file)
        };
        (0..self.plan.files_count).map(create).collect()
    }

    /// Opens them, all of the expected length.
    pub(super) fn open_all(&self) -> Result<Vec<File>, Exit> {
        let open = |number| {
            let mut file = self.open(number, false).inspect_err(|_| {
                self.log.text(Level::Warning, "Did you forget to run the prepare step?");
            })?;
            let found = file
                .seek(SeekFrom::End(0))
                .map_err(|error| self.failed("Failed to look at", number, &error))?;
            let expected = self.plan.file_bytes();
            if found >= expected {
                return Ok(file);
            }
            let (found, expected) = (size::shown(found), size::shown(expected));
            let name = name(number);
            let exit = self.log.fatal(format_args!(
                "Size of file '{name}' is {found}, but at least {expected} is expected."
            ));
            self.log.text(
                Level::Warning,
                "Did you run 'prepare' with different --file-total-size or --file-num values?",
            );
            Err(exit)
        };
        (0..self.plan.files_count).map(open).collect()
    }

    fn remove(&self) -> Result<(), Exit> {
        for number in 0..self.plan.files_count {
            let removed = match self.length(number) {
                Ok(Some(_)) => fs::remove_file(self.path(number)),
                other => other.map(|_| ()),
            };
            removed.map_err(|error| self.failed("Cannot remove", number, &error))?;
        }
        Ok(())
    }

    /// Returns how many bytes were written.
    fn prepare_one(&self, number: u32) -> Result<u64, Exit> {
        let failed = |error: io::Error| self.failed("Cannot open", number, &error);
        let (block, name) = (self.plan.block_bytes, name(number));
        let wanted = self.plan.file_bytes().div_ceil(block) * block;
        let found = self.length(number).map_err(failed)?;
        match found {
            None => self.notice(format_args!("Creating file {name}")),
            Some(length) if length >= wanted => self.notice(format_args!("Reusing existing file {name}")),
            Some(_) => self.notice(format_args!("Extending existing file {name}")),
        }
        let from = found.unwrap_or(0) / block * block;
        if from >= wanted && found.is_some() {
            return Ok(0);
        }
        let file = self.open(number, true)?;
        self.write(&file, number, from..wanted)
            .and_then(|()| file.sync_all())
            .map_err(|error| self.failed("Failed to write", number, &error))?;
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
                for (place, content) in (offset..).step_by(block as usize).zip(bytes.chunks_mut(block as usize)) {
                    let mut random = keyed(self.seed, number.into(), place);
                    checksum::fill(content, number, place, &mut random);
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

    fn open(&self, number: u32, may_create: bool) -> Result<File, Exit> {
        let no_links = if may_create { libc::O_NOFOLLOW } else { 0 };
        let writes = may_create || self.plan.mode.is_some_and(super::plan::Mode::writes);
        let opened = OpenOptions::new()
            .read(true)
            .write(writes)
            .create(may_create)
            .truncate(false)
            .mode(0o600)
            .custom_flags(self.plan.flags.bits | no_links)
            .open(self.path(number));
        opened.map_err(|error| self.failed("Cannot open", number, &error))
    }

    fn path(&self, number: u32) -> PathBuf {
        self.folder.join(name(number))
    }

    fn failed(&self, what: &str, number: u32, error: &io::Error) -> Exit {
        let why = errno(error);
        self.log.fatal(format_args!("{what} file '{}' {why}", name(number)))
    }

    fn notice(&self, message: impl std::fmt::Display) {
        self.log.line(Level::Notice, message);
    }
}
