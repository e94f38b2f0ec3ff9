//! The data set of the TPC-C-derived workload on real servers: made, gone on with, checked, removed.

mod support;

use plimsoll_core::message::FailureClass;
use plimsoll_core::plan::{DataPlan, LoadMethod, OrderNames, Target, TpccData};
use plimsoll_engine::WorkerFault;
use plimsoll_wire::Connection;
use plimsoll_workloads::data::{self, DataEvent};
use support::tpcc::data_plan;
use support::{Kind, await_no_others, connect, on_each_server, on_server, value};

const TABLES: [&str; 9] = [
    "item",
    "stock",
    "district",
    "customer",
    "history",
    "orders",
    "new_orders",
    "order_line",
    "warehouse",
];

fn plan(target: &Target, warehouses: u32) -> DataPlan {
    let data = TpccData {
        warehouses,
        seed: 7,
        ..TpccData::default()
    };
    data_plan(target, data)
}

fn prepare(plan: &DataPlan) {
    data::prepare(plan, &mut |_| {}).unwrap();
}

fn refusal(outcome: Result<data::DataDone, WorkerFault>) -> (FailureClass, String) {
    let fault = outcome.unwrap_err();
    (fault.class, fault.message)
}

fn checksums(target: &Target) -> Vec<String> {
    let sql = format!("CHECKSUM TABLE {}", TABLES.join(", "));
    let rows = connect(target).query_rows(&sql, 9).unwrap();
    rows.into_iter().map(|row| row[1].clone().unwrap()).collect()
}

#[test]
fn rows_do_not_depend_on_loaders_method_or_interruption() {
    on_each_server("tpcc_a", |server, target| {
        prepare(&DataPlan {
            loaders: 1,
            ..plan(target, 2)
        });
        let done = data::verify(&plan(target, 2), &mut |_| {}).unwrap();
        let mut connection = connect(target);
        let counts = TABLES.map(|table| {
            value(&mut connection, &format!("SELECT COUNT(*) FROM {table}"))
                .parse::<u64>()
                .unwrap()
        });
        assert_eq!(counts[..7], [100_000, 200_000, 20, 60_000, 60_000, 60_000, 18_000]);
        assert_eq!(done.rows_count, counts.iter().sum::<u64>());
        let wanted = checksums(target);

        let inserted = server.create_database("tpcc_b");
        prepare(&DataPlan {
            loaders: 4,
            method: LoadMethod::Inserts,
            ..plan(&inserted, 2)
        });
        assert_eq!(checksums(&inserted), wanted);

        if server.kind == Kind::MySql {
            return; // going on is the same there, and loading takes long
        }
        let interrupted = server.create_database("tpcc_c");
        interrupt(&plan(&interrupted, 2));
        let (class, message) = refusal(data::check(&plan(&interrupted, 2), &mut |_| {}));
        assert_eq!(class, FailureClass::Data);
        assert!(
            message.contains("stock is unfinished: complete it with `plimsoll prepare`"),
            "{message}"
        );
        prepare(&plan(&interrupted, 2));
        assert_eq!(checksums(&interrupted), wanted);
    });
}

/// Prepares, and loses all connections in the middle.
fn interrupt(plan: &DataPlan) {
    let mut control = connect(&plan.target);
    let mut killed = false;
    let outcome = data::prepare(plan, &mut |event| {
        let DataEvent::Progress(progress) = event else { return };
        if progress.phase == "load" && progress.done_count > 500_000 && !killed {
            killed = true;
            kill_others(&mut control);
        }
    });
    assert!(killed && outcome.is_err(), "{outcome:?}");
    await_no_others(&mut control, &format!("DB = '{}'", plan.target.database));
}

fn kill_others(control: &mut Connection) {
    let others = "SELECT ID FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() AND DB = DATABASE()";
    for row in control.query_rows(others, 100).unwrap() {
        let _ = control.query(&format!("KILL {}", row[0].as_ref().unwrap())); // it may be gone already
    }
}

/// Each with what breaks it and nothing else. All begin with a customer who got a delivery, as after any workload, so that
/// the eleventh condition, which holds only until then, is not looked at.
const CORRUPTIONS: [(u32, &[&str]); 12] = [
    (
        1,
        &[
            "INSERT INTO history VALUES (0, 1, 1, 11, 1, NOW(), 5, 'x')",
            "UPDATE warehouse SET w_ytd = w_ytd + 5",
        ],
    ),
    (2, &["UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_id = 3"]),
    (
        3,
        &[
            "DELETE FROM new_orders WHERE no_d_id = 4 AND no_o_id = 2500",
            "UPDATE orders SET o_carrier_id = 1 WHERE o_d_id = 4 AND o_id = 2500",
            "UPDATE order_line SET ol_delivery_d = NOW(), ol_amount = 0 WHERE ol_w_id = 1 AND ol_d_id = 4 AND ol_o_id = 2500",
        ],
    ),
    (
        4,
        &["INSERT INTO order_line VALUES (9999, 5, 1, 1, 1, 1, NULL, 5, 1, 'x')"],
    ),
    (5, &["INSERT INTO new_orders VALUES (2100, 6, 1)"]),
    (
        6,
        &[
            "UPDATE orders SET o_ol_cnt = o_ol_cnt + 1 WHERE o_d_id = 7 AND o_id = 7",
            "UPDATE orders SET o_ol_cnt = o_ol_cnt - 1 WHERE o_d_id = 7 AND o_id = 8",
        ],
    ),
    (
        7,
        &[
            "UPDATE order_line SET ol_delivery_d = NULL WHERE ol_w_id = 1 AND ol_d_id = 8 AND ol_o_id = 9 AND ol_number = 3",
        ],
    ),
    (8, &["INSERT INTO history VALUES (0, 1, 1, 11, 1, NOW(), 5, 'x')"]),
    (9, &["UPDATE history SET h_d_id = 10 WHERE h_d_id = 9 AND h_c_id = 77"]),
    (10, &["UPDATE history SET h_c_id = 78 WHERE h_d_id = 9 AND h_c_id = 77"]),
    (
        11,
        &[
            "UPDATE customer SET c_delivery_cnt = 0",
            "DELETE FROM new_orders WHERE no_d_id = 2 AND no_o_id = 2101",
            "UPDATE orders SET o_carrier_id = 1 WHERE o_d_id = 2 AND o_id = 2101",
            "UPDATE order_line SET ol_delivery_d = NOW(), ol_amount = 0 WHERE ol_w_id = 1 AND ol_d_id = 2 AND ol_o_id = 2101",
        ],
    ),
    (
        12,
        &["UPDATE customer SET c_ytd_payment = c_ytd_payment + 1 WHERE c_d_id = 1 AND c_id = 9"],
    ),
];

#[test]
fn each_condition_is_seen_to_fail_alone() {
    on_server(Kind::MariaDb, "tpcc_conditions", |_server, target| {
        prepare(&plan(target, 1));
        let mut connection = connect(target);
        connection
            .query("CREATE TABLE kept_history AS SELECT * FROM history")
            .unwrap();
        for (condition, statements) in CORRUPTIONS {
            connection
                .query("UPDATE customer SET c_delivery_cnt = 1 WHERE c_id = 1")
                .unwrap();
            for sql in statements {
                connection.query(sql).unwrap();
            }
            let (class, message) = refusal(data::verify(&plan(target, 1), &mut |_| {}));
            assert_eq!(class, FailureClass::Data);
            let begin = format!("consistency condition {condition} (");
            assert!(
                message.starts_with(&begin) && message.matches("condition").count() == 1,
                "{message}"
            );
            repair(&mut connection);
        }
        data::verify(&plan(target, 1), &mut |_| {}).unwrap();
    });
}

/// Undoes what the corruptions did.
fn repair(connection: &mut Connection) {
    let statements = [
        "TRUNCATE TABLE history",
        "INSERT INTO history SELECT * FROM kept_history",
        "UPDATE warehouse SET w_ytd = 300000",
        "UPDATE district SET d_next_o_id = 3001",
        "REPLACE INTO new_orders VALUES (2500, 4, 1), (2101, 2, 1)",
        "DELETE FROM new_orders WHERE no_o_id = 2100",
        "UPDATE orders SET o_carrier_id = NULL WHERE o_w_id = 1 AND o_d_id IN (2, 4) AND o_id IN (2101, 2500)",
        "UPDATE order_line SET ol_delivery_d = NULL WHERE ol_w_id = 1 AND ol_d_id IN (2, 4) AND ol_o_id IN (2101, 2500)",
        "UPDATE order_line SET ol_delivery_d = NOW() WHERE ol_w_id = 1 AND ol_d_id = 8 AND ol_o_id = 9",
        "DELETE FROM order_line WHERE ol_w_id = 1 AND ol_d_id = 5 AND ol_o_id = 9999",
        "UPDATE orders SET o_ol_cnt = o_ol_cnt - 1 WHERE o_d_id = 7 AND o_id = 7 AND o_ol_cnt > \
         (SELECT COUNT(*) FROM order_line WHERE ol_w_id = 1 AND ol_d_id = 7 AND ol_o_id = 7)",
        "UPDATE orders SET o_ol_cnt = o_ol_cnt + 1 WHERE o_d_id = 7 AND o_id = 8 AND o_ol_cnt < \
         (SELECT COUNT(*) FROM order_line WHERE ol_w_id = 1 AND ol_d_id = 7 AND ol_o_id = 8)",
        "UPDATE customer SET c_delivery_cnt = 0, c_ytd_payment = 10 WHERE c_id IN (1, 9)",
    ];
    for sql in statements {
        connection.query(sql).unwrap();
    }
}

#[test]
fn tables_are_shaped_as_asked_and_only_ours_are_dropped() {
    on_server(Kind::MariaDb, "tpcc_shapes", |_server, target| {
        let mut connection = connect(target);
        connection.query("CREATE TABLE item (id INT)").unwrap();
        let (class, message) = refusal(data::prepare(&plan(target, 1), &mut |_| {}));
        assert_eq!(class, FailureClass::Target);
        assert!(
            message.starts_with("item exists and was not made by Plimsoll"),
            "{message}"
        );
        assert!(
            refusal(data::cleanup(&plan(target, 1), &mut |_| {}))
                .1
                .contains("nothing was dropped")
        );
        let foreseen = |resets| refusal(data::foresee(&plan(target, 1), resets, &mut |_| {})).1;
        assert!(foreseen(false).starts_with("item exists and was not made by Plimsoll"));
        assert!(foreseen(true).starts_with("item not made by Plimsoll, so it cannot be put back"));
        connection.query("DROP TABLE item").unwrap();

        let keyed = TpccData {
            first_warehouse: 5,
            foreign_keys: true,
            ..TpccData::default()
        };
        assert!(data::foresee(&data_plan(target, keyed.clone()), true, &mut |_| {}).is_ok());
        prepare(&data_plan(target, keyed));
        let keys = "SELECT COUNT(*) FROM information_schema.TABLE_CONSTRAINTS \
                    WHERE CONSTRAINT_SCHEMA = DATABASE() AND CONSTRAINT_TYPE = 'FOREIGN KEY'";
        assert_eq!(value(&mut connection, keys), "10");
        assert_eq!(value(&mut connection, "SELECT w_id FROM warehouse"), "5");
        let (_, message) = refusal(data::prepare(&plan(target, 1), &mut |_| {}));
        assert!(
            message.contains("made as (warehouses=1 first=5 seed=1 foreign-keys) and not as wanted"),
            "{message}"
        );
        data::cleanup(&plan(target, 1), &mut |_| {}).unwrap();

        let parted = TpccData {
            partitions: 4,
            order_names: OrderNames::Tpc,
            procedures: true,
            ..TpccData::default()
        };
        prepare(&data_plan(target, parted.clone()));
        data::verify(&data_plan(target, parted), &mut |_| {}).unwrap();
        assert_eq!(value(&mut connection, "SELECT COUNT(*) FROM new_order"), "9000");
        let index = "SELECT GROUP_CONCAT(COLUMN_NAME ORDER BY SEQ_IN_INDEX) FROM information_schema.STATISTICS \
                     WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'history'";
        assert_eq!(value(&mut connection, index), "h_c_w_id,h_c_d_id,h_c_id");
        connection.query("CALL plimsoll_delivery(1, 1)").unwrap();
        let (_, message) = refusal(data::check(&plan(target, 1), &mut |_| {}));
        assert!(message.contains("order-names=tpc) and not as wanted"), "{message}");
        let parts = "SELECT COUNT(*) FROM information_schema.PARTITIONS \
                     WHERE TABLE_SCHEMA = DATABASE() AND PARTITION_NAME IS NOT NULL";
        assert_eq!(value(&mut connection, parts), "32");
        data::cleanup(&plan(target, 1), &mut |_| {}).unwrap();
        let left = "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()";
        assert_eq!(value(&mut connection, left), "0");
    });
}

#[test]
fn tables_that_others_refer_to_stay() {
    on_each_server("tpcc_referred", |_server, target| {
        let keyed = TpccData {
            foreign_keys: true,
            ..TpccData::default()
        };
        prepare(&data_plan(target, keyed));
        let mut connection = connect(target);
        let child = "CREATE TABLE theirs (w INT NOT NULL, CONSTRAINT to_w FOREIGN KEY (w) REFERENCES warehouse (w_id))";
        connection.query(child).unwrap();
        let (class, message) = refusal(data::cleanup(&plan(target, 1), &mut |_| {}));
        assert_eq!(class, FailureClass::Target);
        assert!(
            message.contains("nothing was dropped") && message.contains(".theirs (to_w)"),
            "{message}"
        );
        assert_eq!(value(&mut connection, "SELECT COUNT(*) FROM warehouse"), "1");
        connection.query("ALTER TABLE theirs DROP FOREIGN KEY to_w").unwrap();
        data::cleanup(&plan(target, 1), &mut |_| {}).unwrap();
        let left = "SELECT GROUP_CONCAT(TABLE_NAME) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()";
        assert_eq!(value(&mut connection, left), "theirs");
    });
}

#[test]
fn plans_that_make_no_sense_are_refused_with_all_their_faults() {
    on_each_server("tpcc_faults", |_server, target| {
        let data = TpccData {
            warehouses: 0,
            partitions: 2,
            foreign_keys: true,
            storage_engine: "inno db".to_owned(),
            ..TpccData::default()
        };
        let (class, message) = refusal(data::prepare(&data_plan(target, data), &mut |_| {}));
        assert_eq!(class, FailureClass::Spec);
        assert_eq!(message.matches("data_set.").count(), 3, "{message}");
    });
}
