//! The deviations of known kits on a real server: what they leave in the tables, and which conditions they break.

use std::collections::BTreeMap;

use plimsoll_core::plan::{Target, TpccKit, TpccMode, TpccOptions};
use plimsoll_workloads::data;

use crate::support::trial::{Load, Until, run};
use crate::support::{connect, source, value};
use crate::two_warehouses;

fn workload(kit: TpccKit, mode: TpccMode) -> TpccOptions {
    TpccOptions {
        warehouses: 2,
        quirks: Some(kit),
        mode,
        ..TpccOptions::default()
    }
}

/// What is counted, and how.
const COUNTED: [(&str, &str); 15] = [
    ("lines", "COUNT(*) FROM order_line"),
    ("lines of 1", "COUNT(*) FROM order_line WHERE ol_w_id = 1"),
    (
        "remote lines",
        "COUNT(*) FROM order_line WHERE ol_supply_w_id <> ol_w_id",
    ),
    ("quantities", "SUM(ol_quantity) FROM order_line"),
    (
        "lines with cents",
        "COUNT(*) FROM order_line WHERE ol_amount <> FLOOR(ol_amount)",
    ),
    ("orders of five", "COUNT(*) FROM orders WHERE o_ol_cnt = 5"),
    ("orders said to be remote", "COUNT(*) FROM orders WHERE o_all_local = 0"),
    ("payments", "COUNT(*) FROM history"),
    (
        "payments to first",
        "COUNT(*) FROM history JOIN customer a ON a.c_w_id = h_c_w_id AND a.c_d_id = h_c_d_id AND a.c_id = h_c_id \
         WHERE h_date > '2025-01-02' AND NOT EXISTS (SELECT 1 FROM customer b WHERE b.c_w_id = a.c_w_id AND b.c_d_id = a.c_d_id \
         AND b.c_last = a.c_last AND b.c_first < a.c_first)",
    ),
    ("paid", "SUM(h_amount) FROM history"),
    (
        "payments with cents",
        "COUNT(*) FROM history WHERE h_amount <> FLOOR(h_amount)",
    ),
    ("s_ytd", "SUM(s_ytd) FROM stock"),
    ("s_order_cnt of 1", "SUM(s_order_cnt) FROM stock WHERE s_w_id = 1"),
    ("c_ytd_payment", "SUM(c_ytd_payment) FROM customer"),
    ("c_payment_cnt", "SUM(c_payment_cnt) FROM customer"),
];

fn counts(target: &Target) -> BTreeMap<&'static str, f64> {
    let mut connection = connect(target);
    let mut count = |sql: &str| value(&mut connection, &format!("SELECT {sql}")).parse().unwrap();
    COUNTED.iter().map(|(name, sql)| (*name, count(sql))).collect()
}

/// What a thousand transactions of a kit add to each count, and the conditions that are broken then.
fn added(target: &Target, kit: TpccKit) -> (BTreeMap<&'static str, f64>, Vec<u32>) {
    let before = counts(target);
    // One connection: what goes wrong between several, as when two deliveries take the same order, is left to chance.
    let load = Load {
        connections: 1,
        until: Until::Transactions(1_000),
        seed: 5,
    };
    let summary = run(&workload(kit, TpccMode::Statements), &source(target), load).unwrap();
    assert_eq!(summary.counts().failed, 0, "{:?}", summary.snapshot.errors);
    assert!(summary.snapshot.transactions["new_order"].counts.rolled_back > 0);
    let mut added = counts(target);
    for (name, count) in &mut added {
        *count -= before[name];
    }
    (added, broken(target))
}

/// The numbers of the conditions that do not hold.
fn broken(target: &Target) -> Vec<u32> {
    let Err(fault) = data::verify(&two_warehouses(target), &mut |_| {}) else {
        return vec![];
    };
    let told = fault.message.split("consistency condition ").skip(1);
    let number = |text: &str| text.split(' ').next().unwrap().parse().unwrap();
    told.map(number).collect()
}

/// Kits that break conditions come last.
pub fn kits_depart_as_they_are_said_to(target: &Target) {
    let is = |one: f64, other: f64| (one - other).abs() < 0.01;

    let (found, broken) = added(target, TpccKit::SysbenchTpcc);
    for zero in ["remote lines", "lines with cents", "s_ytd", "c_payment_cnt"] {
        assert!(is(found[zero], 0.0), "{zero}: {found:?}");
    }
    assert!(found["orders said to be remote"] > 0.0 && found["payments with cents"] > 0.0);
    assert!(is(found["c_ytd_payment"], found["paid"]), "{found:?}");
    let low = "SELECT COUNT(*) FROM stock WHERE s_quantity < 10";
    assert_ne!(value(&mut connect(target), low), "0");
    assert_eq!(broken, [] as [u32; 0]);

    let (found, broken) = added(target, TpccKit::GoTpc);
    assert!(found["remote lines"] > 0.0 && found["lines with cents"] > 0.0 && found["orders of five"] > 0.0);
    assert!(is(found["s_order_cnt of 1"], found["lines of 1"]), "{found:?}");
    assert!(is(found["s_ytd"], found["quantities"]), "{found:?}");
    assert!(found["payments to first"] < 0.5 * found["payments"], "{found:?}");
    assert!(is(found["c_payment_cnt"], found["payments"]), "{found:?}");
    assert_eq!(broken, [] as [u32; 0]);

    let (found, broken) = added(target, TpccKit::TpccMysql);
    for zero in ["s_ytd", "c_ytd_payment", "c_payment_cnt", "payments with cents"] {
        assert!(is(found[zero], 0.0), "{zero}: {found:?}");
    }
    assert!(found["remote lines"] > 0.0 && found["lines with cents"] > 0.0);
    assert_eq!(broken, [12]);

    let (found, broken) = added(target, TpccKit::Dbt2);
    let zeros = [
        "remote lines",
        "orders said to be remote",
        "orders of five",
        "lines with cents",
    ];
    for zero in zeros
        .into_iter()
        .chain(["s_ytd", "c_payment_cnt", "payments with cents"])
    {
        assert!(is(found[zero], 0.0), "{zero}: {found:?}");
    }
    assert!(is(found["c_ytd_payment"], found["payments"]), "{found:?}");
    assert!(found["payments to first"] > 0.6 * found["payments"], "{found:?}");
    assert_eq!(broken, [10, 12]);
}

#[test]
fn quirks_are_not_those_of_procedures() {
    let load = Load {
        connections: 1,
        until: Until::Transactions(1),
        seed: 1,
    };
    let fault = run(&workload(TpccKit::Dbt2, TpccMode::Procedures), &[], load)
        .err()
        .unwrap();
    assert!(
        fault.message.contains("workload.quirks: are those of statements"),
        "{}",
        fault.message
    );
}
