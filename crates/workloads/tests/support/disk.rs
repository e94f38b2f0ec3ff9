//! A disk that fills up.

use std::path::PathBuf;
use std::process::Command;

use super::skip;

/// A file system of so many megabytes, gone with the value.
pub struct SmallDisk(pub PathBuf);

impl SmallDisk {
    /// `None`, loudly, where this user may not mount.
    pub fn mount(megabytes: u32) -> Option<Self> {
        let folder = PathBuf::from(format!("/var/tmp/plimsoll-workloads-disk-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let mut mount = Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o", &format!("size={megabytes}m"), "tmpfs"])
            .arg(&folder);
        let disk = Self(folder);
        let mounted = mount.output().is_ok_and(|output| output.status.success());
        if !mounted {
            skip("a small tmpfs cannot be mounted (not root?)");
        }
        mounted.then_some(disk)
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount")
            .arg("--quiet")
            .arg("--lazy")
            .arg(&self.0)
            .status();
        let _ = std::fs::remove_dir(&self.0);
    }
}
