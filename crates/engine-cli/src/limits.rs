//! What this machine allows, checked before anything starts: open files, threads, memory areas, local ports.
//!
//! Each limit is one that the engine would meet for sure. What cannot be read limits nothing: the load itself will tell.

use std::collections::BTreeMap;
use std::fs;

use plimsoll_core::message::FailureClass;
use plimsoll_core::plan::{Endpoint, Group, TrialPlan};
use plimsoll_engine::WorkerFault;
use plimsoll_workloads::{sessions_count, workload_of};
use rustix::process::{Resource, getrlimit};

/// Files, threads and areas that the process itself needs, with room to spare.
const OWN_FILES: u64 = 32;
const OWN_THREADS: u64 = 8;
const OWN_AREAS: u64 = 1_000;

/// A thread has its stack and the guard before it.
const AREAS_PER_THREAD: u64 = 2;

/// How much of each this process may have; `None` for what is not limited, or not known.
#[derive(Clone, Copy, Debug, Default)]
struct Machine {
    open_files: Option<u64>,
    /// Threads that can still be started: of this machine, this user and this control group the least.
    threads: Option<u64>,
    areas: Option<u64>,
    local_ports: Option<u64>,
}

/// Whether so many connections can be had here.
///
/// # Errors
/// A fault of class `host` with all that is too low, each with its cure.
pub fn check(plan: &TrialPlan) -> Result<(), WorkerFault> {
    let faults = faults(plan, Machine::probe());
    if faults.is_empty() {
        return Ok(());
    }
    Err(WorkerFault::new(FailureClass::Host, faults.join("; ")))
}

fn faults(plan: &TrialPlan, machine: Machine) -> Vec<String> {
    let workers: u64 = plan.groups.iter().map(|group| own_sessions(plan, group)).sum();
    let sockets: u64 = plan
        .groups
        .iter()
        .map(|group| own_sessions(plan, group) * group.used_targets().count() as u64)
        .sum();
    let mut faults = Vec::new();
    let mut need = |limit: Option<u64>, wanted: u64, say: &dyn Fn(u64) -> String| {
        if let Some(limit) = limit.filter(|limit| wanted > *limit) {
            faults.push(say(limit));
        }
    };
    need(machine.open_files, sockets + OWN_FILES, &|limit| {
        format!(
            "{sockets} connections need {} open files, this process may have {limit}; raise the limit (`ulimit -Hn`, \
             LimitNOFILE= of a systemd unit, or /etc/security/limits.conf), or use fewer connections",
            sockets + OWN_FILES
        )
    });
    need(machine.threads, workers + OWN_THREADS, &|limit| {
        format!(
            "{workers} connections need a thread each, {limit} more can be started here; raise `ulimit -u`, \
             kernel.threads-max, kernel.pid_max or TasksMax= of the control group, or use fewer connections"
        )
    });
    need(machine.areas, workers * AREAS_PER_THREAD + OWN_AREAS, &|limit| {
        format!(
            "the stacks of {workers} threads need {} memory areas, a process may have {limit}; raise \
             vm.max_map_count, or use fewer connections",
            workers * AREAS_PER_THREAD + OWN_AREAS
        )
    });
    for (endpoint, count) in by_port(plan) {
        need(machine.local_ports, count, &|limit| {
            format!(
                "{count} connections to {endpoint} need a local port each, there are {limit}; widen \
                 net.ipv4.ip_local_port_range, use a unix socket, or use fewer connections"
            )
        });
    }
    faults
}

/// Connections that are opened here for a group.
fn own_sessions(plan: &TrialPlan, group: &Group) -> u64 {
    sessions_count(workload_of(&group.workload), plan.connections(group)).into()
}

/// Connections for each TCP endpoint, by its name.
fn by_port(plan: &TrialPlan) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for group in &plan.groups {
        for one in group.used_targets() {
            if let Endpoint::Tcp { .. } = one.target.endpoint {
                *counts.entry(one.target.endpoint.to_string()).or_default() += own_sessions(plan, group);
            }
        }
    }
    counts
}

impl Machine {
    fn probe() -> Self {
        let threads = [
            left(number("/proc/sys/kernel/threads-max"), threads_running()),
            left(number("/proc/sys/kernel/pid_max"), threads_running()),
            getrlimit(Resource::Nproc).current.filter(|_| !is_root()),
            control_group_left(),
        ];
        Self {
            open_files: getrlimit(Resource::Nofile).current,
            threads: threads.into_iter().flatten().min(),
            areas: number("/proc/sys/vm/max_map_count"),
            local_ports: read("/proc/sys/net/ipv4/ip_local_port_range").and_then(|text| ports(&text)),
        }
    }
}

/// Root is not held to the number of processes of a user.
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn left(limit: Option<u64>, used: Option<u64>) -> Option<u64> {
    Some(limit?.saturating_sub(used.unwrap_or(0)))
}

/// Threads of the whole machine: the fourth field of /proc/loadavg, `running/all`.
fn threads_running() -> Option<u64> {
    read("/proc/loadavg").and_then(|text| all_threads(&text))
}

fn all_threads(loadavg: &str) -> Option<u64> {
    let (_, all) = loadavg.split_whitespace().nth(3)?.split_once('/')?;
    all.parse().ok()
}

/// The least that the control groups above this process leave (cgroup v2, `pids.max`).
fn control_group_left() -> Option<u64> {
    let own = read("/proc/self/cgroup")?;
    let path = own.lines().find_map(|line| line.strip_prefix("0::/"))?.to_owned();
    let mut parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let mut least = None;
    while !parts.is_empty() {
        let folder = format!("/sys/fs/cgroup/{}", parts.join("/"));
        let here = left(
            number(&format!("{folder}/pids.max")),
            number(&format!("{folder}/pids.current")),
        );
        least = least.into_iter().chain(here).min();
        parts.pop();
    }
    least
}

fn ports(range: &str) -> Option<u64> {
    let mut ends = range.split_whitespace().map(|end| end.parse::<u64>().ok());
    let (first, last) = (ends.next()??, ends.next()??);
    (last + 1).checked_sub(first)
}

/// A number alone in a file; `None` also for words, as `max`.
fn number(path: &str) -> Option<u64> {
    read(path)?.trim().parse().ok()
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_core::plan::Share;
    use serde_json::json;

    fn plan(connections: u32, target: &serde_json::Value) -> TrialPlan {
        let group = json!({
            "instance": "db",
            "targets": [{"role": "source", "target": {"endpoint": target, "user": "u", "database": "d"}}],
            "workload": {"kind": "oltp_point_select"},
            "arrivals": {"closed": {}},
            "connections": connections,
        });
        let plan = json!({
            "protocol": 1, "seed": 1, "interval_ms": 1000, "duration_ms": 1000, "stop_at_stdin_end": true, "groups": [group],
        });
        serde_json::from_value(plan).unwrap()
    }

    #[test]
    fn all_that_is_too_low_is_named_at_once_with_its_cure() {
        let machine = Machine {
            open_files: Some(1_024),
            threads: Some(4_000),
            areas: Some(9_000),
            local_ports: Some(4_500),
        };
        let tcp = json!({"tcp": {"host": "db", "port": 3306}});
        let found = faults(&plan(5_000, &tcp), machine);
        assert_eq!(found.len(), 4, "{found:?}");
        assert!(found[0].starts_with("5000 connections need 5032 open files, this process may have 1024; raise"));
        assert!(found[1].contains("4000 more can be started here") && found[1].contains("ulimit -u"));
        assert!(found[2].contains("need 11000 memory areas") && found[2].contains("vm.max_map_count"));
        assert!(found[3].starts_with("5000 connections to db:3306 need a local port each, there are 4500"));
        let socket = json!({"socket": {"path": "/s"}});
        assert_eq!(
            faults(&plan(5_000, &socket), machine).len(),
            3,
            "a unix socket needs no port"
        );
        assert_eq!(faults(&plan(900, &tcp), machine), Vec::<String>::new());
        let share = Share { index: 1, count: 10 };
        let tenth = TrialPlan {
            share,
            ..plan(5_000, &tcp)
        };
        assert_eq!(faults(&tenth, machine), Vec::<String>::new(), "others open the rest");
        assert_eq!(faults(&plan(100_000, &tcp), Machine::default()), Vec::<String>::new());
    }

    #[test]
    fn what_the_kernel_says_is_understood() {
        assert_eq!(ports("32768\t60999\n"), Some(28_232));
        assert_eq!((ports("garbage"), ports("2 1")), (None, Some(0)));
        assert_eq!(all_threads("0.11 0.20 0.25 2/345 6789\n"), Some(345));
        let machine = Machine::probe();
        assert!(machine.open_files.is_none_or(|count| count > 10) && machine.areas.is_none_or(|count| count > 10));
    }
}
