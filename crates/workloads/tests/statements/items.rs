//! Loops, repetitions and rows that take the items of a list, on real servers.

use crate::learned::{both, marks, number};
use crate::running::{counts, prepare, transactions};
use crate::support::statements::{drawn, integer, statement, transaction, workload};
use crate::support::{connect, on_each_server, value};
use serde_json::{Value, json};

/// A list that is drawn before the first statement, with these of `sorted` and `distinct`.
fn list_of(name: &str, generator: &Value, items: &Value, given: &Value) -> Value {
    let mut value = drawn(name, generator);
    value["items"] = items.clone();
    for (key, said) in given.as_object().unwrap() {
        value[key] = said.clone();
    }
    value
}

fn item_of(name: &str, list: &str) -> Value {
    json!({"name": name, "source": {"item_of": {"list": list}}})
}

const MARKED: &str = "CREATE TABLE marked (id BIGINT AUTO_INCREMENT PRIMARY KEY, tag BIGINT, kind CHAR(1), item VARCHAR(40), row_number_ INT)";

fn tag() -> Value {
    drawn("tag", &integer(1_000_000_000_000))
}

/// The items of each tag in the order in which they were inserted, as statements that are alike for all.
fn marked(kind: &str, order: &str) -> String {
    format!("SELECT tag, GROUP_CONCAT(item ORDER BY {order}) AS items FROM marked WHERE kind = '{kind}' GROUP BY tag")
}

#[test]
fn a_loop_runs_for_each_item_of_a_list_in_its_order() {
    on_each_server("st_item_loop", |_, target| {
        prepare(target);
        connect(target).query(MARKED).unwrap();
        let sql = |items: &str| {
            format!("INSERT INTO marked (tag, kind, item) SELECT ?, 'l', id FROM accounts WHERE id IN ({items})")
        };
        let lengths = json!({"weighted": {"counts": [1, 3, 20], "weights": [1.0, 1.0, 1.0]}});
        let texts: Vec<String> = [1, 3, 20].iter().map(|count| sql(&marks(*count))).collect();
        let note_list = statement(&sql("?"), &["tag", "ids"], json!({"variants": texts}));
        let insert = |kind: &str, given: Value| {
            let sql = format!("INSERT INTO marked (tag, kind, item) VALUES (?, '{kind}', ?)");
            statement(&sql, &["tag", "item"], given)
        };
        let by_item = json!({"items_of": "ids"});
        let given = json!({"begin": true,
            "values": [tag(), list_of("ids", &integer(24), &lengths, &json!({"sorted": true, "distinct": true}))],
            "statements": [note_list, insert("a", json!({"values": [item_of("item", "ids")]})), insert("b", json!({})),
                insert("r", json!({"values": [item_of("item", "ids")], "repeat": by_item}))],
            "loops": [{"first": 1, "count": 2, "repeat": by_item}]});
        let plan = workload(&["accounts"], &json!([transaction("t", given)]));
        both(&plan, target, |workload, control| {
            control.query("TRUNCATE marked").unwrap();
            assert_eq!(counts(&transactions(workload, target, 60), "t").completed, 60);
            for kind in ["a", "b", "r"] {
                let (list, items) = (marked("l", "item + 0"), marked(kind, "id"));
                let alike =
                    format!("SELECT COUNT(*) FROM ({list}) l JOIN ({items}) i ON l.tag = i.tag AND l.items = i.items");
                assert_eq!(number(control, &alike), 60, "{kind}");
            }
            let lengths = "SELECT COUNT(*) AS size FROM marked WHERE kind = 'a' GROUP BY tag";
            let sizes = format!("SELECT GROUP_CONCAT(DISTINCT size ORDER BY size) FROM ({lengths}) x");
            assert_eq!(value(control, &sizes), "1,3,20", "20 of 24 are different");
        });
    });
}

#[test]
fn rows_take_the_items_of_a_list_which_are_counted_through_again() {
    on_each_server("st_item_rows", |_, target| {
        prepare(target);
        connect(target).query(MARKED).unwrap();
        let sql = |kind: &str, rows: usize| {
            let rows = vec![format!("(?, '{kind}', ?, ?)"); rows].join(", ");
            format!("INSERT INTO marked (tag, kind, item, row_number_) VALUES {rows}")
        };
        let insert = |kind: &str, list: &str, rows: Value, counts: &[usize]| {
            let texts: Vec<String> = counts.iter().map(|count| sql(kind, *count)).collect();
            let row_number = json!({"name": "number", "source": {"row_number": {}}});
            let given = json!({"values": [item_of("item", list), row_number],
                "rows": {"first": 0, "count": 3, "rows": rows}, "variants": texts});
            statement(&sql(kind, 1), &["tag", "item", "number"], given)
        };
        let words = json!({"kind": "characters", "alphabet": "letters", "length_min": 1, "length_max": 9});
        let lengths = json!({"weighted": {"counts": [2, 5], "weights": [1.0, 1.0]}});
        let single = statement(
            "INSERT INTO marked (tag, kind, item) VALUES (?, 's', ?)",
            &["tag", "item"],
            json!({"values": [item_of("item", "words")], "repeat": {"range": {"min": 5, "max": 5}}}),
        );
        let given = json!({"values": [tag(), list_of("words", &words, &lengths, &json!({"sorted": true})),
                list_of("numbers", &integer(9), &json!({"items_of": "words"}), &json!({"distinct": true}))],
            "statements": [insert("a", "words", json!({"items_of": "words"}), &[2, 5]),
                insert("b", "words", json!({"range": {"min": 5, "max": 5}}), &[5]),
                insert("c", "numbers", json!({"items_of": "numbers"}), &[2, 5]), single]});
        let plan = workload(&["accounts"], &json!([transaction("t", given)]));
        both(&plan, target, |workload, control| {
            control.query("TRUNCATE marked").unwrap();
            assert_eq!(counts(&transactions(workload, target, 60), "t").completed, 60);
            let sorted = format!(
                "SELECT COUNT(*) FROM ({}) one JOIN ({}) other ON one.tag = other.tag AND one.items = other.items",
                marked("a", "row_number_"),
                marked("a", "item")
            );
            assert_eq!(number(control, &sorted), 60, "letters rise");
            let through = format!(
                "SELECT COUNT(*) FROM ({}) list JOIN ({}) rows5 ON list.tag = rows5.tag JOIN ({}) single
                 ON single.tag = list.tag AND single.items = rows5.items
                 WHERE rows5.items = list.items OR rows5.items = CONCAT_WS(',', list.items, list.items,
                     SUBSTRING_INDEX(list.items, ',', 1))",
                marked("a", "row_number_"),
                marked("b", "row_number_"),
                marked("s", "id"),
            );
            assert_eq!(number(control, &through), 60);
            let sizes = |kind: &str| {
                format!(
                    "SELECT tag, COUNT(*) AS size, COUNT(DISTINCT item) AS items FROM marked WHERE kind = '{kind}' GROUP BY tag"
                )
            };
            let as_many = format!(
                "SELECT COUNT(*) FROM ({}) words JOIN ({}) numbers ON words.tag = numbers.tag AND words.size = numbers.items",
                sizes("a"),
                sizes("c"),
            );
            assert_eq!(number(control, &as_many), 60);
            let short = number(control, "SELECT COUNT(*) FROM marked WHERE kind = 'a'");
            assert!(60 * 2 < short && short < 60 * 5, "both lengths came: {short}");
        });
    });
}
