//! The five transactions as statements: what they count, and that the tables stay consistent whatever happens to the
//! connections.

use plimsoll_core::plan::{Target, TpccMix, TpccOptions};
use plimsoll_workloads::{Workload as _, data};

use crate::support::killing::run_killed;
use crate::support::trial::{Load, Until, run};
use crate::support::{connect, source, value};
use crate::two_warehouses;

fn workload(prepared: bool) -> TpccOptions {
    TpccOptions {
        warehouses: 2,
        prepared,
        ..TpccOptions::default()
    }
}

fn load(until: Until) -> Load {
    Load {
        connections: 6,
        until,
        seed: 5,
    }
}

fn number(target: &Target, sql: &str) -> i64 {
    value(&mut connect(target), sql).parse::<f64>().unwrap() as i64
}

pub fn tables_that_are_missing_are_told_before_the_load(target: &Target) {
    let message = refused(target, &TpccOptions::default());
    assert!(
        message.contains("item does not exist: make it with `plimsoll prepare`"),
        "{message}"
    );
}

/// Why a load is not begun.
fn refused(target: &Target, options: &TpccOptions) -> String {
    options.preflight(&source(target), 1).unwrap_err().message
}

pub fn what_is_missing_is_told_before_the_load(target: &Target) {
    let more = TpccOptions {
        warehouses: 3,
        ..TpccOptions::default()
    };
    assert!(refused(target, &more).contains("has 2 of the warehouses 1 to 3"));
    let none = TpccOptions {
        mix: TpccMix {
            new_order: 0,
            payment: 0,
            order_status: 0,
            delivery: 0,
            stock_level: 0,
        },
        ..TpccOptions::default()
    };
    let fault = run(&none, &source(target), load(Until::Transactions(1))).err().unwrap();
    assert!(fault.message.contains("all weights are 0"), "{}", fault.message);
}

pub fn transactions_keep_their_counters_and_the_conditions(target: &Target) {
    workload(true).preflight(&source(target), 6).unwrap();
    let before = done(target);
    let mut rolled_back = 0;
    let ran = [true, false].map(|prepared| {
        let summary = run(&workload(prepared), &source(target), load(Until::Transactions(1_500))).unwrap();
        assert_eq!(summary.counts().failed, 0, "{:?}", summary.snapshot.errors);
        let types = summary.snapshot.transactions;
        rolled_back += i64::try_from(types["new_order"].counts.rolled_back).unwrap();
        types
            .into_iter()
            .map(|(name, one)| (name, i64::try_from(one.counts.completed).unwrap()))
            .collect::<Vec<_>>()
    });
    let completed = |name: &str| {
        ran.iter()
            .flatten()
            .filter(|one| one.0 == name)
            .map(|one| one.1)
            .sum::<i64>()
    };
    assert_eq!(ran[0].iter().map(|one| one.1).sum::<i64>(), 1_500);
    data::verify(&two_warehouses(target), &mut |_| {}).unwrap();

    let after = done(target);
    let [new_orders, payments, history, remote, deliveries] =
        [0, 1, 2, 3, 4].map(|position| after[position] - before[position]);
    let refused = completed("new_order") - new_orders;
    assert_eq!(rolled_back, refused);
    assert!(
        (1..=40).contains(&refused),
        "{refused} of {} were rolled back",
        completed("new_order")
    );
    assert_eq!((payments, history), (completed("payment"), completed("payment")));
    assert!(
        (payments / 10..payments / 4).contains(&remote),
        "{remote} of {payments} are remote"
    );
    assert_eq!(deliveries, 10 * completed("delivery"));
    the_sums_of_tables_agree(target);
}

/// What transactions have done since the tables were made: new orders, payments by customers and by the history, those of them
/// that are remote, deliveries.
fn done(target: &Target) -> [i64; 5] {
    [
        "SUM(d_next_o_id - 3001) FROM district",
        "SUM(c_payment_cnt) FROM customer",
        "COUNT(*) FROM history",
        "COUNT(*) FROM history WHERE h_w_id <> h_c_w_id",
        "SUM(c_delivery_cnt) FROM customer",
    ]
    .map(|count| number(target, &format!("SELECT {count}")))
}

/// What one table counts is what another one lists.
fn the_sums_of_tables_agree(target: &Target) {
    let lines = "FROM order_line WHERE ol_o_id > 3000";
    for (counted, told) in [("SUM(s_ytd)", "SUM(ol_quantity)"), ("SUM(s_order_cnt)", "COUNT(*)")] {
        let counted = number(target, &format!("SELECT {counted} FROM stock"));
        assert_eq!(counted, number(target, &format!("SELECT {told} {lines}")));
    }
    let remote = number(
        target,
        &format!("SELECT COUNT(*) {lines} AND ol_supply_w_id <> ol_w_id"),
    );
    assert_eq!(number(target, "SELECT SUM(s_remote_cnt) FROM stock"), remote);
    assert!(remote > 0);
    assert_eq!(number(target, "SELECT COUNT(*) FROM orders WHERE o_all_local = 0"), {
        let sql = "SELECT COUNT(DISTINCT ol_w_id, ol_d_id, ol_o_id) FROM order_line WHERE ol_supply_w_id <> ol_w_id";
        number(target, sql)
    });
    assert_eq!(
        number(
            target,
            "SELECT COUNT(*) FROM stock WHERE s_quantity NOT BETWEEN 10 AND 100"
        ),
        0
    );
}

pub fn conditions_hold_after_connections_were_killed(target: &Target) {
    let summary = run_killed(&workload(true), target, 5);
    data::verify(&two_warehouses(target), &mut |_| {}).unwrap();
    // The mix keeps its minima, whatever was lost: 43, 4, 4 and 4 of a hundred.
    let all = summary.counts().completed + summary.counts().failed;
    for (name, least) in [
        ("payment", 43),
        ("order_status", 4),
        ("delivery", 4),
        ("stock_level", 4),
    ] {
        let counts = &summary.snapshot.transactions[name].counts;
        let ended = counts.completed + counts.failed;
        // Of each of sixteen decks at most one is not dealt to its end.
        assert!(100 * (ended + 16 * 10) > least * all, "{name}: {ended} of {all}");
    }
}

/// Two terminals for each connection; those of the first warehouse only.
pub fn terminals_stay_at_home_and_deliveries_wait_in_a_queue(target: &Target) {
    let counts = |sql: &str| number(target, sql);
    let deliveries = || counts("SELECT SUM(c_delivery_cnt) FROM customer");
    let orders = |warehouse: u32| {
        counts(&format!(
            "SELECT SUM(d_next_o_id) FROM district WHERE d_w_id = {warehouse}"
        ))
    };
    let paid_at = |warehouse: u32| counts(&format!("SELECT COUNT(*) FROM history WHERE h_w_id = {warehouse}"));
    let (delivered, others) = (deliveries(), (orders(2), paid_at(2)));
    let options = TpccOptions {
        warehouses: 2,
        terminals: Some(1),
        all_warehouses: false,
        delivery_connections: 1,
        ..TpccOptions::default()
    };
    let home = options.clone();
    let one = Load {
        connections: 1,
        until: Until::Transactions(230),
        seed: 6,
    };
    let summary = run(&home, &source(target), one).unwrap();
    let completed = |name: &str| summary.snapshot.transactions[name].counts.completed;
    let types = ["new_order", "payment", "order_status", "delivery", "stock_level"];
    assert_eq!(types.map(completed), [100, 100, 10, 10, 10], "ten decks");
    assert_eq!(completed("delivery_deferred"), 10);
    assert_eq!(deliveries() - delivered, 100);
    assert_eq!((orders(2), paid_at(2)), others, "a terminal left its warehouse");

    let pool = TpccOptions {
        terminals: Some(400),
        times: 0.001,
        ..options
    };
    let many = Load {
        connections: 4,
        until: Until::Transactions(500), // more than there are terminals
        seed: 7,
    };
    let summary = run(&pool, &source(target), many).unwrap();
    let delivery = &summary.snapshot.transactions["delivery"].counts;
    let deferred = &summary.snapshot.transactions["delivery_deferred"].counts;
    assert!(
        delivery.statements() == 0 && deferred.statements() > 50,
        "{delivery:?} {deferred:?}"
    );
    let of_terminals = summary.counts().completed - summary.snapshot.transactions["delivery_deferred"].counts.completed;
    assert_eq!(of_terminals, 500);
    data::verify(&two_warehouses(target), &mut |_| {}).unwrap();
}
