//! Logs of each flavour, as servers wrote them, become the rows that they say.

mod support;

use plimsoll_core::plan::{AuditEscape, AuditPlan, AuditTime, LogFormat};
use support::{read, read_in_pieces, sample};

/// The statements that were sent to both servers.
const SENT: [(&str, &str); 15] = [
    ("ddl", "CREATE DATABASE t1"),
    ("select", "SELECT DATABASE ()"),
    (
        "ddl",
        "CREATE TABLE a(id INT PRIMARY KEY, n INT, s VARCHAR (?)) engine = innodb",
    ),
    ("insert", "INSERT INTO a VALUES (...)"),
    ("begin", "BEGIN"),
    ("select_locking", "SELECT * FROM a WHERE id = ? FOR UPDATE"),
    ("update", "UPDATE a SET n = n + ? WHERE id IN (...)"),
    ("commit", "COMMIT"),
    ("select", "SELECT SLEEP(?)"),
    ("select", "SELECT * FROM nosuch"),
    ("other", "SELEC ?"),
    ("set", "SET @x = ?"),
    ("select", "SELECT * FROM a WHERE id = ?"),
    ("close", "DEALLOCATE PREPARE p"),
    ("select", "SELECT ?, ?"),
];

#[test]
fn slow_log_of_mariadb() {
    let found = read(&[&sample("mariadb-slow.log")]);
    let statements: Vec<_> = found
        .statements()
        .into_iter()
        .filter(|(kind, _)| *kind != "prepare")
        .collect();
    assert_eq!(statements[..15], SENT);
    assert_eq!(found.damage.len(), 1, "{:?}", found.damage);
    let source = &found.facts.sources[0];
    assert_eq!(
        (source.format, source.flavour, source.resolution_us),
        ("slow", Some("mariadb"), 1_000_000)
    );
    assert_eq!((source.is_extended, source.query_us_min), (true, Some(15)));
    // the log was flushed and the server went on
    assert_eq!(
        found.columns(&["session"]).concat(),
        ["0"; 16]
            .iter()
            .chain(["1"; 2].iter())
            .chain(["2"; 3].iter())
            .chain(["3"; 2].iter())
            .copied()
            .collect::<Vec<_>>()
    );
    assert_eq!(found.columns(&["pages"]).concat()[19..21], ["1", "5"]);
    assert_eq!(found.accounts[1], ["0", "root", "localhost"]);
    assert_eq!(found.schemas[1], ["0", "t1"]);
}

#[test]
fn seconds_of_mariadb_are_those_of_the_start() {
    let found = read(&[&sample("mariadb-slow.log")]);
    let (starts, ends) = (found.numbers("start_us"), found.numbers("end_us"));
    let sleep = found
        .statements()
        .iter()
        .position(|(_, text)| text.contains("SLEEP"))
        .unwrap();
    assert_eq!(starts[sleep] / 1_000_000, 1_795_436_793);
    assert_eq!(ends[sleep] - starts[sleep], 1_300_267);
    assert_eq!(starts[sleep + 1] / 1_000_000, 1_795_436_794);
    assert!(starts[..sleep + 6].is_sorted(), "one session");
}

#[test]
fn slow_log_of_mysql_plain_and_extra() {
    let found = read(&[&sample("mysql-slow.log")]);
    let sent: Vec<_> = found
        .statements()
        .into_iter()
        .filter(|(kind, _)| !["use", "quit", "prepare"].contains(kind))
        .collect();
    let expected = SENT.iter().filter(|(kind, _)| *kind != "other"); // it logs no statement with a syntax error
    assert_eq!(sent[1..15], expected.copied().collect::<Vec<_>>());
    let source = &found.facts.sources[0];
    assert_eq!(
        (source.format, source.flavour, source.resolution_us),
        ("slow", Some("mysql"), 1)
    );
    assert!(source.is_extended);
    let first = found.columns(&[
        "line",
        "start_us",
        "end_us",
        "query_us",
        "lock_us",
        "rows_sent",
        "errno",
        "schema",
    ]);
    assert_eq!(
        first[0],
        ["4", "1795436913185710", "1795436913186071", "361", "0", "1", "", ""]
    );
    assert_eq!(first[4][7], "0", "`use` stands before the command");
    let last = found.columns(&["start_us", "query_us", "bytes_sent"]).pop().unwrap();
    assert_eq!(last, ["1795436915457149", "1701988", "125"]);
    let reads = found.columns(&["handler_reads"]).concat();
    assert_eq!(reads[0], "", "the plain format does not have them");
    assert!(reads.contains(&"6"), "one first, one key and four next: {reads:?}");
}

#[test]
fn literals_are_those_that_were_sent() {
    for name in [
        "mariadb-slow.log",
        "mysql-slow.log",
        "mariadb-general.log",
        "mysql-general.log",
    ] {
        let found = read(&[&sample(name)]);
        let is_sent = |(kind, other): &(&str, &str), text: &str| *kind != "prepare" && *other == text;
        let event = |text: &str| found.statements().iter().position(|one| is_sent(one, text)).unwrap();
        let insert = found.literals_of(event("INSERT INTO a VALUES (...)"));
        let values: Vec<_> = insert
            .iter()
            .map(|(_, kind, value)| (*kind, if *kind == "text" { "" } else { *value }))
            .collect();
        let text = ("text", "");
        let expected = [
            ("rows", "3"),
            ("int", "1"),
            ("int", "-2"),
            text,
            ("int", "2"),
            ("int", "3"),
            text,
            ("int", "3"),
            ("null", ""),
            text,
        ];
        assert_eq!(values, expected, "{name}");
        let update = found.literals_of(event("UPDATE a SET n = n + ? WHERE id IN (...)"));
        assert_eq!(
            update,
            [
                ("0", "int", "1"),
                ("1", "list", "3"),
                ("1", "int", "1"),
                ("1", "int", "2"),
                ("1", "int", "3")
            ]
        );
        assert_eq!(
            found.literals_of(event("SELECT * FROM a WHERE id = ?")),
            [("0", "int", "2")]
        );
        assert_eq!(found.literals_of(event("SELECT SLEEP(?)")), [("0", "decimal", "1.3")]);
    }
}

#[test]
fn slow_log_of_percona() {
    let found = read(&[&sample("percona-slow.log")]);
    let kinds: Vec<_> = found.statements().into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["begin", "insert", "quit"]);
    let rows = found.columns(&["trx", "pages", "errno", "weight", "schema", "session"]);
    assert_eq!(rows[0], ["", "", "0", "10", "0", "0"]);
    assert_eq!(rows[1], ["41973001883", "4", "1062", "10", "0", "0"]);
    assert_eq!(found.facts.sources[0].flavour, Some("percona"));
    assert_eq!(found.facts.sources[0].rate_limits, [10]);
}

#[test]
fn general_logs() {
    for (name, flavour, resolution) in [
        ("mariadb-general.log", "mariadb", 1_000_000),
        ("mysql-general.log", "mysql", 1),
    ] {
        let found = read(&[&sample(name)]);
        let source = &found.facts.sources[0];
        assert_eq!(
            (source.format, source.flavour, source.resolution_us),
            ("general", Some(flavour), resolution)
        );
        assert_eq!(source.damaged_count, 0, "{:?}", found.damage);
        let kinds: Vec<_> = found.statements().into_iter().map(|(kind, _)| kind).collect();
        let begin = kinds.iter().rposition(|kind| *kind == "ddl").unwrap();
        assert_eq!(
            kinds[begin + 1..begin + 5],
            ["insert", "begin", "select_locking", "update"],
            "{name}"
        );
        assert!(kinds[begin..].iter().filter(|kind| **kind == "connect").count() >= 3);
        let rows = found.columns(&["end_us", "query_us", "account"]);
        assert!(
            rows.iter().all(|row| row == &["", "", "0"]),
            "no durations, and accounts from Connect"
        );
        assert!(found.numbers("start_us").is_sorted());
        let (last, sessions) = (found.columns(&["session"]).concat(), found.facts.sessions_count);
        assert_eq!(last.last().unwrap().parse::<u32>().unwrap() + 1, sessions);
    }
}

#[test]
fn audit_log_of_a_plug_in() {
    let log = b"20261123 10:00:00,db1,app,10.0.0.1,7,0,CONNECT,shop,,0\n\
        20261123 10:00:01,db1,app,10.0.0.1,7,21,QUERY,shop,'select \\'a,b\\', 5',0\n\
        20261123 10:00:01,db1,app,10.0.0.1,7,21,READ,shop,items,\n\
        20261123 10:00:02,db1,app,10.0.0.1,7,22,QUERY,shop,'update items\nset n = 3',1205\n\
        20261123 10:00:02,db1,app,10.0.0.1,7,22,QUERY,shop,'no end\n\
        20261123 10:00:03,db1,app,10.0.0.1,7,23,QUERY,shop,'commit',0\n\
        20261123 10:00:03,db1\n\
        20261123 10:00:04,db1,app,10.0.0.1,7,0,DISCONNECT,shop,,0\n";
    let plan = AuditPlan {
        quote: "'".to_owned(),
        escape: AuditEscape::Backslash,
        user: Some(2),
        client: Some(3),
        operation: Some(6),
        schema: Some(7),
        errno: Some(9),
        ..AuditPlan::of(10, 4, 0, 8)
    };
    for bytes in [1, 7, 4096] {
        let found = read_in_pieces(LogFormat::Audit(plan.clone()), &[log], bytes).unwrap();
        let statements: Vec<_> = found.statements();
        assert_eq!(
            statements,
            [
                ("connect", "Connect"),
                ("select", "SELECT ?, ?"),
                ("update", "UPDATE items SET n = ?"),
                ("commit", "COMMIT"),
                ("quit", "Quit")
            ]
        );
        assert_eq!(found.columns(&["errno"]).concat(), ["0", "0", "1205", "0", "0"]);
        let places: Vec<_> = found.damage[1..].iter().map(|row| row[1].as_str()).collect();
        assert_eq!(places, ["6", "8"]);
        assert_eq!(
            (&found.accounts[1][1..], &found.schemas[1][1..]),
            (&["app".to_owned(), "10.0.0.1".to_owned()][..], &["shop".to_owned()][..])
        );
    }
}

#[test]
fn audit_log_of_a_cloud_with_microseconds_and_durations() {
    let log = b"1795428000000250,\"select \"\"x\"\"\",7,2\n";
    let plan = AuditPlan {
        quote: "\"".to_owned(),
        time_format: AuditTime::UnixUs,
        time_is_end: true,
        query_time: Some(3),
        query_unit_us: 1000,
        ..AuditPlan::of(4, 2, 0, 1)
    };
    let found = read_in_pieces(LogFormat::Audit(plan), &[log], 4096).unwrap();
    let rows = found.columns(&["start_us", "end_us", "query_us"]);
    assert_eq!(rows, [["1795427999998250", "1795428000000250", "2000"]]);
}

#[test]
fn backslashes_of_an_audit_log_are_undone() {
    let log = br"1,7,'SELECT \'it\\\'s\',\n\tx FROM t WHERE a = \'\''";
    let plan = AuditPlan {
        quote: "'".to_owned(),
        escape: AuditEscape::Backslash,
        time_format: AuditTime::UnixS,
        ..AuditPlan::of(3, 1, 0, 2)
    };
    let found = read_in_pieces(LogFormat::Audit(plan), &[log], 4096).unwrap();
    assert_eq!(found.statements(), [("select", "SELECT ?, x FROM t WHERE a = ?")]);
    assert_eq!(found.literals[1][4], "4", "it's");
}

#[test]
fn logs_of_one_server_go_on_in_the_next_file() {
    let log = sample("mysql-slow.log");
    let text = String::from_utf8(log.clone()).unwrap();
    let middle = text.match_indices("# Time: ").nth(8).unwrap().0;
    let whole = read(&[&log]);
    let rotated = read(&[&log[..middle], &log[middle..]]);
    let columns = ["session", "schema", "start_us", "template", "errno"];
    assert_eq!(whole.columns(&columns), rotated.columns(&columns));
    assert_eq!(
        rotated
            .columns(&["source"])
            .concat()
            .iter()
            .filter(|source| **source == "1")
            .count(),
        whole.events.len() - 9
    );
}

#[test]
fn what_is_no_log_is_refused() {
    assert!(read_in_pieces(LogFormat::Auto, &[b"hello\nworld\n"], 100).is_err());
    assert!(read_in_pieces(LogFormat::Slow, &[b"\x1F\x8B\x08"], 100).is_err());
    assert_eq!(read(&[b""]).facts.sources[0].format, "empty");
}
