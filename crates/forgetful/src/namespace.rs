//! A mount namespace of this process' own, and a child that does not outlive it.

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::process::{Signal, getegid, geteuid, set_parent_process_death_signal};
use rustix::thread::{UnshareFlags, unshare_unsafe};

/// Leaves the mount namespace of the others, so that what is mounted here is seen here only and goes with this process.
/// Who is not root does that in a user namespace, where the kernel permits it.
///
/// # Errors
/// What was refused.
pub fn enter() -> Result<(), String> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let flags = if user == 0 {
        UnshareFlags::NEWNS
    } else {
        UnshareFlags::NEWNS | UnshareFlags::NEWUSER
    };
    // SAFETY: no table of files is unshared, which is what the function warns of.
    unsafe { unshare_unsafe(flags) }.map_err(|error| format!("a mount namespace of its own was refused: {error}"))?;
    if user != 0 {
        map_self(user, group).map_err(|error| format!("this user cannot be kept in a namespace: {error}"))?;
    }
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(|error| format!("mounts cannot be made private: {error}"))
}

/// The user stays who it is within the new user namespace.
fn map_self(user: u32, group: u32) -> io::Result<()> {
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

/// The kernel kills the child when this process is gone.
pub fn end_with_parent(child: &mut Command) {
    // SAFETY: between fork and exec one system call is made, which takes no lock and no memory.
    unsafe {
        child.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::KILL))?));
    }
}
