//! A look at the server before a trial of a user's own statements: are the tables there, and does the server take each
//! statement? It prepares them and runs none.

use plimsoll_core::message::{EngineWarning, FailureClass};
use plimsoll_core::plan::{RoleTarget, StatementsPlan};
use plimsoll_engine::WorkerFault;
use plimsoll_session::worker_fault;
use plimsoll_wire::WireError;

use super::data::{Found, find};
use super::plan::Compiled;
use super::table::{Mark, State};
use crate::look::Look;

/// "Not supported in the prepared statement protocol": then it is sent as text.
const UNSUPPORTED_PREPARE: u16 = 1295;

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
        let mut look = Look::open(&one.target)?;
        tables(&mut look, plan)?;
        statements(&mut look, plan)?;
        if plan.transactions.iter().any(|transaction| !transaction.begin) {
            look.autocommit()?;
        }
        look.limits(connections, statements_each)?;
        look.connection.close();
    }
    Ok(vec![])
}

/// Whether all tables are there and complete.
fn tables(look: &mut Look<'_>, plan: &StatementsPlan) -> Result<(), WorkerFault> {
    let names: Vec<&str> = plan.tables.iter().map(|name| &**name).collect();
    let found = look.ask(|connection| find(connection, &names))?;
    let fault = |(name, found): (&&str, &Found)| match found {
        Found::Nothing => Some(format!("table {name} does not exist: make it with `plimsoll prepare`")),
        Found::Ours(Mark {
            state: State::Loading, ..
        }) => Some(format!("{name} is unfinished: complete it with `plimsoll prepare`")),
        Found::Ours(_) | Found::Foreign => None,
    };
    let faults: Vec<String> = names.iter().zip(&found).filter_map(fault).collect();
    if faults.is_empty() {
        return Ok(());
    }
    Err(look.fault(&faults.join("; ")))
}

/// Whether the server takes each statement; all that it refuses at once.
fn statements(look: &mut Look<'_>, plan: &StatementsPlan) -> Result<(), WorkerFault> {
    let mut refused: Option<WorkerFault> = None;
    for (number, transaction) in plan.transactions.iter().enumerate() {
        for (place, statement) in transaction.statements.iter().enumerate() {
            let path = format!("transaction[{number}].statement[{place}].sql");
            let prepared = look.connection.prepare(&statement.sql);
            match prepared.and_then(|prepared| look.connection.close_statement(prepared)) {
                Ok(()) => {}
                Err(error) if error.server_code() == Some(UNSUPPORTED_PREPARE) => {}
                Err(error) if error.is_connection_lost() => return Err(worker_fault(&error, &path)),
                Err(error) => refused = Some(join(refused, &path, &error)),
            }
        }
    }
    refused.map_or(Ok(()), Err)
}

/// One fault of all that were refused so far and this one. What the server said of the first is kept.
fn join(before: Option<WorkerFault>, path: &str, error: &WireError) -> WorkerFault {
    let text = format!("{path}: {error}; mend it in the workload file");
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
