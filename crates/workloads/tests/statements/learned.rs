//! What workloads that were learned from logs do besides, on real servers: loops, rollbacks, lists, rows, keys in order.

use crate::running::{counts, prepare, transactions};
use crate::support::statements::{as_text, counting, drawn, integer, statement, transaction, workload};
use crate::support::{connect, on_each_server, value};
use plimsoll_core::plan::{StatementsPlan, Target};
use plimsoll_wire::Connection;
use serde_json::{Value, json};

fn note(what: &str, given: Value) -> Value {
    statement(&format!("INSERT INTO log (what) VALUES ('{what}')"), &[], given)
}

/// The same prepared and as text, each on an empty log.
pub fn both(workload: &StatementsPlan, target: &Target, mut check: impl FnMut(&StatementsPlan, &mut Connection)) {
    let mut control = connect(target);
    for workload in [workload, &as_text(workload)] {
        control.query("TRUNCATE log").unwrap();
        check(workload, &mut control);
    }
}

pub fn number(control: &mut Connection, sql: &str) -> u64 {
    value(control, sql).parse().unwrap()
}

#[test]
fn statements_of_a_loop_run_together_as_often_as_it_says() {
    on_each_server("st_loop", |_, target| {
        prepare(target);
        let weighted = json!({"weighted": {"counts": [2, 5], "weights": [3.0, 1.0]}});
        let given = json!({"begin": true, "statements": [note("first", json!({})), note("a", json!({})),
            note("b", json!({"repeat": {"range": {"min": 2, "max": 2}}})), note("last", json!({}))],
            "loops": [{"first": 1, "count": 2, "repeat": weighted}]});
        let plan = workload(&["log"], &json!([transaction("t", given)]));
        both(&plan, target, |workload, control| {
            let summary = transactions(workload, target, 200);
            assert_eq!(counts(&summary, "t").completed, 200);
            let mut of = |what: &str| number(control, &format!("SELECT COUNT(*) FROM log WHERE what = '{what}'"));
            let (a, b) = (of("a"), of("b"));
            assert_eq!((of("first"), of("last"), b), (200, 200, 2 * a));
            // 2.75 each time is expected: 550, with a standard deviation of 18.
            assert!((480..620).contains(&a), "{a}");
            let of_loop = number(
                control,
                "SELECT COUNT(*) FROM log a JOIN log b ON b.id = a.id + 1 AND a.what = 'b' AND b.what = 'a'",
            );
            assert!(of_loop > 0, "a and b take turns");
        });
    });
}

#[test]
fn nothing_found_in_a_loop_leaves_the_rest_of_the_transaction_out() {
    on_each_server("st_loop_skip", |_, target| {
        prepare(target);
        let find = statement(
            "UPDATE accounts SET balance = 0 WHERE id = 1000",
            &[],
            json!({"no_row": "skip"}),
        );
        let given = json!({"begin": true, "statements": [note("a", json!({})), find, note("b", json!({}))],
            "loops": [{"first": 0, "count": 2, "repeat": {"range": {"min": 4, "max": 4}}}]});
        let plan = workload(&["log", "accounts"], &json!([transaction("t", given)]));
        both(&plan, target, |workload, control| {
            assert_eq!(counts(&transactions(workload, target, 10), "t").completed, 10);
            assert_eq!(value(control, "SELECT GROUP_CONCAT(DISTINCT what) FROM log"), "a");
            assert_eq!(value(control, "SELECT COUNT(*) FROM log"), "10");
        });
    });
}

#[test]
fn so_many_transactions_are_rolled_back_and_count_as_completed() {
    on_each_server("st_rollback", |_, target| {
        prepare(target);
        let given = |ratio: f64| json!({"begin": true, "rollback_ratio": ratio, "statements": [note("a", json!({}))]});
        let plan = workload(&["log"], &json!([transaction("t", given(0.25))]));
        both(&plan, target, |workload, control| {
            let summary = transactions(workload, target, 800);
            assert_eq!(
                (counts(&summary, "t").completed, counts(&summary, "t").failed),
                (800, 0)
            );
            let kept = number(control, "SELECT COUNT(*) FROM log");
            // 600 are expected, with a standard deviation of 12.
            assert!((555..645).contains(&kept), "{kept}");
        });
        let all = workload(&["log"], &json!([transaction("t", given(1.0))]));
        both(&all, target, |workload, control| {
            transactions(workload, target, 20);
            assert_eq!(value(control, "SELECT COUNT(*) FROM log"), "0");
        });
    });
}

fn list(name: &str, items: &Value) -> Value {
    let mut value = drawn(name, &integer(100));
    value["items"] = items.clone();
    value
}

/// As many question marks, with commas between them.
pub fn marks(count: usize) -> String {
    vec!["?"; count].join(", ")
}

#[test]
fn a_list_has_as_many_items_as_were_drawn_in_each_statement_that_has_it() {
    on_each_server("st_list", |_, target| {
        prepare(target);
        let sql = |items: &str| {
            format!("INSERT INTO log (what) SELECT CONCAT(?, ':', COUNT(*)) FROM accounts WHERE id IN ({items})")
        };
        let again = |items: &str| format!("UPDATE accounts SET balance = balance + 1 WHERE id IN ({items})");
        let counts_of = json!({"weighted": {"counts": [1, 3, 40], "weights": [1.0, 0.0, 1.0]}});
        let texts = |sql: &dyn Fn(&str) -> String| -> Vec<String> { [1, 3, 40].map(|count| sql(&marks(count))).into() };
        let count = statement(
            &sql("?"),
            &["x", "ids"],
            json!({"variants": texts(&sql),
            "values": [drawn("x", &json!({"kind": "choice", "values": ["n"], "weights": [1]}))]}),
        );
        let touch = statement(&again("?"), &["ids"], json!({"variants": texts(&again)}));
        let given = json!({"begin": true, "values": [list("ids", &counts_of)], "statements": [count, touch]});
        let plan = workload(&["log", "accounts"], &json!([transaction("t", given)]));
        both(&plan, target, |workload, control| {
            control.query("UPDATE accounts SET balance = 0").unwrap();
            let summary = transactions(workload, target, 300);
            assert_eq!(counts(&summary, "t").completed, 300);
            let single = number(control, "SELECT COUNT(*) FROM log WHERE what = 'n:1'");
            // 150 of 300 are expected, with a standard deviation of 9; 40 of 100 numbers leave some 33 different ones.
            assert!((110..190).contains(&single), "{single}");
            let many = number(
                control,
                "SELECT MIN(SUBSTRING(what, 3) + 0) FROM log WHERE what <> 'n:1'",
            );
            assert!((20..=40).contains(&many), "{many}");
            let found = number(control, "SELECT SUM(SUBSTRING(what, 3) + 0) FROM log");
            assert_eq!(
                number(control, "SELECT SUM(balance) FROM accounts"),
                found,
                "the same rows in both"
            );
        });
    });
}

#[test]
fn rows_have_values_of_their_own_and_may_be_more_than_fit_on_the_stack() {
    on_each_server("st_rows", |_, target| {
        prepare(target);
        let mut control = connect(target);
        control
            .query("CREATE TABLE cells (id BIGINT AUTO_INCREMENT PRIMARY KEY, a BIGINT, b BIGINT, c BIGINT)")
            .unwrap();
        let sql = |rows: usize| {
            format!(
                "INSERT INTO cells (a, b, c) VALUES {}",
                vec!["(?, ?, ?)"; rows].join(", ")
            )
        };
        let next = json!({"name": "b", "source": {"sum": {"value": "a", "add": 1}}});
        let insert = statement(
            &sql(1),
            &["a", "b", "c"],
            json!({"values": [drawn("a", &integer(1_000_000)), next],
            "rows": {"first": 0, "count": 3, "rows": {"weighted": {"counts": [2, 20, 200], "weights": [2.0, 1.0, 1.0]}}},
            "variants": [sql(2), sql(20), sql(200)], "keep_insert_id": "new"}),
        );
        let touch = statement(
            "UPDATE cells SET c = -c WHERE id = ?",
            &["new"],
            json!({"no_row": "fail"}),
        );
        let given = json!({"values": [drawn("c", &integer(1_000_000))], "statements": [insert, touch]});
        let plan = workload(&[], &json!([transaction("t", given)]));
        both(&plan, target, |workload, control| {
            control.query("TRUNCATE cells").unwrap();
            let summary = transactions(workload, target, 100);
            assert_eq!(
                (counts(&summary, "t").completed, counts(&summary, "t").failed),
                (100, 0)
            );
            assert_eq!(number(control, "SELECT COUNT(*) FROM cells WHERE b <> a + 1"), 0);
            let each = "SELECT COUNT(*) AS size, COUNT(DISTINCT a) AS of_a FROM cells GROUP BY ABS(c)";
            let sizes = value(
                control,
                &format!("SELECT GROUP_CONCAT(DISTINCT size ORDER BY size) FROM ({each}) x"),
            );
            assert_eq!(sizes, "2,20,200");
            assert!(number(control, &format!("SELECT MIN(of_a) FROM ({each}) x WHERE size = 200")) > 190);
            assert_eq!(number(control, "SELECT COUNT(*) FROM cells WHERE c < 0"), 100);
        });
    });
}

fn next(name: &str) -> Value {
    json!({"name": name, "source": {"next": {"counter": 0}}})
}

fn recent(name: &str, within: u32) -> Value {
    let distribution = json!({"kind": "uniform"});
    json!({"name": name, "source": {"recent": {"counter": 0, "within": within, "distribution": distribution}}})
}

#[test]
fn loads_one_after_the_other_take_keys_that_no_row_has() {
    on_each_server("st_next", |_, target| {
        prepare(target);
        let mut control = connect(target);
        control.query("DELETE FROM accounts WHERE id < 50").unwrap();
        let insert = statement(
            "INSERT INTO accounts (id, balance) VALUES (?, 7)",
            &["id"],
            json!({"values": [next("id")]}),
        );
        let plan = workload(
            &["accounts"],
            &json!([transaction("t", json!({"statements": [insert]}))]),
        );
        let plan = counting(&plan, &[("accounts", "id")]);
        for (workload, until) in [(&plan, 400), (&as_text(&plan), 700)] {
            let summary = transactions(workload, target, 300);
            assert_eq!(
                (counts(&summary, "t").completed, counts(&summary, "t").failed),
                (300, 0)
            );
            assert_eq!(value(&mut control, "SELECT MAX(id) FROM accounts"), until.to_string());
        }
        assert_eq!(value(&mut control, "SELECT COUNT(*) FROM accounts"), "651");
        let of_text = counting(&plan, &[("log", "what")]);
        control.query("INSERT INTO log (what) VALUES ('x')").unwrap();
        let load = crate::support::trial::Load {
            connections: 1,
            until: crate::support::trial::Until::Transactions(1),
            seed: 3,
        };
        let fault = crate::support::trial::run(&of_text, &crate::support::source(target), load)
            .err()
            .expect("refused");
        assert!(
            fault.message.contains("gave no integers of 64 bits"),
            "{}",
            fault.message
        );
    });
}

#[test]
fn recent_keys_are_the_newest_that_the_load_made_itself() {
    on_each_server("st_recent", |_, target| {
        prepare(target);
        let insert = statement("INSERT INTO log (what) VALUES ('x')", &[], json!({"given": 0}));
        let touch = statement(
            "UPDATE log SET what = CONCAT(what, 'y') WHERE id = ?",
            &["id"],
            json!({"values": [recent("id", 2)], "no_row": "fail"}),
        );
        let plan = workload(
            &["log"],
            &json!([transaction("t", json!({"statements": [insert, touch]}))]),
        );
        let plan = counting(&plan, &[("log", "id")]);
        both(&plan, target, |workload, control| {
            control
                .query("INSERT INTO log (what) VALUES ('old'), ('old'), ('old'), ('old')")
                .unwrap();
            let done = counts(&transactions(workload, target, 300), "t");
            // Of two connections one may hear of its row before the other's, of which the key is one less, is committed.
            assert!(done.completed + done.failed == 300 && done.failed <= 20, "{done:?}");
            let touched = number(control, "SELECT COUNT(*) FROM log WHERE what LIKE 'xy%'");
            // Half of the draws are the row just made, the other half that before it: about three quarters of the rows.
            assert!((180..=290).contains(&touched), "{touched}");
            assert!(number(control, "SELECT COUNT(*) FROM log WHERE what LIKE 'oldy%'") <= 3);
        });
    });
}
