//! What clients do, and the rows they do it on.
//!
//! * [`factory`] builds the workers of a workload; [`preflight`] looks at the server before any of them connects.
//! * [`data`] makes, checks and removes the tables.
//!
//! Deliberately not here: connections and retries (session), schedules and recording (engine), standard input and
//! output.

mod control;
pub mod data;
pub mod distribution;
mod limits;
mod look;
mod oltp;
mod statements;
mod text;
mod tpcc;

pub use control::encryption;

use plimsoll_core::message::{EngineWarning, FailureClass};
use plimsoll_core::plan::{Role, RoleTarget, WorkloadPlan};
use plimsoll_engine::{Arrivals, ClosedLoop, ThinkTime, Thinking, Users, UsersOptions, WorkerFactory, WorkerFault};
use plimsoll_session::Terms;

/// What is wrong with the options of a workload, whatever it runs on; nothing where they make sense.
pub fn faults(workload: &WorkloadPlan) -> Vec<String> {
    match workload {
        WorkloadPlan::Statements(plan) => statements::faults(plan),
        WorkloadPlan::Tpcc(options) => tpcc::faults(options),
        _ => oltp::faults(workload),
    }
}

/// Compiles a workload into what builds its workers, of which there will be so many `connections`, and which do about
/// errors what `terms` say. Nothing is connected yet.
///
/// # Errors
/// When the options make no sense together; all faults are in the message.
pub fn factory(
    workload: &WorkloadPlan,
    targets: &[RoleTarget],
    seed: u64,
    connections: u32,
    terms: Terms,
) -> Result<Box<dyn WorkerFactory>, WorkerFault> {
    let mut faults = faults(workload);
    faults.extend(same_role_twice(targets));
    if connections == 0 {
        faults.push("group.connections: must be at least 1, is 0".to_owned());
    }
    if !faults.is_empty() {
        return Err(WorkerFault::new(FailureClass::Spec, faults.join("; ")));
    }
    Ok(match workload {
        WorkloadPlan::Statements(plan) => Box::new(statements::StatementsFactory::new(plan, targets, seed, terms)),
        WorkloadPlan::Tpcc(options) => Box::new(tpcc::TpccFactory::new(options, targets, seed, connections, terms)),
        _ => Box::new(oltp::OltpFactory::new(workload, targets, seed, connections, terms)),
    })
}

/// Connections that are opened for so many of a plan: those, and what the workload needs besides for work in the
/// background.
pub fn sessions_count(workload: &WorkloadPlan, connections: u32) -> u32 {
    match workload {
        WorkloadPlan::Tpcc(options) => connections.saturating_add(options.delivery_connections),
        _ => connections,
    }
}

/// The closed loop of a workload on so many connections: each is one user, unless the workload has terminals of its own. A
/// `think_time` is waited between two transactions of a user, or what the workload itself says.
///
/// # Errors
/// When there are fewer terminals than connections, or the pace is given twice.
pub fn closed_loop(
    workload: &WorkloadPlan,
    seed: u64,
    connections: u32,
    think_time: Option<ThinkTime>,
    transactions_max: Option<u64>,
) -> Result<Box<dyn Arrivals>, WorkerFault> {
    if let WorkloadPlan::Tpcc(options) = workload {
        if let Some(fault) = tpcc::pace_fault(options, connections, think_time.is_some()) {
            return Err(WorkerFault::new(FailureClass::Spec, fault));
        }
        if options.has_own_pace() {
            let users = UsersOptions {
                users: options.terminals.unwrap_or(connections),
                connections,
                transactions_max,
            };
            let times = tpcc::Times::new(options, users.users, think_time, seed);
            return Ok(Box::new(Users::new(users, Box::new(times))));
        }
    }
    let own = match workload {
        WorkloadPlan::Statements(plan) => statements::Pauses::of(plan, seed),
        _ => None,
    };
    let closed = ClosedLoop::new(connections, transactions_max);
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

/// A second target of a role would be connected to and never used.
fn same_role_twice(targets: &[RoleTarget]) -> Option<String> {
    let sources = targets.iter().filter(|one| one.role == Role::Source).count();
    let (role, count) = match targets.len() - sources {
        replicas @ 2.. => ("replica", replicas),
        _ => ("source", sources),
    };
    (count > 1).then(|| format!("group.targets: {count} have the role `{role}`; one of each role can be used"))
}

/// Connects once to each target and looks whether the workload can work there: tables, columns, rows, and the server's
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
        WorkloadPlan::Statements(plan) => statements::preflight(plan, targets, connections),
        WorkloadPlan::Tpcc(options) => tpcc::preflight(options, targets, connections),
        _ => oltp::preflight(workload, targets, connections),
    }
}
