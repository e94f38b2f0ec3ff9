//! The nine tables on a server: made, resumed, checked, removed.
//!
//! A warehouse's own row is loaded last, so that what is in `warehouse` is there as a whole. Going on, rows of other
//! warehouses, at most of as many as there were loaders, are deleted and loaded again.

mod build;
mod consistency;
mod inspect;
mod load;
mod population;

use plimsoll_core::message::FailureClass;
use plimsoll_core::plan::{DataPlan, DataSet, OrderNames, TpccData};
use plimsoll_engine::WorkerFault;

use super::procedures;
use crate::control;
use crate::loading::fault::blame;
use crate::loading::options::options_fault;
use crate::loading::pool::LoaderPool;
use crate::loading::{DataDone, DataEvent, loaders_fault, refuse_foreign};
use build::{clear_unfinished, create, drop_tables, finish, load, missing, rows_count};
use inspect::{Begin, Found, WAREHOUSES_MAX, begin, find, refuse_referred, unfit, warehouses_there};
use load::Loader;

/// Most partitions that servers take.
const PARTITIONS_MAX: u32 = 8_192;

/// Makes the tables with rows, indexes and statistics, looks whether they are consistent, and makes the procedures where
/// they are wanted. What is there already, made by us in the same way and complete, is used as it is; what was left
/// unfinished is resumed.
///
/// # Errors
/// When other tables are there, when conditions do not hold, or when the server says no.
pub fn prepare(plan: &DataPlan, data: &TpccData, observe: &mut dyn FnMut(DataEvent)) -> Result<DataDone, WorkerFault> {
    let found = find(plan, data.order_names)?;
    let (begin, routines) = allowed(plan, data, &found)?;
    let mut pool = LoaderPool::new(plan, observe);
    let loader = Loader::new(plan, data.seed)?;
    match begin {
        Begin::Complete => {}
        Begin::Again => {
            refuse_referred(plan)?;
            drop_tables(&mut pool, &found.there())?;
            create(&mut pool, data)?;
            load(&mut pool, &loader, data, &[])?;
            finish(&mut pool, data)?;
        }
        Begin::Resume => {
            let there = warehouses_there(plan)?;
            clear_unfinished(&mut pool, data, &there)?;
            load(&mut pool, &loader, data, &there)?;
            finish(&mut pool, data)?;
        }
    }
    if data.procedures {
        procedures::make(&mut pool, &routines, data.order_names)?;
    }
    count(plan, data)
}

/// Looks whether the tables are there, complete, with all their warehouses; and the procedures, where they are wanted.
///
/// # Errors
/// When something is missing, or when the server says no.
pub fn check(plan: &DataPlan, data: &TpccData) -> Result<DataDone, WorkerFault> {
    let found = find(plan, data.order_names)?;
    let mut faults: Vec<String> = found
        .tables
        .iter()
        .filter_map(|(table, comment)| unfit(*table, comment, data))
        .collect();
    if data.procedures {
        faults.extend(procedures::faults(&find_procedures(plan, data.order_names)?));
    }
    if !faults.is_empty() {
        return Err(WorkerFault::new(FailureClass::Data, faults.join("; ")));
    }
    count(plan, data)
}

/// Does all that [`check`] does, and looks at the consistency conditions.
///
/// # Errors
/// As [`check`]; and when conditions do not hold.
pub fn verify(plan: &DataPlan, data: &TpccData, observe: &mut dyn FnMut(DataEvent)) -> Result<DataDone, WorkerFault> {
    let done = check(plan, data)?;
    consistency::check(&mut LoaderPool::new(plan, observe), data)?;
    Ok(done)
}

/// Drops the tables and procedures that Plimsoll made, and others of these names only when told to.
///
/// # Errors
/// When one of them is not ours and was not to be dropped: then none is. Or when the server says no.
pub fn cleanup(plan: &DataPlan, observe: &mut dyn FnMut(DataEvent)) -> Result<(), WorkerFault> {
    let (found, routines) = (
        find(plan, order_names(plan))?,
        find_procedures(plan, order_names(plan))?,
    );
    let mut foreign = found.foreign();
    foreign.extend(procedures::foreign(&routines));
    refuse_foreign(&foreign, plan)?;
    refuse_referred(plan)?;
    let mut pool = LoaderPool::new(plan, observe);
    procedures::remove(&mut pool, &routines)?;
    drop_tables(&mut pool, &found.there())
}

/// What [`prepare`] looks at before it changes anything.
///
/// # Errors
/// When it would be refused.
pub fn foresee(plan: &DataPlan, data: &TpccData) -> Result<(), WorkerFault> {
    match allowed(plan, data, &find(plan, data.order_names)?)? {
        (Begin::Complete, _) => count(plan, data).map(|_| ()),
        _ => Ok(()),
    }
}

/// The tables and procedures that are there and that Plimsoll did not make.
///
/// # Errors
/// Whatever the server said.
pub fn not_ours(plan: &DataPlan) -> Result<Vec<String>, WorkerFault> {
    let mut names = find(plan, order_names(plan))?.foreign();
    let routines = find_procedures(plan, order_names(plan))?;
    names.extend(procedures::foreign(&routines));
    Ok(names.into_iter().map(str::to_owned).collect())
}

/// What the plan calls the tables.
fn order_names(plan: &DataPlan) -> OrderNames {
    match &plan.data_set {
        DataSet::Tpcc(data) => data.order_names,
        _ => OrderNames::default(),
    }
}

/// How preparing would begin, if nothing stands in its way.
fn allowed(plan: &DataPlan, data: &TpccData, found: &Found) -> Result<(Begin, Vec<procedures::Found>), WorkerFault> {
    let begin = begin(found, data, plan.drop_foreign)?;
    let routines = find_procedures(plan, data.order_names)?;
    if data.procedures {
        procedures::refuse_foreign(&routines, plan.drop_foreign)?;
    }
    Ok((begin, routines))
}

fn find_procedures(plan: &DataPlan, names: OrderNames) -> Result<Vec<procedures::Found>, WorkerFault> {
    let mut control = control::open(&plan.target)?;
    let found = procedures::find(&mut control, names).map_err(|error| blame(&error, "look at procedures"))?;
    control.close();
    Ok(found)
}

/// Faults of a plan for these tables.
pub fn faults(plan: &DataPlan, data: &TpccData) -> Vec<String> {
    let mut faults = Vec::new();
    let mut within = |name: &str, value: u32, first: u32, last: u32| {
        if !(first..=last).contains(&value) {
            faults.push(format!("{name}: must be within {first}..={last}, is {value}"));
        }
    };
    within("data_set.warehouses", data.warehouses, 1, WAREHOUSES_MAX);
    within(
        "data_set.first_warehouse",
        data.first_warehouse,
        1,
        i32::MAX as u32 - WAREHOUSES_MAX,
    );
    within("data_set.partitions", data.partitions, 0, PARTITIONS_MAX);
    faults.extend(loaders_fault(plan));
    if data.partitions > 0 && data.foreign_keys {
        faults.push("data_set.foreign_keys: tables with partitions have none; leave one of them out".to_owned());
    }
    let engine = &data.storage_engine;
    let is_word = engine.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if engine.is_empty() || engine.len() > 64 || !is_word {
        faults.push(format!(
            "data_set.storage_engine: must be the name of an engine such as innodb, is {engine:?}"
        ));
    }
    faults.extend(options_fault("data_set.table_options", &data.table_options));
    faults
}

/// How many rows there were when they were loaded, after a look whether all warehouses are there.
fn count(plan: &DataPlan, data: &TpccData) -> Result<DataDone, WorkerFault> {
    let there = warehouses_there(plan)?;
    if let Some(number) = missing(data, &there).first() {
        let message = format!(
            "warehouse {number} is not there: remove the tables with `plimsoll cleanup`, then `plimsoll prepare`"
        );
        return Err(WorkerFault::new(FailureClass::Data, message));
    }
    Ok(DataDone {
        rows_count: rows_count(data),
    })
}
