//! The consistency conditions, each broken by itself.

use plimsoll_core::message::FailureClass;
use plimsoll_core::plan::Target;
use plimsoll_wire::Connection;
use plimsoll_workloads::data;

use crate::support::connect;
use crate::with_foreign_keys;

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

/// On the tables as they were made, which they are again at the end.
pub fn each_condition_is_seen_to_fail_alone(target: &Target) {
    let plan = with_foreign_keys(target);
    let mut connection = connect(target);
    for sql in [
        "SET foreign_key_checks = 0",
        "CREATE TABLE kept_history AS SELECT * FROM history",
    ] {
        connection.query(sql).unwrap();
    }
    for (condition, statements) in CORRUPTIONS {
        connection
            .query("UPDATE customer SET c_delivery_cnt = 1 WHERE c_id = 1")
            .unwrap();
        for sql in statements {
            connection.query(sql).unwrap();
        }
        let fault = data::verify(&plan, &mut |_| {}).unwrap_err();
        let (class, message) = (fault.class, fault.message);
        assert_eq!(class, FailureClass::Data);
        let begin = format!("consistency condition {condition} (");
        assert!(
            message.starts_with(&begin) && message.matches("condition").count() == 1,
            "{message}"
        );
        repair(&mut connection);
    }
    connection.query("DROP TABLE kept_history").unwrap();
    data::verify(&plan, &mut |_| {}).unwrap();
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
