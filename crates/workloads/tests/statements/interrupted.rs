//! Users' own tables whose loading was interrupted on a real server, and whether what is there is what was meant.

use std::path::PathBuf;
use std::process::Command;

use crate::support::statements::{column, data, integer, table};
use crate::support::{Kind, await_no_others, connect, count_others, is_for_each_server, on_each_server, value};
use plimsoll_core::message::FailureClass;
use plimsoll_core::plan::{DataPlan, Endpoint, LoadMethod, Secret, ServerKey, Target, Tls};
use plimsoll_workloads::data::{self as engine, DataEvent};
use rustix::process::{Signal, getpid, kill_process};
use serde_json::{Value, json};

const CHUNK_ROWS: u64 = 50_000;
const KILLED_ROWS: u64 = 150_000;
const NAMES: [&str; 3] = ["numbered", "listed", "bare"];

fn sequence(first: i64, step: i64) -> Value {
    json!({"kind": "sequence", "first": first, "step": step})
}

fn letters(count: u32) -> Value {
    json!({"kind": "characters", "alphabet": "letters", "length_min": 1, "length_max": count})
}

/// A table whose rows are told by ranges, one by lists of keys of three columns, and one without any key.
fn tables(rows: u64) -> Vec<Value> {
    let mut id = column("id", "BIGINT", &sequence(-100, 3));
    id["nullable"] = json!(false);
    let mut numbered = table(
        "numbered",
        rows,
        &[
            id,
            column("n", "INT", &integer(500)),
            column("c", "VARCHAR(40)", &letters(40)),
        ],
    );
    numbered["indexes"] = json!([{"name": "by_n", "columns": ["n"], "unique": false}]);
    let times = json!({"kind": "timestamp_sequence", "first_us": 1_709_164_800_000_000_i64, "step_us": 1_500_000});
    let name = json!({"kind": "template", "parts": [{"text": "it's-"}, {"generated": sequence(1, 1)}]});
    let mut listed = table(
        "listed",
        rows,
        &[
            column("s", "INT", &integer(200)),
            column("at", "DATETIME(6)", &times),
            column("name", "VARCHAR(20)", &name),
        ],
    );
    listed["primary_key"] = json!(["s", "at", "name"]);
    let mut bare = table("bare", 1_000, &[column("c", "VARCHAR(9)", &letters(9))]);
    bare["primary_key"] = json!([]);
    vec![numbered, listed, bare]
}

fn plan(target: &Target, rows: u64) -> DataPlan {
    data(target, &tables(rows))
}

fn prepare(plan: &DataPlan) {
    engine::prepare(plan, &mut |_| {}).unwrap();
}

/// Rows of the tables with keys, both together, as a query gives them of each.
fn sum(target: &Target, query: &str) -> u64 {
    let mut control = connect(target);
    let mut of = |name: &str| -> u64 { value(&mut control, &query.replace('#', name)).parse().unwrap() };
    of("numbered") + of("listed")
}

/// Makes the rest of the tables with keys; returns how many rows were missing, and how many were sent to tables that stayed.
fn complete(plan: &DataPlan) -> (u64, u64) {
    let mut control = connect(&plan.target);
    for name in ["numbered", "listed"] {
        for sql in [
            format!("CREATE TABLE sent_to_{name} (one INT)"),
            // It waits until nothing is under way there.
            format!(
                "CREATE TRIGGER t_{name} BEFORE INSERT ON {name} FOR EACH ROW INSERT INTO sent_to_{name} VALUES (1)"
            ),
        ] {
            control.query(&sql).unwrap();
        }
    }
    let before = sum(&plan.target, "SELECT COUNT(*) FROM #");
    prepare(plan);
    let missing = sum(&plan.target, "SELECT COUNT(*) FROM #") - before;
    let sent = sum(&plan.target, "SELECT COUNT(*) FROM sent_to_#");
    for name in ["numbered", "listed"] {
        control.query(&format!("DROP TRIGGER IF EXISTS t_{name}")).unwrap();
        control.query(&format!("DROP TABLE sent_to_{name}")).unwrap();
    }
    (missing, sent)
}

fn verify(plan: &DataPlan) {
    engine::verify(plan, &mut |event| {
        assert!(matches!(event, DataEvent::Progress(_)), "{event:?}");
    })
    .unwrap();
}

fn checksums(target: &Target) -> Vec<String> {
    let mut control = connect(target);
    NAMES
        .map(|name| value(&mut control, &format!("CHECKSUM TABLE {name}")))
        .to_vec()
}

/// Puts complete tables back to what an engine that was killed while loading leaves.
fn interrupt(target: &Target, lost: &[&str]) {
    let mut control = connect(target);
    control.query("ALTER TABLE numbered DROP INDEX by_n").unwrap();
    for name in NAMES {
        let mark = value(
            &mut control,
            &format!(
                "SELECT REPLACE(TABLE_COMMENT, 'complete', 'loading') FROM information_schema.TABLES \
                 WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '{name}'"
            ),
        );
        control
            .query(&format!("ALTER TABLE {name} COMMENT = '{mark}'"))
            .unwrap();
    }
    for sql in lost {
        control.query(sql).unwrap();
    }
}

/// Not a test by itself: the process that the next one starts, which dies in the middle of loading.
#[test]
#[ignore = "it kills its own process"]
fn own_loader_that_is_killed() {
    let setting = |name: &str| std::env::var(name).unwrap();
    let target = Target {
        endpoint: Endpoint::Socket {
            path: PathBuf::from(setting("LOADER_SOCKET")),
        },
        user: "root".to_owned(),
        password: Secret::default(),
        database: setting("LOADER_DATABASE"),
        tls: Tls::Preferred,
        server_key: ServerKey::None,
    };
    let method = if setting("LOADER_METHOD") == "inserts" {
        LoadMethod::Inserts
    } else {
        LoadMethod::Auto
    };
    let mut die = |event: DataEvent| {
        if let DataEvent::Progress(progress) = event {
            if progress.phase == "load" && (CHUNK_ROWS..2 * KILLED_ROWS).contains(&progress.done_count) {
                kill_process(getpid(), Signal::KILL).unwrap();
            }
        }
    };
    let plan = DataPlan {
        method,
        ..plan(&target, KILLED_ROWS)
    };
    engine::prepare(&plan, &mut die).unwrap();
}

#[test]
fn a_load_that_was_killed_is_gone_on_with_and_ends_with_the_same_rows() {
    on_each_server("st_whole", |server, target| {
        prepare(&plan(target, KILLED_ROWS));
        let expected = checksums(target);
        // What was inserted does not depend on the server.
        let methods = if server.kind == Kind::MariaDb || is_for_each_server() {
            &["auto", "inserts"][..]
        } else {
            &["auto"]
        };
        for method in methods {
            let target = server.create_database(&format!("st_killed_{method}"));
            let loader = Command::new(std::env::current_exe().unwrap())
                .args(["--ignored", "--exact", "interrupted::own_loader_that_is_killed"])
                .env("LOADER_SOCKET", server.socket())
                .env("LOADER_DATABASE", &target.database)
                .env("LOADER_METHOD", method)
                .output()
                .unwrap();
            assert!(!loader.status.success(), "it ended before it was killed");
            let its_own = format!("DB = '{}'", target.database);
            await_no_others(&mut connect(&server.target("")), &its_own);
            let (missing, sent) = complete(&plan(&target, KILLED_ROWS));
            assert!(missing <= 2 * KILLED_ROWS - CHUNK_ROWS, "{method}: {missing}");
            assert_eq!(sent, missing, "{method}");
            assert_eq!(checksums(&target), expected, "{method}");
            verify(&plan(&target, KILLED_ROWS));
        }
    });
}

#[test]
fn only_what_is_missing_is_sent_and_one_altered_row_is_found() {
    on_each_server("st_missing", |_, target| {
        let plan = plan(target, 60_000);
        prepare(&plan);
        check_that_only_what_is_missing_is_sent(&plan);
        check_that_one_altered_row_is_found(&plan);
    });
}

fn check_that_only_what_is_missing_is_sent(plan: &DataPlan) {
    let target = &plan.target;
    let expected = checksums(target);
    interrupt(
        target,
        &[
            // The values of rows 40,001 to 50,000 and from 55,001 on; of those from 20,001 to 50,000; of the last 400.
            "DELETE FROM numbered WHERE id BETWEEN 119900 AND 149899 OR id >= 164900",
            "DELETE FROM listed WHERE SUBSTRING(name, 6) BETWEEN 20001 AND 50000",
        ],
    );
    assert_eq!(complete(plan), (45_000, 45_000));
    assert_eq!(checksums(target), expected);
    interrupt(target, &[]);
    assert_eq!(complete(plan), (0, 0), "only index and mark were missing");
    let index = "SELECT COUNT(*) FROM information_schema.STATISTICS \
                 WHERE TABLE_SCHEMA = DATABASE() AND INDEX_NAME = 'by_n'";
    assert_eq!(value(&mut connect(target), index), "1");
}

fn check_that_one_altered_row_is_found(plan: &DataPlan) {
    verify(plan);
    let mut control = connect(&plan.target);
    for (change, back, place) in [
        (
            "UPDATE numbered SET n = n + 1 WHERE id = 149903",
            "UPDATE numbered SET n = n - 1 WHERE id = 149903",
            "numbered id 149900 to 179897: ",
        ),
        (
            "UPDATE listed SET at = at + INTERVAL 1 MICROSECOND WHERE name = 'it''s-50001'",
            "UPDATE listed SET at = at - INTERVAL 1 MICROSECOND WHERE name = 'it''s-50001'",
            "listed rows 50001 to 60000 as they were made: ",
        ),
    ] {
        control.query(change).unwrap();
        engine::check(plan, &mut |_| {}).expect("as many rows as before");
        let fault = engine::verify(plan, &mut |_| {}).unwrap_err();
        assert_eq!(fault.class, FailureClass::Data);
        assert!(fault.message.contains(place), "{change}: {fault}");
        control.query(back).unwrap();
    }
    verify(plan);
    control.query("DELETE FROM listed WHERE name = 'it''s-7'").unwrap();
    for fault in [
        engine::verify(plan, &mut |_| {}).unwrap_err(),
        engine::prepare(plan, &mut |_| {}).unwrap_err(),
    ] {
        assert_eq!(fault.class, FailureClass::Data);
        assert!(fault.message.contains("listed has 59999 rows and not 60000"), "{fault}");
    }
}

#[test]
fn rows_of_somebody_else_in_an_unfinished_table_are_refused_and_stay() {
    let theirs = [
        (
            "UPDATE numbered SET c = 'mine?' WHERE id = -97",
            "numbered id -100 to 2897 ",
        ),
        ("DELETE FROM numbered WHERE id = -97", "numbered id -100 to 2897 "),
        (
            "INSERT INTO numbered VALUES (2900, 1, 'mine')",
            "numbered is unfinished and has id from -100 to 2900",
        ),
        (
            "INSERT INTO numbered VALUES (-99, 1, 'mine')",
            "numbered id -100 to 2897 ",
        ),
        (
            "UPDATE listed SET s = s + 1 WHERE name = 'it''s-7'",
            "listed rows 1 to 1000 as they were made ",
        ),
        (
            "INSERT INTO listed VALUES (1, NOW(), 'mine')",
            "listed has 1001 rows and not 1000",
        ),
        (
            "INSERT INTO bare VALUES ('mine')",
            "bare rows 1 to 1000 as they were made ",
        ),
    ];
    on_each_server("st_theirs", |_, target| {
        let plan = plan(target, 1_000);
        for (sql, place) in theirs {
            prepare(&plan);
            interrupt(target, &[sql]);
            let before = checksums(target);
            let fault = engine::prepare(&plan, &mut |_| {}).unwrap_err();
            assert_eq!(fault.class, FailureClass::Data, "{sql}: {fault}");
            assert!(
                fault.message.contains(place) && fault.message.contains("plimsoll cleanup"),
                "{sql}: {fault}"
            );
            assert_eq!(checksums(target), before, "{sql}");
            engine::cleanup(&plan, &mut |_| {}).unwrap();
        }
    });
}

#[test]
fn rows_that_come_while_they_are_counted_are_all_seen_or_none() {
    on_each_server("st_meanwhile", |_, target| {
        let plan = plan(target, CHUNK_ROWS);
        prepare(&plan);
        interrupt(target, &["CREATE TABLE kept AS SELECT * FROM listed"]);
        let mut killed = connect(target);
        killed.query("DELETE FROM listed").unwrap();
        killed.query("BEGIN").unwrap();
        killed.query("INSERT INTO listed SELECT * FROM kept").unwrap();
        std::thread::scope(|scope| {
            let goes_on = scope.spawn(|| prepare(&plan));
            let counts = "DB = DATABASE() AND INFO LIKE 'SELECT COUNT%FROM `listed`%'";
            let is_counting = || count_others(&mut connect(target), counts).is_some_and(|count| count > 0);
            while !is_counting() && !goes_on.is_finished() {}
            killed.query("COMMIT").unwrap();
        });
        verify(&plan);
    });
}

/// A value of a type that servers show otherwise than it was sent must neither be taken for altered nor hide what was.
#[test]
fn values_of_every_type_are_compared_as_the_server_shows_them() {
    let time = |step_us: i64| json!({"kind": "timestamp_sequence", "first_us": 0, "step_us": step_us});
    let cents =
        json!({"kind": "decimal", "first": -500, "count": 1001, "scale": 2, "distribution": {"kind": "uniform"}});
    let choice = |values: Value| {
        let weights = vec![1; values.as_array().unwrap().len()];
        json!({"kind": "choice", "values": values, "weights": weights})
    };
    let texts = choice(json!(["a ", "  b", "é"]));
    let mut maybe = column("maybe", "CHAR(9) CHARACTER SET latin1", &texts);
    maybe["nullable"] = json!(true);
    maybe["null_ratio"] = json!(0.5);
    let object = json!({"kind": "template", "parts": [{"text": "{\"a\":1}"}]});
    let columns = [
        column("id", "DECIMAL(20,2)", &sequence(9, -3)),
        column("day", "DATE", &time(86_400_000_000)),
        column("ms", "DATETIME(3)", &time(1_000)),
        column("stamp", "TIMESTAMP", &choice(json!(["2024-02-29 12:00:00"]))),
        column("exact", "DECIMAL(9,4) UNSIGNED", &choice(json!([1, "0.5", "12.25"]))),
        column("cents", "DECIMAL(5,2)", &cents),
        column("flag", "BOOLEAN", &choice(json!([0, 1]))),
        column("blob", "BLOB", &choice(json!(["ä\u{0}€", "\\N", ""]))),
        column("wide", "TEXT CHARACTER SET utf16", &choice(json!(["😀"]))),
        column("double", "DOUBLE", &cents),
        column("object", "JSON", &object),
        maybe,
    ];
    on_each_server("st_types", |_, target| {
        let plan = data(target, &[table("typed", 2_000, &columns)]);
        for method in [LoadMethod::Auto, LoadMethod::Inserts] {
            let plan = DataPlan { method, ..plan.clone() };
            engine::prepare(&plan, &mut |_| {}).unwrap();
            let mut warned = Vec::new();
            let mut observe = |event| {
                if let DataEvent::Warning(warning) = event {
                    warned.push(warning.evidence);
                }
            };
            engine::verify(&plan, &mut observe).unwrap();
            let left_out = "Not compared: typed.stamp (TIMESTAMP), typed.double (DOUBLE), typed.object (JSON).";
            assert_eq!(warned, [left_out]);
            engine::cleanup(&plan, &mut |_| {}).unwrap();
        }
        engine::prepare(&plan, &mut |_| {}).unwrap();
        for change in [
            "day = day + INTERVAL 1 DAY",
            "ms = ms + INTERVAL 1000 MICROSECOND",
            "exact = exact + 0.0001",
            "cents = 5.01",
            "flag = 1 - flag",
            "`blob` = CONCAT(`blob`, 'x')",
            "wide = NULLIF(wide, '')",
            "maybe = IFNULL(maybe, 'NULL')",
        ] {
            let mut control = connect(target);
            control.query("CREATE TABLE kept LIKE typed").unwrap();
            control.query("INSERT INTO kept SELECT * FROM typed").unwrap();
            let affected = control
                .query(&format!("UPDATE typed SET {change}"))
                .unwrap()
                .rows_affected;
            let verified = engine::verify(&plan, &mut |_| {});
            assert_eq!(verified.is_err(), affected > 0, "{change}: {verified:?}");
            control.query("REPLACE INTO typed SELECT * FROM kept").unwrap();
            control.query("DROP TABLE kept").unwrap();
        }
        engine::verify(&plan, &mut |_| {}).unwrap();
    });
}
