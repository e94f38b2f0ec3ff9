//! The five transactions as stored procedures: made and removed as tables are, and doing what the statements do.

use plimsoll_core::plan::{DataPlan, DataSet, Target, TpccData, TpccMode, TpccOptions};
use plimsoll_engine::WorkerFault;
use plimsoll_workloads::Workload as _;
use plimsoll_workloads::data::{self, DataDone};

use crate::support::killing::run_killed;
use crate::support::trial::{Load, Until, run};
use crate::support::{connect, source, value};
use crate::{two_warehouses, with_foreign_keys};

const CURE: &str = "`plimsoll prepare --workload tpcc -o mode=procedures`";

/// The same tables, and procedures for them.
fn with_procedures(plan: DataPlan) -> DataPlan {
    let DataSet::Tpcc(data) = plan.data_set else {
        panic!("it is one of TPC-C")
    };
    let data = TpccData {
        procedures: true,
        ..data
    };
    DataPlan {
        data_set: DataSet::Tpcc(data),
        ..plan
    }
}

fn workload(warehouses: u32, mode: TpccMode, prepared: bool) -> TpccOptions {
    TpccOptions {
        warehouses,
        mode,
        prepared,
        ..TpccOptions::default()
    }
}

fn prepare(plan: &DataPlan) {
    data::prepare(plan, &mut |_| {}).unwrap();
}

fn message(outcome: Result<DataDone, WorkerFault>) -> String {
    outcome.unwrap_err().message
}

pub fn procedures_are_made_like_tables(target: &Target) {
    let plan = with_procedures(with_foreign_keys(target));
    let refused = || {
        let looked = workload(1, TpccMode::Procedures, true).preflight(&source(target), 1);
        let message = looked.unwrap_err().message;
        assert_eq!(message, message_of_check(&plan, &message));
        message
    };
    assert!(refused().contains(&format!(
        "procedure plimsoll_payment does not exist: make it with {CURE}"
    )));
    prepare(&plan);
    workload(1, TpccMode::Procedures, true)
        .preflight(&source(target), 1)
        .unwrap();
    let mut connection = connect(target);
    let created = "SELECT MAX(CREATED) FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE()";
    let first = value(&mut connection, created);
    prepare(&plan);
    assert_eq!(value(&mut connection, created), first);

    let comment = |text: &str| format!("ALTER PROCEDURE plimsoll_payment COMMENT '{text}'");
    connection.query(&comment("plimsoll tpcc procedure 0")).unwrap();
    assert!(refused().contains("procedure plimsoll_payment was made by another version of Plimsoll"));
    prepare(&plan);
    data::check(&plan, &mut |_| {}).unwrap();

    connection.query(&comment("mine")).unwrap();
    assert!(refused().contains("procedure plimsoll_payment was not made by Plimsoll"));
    let message = message(data::prepare(&plan, &mut |_| {}));
    assert!(
        message.contains("plimsoll_payment exists and was not made by Plimsoll"),
        "{message}"
    );
    connection.query("DROP PROCEDURE plimsoll_payment").unwrap();
    prepare(&plan);
}

/// A check says the same as the look before a trial, but for the place.
fn message_of_check(plan: &DataPlan, looked: &str) -> String {
    let checked = message(data::check(plan, &mut |_| {}));
    let place = looked.find("procedure ").unwrap();
    format!("{}{checked}", &looked[..place])
}

pub fn both_modes_leave_equal_tables(called: &Target, stated: &Target) {
    prepare(&with_procedures(two_warehouses(called)));
    for (prepared, seed) in [(true, 5), (false, 6)] {
        let load = Load {
            connections: 1,
            until: Until::Transactions(1_200),
            seed,
        };
        let ran = [(called, TpccMode::Procedures), (stated, TpccMode::Statements)].map(|(target, mode)| {
            let summary = run(&workload(2, mode, prepared), &source(target), load).unwrap();
            assert_eq!(summary.counts().failed, 0, "{:?}", summary.snapshot.errors);
            let types = summary.snapshot.transactions.into_iter();
            types
                .map(|(name, one)| (name, one.counts.completed, one.counts.rolled_back))
                .collect::<Vec<_>>()
        });
        assert_eq!(ran[0], ran[1]);
        assert!(ran[0].iter().any(|one| one.0 == "new_order" && one.2 > 0), "{ran:?}");
        for table in [
            "stock",
            "district",
            "customer",
            "history",
            "orders",
            "new_orders",
            "order_line",
            "warehouse",
        ] {
            assert_eq!(digest(called, table), digest(stated, table), "{table}");
        }
    }
}

/// A sum over all columns of all rows; of dates only whether there are any.
fn digest(target: &Target, table: &str) -> String {
    let columns = "SELECT GROUP_CONCAT(IF(DATA_TYPE = 'datetime', CONCAT(COLUMN_NAME, ' IS NULL'), \
                   CONCAT('IFNULL(', COLUMN_NAME, ', -1)')) ORDER BY ORDINAL_POSITION) FROM information_schema.COLUMNS \
                   WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME =";
    let mut connection = connect(target);
    let columns = value(&mut connection, &format!("{columns} '{table}'"));
    value(
        &mut connection,
        &format!("SELECT CONCAT(COUNT(*), ' ', SUM(CRC32(CONCAT_WS('|', {columns})))) FROM {table}"),
    )
}

pub fn conditions_hold_after_connections_were_killed(target: &Target) {
    run_killed(&workload(1, TpccMode::Procedures, true), target, 7);
    let plan = with_procedures(with_foreign_keys(target));
    data::verify(&plan, &mut |_| {}).unwrap();
}

pub fn only_ours_are_dropped(target: &Target) {
    let plan = with_foreign_keys(target);
    let mut connection = connect(target);
    connection.query("CREATE PROCEDURE mine() SELECT 1").unwrap();
    connection
        .query("ALTER PROCEDURE plimsoll_delivery COMMENT 'mine'")
        .unwrap();
    let message = message(data::cleanup(&plan, &mut |_| {}));
    assert!(
        message.contains("plimsoll_delivery not made by Plimsoll, so nothing was dropped"),
        "{message}"
    );
    connection.query("DROP PROCEDURE plimsoll_delivery").unwrap();
    data::cleanup(&plan, &mut |_| {}).unwrap();
    let left = "SELECT GROUP_CONCAT(ROUTINE_NAME) FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE()";
    assert_eq!(value(&mut connection, left), "mine");
    let left = "SELECT GROUP_CONCAT(TABLE_NAME) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()";
    assert_eq!(value(&mut connection, left), "theirs");
}
