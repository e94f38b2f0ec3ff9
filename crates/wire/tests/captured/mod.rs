//! Values of a first row that are kept for the next statement, on real servers.

use plimsoll_wire::{Captured, Connection, FirstRow, Sink, Value};

/// What one statement gives goes into the next: it must mean the same there, whatever its type.
pub fn check(connection: &mut Connection) {
    let types = "TINYINT, SMALLINT UNSIGNED, MEDIUMINT, INT, BIGINT UNSIGNED, FLOAT, DOUBLE, DECIMAL(20,4), YEAR, DATE, \
                 DATETIME, TIMESTAMP(6), TIME, TIME(3), CHAR(9), VARBINARY(9), TEXT, ENUM('a','b'), INT";
    let columns = types
        .replace("DECIMAL(20,4)", "DECIMAL(20;4)")
        .replace("'a','b'", "'a';'b'");
    let columns: Vec<String> = (1..)
        .zip(columns.split(','))
        .map(|(number, kind)| format!("c{number} {} NULL", kind.trim().replace(';', ",")))
        .collect();
    let values = "-7, 65535, -8388608, 2147483647, 18446744073709551615, 1.5, -2.25, -12.3456, 2024, '2024-02-29', \
                  '2024-02-29 23:59:59', '2024-02-29 01:02:03.000456', '-26:03:04', '01:02:03.040', 'ä''\\\\', \
                  X'FF00FE', 'long', 'b', NULL";
    connection
        .query(&format!("CREATE TABLE kept ({})", columns.join(", ")))
        .unwrap();
    connection
        .query(&format!("INSERT INTO kept VALUES ({values})"))
        .unwrap();
    let count = columns.len();
    let names: Vec<String> = (1..=count).rev().map(|number| format!("C{number}")).collect();
    let same: Vec<String> = names.iter().map(|name| format!("{name} <=> ?")).collect();
    let find = connection
        .prepare(format!("SELECT 1 FROM kept WHERE {}", same.join(" AND ")))
        .unwrap();
    let all = connection.prepare("SELECT * FROM kept").unwrap();
    let mut kept = FirstRow::new(names);
    for prepared in [true, true, false] {
        let reply = if prepared {
            connection.run(&all, &[], Sink::First(&mut kept)).unwrap()
        } else {
            connection
                .run("SELECT * FROM kept", &[], Sink::First(&mut kept))
                .unwrap()
        };
        assert_eq!((reply.rows_returned, kept.is_there()), (1, true));
        let values: Vec<Value<'_>> = kept.values_mut().iter().map(Captured::value).collect();
        assert_eq!(values[count - 1], Value::Int(-7));
        assert_eq!(
            connection.execute(&find, &values).unwrap().rows_returned,
            1,
            "{values:?}"
        );
    }
    let nothing = "SELECT c1 FROM kept WHERE c1 = 5";
    let mut first = FirstRow::new(vec!["c1".to_owned()]);
    let reply = connection.run(nothing, &[], Sink::First(&mut first)).unwrap();
    assert_eq!((reply.rows_returned, first.is_there()), (0, false));
    assert_eq!(first.values_mut()[0].value(), Value::Null);
    let mut other = FirstRow::new(vec!["c2".to_owned()]);
    for sql in [nothing, "DO 1"] {
        let error = connection.run(sql, &[], Sink::First(&mut other)).unwrap_err();
        assert!(
            error.to_string().starts_with("the result has no column `c2`"),
            "{error}"
        );
    }
}

/// A server may leave out definitions that it has sent before, and must be understood when they change.
pub fn check_changed_table(connection: &mut Connection) {
    connection.query("CREATE TABLE changed (a INT, b CHAR(9))").unwrap();
    connection.query("INSERT INTO changed VALUES (1, 'one')").unwrap();
    let all = connection.prepare("SELECT * FROM changed").unwrap();
    let mut kept = FirstRow::new(vec!["b".to_owned()]);
    let changes = [
        "DO 1",
        "ALTER TABLE changed ADD COLUMN z BIGINT DEFAULT 7 FIRST",
        "DO 2",
        "ALTER TABLE changed DROP COLUMN a",
    ];
    for change in changes {
        connection.query(change).unwrap();
        assert_eq!(connection.execute(&all, &[]).unwrap().rows_returned, 1);
        for _ in 0..2 {
            connection.run(&all, &[], Sink::First(&mut kept)).unwrap();
            assert_eq!(kept.values_mut()[0].value(), Value::Bytes(b"one"), "{change}");
        }
    }
    connection.query("ALTER TABLE changed DROP COLUMN b").unwrap();
    let error = connection.run(&all, &[], Sink::First(&mut kept)).unwrap_err();
    assert!(error.to_string().starts_with("the result has no column `b`"), "{error}");
    connection.ping().unwrap();
}
