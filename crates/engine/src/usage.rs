//! What this process itself costs: processor time and memory.

use std::fs;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use plimsoll_core::message::ClientCpu;

/// Processor time of all threads of this process since it began (getrusage(2)).
pub fn client_cpu() -> ClientCpu {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("getrusage(2) of the own process cannot fail");
    ClientCpu {
        user_ns: nanoseconds(usage.user_time()),
        system_ns: nanoseconds(usage.system_time()),
    }
}

/// Processor time between two readings.
pub(crate) fn cpu_between(from: ClientCpu, to: ClientCpu) -> ClientCpu {
    ClientCpu {
        user_ns: to.user_ns.saturating_sub(from.user_ns),
        system_ns: to.system_ns.saturating_sub(from.system_ns),
    }
}

/// Largest resident memory of this process, bytes: `VmHWM` of proc(5), since `ru_maxrss` also remembers the process
/// that started this one. 0 where /proc is not mounted.
pub fn memory_bytes_max() -> u64 {
    fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| peak_kib(&status))
        .map_or(0, |kib| kib * 1024)
}

fn peak_kib(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

fn nanoseconds(time: TimeVal) -> u64 {
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_usec() as u64 * 1_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_read_from_the_text_of_proc() {
        let status = "VmPeak:\t  9999 kB\nVmHWM:\t    1234 kB\nVmRSS:\t 1 kB\n";
        assert_eq!(peak_kib(status), Some(1234));
        assert_eq!(peak_kib("Name: x\n"), None);
        assert!(memory_bytes_max() > 100_000);
    }

    #[test]
    fn work_costs_processor_time() {
        let before = client_cpu();
        let mut x = 1u64;
        while cpu_between(before, client_cpu()) == ClientCpu::default() {
            x = std::hint::black_box(x.wrapping_mul(3));
        }
    }
}
