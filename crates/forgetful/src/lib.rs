//! Power loss for one program: it runs on a file system that keeps in the memory of this process what was not flushed.
//! Killing this process forgets exactly that; the directory then holds what a device would hold.
//!
//! Data is durable once it is flushed: by fsync, fdatasync, or a write to a file that was opened with `O_SYNC` or
//! `O_DSYNC`. Names and explicit sizes (create, rename, remove, truncate, fallocate) are durable at once. The mount is in
//! a mount namespace of its own, so nothing of it is left when the process ends, whatever ends it.
//!
//! Deliberately not here: who kills it and when, and what is done with what is left.

mod cache;
mod device;
mod filesystem;
mod handles;
#[allow(unsafe_code)] // leaves the namespaces of the process; a child that ends with it
mod namespace;
mod tree;

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fuser::{Config, MountOption, Session};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use device::Forgetful;

/// How the device behaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Device {
    /// It says that it flushed and did not.
    pub lies: bool,
    /// Each block of 4 KiB that is written reaches the device by itself with this probability, as from a cache that is
    /// written back in any order. 0 keeps everything until it is flushed.
    pub survival_ratio: f64,
    /// What reaches it by itself follows from this, as far as threads do not interleave.
    pub seed: u64,
    /// When more than this is not flushed, the file that is written to is written back as a whole.
    pub memory_bytes_max: u64,
}

/// Why the program was not run.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// This machine does not let us mount.
    #[error("a file system cannot be mounted over {}: {reason}", place.display())]
    Mount {
        /// Where.
        place: PathBuf,
        /// What was refused.
        reason: String,
    },
    /// The program cannot be run.
    #[error("{}: cannot be run: {error}", program.display())]
    Program {
        /// Its name.
        program: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// What it wrote last cannot be stored.
    #[error("{}: what was written cannot be stored: {error}", place.display())]
    Store {
        /// Where.
        place: PathBuf,
        /// Why.
        error: io::Error,
    },
}

/// Runs a program with the file system over a directory, and waits for its end. Only this program and its children see
/// the file system. When it has ended by itself, all that it wrote is stored. It must not be called where there are other
/// threads. Signals that ask to end are left to the program.
///
/// # Errors
/// When nothing can be mounted, the program cannot be started, or what it wrote cannot be stored.
pub fn run(directory: &Path, device: Device, command: &[OsString]) -> Result<ExitStatus, Fault> {
    let refused = |reason: String| Fault::Mount {
        place: directory.to_owned(),
        reason,
    };
    let place = directory.canonicalize().map_err(|error| refused(error.to_string()))?;
    let here = std::env::current_dir().map_err(|error| refused(error.to_string()))?;
    namespace::enter().map_err(refused)?;
    // The current directory stays below the mount: relative paths lead to the device, absolute ones to the file system.
    std::env::set_current_dir(&place).map_err(|error| refused(error.to_string()))?;
    leave_signals_to_the_program().map_err(|error| refused(error.to_string()))?;
    let files = Arc::new(Forgetful::new(device));
    let mut config = Config::default();
    config.mount_options = vec![
        MountOption::FSName("plimsoll-forgetful".to_owned()),
        MountOption::DefaultPermissions,
        MountOption::NoAtime,
    ];
    config.n_threads = Some(4);
    config.clone_fd = true;
    let session = Session::new(filesystem::Shared(Arc::clone(&files)), &place, &config);
    let session = session.map_err(|error| refused(mount_reason(&error)))?;
    let serving = session.spawn().map_err(|error| refused(error.to_string()))?;
    let status = child_of(command, &here);
    let stored = files.store_all();
    std::mem::forget(serving); // the mount goes with the namespace; unmounting could wait for a stray child
    let status = status?;
    stored.map_err(|error| Fault::Store { place, error })?;
    Ok(status)
}

/// Ends this process as the program ended: by the same signal or with the same code.
pub fn end_alike(status: ExitStatus) -> ! {
    if let Some(signal) = status.signal() {
        let _ = signal_hook::low_level::emulate_default_handler(signal);
        std::process::exit(128 + signal);
    }
    std::process::exit(status.code().unwrap_or(1))
}

fn child_of(command: &[OsString], folder: &Path) -> Result<ExitStatus, Fault> {
    let (program, arguments) = command.split_first().expect("a command has a program");
    let mut child = Command::new(program);
    child.args(arguments).current_dir(folder);
    namespace::end_with_parent(&mut child);
    child.status().map_err(|error| Fault::Program {
        program: program.into(),
        error,
    })
}

/// A handler that does nothing: other than an ignored signal, it is not inherited by the program.
fn leave_signals_to_the_program() -> io::Result<()> {
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    Ok(())
}

fn mount_reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound if !Path::new("/dev/fuse").exists() => "/dev/fuse does not exist".to_owned(),
        _ => error.to_string(),
    }
}
