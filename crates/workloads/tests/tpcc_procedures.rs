//! The five transactions as stored procedures on real servers: made and removed as tables are, and doing what the statements
//! do.

mod support;

use plimsoll_core::plan::{DataPlan, Target, TpccData, TpccMode, TpccOptions, WorkloadPlan};
use plimsoll_engine::WorkerFault;
use plimsoll_workloads::data::{self, DataDone};
use plimsoll_workloads::preflight;
use support::killing::run_killed;
use support::tpcc::data_plan;
use support::trial::{Load, Until, run};
use support::{Kind, connect, on_each_server, source, value};

const CURE: &str = "`plimsoll prepare --workload tpcc -o mode=procedures`";

fn plan(target: &Target, procedures: bool) -> DataPlan {
    let data = TpccData {
        warehouses: 2,
        foreign_keys: true,
        procedures,
        ..TpccData::default()
    };
    data_plan(target, data)
}

fn workload(mode: TpccMode, prepared: bool) -> WorkloadPlan {
    WorkloadPlan::Tpcc(TpccOptions {
        warehouses: 2,
        mode,
        prepared,
        ..TpccOptions::default()
    })
}

fn prepare(target: &Target, procedures: bool) {
    data::prepare(&plan(target, procedures), &mut |_| {}).unwrap();
}

fn message(outcome: Result<DataDone, WorkerFault>) -> String {
    outcome.unwrap_err().message
}

/// One test, since loading takes longest; for the same reason modes are compared on one kind of server.
#[test]
fn procedures_do_what_statements_do() {
    on_each_server("tpcc_calls", |server, target| {
        prepare(target, false);
        procedures_are_made_like_tables(target);
        if server.kind == Kind::MariaDb {
            let other = server.create_database("tpcc_statements");
            prepare(&other, false);
            both_modes_leave_equal_tables(target, &other);
        }
        conditions_hold_after_connections_were_killed(target);
        only_ours_are_dropped(target);
    });
}

fn procedures_are_made_like_tables(target: &Target) {
    let refused = || {
        let looked = preflight(&workload(TpccMode::Procedures, true), &source(target), 1);
        let message = looked.unwrap_err().message;
        assert_eq!(message, message_of_check(target, &message));
        message
    };
    assert!(refused().contains(&format!(
        "procedure plimsoll_payment does not exist: make it with {CURE}"
    )));
    prepare(target, true);
    preflight(&workload(TpccMode::Procedures, true), &source(target), 1).unwrap();
    let mut connection = connect(target);
    let created = "SELECT MAX(CREATED) FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE()";
    let first = value(&mut connection, created);
    prepare(target, true);
    assert_eq!(value(&mut connection, created), first);

    let comment = |text: &str| format!("ALTER PROCEDURE plimsoll_payment COMMENT '{text}'");
    connection.query(&comment("plimsoll tpcc procedure 0")).unwrap();
    assert!(refused().contains("procedure plimsoll_payment was made by another version of Plimsoll"));
    prepare(target, true);
    data::check(&plan(target, true), &mut |_| {}).unwrap();

    connection.query(&comment("mine")).unwrap();
    assert!(refused().contains("procedure plimsoll_payment was not made by Plimsoll"));
    let message = message(data::prepare(&plan(target, true), &mut |_| {}));
    assert!(
        message.contains("plimsoll_payment exists and was not made by Plimsoll"),
        "{message}"
    );
    connection.query("DROP PROCEDURE plimsoll_payment").unwrap();
    prepare(target, true);
}

/// A check says the same as the look before a trial, but for the place.
fn message_of_check(target: &Target, looked: &str) -> String {
    let checked = message(data::check(&plan(target, true), &mut |_| {}));
    let place = looked.find("procedure ").unwrap();
    format!("{}{checked}", &looked[..place])
}

fn both_modes_leave_equal_tables(called: &Target, stated: &Target) {
    for (prepared, seed) in [(true, 5), (false, 6)] {
        let load = Load {
            connections: 1,
            until: Until::Transactions(1_200),
            seed,
        };
        let ran = [(called, TpccMode::Procedures), (stated, TpccMode::Statements)].map(|(target, mode)| {
            let summary = run(&workload(mode, prepared), &source(target), load).unwrap();
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

fn conditions_hold_after_connections_were_killed(target: &Target) {
    run_killed(&workload(TpccMode::Procedures, true), target, 7);
    data::verify(&plan(target, true), &mut |_| {}).unwrap();
}

fn only_ours_are_dropped(target: &Target) {
    let mut connection = connect(target);
    connection.query("CREATE PROCEDURE mine() SELECT 1").unwrap();
    connection
        .query("ALTER PROCEDURE plimsoll_delivery COMMENT 'mine'")
        .unwrap();
    let message = message(data::cleanup(&plan(target, false), &mut |_| {}));
    assert!(
        message.contains("plimsoll_delivery not made by Plimsoll, so nothing was dropped"),
        "{message}"
    );
    connection.query("DROP PROCEDURE plimsoll_delivery").unwrap();
    data::cleanup(&plan(target, false), &mut |_| {}).unwrap();
    let left = "SELECT GROUP_CONCAT(ROUTINE_NAME) FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE()";
    assert_eq!(value(&mut connection, left), "mine");
}
