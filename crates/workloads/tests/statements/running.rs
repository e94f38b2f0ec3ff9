//! Users' own statements on a real server: what they do to the rows, what they carry on, what they say when they cannot.

use crate::support::statements::{as_text, column, drawn, integer, statement, table, transaction, workload};
use crate::support::trial::{Load, Summary, Until, run};
use crate::support::{connect, on_each_server, over_tcp, source, value};
use plimsoll_core::message::FailureClass;
use plimsoll_core::plan::{StatementsPlan, Target, ThinkTimePlan};
use plimsoll_core::snapshot::{Counts, Measure};
use plimsoll_session::Terms;
use plimsoll_sim::{Script, Sim};
use plimsoll_workloads::{Workload, closed_loop, data, factory};
use serde_json::json;

pub fn prepare(target: &Target) {
    let accounts = table(
        "accounts",
        100,
        &[
            column("id", "BIGINT", &json!({"kind": "sequence", "first": 1, "step": 1})),
            column(
                "balance",
                "BIGINT",
                &json!({"kind": "choice", "values": [1000], "weights": [1]}),
            ),
        ],
    );
    let mut id = column("id", "BIGINT", &json!({"kind": "sequence", "first": 1, "step": 1}));
    id["auto_increment"] = json!(true);
    let log = table("log", 0, &[id, column("what", "VARCHAR(40)", &integer(1))]);
    data::prepare(&crate::support::statements::data(target, &[accounts, log]), &mut |_| {}).unwrap();
}

pub fn transactions(workload: &dyn Workload, target: &Target, count: u64) -> Summary {
    let load = Load {
        connections: 2,
        until: Until::Transactions(count),
        seed: 3,
    };
    assert_eq!(workload.preflight(&source(target), 2).unwrap(), vec![]);
    run(workload, &source(target), load).unwrap()
}

pub fn counts(summary: &Summary, name: &str) -> Counts {
    let of_type = summary
        .snapshot
        .transactions
        .get(name)
        .unwrap_or_else(|| panic!("no {name}"));
    of_type.counts
}

/// Moves money: the second statement takes what the first one found.
fn transfer() -> StatementsPlan {
    let keep = json!([{"column": "ID", "name": "to"}, {"column": "balance", "name": "had"}]);
    let find = statement(
        "SELECT id, balance FROM accounts WHERE id > ? ORDER BY id LIMIT 1 FOR UPDATE",
        &["from"],
        json!({"keep": keep, "no_row": "skip"}),
    );
    let take = statement(
        "UPDATE accounts SET balance = balance - ? WHERE id = ?",
        &["sum", "from"],
        json!({}),
    );
    let more = json!({"name": "then", "source": {"sum": {"value": "had", "add": 7}}});
    let give = statement(
        "UPDATE accounts SET balance = ? WHERE id = ? AND balance = ?",
        &["then", "to", "had"],
        json!({"values": [more], "no_row": "fail"}),
    );
    let seven = json!({"kind": "choice", "values": [7], "weights": [1]});
    let given = json!({"begin": true, "isolation": "read_committed", "values": [drawn("from", &integer(100)),
        drawn("sum", &seven)], "statements": [find, take, give]});
    workload(&["accounts"], &json!([transaction("transfer", given)]))
}

#[test]
fn values_are_carried_from_statement_to_statement() {
    on_each_server("st_carry", |_, target| {
        prepare(target);
        let mut control = connect(target);
        for workload in [transfer(), as_text(&transfer())] {
            let summary = transactions(&workload, target, 300);
            let counts = counts(&summary, "transfer");
            assert_eq!((counts.completed, counts.failed), (300, 0));
            assert_eq!(value(&mut control, "SELECT SUM(balance) FROM accounts"), "100000");
        }
        let moved: u64 = value(&mut control, "SELECT COUNT(*) FROM accounts WHERE balance <> 1000")
            .parse()
            .unwrap();
        assert!(moved > 30, "{moved}");
        assert_eq!(
            value(&mut control, "SELECT MAX((balance - 1000) % 7) FROM accounts"),
            "0"
        );
    });
}

#[test]
fn a_statement_that_finds_nothing_skips_or_fails_or_goes_on() {
    on_each_server("st_nothing", |_, target| {
        prepare(target);
        let note = statement("INSERT INTO log (what) VALUES (?)", &["found"], json!({}));
        let one = |no_row: &str| {
            let keep = json!([{"column": "id", "name": "found"}]);
            let find = statement(
                "SELECT id FROM accounts WHERE id = 1000",
                &[],
                json!({"keep": keep, "no_row": no_row}),
            );
            let before = statement("INSERT INTO log (what) VALUES ('begun')", &[], json!({}));
            let statements = json!([before, find, note]);
            workload(
                &["log"],
                &json!([transaction("t", json!({"begin": true, "statements": statements}))]),
            )
        };
        let mut control = connect(target);
        control.query("ALTER TABLE log MODIFY what VARCHAR(40) NULL").unwrap();
        let mut rows = |what: &str| value(&mut control, &format!("SELECT COUNT(*) FROM log WHERE {what}"));
        let summary = transactions(&one("skip"), target, 10);
        assert_eq!((counts(&summary, "t").completed, rows("TRUE")), (10, "10".to_owned()));
        let summary = transactions(&one("fail"), target, 10);
        assert_eq!(
            (counts(&summary, "t").failed, rows("TRUE")),
            (10, "10".to_owned()),
            "rolled back"
        );
        assert_eq!(
            (summary.snapshot.errors[0].code, summary.snapshot.errors[0].count),
            (1329, 10)
        );
        let summary = transactions(&one("continue"), target, 10);
        assert_eq!(
            (counts(&summary, "t").completed, rows("what IS NULL")),
            (10, "10".to_owned())
        );
    });
}

#[test]
fn weights_repetitions_insert_ids_and_types_do_what_they_say() {
    on_each_server("st_mix", |_, target| {
        prepare(target);
        let insert = statement(
            "INSERT INTO log (what) VALUES (?)",
            &["text"],
            json!({"values": [drawn("text", &json!({"kind": "characters", "alphabet": "letters", "length_min": 5,
                "length_max": 9}))], "keep_insert_id": "new", "repeat": {"range": {"min": 2, "max": 4}}}),
        );
        let mark = statement(
            "UPDATE log SET what = CONCAT('last:', what) WHERE id = ?",
            &["new"],
            json!({"no_row": "fail"}),
        );
        let read = statement(
            "SELECT ? AS a, ? AS b",
            &["x", "x"],
            json!({"values": [drawn("x", &integer(9))]}),
        );
        let both = workload(
            &["log"],
            &json!([
                transaction("write", json!({"weight": 1, "statements": [insert, mark]})),
                transaction("read", json!({"weight": 3, "statements": [read]})),
            ]),
        );
        let mut control = connect(target);
        for workload in [&both, &as_text(&both)] {
            control.query("TRUNCATE log").unwrap();
            let summary = transactions(workload, target, 800);
            let (write, read) = (counts(&summary, "write"), counts(&summary, "read"));
            assert_eq!((write.completed + read.completed, write.failed), (800, 0));
            assert!((150..250).contains(&write.completed), "{write:?}");
            assert_eq!((read.reads, read.rows_returned), (read.completed, read.completed));
            let last = value(
                &mut control,
                "SELECT COUNT(*) FROM log WHERE what REGEXP '^last:[a-z]{5,9}$'",
            );
            assert_eq!(last, write.completed.to_string());
            let rows: u64 = value(&mut control, "SELECT COUNT(*) FROM log").parse().unwrap();
            assert_eq!(rows, write.writes - write.completed);
            assert!(
                (2 * write.completed + 50..4 * write.completed - 50).contains(&rows),
                "{rows}"
            );
        }
    });
}

fn pausing(min_ms: f64, max_ms: f64) -> StatementsPlan {
    let one = statement("SELECT 1", &[], json!({}));
    let pause = json!({"min_ms": min_ms, "max_ms": max_ms});
    workload(
        &[],
        &json!([transaction("t", json!({"statements": [one], "think_time": pause}))]),
    )
}

#[test]
fn a_connection_that_pauses_holds_up_no_end_and_offers_nothing() {
    on_each_server("st_think", |_, target| {
        let load = Load {
            connections: 2,
            until: Until::Milliseconds(500),
            seed: 3,
        };
        let hour_ms = 3_600_000.0;
        let summary = run(&pausing(hour_ms, hour_ms), &source(target), load).unwrap();
        let done = summary.done.unwrap();
        assert_eq!((done.offered_count, done.unfinished_count), (0, 0));
    });
}

/// 40 connections that pause for a second do 8 transactions in each 200 ms from the first moment on, and not all at once.
#[test]
fn pauses_are_part_of_no_duration_and_connections_begin_spread_over_them() {
    let sim = Sim::start(Script::default()).unwrap();
    let target = over_tcp("127.0.0.1", sim.port(), "root", "test");
    let load = Load {
        connections: 40,
        until: Until::Milliseconds(2_000),
        seed: 3,
    };
    let summary = run(&pausing(1_000.0, 1_000.0), &source(&target), load).unwrap();
    let counts = counts(&summary, "t");
    assert!((1..=80).contains(&counts.completed), "{counts:?}"); // a busy machine is late
    let histograms = &summary.snapshot.transactions["t"].histograms;
    assert_eq!(histograms[&Measure::PoolWait].max_ns, 0);
    assert!(histograms[&Measure::Response].quantile_ns(0.5).unwrap() < 500_000_000);
    // If all began together, one interval in five would have 40 and the others none.
    let each = &summary.completed[..10];
    assert!(each.iter().filter(|count| **count > 0).count() > 3, "{each:?}");
}

#[test]
fn a_pace_is_given_once() {
    let plan = pausing(1.0, 1.0);
    let twice = closed_loop(&plan, 1, 4, Some(ThinkTimePlan::Exponential { mean_ms: 1.0 }), None).err();
    let message = "workload.transactions: have think times of their own; leave those or think_time out";
    assert_eq!(twice.expect("refused").message, message);
    assert!(closed_loop(&plan, 1, 4, None, None).is_ok());
}

#[test]
fn what_the_server_refuses_is_told_at_once_with_its_path() {
    on_each_server("st_refuses", |_, target| {
        let statements = json!([
            statement("SELECT nothing FROM nowhere", &[], json!({})),
            statement("SELEKT 1", &[], json!({}))
        ]);
        let wrong = workload(&["gone"], &json!([transaction("t", json!({"statements": statements}))]));
        let fault = wrong.preflight(&source(target), 1).unwrap_err();
        assert!(
            fault
                .message
                .contains("table gone does not exist: make it with `plimsoll prepare`"),
            "{fault}"
        );
        let wrong = workload(&[], &json!([transaction("t", json!({"statements": statements}))]));
        let fault = wrong.preflight(&source(target), 1).unwrap_err();
        for part in [
            "transaction[0].statement[0].sql",
            "nowhere",
            "statement[1].sql",
            "SELEKT",
        ] {
            assert!(fault.message.contains(part), "{part}: {fault}");
        }
        let keep = json!([{"column": "b", "name": "b"}]);
        let missing = json!([statement("SELECT 1 AS a", &[], json!({"keep": keep}))]);
        let missing = workload(&[], &json!([transaction("t", json!({"statements": missing}))]));
        let load = Load {
            connections: 1,
            until: Until::Transactions(1),
            seed: 3,
        };
        let fault = run(&missing, &source(target), load).err().unwrap();
        assert!(fault.message.contains("has no column `b`"), "{fault}");
        let fault = transfer().preflight(&source(target), 5_000).unwrap_err();
        assert!(fault.message.contains("accounts does not exist"), "{fault}");
        prepare(target);
        let fault = transfer().preflight(&source(target), 5_000).unwrap_err();
        assert!(fault.message.contains("max_connections is"), "{fault}");
    });
}

#[test]
fn nonsense_is_refused_before_anything_is_connected() {
    let statements = json!([statement("SELECT ?", &["x"], json!({}))]);
    let wrong = workload(
        &[],
        &json!([transaction("t", json!({"weight": 0, "statements": statements}))]),
    );
    let fault = factory(&wrong, &crate::support::nowhere(), 1, 1, Terms::default())
        .err()
        .unwrap();
    assert_eq!(fault.class, FailureClass::Spec);
    for part in ["transactions[0].weight", "there is no value \"x\""] {
        assert!(fault.message.contains(part), "{part}: {fault}");
    }
}
