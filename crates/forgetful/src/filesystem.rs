//! What the kernel asks, answered from the device and from what is only in memory.
//!
//! Not offered, since no server's data directory needs it: hard links, device files, extended attributes.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, Filesystem, FopenFlags, Generation, INodeNo, InitFlags, KernelConfig,
    LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry,
    ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use rustix::fs::{fchown, statvfs};
use rustix::process::{Gid, Uid};

use crate::device::Forgetful;

/// How long the kernel may believe what it was told of a file; nothing else changes any.
const BELIEVED: Duration = Duration::from_secs(60);

/// The file system, for the session that serves it.
#[derive(Debug)]
pub struct Shared(pub Arc<Forgetful>);

impl Filesystem for Shared {
    fn init(&mut self, _request: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let wanted = [InitFlags::FUSE_ASYNC_DIO, InitFlags::FUSE_PARALLEL_DIROPS];
        for one in wanted {
            let _ = config.add_capabilities(one); // faster with it, right without
        }
        Ok(())
    }

    fn lookup(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        answer_entry(self.0.child(parent, name).and_then(|path| self.0.entry(path)), reply);
    }

    fn forget(&self, _request: &Request, number: INodeNo, count: u64) {
        self.0.forget(number, count);
    }

    fn getattr(&self, _request: &Request, number: INodeNo, _handle: Option<FileHandle>, reply: ReplyAttr) {
        answer_attributes(self.0.attributes(number), reply);
    }

    fn setattr(
        &self,
        _request: &Request,
        number: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        _atime: Option<TimeOrNow>,
        _mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        _handle: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let set = || -> io::Result<FileAttr> {
            if let Some(size) = size {
                self.0.set_size(number, size)?;
            }
            if let Some(mode) = mode {
                fs::set_permissions(self.0.path(number)?, Permissions::from_mode(mode & 0o7777))?;
            }
            if uid.is_some() || gid.is_some() {
                let place = File::open(self.0.path(number)?)?;
                fchown(place, uid.map(Uid::from_raw), gid.map(Gid::from_raw))?;
            }
            self.0.attributes(number)
        };
        answer_attributes(set(), reply);
    }

    fn readlink(&self, _request: &Request, number: INodeNo, reply: ReplyData) {
        match self.0.path(number).and_then(fs::read_link) {
            Ok(target) => reply.data(target.as_os_str().as_encoded_bytes()),
            Err(error) => reply.error(error.into()),
        }
    }

    fn mkdir(&self, _request: &Request, parent: INodeNo, name: &OsStr, mode: u32, umask: u32, reply: ReplyEntry) {
        let entry = self.0.child(parent, name).and_then(|path| {
            DirBuilder::new().mode(mode & !umask).create(&path)?;
            self.0.entry(path)
        });
        answer_entry(entry, reply);
    }

    fn unlink(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let removed = self.0.child(parent, name).and_then(|path| {
            fs::remove_file(&path)?;
            self.0.discard(&path);
            Ok(())
        });
        answer(removed, reply);
    }

    fn rmdir(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let removed = self.0.child(parent, name).and_then(|path| {
            fs::remove_dir(&path)?;
            self.0.discard(&path);
            Ok(())
        });
        answer(removed, reply);
    }

    fn symlink(&self, _request: &Request, parent: INodeNo, name: &OsStr, target: &Path, reply: ReplyEntry) {
        let made = self.0.child(parent, name).and_then(|path| {
            std::os::unix::fs::symlink(target, &path)?;
            self.0.entry(path)
        });
        answer_entry(made, reply);
    }

    fn rename(
        &self,
        _request: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        if !flags.is_empty() {
            return reply.error(Errno::EINVAL);
        }
        let renamed = || -> io::Result<()> {
            let (from, to) = (self.0.child(parent, name)?, self.0.child(new_parent, new_name)?);
            fs::rename(&from, &to)?;
            self.0.renamed(&from, &to);
            Ok(())
        };
        answer(renamed(), reply);
    }

    fn open(&self, _request: &Request, number: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        match self.0.file(number) {
            Ok(_) => reply.opened(FileHandle(0), FopenFlags::FOPEN_KEEP_CACHE),
            Err(error) => reply.error(error.into()),
        }
    }

    fn create(
        &self,
        _request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let entry = self
            .0
            .child(parent, name)
            .and_then(|path| self.0.create(&path, mode & !umask, flags));
        match entry {
            Ok(seen) => reply.created(&BELIEVED, &seen, Generation(0), FileHandle(0), FopenFlags::empty()),
            Err(error) => reply.error(error.into()),
        }
    }

    fn read(
        &self,
        _request: &Request,
        number: INodeNo,
        _handle: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        match self.0.read(number, offset, size) {
            Ok(content) => reply.data(&content),
            Err(error) => reply.error(error.into()),
        }
    }

    fn write(
        &self,
        _request: &Request,
        number: INodeNo,
        _handle: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        match self.0.write(number, offset, data, flags) {
            Ok(()) => reply.written(data.len() as u32),
            Err(error) => reply.error(error.into()),
        }
    }

    /// Closing a file flushes nothing.
    fn flush(&self, _request: &Request, _number: INodeNo, _handle: FileHandle, _owner: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _request: &Request, number: INodeNo, _handle: FileHandle, _datasync: bool, reply: ReplyEmpty) {
        answer(self.0.file(number).and_then(|file| self.0.flush(&file)), reply);
    }

    fn fallocate(
        &self,
        _request: &Request,
        number: INodeNo,
        _handle: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        answer(self.0.allocate(number, offset, length, mode), reply);
    }

    fn opendir(&self, _request: &Request, number: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        match self.0.list(number) {
            Ok(handle) => reply.opened(FileHandle(handle), FopenFlags::empty()),
            Err(error) => reply.error(error.into()),
        }
    }

    fn readdir(&self, _request: &Request, number: INodeNo, handle: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let Some(listing) = self.0.listing(handle.0) else {
            return reply.error(Errno::EBADF);
        };
        for (at, (kind, name)) in listing.iter().enumerate().skip(offset as usize) {
            if reply.add(number, at as u64 + 1, *kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn releasedir(&self, _request: &Request, _n: INodeNo, handle: FileHandle, _flags: OpenFlags, reply: ReplyEmpty) {
        self.0.end_listing(handle.0);
        reply.ok();
    }

    /// Names are durable at once.
    fn fsyncdir(&self, _request: &Request, _n: INodeNo, _handle: FileHandle, _datasync: bool, reply: ReplyEmpty) {
        reply.ok();
    }

    fn statfs(&self, _request: &Request, _number: INodeNo, reply: ReplyStatfs) {
        match statvfs(".") {
            Ok(all) => reply.statfs(
                all.f_blocks,
                all.f_bfree,
                all.f_bavail,
                all.f_files,
                all.f_ffree,
                all.f_bsize as u32,
                all.f_namemax as u32,
                all.f_frsize as u32,
            ),
            Err(error) => reply.error(io::Error::from(error).into()),
        }
    }
}

fn answer(done: io::Result<()>, reply: ReplyEmpty) {
    match done {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(error.into()),
    }
}

fn answer_entry(found: io::Result<FileAttr>, reply: ReplyEntry) {
    match found {
        Ok(seen) => reply.entry(&BELIEVED, &seen, Generation(0)),
        Err(error) => reply.error(error.into()),
    }
}

fn answer_attributes(found: io::Result<FileAttr>, reply: ReplyAttr) {
    match found {
        Ok(seen) => reply.attr(&BELIEVED, &seen),
        Err(error) => reply.error(error.into()),
    }
}
