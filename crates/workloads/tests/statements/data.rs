//! Tables of users' own workloads on a real server: made, used again, refused, removed.

use crate::support::statements::{column, integer, table};
use crate::support::{connect, on_each_server, value};
use plimsoll_core::plan::{DataPlan, DataSet, LoadMethod, StatementsData, Target};
use plimsoll_workloads::data;
use serde_json::{Value, json};

/// A table of every generator, with names and values that want quoting.
fn hostile() -> Value {
    let mut sparse = column("maybe", "DECIMAL(9,2)", &decimal());
    sparse["nullable"] = json!(true);
    sparse["null_ratio"] = json!(0.25);
    let mut id = column("id", "BIGINT", &json!({"kind": "sequence", "first": 10, "step": 10}));
    id["auto_increment"] = json!(true);
    let columns = [
        id,
        column("drop`table", "BIGINT", &integer(500)),
        column("select", "VARCHAR(20)", &choice()),
        sparse,
        column("at", "DATETIME(6)", &times()),
        column("digits", "VARCHAR(12)", &characters("digits", 3, 12)),
        column("template", "VARCHAR(40)", &template()),
    ];
    let mut made = table("order; DROP TABLE x --", 3_000, &columns);
    made["indexes"] = json!([{"name": "by`number", "columns": ["drop`table", "id"], "unique": true}]);
    made
}

fn decimal() -> Value {
    json!({"kind": "decimal", "first": -500, "count": 1001, "scale": 2, "distribution": {"kind": "uniform"}})
}

fn choice() -> Value {
    json!({"kind": "choice", "values": ["it's", "tab\tand\\", "NULL", "\\N", "line\nbreak", "ä€😀", ""],
        "weights": [1, 1, 1, 1, 1, 1, 1]})
}

fn times() -> Value {
    json!({"kind": "timestamp_sequence", "first_us": 1_709_164_800_000_000_i64, "step_us": 1_500_000})
}

fn characters(alphabet: &str, min: u32, max: u32) -> Value {
    json!({"kind": "characters", "alphabet": alphabet, "length_min": min, "length_max": max})
}

fn template() -> Value {
    let row = json!({"kind": "sequence", "first": 1, "step": 1});
    json!({"kind": "template", "parts": [{"text": "user-"}, {"generated": row}, {"text": "-"},
        {"generated": characters("hexadecimal", 4, 4)}]})
}

fn plan(target: &Target) -> DataPlan {
    crate::support::statements::data(
        target,
        &[hostile(), table("bare", 0, &[column("id", "INT", &integer(1))])],
    )
}

fn changed(target: &Target, change: impl Fn(&mut StatementsData)) -> DataPlan {
    let mut plan = plan(target);
    let DataSet::Statements(data) = &mut plan.data_set else {
        panic!("it is one of statements")
    };
    change(data);
    plan
}

fn prepare(plan: &DataPlan) -> u64 {
    data::prepare(plan, &mut |_| {}).unwrap().rows_count
}

fn refusal(plan: &DataPlan) -> String {
    data::prepare(plan, &mut |_| {}).unwrap_err().message
}

const NAME: &str = "`order; DROP TABLE x --`";

fn checksum(target: &Target) -> String {
    value(&mut connect(target), &format!("CHECKSUM TABLE {NAME}"))
}

#[test]
fn every_generator_gives_what_it_says_whatever_is_in_names_and_values() {
    on_each_server("st_rows", |_, target| {
        assert_eq!(prepare(&plan(target)), 3_000);
        let mut connection = connect(target);
        let mut holds = |condition: &str, expected: std::ops::RangeInclusive<u64>| {
            let sql = format!("SELECT COUNT(*) FROM {NAME} WHERE {condition}");
            let count: u64 = value(&mut connection, &sql).parse().unwrap();
            assert!(expected.contains(&count), "{condition}: {count}");
        };
        holds("id % 10 = 0 AND id BETWEEN 10 AND 30000", 3_000..=3_000);
        holds("`drop``table` BETWEEN 1 AND 500", 3_000..=3_000);
        holds("maybe IS NULL", 660..=840);
        holds("maybe BETWEEN -5.00 AND 5.00", 2_160..=2_340);
        holds("maybe <> ROUND(maybe, 1)", 1_800..=2_200);
        holds(
            "at = '2024-02-29' + INTERVAL (id / 10 - 1) * 1500000 MICROSECOND",
            3_000..=3_000,
        );
        holds("digits REGEXP '^[0-9]{3,12}$'", 3_000..=3_000);
        holds(
            "template REGEXP CONCAT('^user-', id DIV 10, '-[0-9a-f]{4}$')",
            3_000..=3_000,
        );
        for text in [
            "'it''s'",
            "'NULL'",
            "X'7461620961 6E645C'",
            "X'5C4E'",
            "X'6C696E650A627265616B'",
            "'ä€😀'",
            "''",
        ] {
            holds(&format!("`select` = {}", text.replace(' ', "")), 340..=520);
        }
        let ddl = value(&mut connection, &format!("SHOW CREATE TABLE {NAME}"));
        for part in [
            "UNIQUE KEY `by``number` (`drop``table`,`id`)",
            "PRIMARY KEY (`id`)",
            "AUTO_INCREMENT",
            "state=complete",
        ] {
            assert!(ddl.contains(part), "{part} in {ddl}");
        }
        assert_eq!(data::check(&plan(target), &mut |_| {}).unwrap().rows_count, 3_000);
        data::verify(&plan(target), &mut |_| {}).unwrap();
    });
}

#[test]
fn content_does_not_depend_on_loaders_or_method() {
    on_each_server("st_same_a", |server, target| {
        prepare(&DataPlan {
            loaders: 1,
            ..plan(target)
        });
        let expected = checksum(target);
        for (database, loaders, method) in [
            ("st_same_b", 5, LoadMethod::Auto),
            ("st_same_c", 3, LoadMethod::Inserts),
        ] {
            let target = &server.create_database(database);
            prepare(&DataPlan {
                loaders,
                method,
                ..plan(target)
            });
            assert_eq!(checksum(target), expected, "{loaders} loaders, {method:?}");
        }
    });
}

#[test]
fn only_what_plimsoll_made_from_this_definition_is_used_or_dropped() {
    on_each_server("st_refused", |_, target| {
        prepare(&plan(target));
        assert_eq!(prepare(&plan(target)), 3_000, "what fits is used as it is");
        let message = refusal(&changed(target, |data| data.tables[0].rows = 5));
        assert!(message.contains(" was made as (rows=3000 seed=5 shape="), "{message}");
        let other = changed(target, |data| data.tables[0].columns[6].null_ratio = 0.5);
        let other = DataPlan {
            data_set: match other.data_set {
                DataSet::Statements(mut data) => {
                    data.tables[0].columns[6].nullable = true;
                    DataSet::Statements(data)
                }
                other => other,
            },
            ..other
        };
        let message = refusal(&other);
        assert!(
            message.contains(") and not as wanted (rows=3000 seed=5 shape="),
            "{message}"
        );
        let mut control = connect(target);
        control.query(&format!("DELETE FROM {NAME} WHERE id = 10")).unwrap();
        let message = refusal(&plan(target));
        assert!(message.contains("has 2999 rows and not 3000: remove it"), "{message}");
        let message = data::check(&plan(target), &mut |_| {}).unwrap_err().message;
        assert!(message.contains("has 2999 rows and not 3000"), "{message}");
        let changing = changed(target, |data| data.changing = true);
        assert_eq!(data::check(&changing, &mut |_| {}).unwrap().rows_count, 2_999);
        control
            .query("ALTER TABLE bare COMMENT = 'mine', CHANGE id number INT")
            .unwrap();
        assert!(refusal(&plan(target)).contains("bare exists and was not made by Plimsoll"));
        let message = data::check(&plan(target), &mut |_| {}).unwrap_err().message;
        assert!(message.contains("bare has no column id"), "{message}");
        let message = data::cleanup(&plan(target), &mut |_| {}).unwrap_err().message;
        assert!(
            message.contains("bare not made by Plimsoll, so nothing was dropped"),
            "{message}"
        );
        let foreseen = |resets| data::foresee(&plan(target), resets, &mut |_| {}).unwrap_err().message;
        assert!(foreseen(false).contains("bare exists and was not made by Plimsoll"));
        assert!(foreseen(true).starts_with("bare not made by Plimsoll, so it cannot be put back"));
        control.query("DROP TABLE bare").unwrap();
        data::cleanup(&plan(target), &mut |_| {}).unwrap();
        assert_eq!(control.query_rows("SHOW TABLES", 9).unwrap().len(), 0);
    });
}

#[test]
fn values_that_do_not_fit_are_told_and_the_table_stays_unfinished() {
    on_each_server("st_cut", |_, target| {
        let cut = changed(target, |data| {
            data.tables[0].columns[5].sql_type = "VARCHAR(4)".to_owned();
        });
        for method in [LoadMethod::Auto, LoadMethod::Inserts] {
            let message = refusal(&DataPlan { method, ..cut.clone() });
            assert!(message.contains("digits"), "{message}");
            let message = data::check(&cut, &mut |_| {}).unwrap_err().message;
            assert!(
                message.contains("is unfinished: complete it with `plimsoll prepare`"),
                "{message}"
            );
            prepare(&plan(target));
            data::cleanup(&plan(target), &mut |_| {}).unwrap();
        }
    });
}

#[test]
fn nonsense_is_refused_before_anything_is_connected() {
    let nowhere = Target {
        database: String::new(),
        ..serde_json::from_value(json!({"endpoint": {"socket": {"path": "/nowhere"}}, "user": "", "database": ""}))
            .unwrap()
    };
    let plan = changed(&nowhere, |data| {
        data.tables[0].columns[0].sql_type = "INT); DROP TABLE x; --".to_owned();
        data.tables[1].name = String::new();
    });
    let message = refusal(&plan);
    assert!(
        message.contains("tables[0].columns[0].sql_type") && message.contains("tables[1].name"),
        "{message}"
    );
}
