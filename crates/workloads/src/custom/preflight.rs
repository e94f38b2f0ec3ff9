//! A look at the server before a trial of a user's own statements: are the tables there, and does the server take each
//! statement? It prepares them and runs none.

use plimsoll_core::fault::FaultKind;
use plimsoll_core::message::{EngineWarning, FailureClass};
use plimsoll_core::plan::{RoleTarget, StatementPlan, StatementsPlan};
use plimsoll_engine::WorkerFault;
use plimsoll_session::worker_fault;
use plimsoll_wire::WireError;

use super::compiled::Compiled;
use super::data::find;
use crate::loading::mark::Found;
use crate::preflight::probe::Probe;

/// Looks at each target once.
///
/// # Errors
/// When the workload cannot work there.
pub fn preflight(
    plan: &StatementsPlan,
    targets: &[RoleTarget],
    connections: u32,
) -> Result<Vec<EngineWarning>, WorkerFault> {
    let statements_each = if plan.prepared {
        Compiled::new(plan).statements.count() as u64
    } else {
        0
    };
    for one in targets {
        let mut probe = Probe::open(&one.target)?;
        tables(&mut probe, plan)?;
        statements(&mut probe, plan)?;
        if plan.transactions.iter().any(|transaction| !transaction.begin) {
            probe.autocommit()?;
        }
        probe.limits(connections, statements_each)?;
        probe.connection.close();
    }
    Ok(vec![])
}

/// Whether all tables are there and complete.
fn tables(probe: &mut Probe<'_>, plan: &StatementsPlan) -> Result<(), WorkerFault> {
    let names: Vec<&str> = plan.tables.iter().map(|name| &**name).collect();
    let found = probe.ask(|connection| find(connection, &names))?;
    let fault = |(name, found): (&&str, &Found)| match found {
        Found::Nothing => Some(format!("table {name} does not exist: make it with `plimsoll prepare`")),
        _ => found.unmade(name),
    };
    let faults: Vec<String> = names.iter().zip(&found).filter_map(fault).collect();
    if faults.is_empty() {
        return Ok(());
    }
    Err(probe.fault(&faults.join("; ")))
}

/// Whether the server takes each statement; all that it refuses at once.
fn statements(probe: &mut Probe<'_>, plan: &StatementsPlan) -> Result<(), WorkerFault> {
    let mut refused: Option<WorkerFault> = None;
    for (number, transaction) in plan.transactions.iter().enumerate() {
        for (position, statement) in transaction.statements.iter().enumerate() {
            let path = format!("transaction[{number}].statement[{position}].sql");
            for sql in longest(statement) {
                let prepared = probe.connection.prepare(sql);
                match prepared.and_then(|prepared| probe.connection.close_statement(prepared)) {
                    Ok(()) => {}
                    Err(error) if error.kind() == FaultKind::TextOnly => {} // it is sent as text
                    Err(error) if error.is_connection_lost() => return Err(worker_fault(&error, &path)),
                    Err(error) => refused = Some(join(refused, &path, &error)),
                }
            }
        }
    }
    refused.map_or(Ok(()), Err)
}

/// The longest of several texts, of each statement that a value may choose: what it does not exceed no other does.
fn longest(statement: &StatementPlan) -> Vec<&String> {
    let choices = statement.by.as_ref().map_or(1, |by| by.choices as usize);
    let each = statement.variants.len() / choices.max(1);
    if each == 0 {
        return vec![&statement.sql];
    }
    statement.variants.iter().skip(each - 1).step_by(each).collect()
}

/// One fault of all that were refused so far and this one. What the server said of the first is kept.
fn join(before: Option<WorkerFault>, path: &str, error: &WireError) -> WorkerFault {
    // The cures for these are meant for tables that Plimsoll made.
    let said = match error.server() {
        Some(said) if matches!(said.kind(), FaultKind::Syntax | FaultKind::Schema) => said.to_string(),
        _ => error.to_string(),
    };
    let text = format!("{path}: {said}; mend it in the workload file");
    match before {
        Some(fault) => WorkerFault {
            message: format!("{}; {text}", fault.message),
            ..fault
        },
        None => WorkerFault {
            class: FailureClass::Target,
            message: text,
            ..worker_fault(error, path)
        },
    }
}
