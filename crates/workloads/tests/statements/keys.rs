//! Keys of users' own tables on a real server: of several columns, of prefixes, between tables.

use crate::support::statements::{column, data, integer, table};
use crate::support::{Kind, connect, is_for_each_server, on_each_server, value};
use plimsoll_core::plan::{DataPlan, DataSet, LoadMethod, Target};
use plimsoll_workloads::data as engine;
use serde_json::{Value, json};

/// Rows of a warehouse and of a district: fewer than a chunk has, so that chunks begin in the middle of both.
const DISTRICT_ROWS: u64 = 1_500;
const WAREHOUSE_ROWS: u64 = 15_000;

fn sequence(each: u64, cycle: Option<u64>) -> Value {
    match cycle {
        Some(cycle) => json!({"kind": "sequence", "first": 1, "step": 1, "each": each, "cycle": cycle}),
        None => json!({"kind": "sequence", "first": 1, "step": 1, "each": each}),
    }
}

fn email(row: &Value) -> Value {
    json!({"kind": "template", "parts": [{"text": "customer-"}, {"generated": row}, {"text": "@example.org"}]})
}

fn foreign_key(name: &str, columns: &Value, referred: &str, references: &Value, on_delete: &str) -> Value {
    json!({"name": name, "columns": columns, "table": referred, "references": references, "on_delete": on_delete})
}

/// Customers by a key of three columns, who refer to each other; visits to them; both refer to each other in a circle.
fn tables(rows: u64) -> Vec<Value> {
    let mut best = column("best_visit", "BIGINT", &integer(900));
    best["nullable"] = json!(true);
    best["null_ratio"] = json!(0.5);
    let mut customers = table(
        "customers",
        rows,
        &[
            column("w_id", "INT", &sequence(WAREHOUSE_ROWS, None)),
            column("d_id", "TINYINT UNSIGNED", &sequence(DISTRICT_ROWS, Some(10))),
            column("c_id", "INT", &sequence(1, Some(DISTRICT_ROWS))),
            column("email", "VARCHAR(60)", &email(&sequence(1, None))),
            column("friend", "VARCHAR(60)", &email(&integer(rows))),
            best,
            column(
                "about",
                "TEXT",
                &json!({"kind": "characters", "alphabet": "letters", "length_min": 9, "length_max": 99}),
            ),
        ],
    );
    customers["primary_key"] = json!(["w_id", "d_id", "c_id"]);
    customers["indexes"] = json!([{"name": "by_email", "columns": ["email"], "unique": true},
        {"name": "by_about", "columns": ["about", "w_id"], "unique": false, "lengths": [20, 0]}]);
    customers["foreign_keys"] = json!([
        foreign_key("fk_best", &json!(["best_visit"]), "visits", &json!(["id"]), "set_null"),
        foreign_key(
            "fk_friend",
            &json!(["friend"]),
            "customers",
            &json!(["email"]),
            "restrict"
        ),
    ]);
    let mut visits = table(
        "visits",
        900,
        &[
            column("id", "BIGINT", &sequence(1, None)),
            column("w", "INT", &integer(1)),
            column("d", "TINYINT UNSIGNED", &integer(4)),
            column("c", "INT", &integer(DISTRICT_ROWS)),
        ],
    );
    visits["foreign_keys"] = json!([foreign_key(
        "fk_visitor",
        &json!(["w", "d", "c"]),
        "customers",
        &json!(["w_id", "d_id", "c_id"]),
        "cascade"
    )]);
    vec![visits, customers]
}

fn plan(target: &Target, rows: u64) -> DataPlan {
    data(target, &tables(rows))
}

fn prepare(plan: &DataPlan) {
    engine::prepare(plan, &mut |_| {}).unwrap();
}

fn sql(target: &Target, statement: &str) {
    connect(target).query(statement).unwrap();
}

fn ask(target: &Target, query: &str) -> String {
    value(&mut connect(target), query)
}

fn foreign_keys(target: &Target) -> String {
    ask(
        target,
        "SELECT COUNT(*) FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = DATABASE()",
    )
}

fn is_empty(target: &Target) -> bool {
    connect(target).query_rows("SHOW TABLES", 9).unwrap().is_empty()
}

/// Puts a complete table back to what an engine that was killed while loading leaves.
fn unfinish(target: &Target, name: &str) {
    let comment = format!(
        "SELECT REPLACE(TABLE_COMMENT, 'complete', 'loading') FROM information_schema.TABLES \
         WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '{name}'"
    );
    let mark = ask(target, &comment);
    sql(target, &format!("ALTER TABLE {name} COMMENT = '{mark}'"));
}

#[test]
fn tables_that_refer_to_each_other_are_made_checked_gone_on_with_and_removed() {
    on_each_server("st_keys", |server, target| {
        let plan = plan(target, 60_000);
        prepare(&plan);
        check_keys(&plan);
        check_that_what_was_interrupted_goes_on(&plan);
        engine::cleanup(&plan, &mut |_| {}).unwrap();
        assert!(is_empty(target));
        // What is inserted does not depend on the server.
        if server.kind == Kind::MariaDb || is_for_each_server() {
            let method = LoadMethod::Inserts;
            let plan = DataPlan { method, ..plan };
            prepare(&plan);
            check_keys(&plan);
            engine::cleanup(&plan, &mut |_| {}).unwrap();
        }
    });
}

fn check_keys(plan: &DataPlan) {
    let target = &plan.target;
    prepare(plan);
    engine::verify(plan, &mut |_| {}).unwrap();
    assert_eq!(foreign_keys(target), "3");
    let keys = "SELECT COUNT(DISTINCT w_id, d_id, c_id) FROM customers \
        WHERE (w_id, d_id, c_id) <= (4, 10, 1500) AND w_id > 0 AND d_id BETWEEN 1 AND 10 AND c_id > 0";
    assert_eq!(ask(target, keys), "60000");
    let last = "SELECT CONCAT_WS(',', w_id, d_id, c_id) FROM customers WHERE email = 'customer-16501@example.org'";
    assert_eq!(ask(target, last), "2,2,1");
    let prefix = "SELECT SUB_PART FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() \
        AND INDEX_NAME = 'by_about' AND COLUMN_NAME = 'about'";
    assert_eq!(ask(target, prefix), "20");
    // The server enforces them from now on.
    let refused = connect(target).query("UPDATE customers SET friend = 'nobody' WHERE c_id = 1");
    assert_eq!(refused.unwrap_err().server_code(), Some(1452));
}

fn check_that_what_was_interrupted_goes_on(plan: &DataPlan) {
    let target = &plan.target;
    let expected = ask(target, "CHECKSUM TABLE customers");
    // Killed while rows were loaded: rows of the second chunk are missing, and no foreign key is there yet.
    sql(
        target,
        "ALTER TABLE customers DROP FOREIGN KEY fk_best, DROP FOREIGN KEY fk_friend",
    );
    sql(target, "ALTER TABLE visits DROP FOREIGN KEY fk_visitor");
    sql(target, "DELETE FROM customers WHERE w_id = 4 AND d_id > 5");
    unfinish(target, "customers");
    unfinish(target, "visits");
    prepare(plan);
    assert_eq!(
        (ask(target, "CHECKSUM TABLE customers"), foreign_keys(target)),
        (expected.clone(), "3".to_owned())
    );
    // Killed between two tables that were complete but for the word, and between foreign keys.
    unfinish(target, "visits");
    sql(target, "ALTER TABLE customers DROP FOREIGN KEY fk_best");
    unfinish(target, "customers");
    prepare(plan);
    engine::verify(plan, &mut |_| {}).unwrap();
    assert_eq!(
        (ask(target, "CHECKSUM TABLE customers"), foreign_keys(target)),
        (expected, "3".to_owned())
    );
}

#[test]
fn an_unfinished_table_of_another_definition_is_made_again_below_one_that_refers_to_it() {
    on_each_server("st_keys_again", |_, target| {
        prepare(&plan(target, 9_000));
        unfinish(target, "visits");
        let mut other = plan(target, 9_000);
        let DataSet::Statements(data) = &mut other.data_set else {
            panic!("it is one of statements")
        };
        data.tables[0].columns[3].sql_type = "INT NOT NULL".to_owned();
        prepare(&other);
        assert_eq!(foreign_keys(target), "3");
        engine::verify(&other, &mut |_| {}).unwrap();
    });
}

#[test]
fn tables_of_others_are_not_touched_and_rows_without_a_parent_are_told() {
    on_each_server("st_keys_others", |server, target| {
        let plan = plan(target, 9_000);
        prepare(&plan);
        let theirs = server.create_database("st_keys_theirs");
        let refers = "CREATE TABLE mine (v BIGINT, FOREIGN KEY (v) REFERENCES st_keys_others.visits (id))";
        for of in [target, &theirs] {
            sql(of, refers);
            let message = engine::cleanup(&plan, &mut |_| {}).unwrap_err().message;
            let said = format!(
                "{}.mine, which Plimsoll did not make, refers to visits by the foreign key",
                of.database
            );
            assert!(
                message.contains(&said) && message.contains("nothing was dropped"),
                "{message}"
            );
            assert_eq!(ask(target, "SELECT COUNT(*) FROM customers"), "9000");
            sql(of, "DROP TABLE mine");
        }
        assert_eq!(foreign_keys(target), "3");
        engine::cleanup(&plan, &mut |_| {}).unwrap();
        let mut orphans = tables(9_000);
        orphans[0]["columns"][2]["generator"] = json!({"kind": "sequence", "first": 7, "step": 0});
        let orphans = data(target, &orphans);
        let message = engine::prepare(&orphans, &mut |_| {}).unwrap_err().message;
        let said = "visits (w, d, c) refers to customers (w_id, d_id, c_id), but there is no row with 1, 7, ";
        assert!(message.contains(said), "{message}");
        prepare(&plan);
        engine::verify(&plan, &mut |_| {}).unwrap();
    });
}
