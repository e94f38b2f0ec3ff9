//! Whether the workload makes sense, and a look at the server before a trial: are all warehouses there, and the
//! procedures, where they are called? Nothing is changed.

use plimsoll_core::message::EngineWarning;
use plimsoll_core::plan::{OrderNames, RoleTarget, TpccMode, TpccOptions};
use plimsoll_engine::WorkerFault;

use super::data::find;
use super::procedures;
use super::transactions::{Catalogue, mix_faults};
use crate::preflight::probe::Probe;

/// Nobody is slower than ten times the specification.
const TIMES_MAX: f64 = 10.0;

/// Some hundreds of megabytes: they are waited for in a queue.
const TERMINALS_MAX: u32 = 10_000_000;

/// Faults of the options, each with its name, its value and the cure.
pub fn faults(options: &TpccOptions) -> Vec<String> {
    let mut faults = Vec::new();
    if options.warehouses == 0 || options.first_warehouse == 0 {
        faults.push("workload.warehouses and first_warehouse: must be at least 1".to_owned());
    }
    if options
        .first_warehouse
        .checked_add(options.warehouses)
        .is_none_or(|end| end > i32::MAX as u32)
    {
        faults.push(format!(
            "workload.first_warehouse: is too large, {}",
            options.first_warehouse
        ));
    }
    faults.extend(mix_faults(options));
    if options.quirks.is_some() && options.mode == TpccMode::Procedures {
        faults.push("workload.quirks: are those of statements, and procedures do what the specification asks; leave one of them out".to_owned());
    }
    if !(0.0..=TIMES_MAX).contains(&options.times) {
        faults.push(format!("workload.times: must be 0..={TIMES_MAX}, is {}", options.times));
    }
    if options
        .terminals
        .is_some_and(|count| !(1..=TERMINALS_MAX).contains(&count))
    {
        let count = options.terminals.unwrap_or(0);
        faults.push(format!("workload.terminals: must be 1..={TERMINALS_MAX}, is {count}"));
    }
    faults
}

/// What does not go together with so many connections and a think time of theirs.
pub fn pace_fault(options: &TpccOptions, connections: u32, has_think_time: bool) -> Option<String> {
    if let Some(terminals) = options.terminals.filter(|terminals| *terminals < connections) {
        return Some(format!(
            "workload.terminals: must be at least as many as connections, {connections}, are {terminals}"
        ));
    }
    (has_think_time && options.times > 0.0)
        .then(|| "workload.times: has think times of its own; leave it or think_time out".to_owned())
}

/// Looks at each target once.
///
/// # Errors
/// When the workload cannot work there.
pub fn preflight(
    options: &TpccOptions,
    targets: &[RoleTarget],
    connections: u32,
) -> Result<Vec<EngineWarning>, WorkerFault> {
    let catalogue = Catalogue::new(options);
    for one in targets {
        let mut probe = Probe::open(&one.target)?;
        tables_there(&mut probe, options.order_names)?;
        warehouses(&mut probe, options)?;
        if options.mode == TpccMode::Procedures {
            procedures_there(&mut probe, options.order_names)?;
        }
        let statements_each = if options.prepared { catalogue.used_count() } else { 0 };
        probe.limits(connections, statements_each)?;
        probe.connection.close();
    }
    Ok(vec![])
}

/// Whether all tables are there and complete.
fn tables_there(probe: &mut Probe<'_>, names: OrderNames) -> Result<(), WorkerFault> {
    let found = probe.ask(|connection| find(connection, names))?;
    let mut faults = found
        .tables
        .iter()
        .filter_map(|(table, found)| found.unmade(table.name()));
    faults.next().map_or(Ok(()), |fault| Err(probe.fault(&fault)))
}

/// Whether all procedures are there, with the texts that this version calls.
fn procedures_there(probe: &mut Probe<'_>, names: OrderNames) -> Result<(), WorkerFault> {
    let found = probe.ask(|connection| procedures::find(connection, names))?;
    let faults = procedures::faults(&found);
    if faults.is_empty() {
        return Ok(());
    }
    Err(probe.fault(&faults.join("; ")))
}

fn warehouses(probe: &mut Probe<'_>, options: &TpccOptions) -> Result<(), WorkerFault> {
    let (first, count) = (options.first_warehouse, options.warehouses);
    let last = first + count - 1;
    let sql = format!("SELECT COUNT(*) FROM warehouse WHERE w_id BETWEEN {first} AND {last}");
    let found = probe.number(&sql)?;
    if found == u64::from(count) {
        return Ok(());
    }
    Err(probe.fault(&format!(
        "has {found} of the warehouses {first} to {last}: make them with `plimsoll prepare`, or name fewer"
    )))
}
