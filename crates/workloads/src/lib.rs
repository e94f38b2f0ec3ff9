//! What clients do, and the rows they do it on.
//!
//! * [`factory`] builds the workers of a workload; [`preflight()`] probes the server before any of them connects.
//! * [`data`] makes, checks and removes the tables.
//! * [`ledger`] writes numbered transactions and notes which were acknowledged.
//!
//! This file and `data` tell the kinds of workloads apart. Below them each kind (`oltp`, `tpcc`, and `custom`, the users' own)
//! has its transactions, its preflight and its data set, and knows nothing of the others. They stand on `loading`, which
//! knows tables and no workload, and `preflight`, which knows servers and no workload.
//!
//! Deliberately not here: connections and retries (session), schedules and recording (engine), standard input and
//! output.

#![forbid(unsafe_code)]

mod control;
mod custom;
pub mod data;
pub mod distribution;
mod fingerprint;
mod isolation;
pub mod ledger;
mod loading;
mod oltp;
mod preflight;
mod text;
mod tpcc;

pub use control::encryption;
pub use oltp::misses_tables;

use plimsoll_core::message::{EngineWarning, FailureClass};
use plimsoll_core::plan::{Connections, RoleTarget, ThinkTimePlan, WorkloadPlan};
use plimsoll_engine::{Arrivals, ClosedLoop, Thinking, Users, UsersOptions, WorkerFactory, WorkerFault};
use plimsoll_session::{GroupServers, Terms};

/// What is wrong with the options of a workload, whatever it runs on; nothing where they make sense.
pub fn faults(workload: &WorkloadPlan) -> Vec<String> {
    match workload {
        WorkloadPlan::Statements(plan) => custom::faults(plan),
        WorkloadPlan::Tpcc(options) => tpcc::faults(options),
        _ => oltp::faults(workload),
    }
}

/// Compiles a workload into what builds its workers, one for each of the group's `connections` that are opened here. They do
/// about errors what `terms` say. Nothing is connected yet.
///
/// # Errors
/// When the options make no sense together; all faults are in the message.
pub fn factory(
    workload: &WorkloadPlan,
    servers: &GroupServers,
    seed: u64,
    connections: impl Into<Connections>,
    terms: Terms,
) -> Result<Box<dyn WorkerFactory>, WorkerFault> {
    let connections = connections.into();
    let mut faults = faults(workload);
    faults.extend(servers.faults());
    faults.extend(empty_share(workload, connections));
    if !faults.is_empty() {
        return Err(WorkerFault::new(FailureClass::Spec, faults.join("; ")));
    }
    Ok(match workload {
        WorkloadPlan::Statements(plan) => {
            let share = connections.share;
            Box::new(custom::CustomFactory::new(plan, servers, seed, share, terms))
        }
        WorkloadPlan::Tpcc(options) => Box::new(tpcc::TpccFactory::new(options, servers, seed, connections, terms)),
        _ => Box::new(oltp::OltpFactory::new(
            workload,
            servers,
            seed,
            connections.total,
            terms,
        )),
    })
}

/// What a share of a group lacks: it has at least one connection, and one for deliveries where these have connections of their
/// own.
fn empty_share(workload: &WorkloadPlan, connections: Connections) -> Option<String> {
    let least = connections.share.count;
    if connections.total < least {
        return Some(format!(
            "group.connections: must be at least {least}, is {}",
            connections.total
        ));
    }
    match workload {
        WorkloadPlan::Tpcc(options) if (1..least).contains(&options.delivery_connections) => Some(format!(
            "workload.delivery_connections: must be 0 or at least {least}, one for each engine, is {}",
            options.delivery_connections
        )),
        _ => None,
    }
}

/// Connections that are opened here for those of a group: its own, and what the workload needs besides for work in the
/// background.
pub fn sessions_count(workload: &WorkloadPlan, connections: impl Into<Connections>) -> u32 {
    let connections = connections.into();
    let background = match workload {
        WorkloadPlan::Tpcc(options) => options.delivery_connections,
        _ => 0,
    };
    let background = Connections {
        total: background,
        ..connections
    };
    connections.own().saturating_add(background.own())
}

/// The closed loop of a workload on the connections that are opened here: each is one user, unless the workload has terminals
/// of its own. A `think_time` is waited between two transactions of a user, or what the workload itself says. It ends after
/// `transactions_max` of all engines together.
///
/// # Errors
/// When there are fewer terminals than connections, or the pace is given twice.
pub fn closed_loop(
    workload: &WorkloadPlan,
    seed: u64,
    connections: impl Into<Connections>,
    think_time: Option<ThinkTimePlan>,
    transactions_max: Option<u64>,
) -> Result<Box<dyn Arrivals>, WorkerFault> {
    let connections = connections.into();
    let share = connections.share;
    let transactions_max = transactions_max.map(|max| share.of(max));
    if let WorkloadPlan::Tpcc(options) = workload {
        if let Some(fault) = tpcc::pace_fault(options, connections.total, think_time.is_some()) {
            return Err(WorkerFault::new(FailureClass::Spec, fault));
        }
        if options.has_own_pace() {
            let users = UsersOptions {
                users: options.terminals.unwrap_or(connections.total),
                share,
                connections: connections.own(),
                transactions_max,
            };
            let times = tpcc::Times::new(options, users.users, think_time, seed);
            return Ok(Box::new(Users::new(users, Box::new(times))));
        }
    }
    let own = match workload {
        WorkloadPlan::Statements(plan) => custom::ThinkTimes::of(plan, seed),
        _ => None,
    };
    let closed = ClosedLoop::new(connections.own(), transactions_max).sharing(share);
    Ok(Box::new(match (own, think_time) {
        (Some(_), Some(_)) => {
            let twice = "workload.transactions: have think times of their own; leave those or think_time out";
            return Err(WorkerFault::new(FailureClass::Spec, twice));
        }
        (Some(own), None) => closed.with_pace(own),
        (None, Some(think_time)) => closed.with_pace(Thinking { think_time, seed }),
        (None, None) => closed,
    }))
}

/// Connects once to each target and checks that the workload can work there: tables, columns, rows, and the server's
/// limits for so many connections. Returns doubts about the numbers to come.
///
/// # Errors
/// When the workload cannot work, with the cure.
pub fn preflight(
    workload: &WorkloadPlan,
    targets: &[RoleTarget],
    connections: u32,
) -> Result<Vec<EngineWarning>, WorkerFault> {
    match workload {
        WorkloadPlan::Statements(plan) => custom::preflight(plan, targets, connections),
        WorkloadPlan::Tpcc(options) => tpcc::preflight(options, targets, connections),
        _ => oltp::preflight(workload, targets, connections, oltp::TableSizes::AsPrepared),
    }
}

/// As [`preflight`], but keys beyond the rows of a table that Plimsoll made are a doubt and no error, as in sysbench.
///
/// # Errors
/// As [`preflight`].
pub fn preflight_as_sysbench(
    workload: &WorkloadPlan,
    targets: &[RoleTarget],
    connections: u32,
) -> Result<Vec<EngineWarning>, WorkerFault> {
    match workload {
        WorkloadPlan::Statements(_) | WorkloadPlan::Tpcc(_) => preflight(workload, targets, connections),
        _ => oltp::preflight(workload, targets, connections, oltp::TableSizes::Any),
    }
}
