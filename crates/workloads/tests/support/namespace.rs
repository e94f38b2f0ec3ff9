//! A machine of its own as far as the network goes: a namespace, and a cable to it that can be pulled.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// A network namespace with one cable to this machine, gone with the value.
pub struct Namespace {
    name: String,
    /// Of the namespace; this machine has the one before it.
    address: String,
}

impl Namespace {
    /// `None`, loudly, where this user may not make any.
    pub fn new() -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        sweep();
        let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let subnet = (process * 4 + count) % 16_384; // of four addresses each
        let address = |host: u32| format!("10.233.{}.{}", subnet / 64, subnet % 64 * 4 + host);
        let namespace = Self {
            name: format!("plimsoll-{process}-{count}"),
            address: address(2),
        };
        let (name, here) = (&namespace.name, format!("pl{process}x{count}"));
        let lines = [
            format!("netns add {name}"),
            format!("link add {here} type veth peer name cable netns {name}"),
            format!("addr add {}/30 dev {here}", address(1)),
            format!("link set {here} up"),
            format!("-n {name} addr add {}/30 dev cable", address(2)),
            format!("-n {name} link set cable up"),
            format!("-n {name} link set lo up"),
        ];
        for line in &lines {
            if !ip(line) {
                eprintln!("SKIPPED: no network namespace can be made (not root?): ip {line}");
                return None;
            }
        }
        Some(namespace)
    }

    /// What goes before a command to run it there.
    pub fn words(&self) -> Vec<String> {
        ["ip", "netns", "exec", &self.name].map(str::to_owned).to_vec()
    }

    /// Where what runs there is reached.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Pulls the cable: packets are lost both ways, and nobody is told.
    pub fn unplug(&self) {
        assert!(ip(&format!("-n {} link set cable down", self.name)));
    }

    /// Puts it in again.
    pub fn plug(&self) {
        assert!(ip(&format!("-n {} link set cable up", self.name)));
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        ip(&format!("netns del {}", self.name));
    }
}

fn ip(line: &str) -> bool {
    let output = Command::new("ip").args(line.split(' ')).output();
    output.is_ok_and(|output| output.status.success())
}

/// Namespaces are named after the process that made them; those of processes that are gone are removed.
fn sweep() {
    for entry in std::fs::read_dir("/run/netns").into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let owner = name.strip_prefix("plimsoll-").and_then(|rest| rest.split('-').next());
        let is_gone = |process: &str| process.parse::<u32>().is_ok() && !Path::new("/proc").join(process).exists();
        if owner.is_some_and(is_gone) {
            ip(&format!("netns del {name}"));
        }
    }
}
