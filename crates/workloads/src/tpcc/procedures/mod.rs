//! The five transactions as stored procedures: their texts, the comment by which Plimsoll knows its own, made and removed.
//!
//! Deliberately not here: calling them (see `transactions`).

use std::borrow::Cow;

use plimsoll_core::message::FailureClass;
use plimsoll_core::plan::OrderNames;
use plimsoll_engine::WorkerFault;
use plimsoll_wire::{Connection, WireError};

use crate::fingerprint::fnv1a;
use crate::loading::fault::blame;
use crate::loading::pool::LoaderPool;
use crate::tpcc::tables::Table;

/// What all comments begin with.
const MARK: &str = "plimsoll tpcc procedure ";

/// What makes them, as users type it.
const CURE: &str = "`plimsoll prepare --workload tpcc -o mode=procedures`";

/// One of them.
pub struct Procedure {
    pub name: &'static str,
    text: &'static str,
}

/// All of them.
pub const PROCEDURES: [Procedure; 5] = [
    Procedure {
        name: "plimsoll_new_order",
        text: include_str!("new_order.sql"),
    },
    Procedure {
        name: "plimsoll_payment",
        text: include_str!("payment.sql"),
    },
    Procedure {
        name: "plimsoll_order_status",
        text: include_str!("order_status.sql"),
    },
    Procedure {
        name: "plimsoll_delivery",
        text: include_str!("delivery.sql"),
    },
    Procedure {
        name: "plimsoll_stock_level",
        text: include_str!("stock_level.sql"),
    },
];

impl Procedure {
    /// What it does, with a place for the comment.
    fn text(&self, names: OrderNames) -> Cow<'static, str> {
        match names {
            OrderNames::Usual => self.text.into(),
            OrderNames::Tpc => {
                let (usual, tpc) = (Table::NewOrders.name(), Table::NewOrder.name());
                self.text.replace(&format!(" {usual} "), &format!(" {tpc} ")).into()
            }
        }
    }

    /// Its comment, which tells texts apart.
    fn mark(&self, names: OrderNames) -> String {
        format!("{MARK}{:016x}", fnv1a(self.text(names).as_bytes()))
    }

    fn create_sql(&self, names: OrderNames) -> String {
        self.text(names).replace("{mark}", &self.mark(names))
    }
}

/// What is there under the name of a procedure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    Nothing,
    /// Ours, with another text.
    Other,
    Ours,
    Foreign,
}

/// What is there under each of the five names.
///
/// # Errors
/// Whatever the server said.
pub fn find(connection: &mut Connection, tables: OrderNames) -> Result<Vec<Found>, WireError> {
    let names: Vec<String> = PROCEDURES.iter().map(|one| format!("'{}'", one.name)).collect();
    let sql = format!(
        "SELECT ROUTINE_NAME, ROUTINE_COMMENT FROM information_schema.ROUTINES \
         WHERE ROUTINE_SCHEMA = DATABASE() AND ROUTINE_TYPE = 'PROCEDURE' AND ROUTINE_NAME IN ({})",
        names.join(", ")
    );
    let rows = connection.query_rows(&sql, 100)?;
    let found = |one: &Procedure| {
        let same = |row: &&Vec<Option<String>>| row.first().is_some_and(|name| name.as_deref() == Some(one.name));
        let comment = rows.iter().find(same).map(|row| row.last().and_then(Option::as_deref));
        match comment.map(Option::unwrap_or_default) {
            None => Found::Nothing,
            Some(comment) if comment == one.mark(tables) => Found::Ours,
            Some(comment) if comment.starts_with(MARK) => Found::Other,
            Some(_) => Found::Foreign,
        }
    };
    Ok(PROCEDURES.iter().map(found).collect())
}

/// Why procedures cannot be called, each with the cure.
pub fn faults(found: &[Found]) -> Vec<String> {
    let fault = |(found, one): (&Found, &Procedure)| {
        let name = one.name;
        match found {
            Found::Nothing => Some(format!("procedure {name} does not exist: make it with {CURE}")),
            Found::Other => Some(format!(
                "procedure {name} was made by another version of Plimsoll: replace it with {CURE}"
            )),
            Found::Foreign => Some(format!("procedure {name} was not made by Plimsoll")),
            Found::Ours => None,
        }
    };
    found.iter().zip(&PROCEDURES).filter_map(fault).collect()
}

/// Those that are there and that Plimsoll did not make.
pub fn foreign(found: &[Found]) -> Vec<String> {
    let names = names(found, |one| one == Found::Foreign);
    names.into_iter().map(str::to_owned).collect()
}

/// Refuses to replace what Plimsoll did not make.
///
/// # Errors
/// When there is such a procedure, and it was not to be dropped.
pub fn refuse_foreign(found: &[Found], drop_foreign: bool) -> Result<(), WorkerFault> {
    let foreign = foreign(found);
    if foreign.is_empty() || drop_foreign {
        return Ok(());
    }
    let message = format!(
        "procedure {} exists and was not made by Plimsoll: choose another database, or drop it",
        foreign.join(", ")
    );
    Err(WorkerFault::new(FailureClass::Target, message))
}

/// Makes those that are not there as they should be.
///
/// # Errors
/// Whatever the server says; the same for all below.
pub fn make(pool: &mut LoaderPool<'_>, found: &[Found], tables: OrderNames) -> Result<(), WorkerFault> {
    drop_those(pool, &names(found, |one| matches!(one, Found::Other | Found::Foreign)))?;
    let missing: Vec<&Procedure> = (found.iter().zip(&PROCEDURES))
        .filter(|(found, _)| **found != Found::Ours)
        .map(|(_, one)| one)
        .collect();
    pool.work(
        "procedures",
        missing.len() as u64,
        &missing,
        |connection, one, meter| {
            let made = connection.query(&one.create_sql(tables));
            made.map_err(|error| blame(&error, &format!("create procedure {}", one.name)))?;
            meter.add(1);
            Ok(())
        },
    )
}

/// Removes all that are there.
pub fn remove(pool: &mut LoaderPool<'_>, found: &[Found]) -> Result<(), WorkerFault> {
    drop_those(pool, &names(found, |one| one != Found::Nothing))
}

fn drop_those(pool: &mut LoaderPool<'_>, names: &[&str]) -> Result<(), WorkerFault> {
    pool.work("drop", names.len() as u64, names, |connection, name, meter| {
        let dropped = connection.query(&format!("DROP PROCEDURE IF EXISTS {name}"));
        dropped.map_err(|error| blame(&error, &format!("drop procedure {name}")))?;
        meter.add(1);
        Ok(())
    })
}

fn names(found: &[Found], which: impl Fn(Found) -> bool) -> Vec<&'static str> {
    let them = found.iter().zip(&PROCEDURES).filter(|(found, _)| which(**found));
    them.map(|(_, one)| one.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_makes_the_procedure_of_its_name_with_its_mark() {
        for one in &PROCEDURES {
            let sql = one.create_sql(OrderNames::Usual);
            assert!(sql.contains(&format!("CREATE PROCEDURE {}(", one.name)), "{sql}");
            assert!(
                sql.contains(&format!("COMMENT '{}'", one.mark(OrderNames::Usual))),
                "{sql}"
            );
        }
    }

    #[test]
    fn those_that_touch_new_orders_follow_their_name() {
        let differ = |one: &&Procedure| one.mark(OrderNames::Usual) != one.mark(OrderNames::Tpc);
        let names: Vec<&str> = PROCEDURES.iter().filter(differ).map(|one| one.name).collect();
        assert_eq!(names, ["plimsoll_new_order", "plimsoll_delivery"]);
        for one in &PROCEDURES {
            let sql = one.create_sql(OrderNames::Tpc);
            assert!(
                !sql.contains("new_orders") && sql.contains(&format!("PROCEDURE {}(", one.name)),
                "{sql}"
            );
        }
    }

    #[test]
    fn faults_name_each_procedure_and_the_cure() {
        let faults = faults(&[Found::Nothing, Found::Other, Found::Foreign, Found::Ours, Found::Ours]);
        assert_eq!(faults.len(), 3);
        assert!(faults[0].contains("plimsoll_new_order does not exist: make it with `plimsoll prepare"));
        assert!(faults[1].contains("plimsoll_payment was made by another version"));
    }
}
