//! Values that are earlier ones in a share of their draws, on real servers.

use crate::learned::{both, marks, number};
use crate::running::{counts, prepare, transactions};
use crate::support::statements::{drawn, integer, statement, transaction, workload};
use crate::support::{connect, on_each_server};
use serde_json::{Value, json};

const COUNT: u64 = 400;

/// A number that no other draw is by chance, but in such a share of its draws this earlier value.
fn often(name: &str, value: &str, ratio: f64) -> Value {
    let mut drawn = drawn(name, &integer(1_000_000_000_000));
    drawn["same"] = json!({"value": value, "ratio": ratio});
    drawn
}

/// Six standard errors around the share of so many.
fn is_about(found: u64, count: u64, ratio: f64) -> bool {
    let margin = 6.0 * (count as f64 * ratio * (1.0 - ratio)).sqrt();
    (found as f64 - count as f64 * ratio).abs() <= margin
}

#[test]
fn a_value_is_an_earlier_one_in_a_share_of_its_draws() {
    on_each_server("st_same", |_, target| {
        prepare(target);
        let control = &mut connect(target);
        control.query("CREATE TABLE pairs (one BIGINT, other BIGINT)").unwrap();
        control
            .query("CREATE TABLE rows_ (one BIGINT, other BIGINT, third BIGINT)")
            .unwrap();
        let pair = statement(
            "INSERT INTO pairs VALUES (?, ?)",
            &["one", "other"],
            json!({"values": [often("other", "one", 0.7)]}),
        );
        let rows = statement(
            "INSERT INTO rows_ VALUES (?, ?, ?)",
            &["one", "other", "third"],
            json!({"values": [often("other", "one", 0.3), often("third", "other", 0.6)],
                "rows": {"first": 0, "count": 3, "rows": {"range": {"min": 2, "max": 2}}},
                "variants": ["INSERT INTO rows_ VALUES (?, ?, ?), (?, ?, ?)"]}),
        );
        let given = json!({"values": [drawn("one", &integer(1_000_000_000_000))], "statements": [pair, rows]});
        let plan = workload(&["accounts"], &json!([transaction("t", given)]));
        both(&plan, target, |workload, control| {
            control.query("TRUNCATE pairs").unwrap();
            control.query("TRUNCATE rows_").unwrap();
            assert_eq!(counts(&transactions(workload, target, COUNT), "t").completed, COUNT);
            for (table, columns, count, ratio) in [
                ("pairs", "one = other", COUNT, 0.7),
                ("rows_", "one = other", 2 * COUNT, 0.3),
                ("rows_", "other = third", 2 * COUNT, 0.6),
            ] {
                let same = number(control, &format!("SELECT COUNT(*) FROM {table} WHERE {columns}"));
                assert!(is_about(same, count, ratio), "{table}, {columns}: {same} of {count}");
            }
        });
    });
}

#[test]
fn a_list_is_an_earlier_one_in_a_share_of_its_draws() {
    on_each_server("st_same_list", |_, target| {
        prepare(target);
        let control = &mut connect(target);
        control
            .query("CREATE TABLE lists (tag BIGINT, kind CHAR(1), item BIGINT, place INT)")
            .unwrap();
        let sql = |kind: &str, rows: usize| {
            let row = format!("(?, '{kind}', ?, ?)");
            format!("INSERT INTO lists VALUES {}", vec![row; rows].join(", "))
        };
        let insert = |kind: &str, list: &str, lengths: &[usize]| {
            let texts: Vec<String> = lengths.iter().map(|rows| sql(kind, *rows)).collect();
            let given = json!({"values": [{"name": "item", "source": {"item_of": {"list": list}}},
                    {"name": "place", "source": {"row_number": {}}}],
                "rows": {"first": 0, "count": 3, "rows": {"items_of": list}},
                "variants": texts});
            statement(&sql(kind, 1), &["tag", "item", "place"], given)
        };
        let mut ids = drawn("ids", &integer(1_000_000_000_000));
        ids["items"] = json!({"weighted": {"counts": [2, 5], "weights": [1.0, 1.0]}});
        let mut others = often("others", "ids", 0.8);
        others["items"] = json!({"weighted": {"counts": [2, 3, 5], "weights": [0.0, 1.0, 0.0]}});
        let looked_up = |count: usize| format!("SELECT id FROM accounts WHERE id IN ({})", marks(count));
        let select = statement(
            &looked_up(1),
            &["others"],
            json!({"variants": [looked_up(2), looked_up(3), looked_up(5)]}),
        );
        let given = json!({"values": [drawn("tag", &integer(1_000_000_000_000)), ids, others],
            "statements": [insert("a", "ids", &[2, 5]), insert("b", "others", &[2, 3, 5]), select]});
        let plan = workload(&["accounts"], &json!([transaction("t", given)]));
        both(&plan, target, |workload, control| {
            control.query("TRUNCATE lists").unwrap();
            assert_eq!(counts(&transactions(workload, target, COUNT), "t").completed, COUNT);
            let of = |kind: &str| {
                format!(
                    "SELECT tag, COUNT(*) AS size, GROUP_CONCAT(item ORDER BY place) AS items
                     FROM lists WHERE kind = '{kind}' GROUP BY tag"
                )
            };
            let joined = format!("FROM ({}) a JOIN ({}) b ON a.tag = b.tag", of("a"), of("b"));
            let same = number(control, &format!("SELECT COUNT(*) {joined} WHERE a.items = b.items"));
            assert!(is_about(same, COUNT, 0.8), "{same} of {COUNT}");
            let own = number(control, &format!("SELECT COUNT(*) {joined} WHERE b.size = 3"));
            assert_eq!(same + own, COUNT, "what is not the list has a length of its own");
        });
    });
}
