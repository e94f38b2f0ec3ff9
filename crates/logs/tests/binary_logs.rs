//! Binary logs of real servers, and what becomes of broken ones.
//!
//! The logs in `binlogs` are of MySQL 9.7.4 and MariaDB 10.11.19: five transactions over two tables by one session, with an
//! autocommitted DELETE of another one after each; one with a savepoint; an UPDATE of two tables.

mod support;

use std::path::Path;

use plimsoll_core::plan::LogFormat;
use plimsoll_logs::ReadFault;
use support::{Read, read_in_pieces};

const NAMES: [&str; 6] = [
    "mysql-row",
    "mysql-statement",
    "mysql-compressed",
    "mariadb-row",
    "mariadb-statement",
    "mariadb-compressed",
];

fn log(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/binlogs");
    std::fs::read(folder.join(name)).unwrap()
}

fn read(bytes: &[u8]) -> Read {
    read_in_pieces(LogFormat::Auto, &[bytes], 1 << 16).unwrap()
}

/// Kinds of the statements from the first BEGIN on.
fn kinds(found: &Read) -> Vec<&str> {
    let kinds = found.statements().into_iter().map(|(kind, _)| kind);
    kinds.skip_while(|kind| *kind == "ddl").collect()
}

#[test]
fn rows_of_mysql_are_statements_by_table_at_the_time_of_the_commit() {
    let found = read(&log("mysql-row"));
    let source = &found.facts.sources[0];
    assert_eq!(
        (
            source.format,
            source.flavour,
            source.damaged_count,
            source.resolution_us
        ),
        ("binlog", Some("mysql"), 0, 1)
    );
    let round = [
        "begin", "insert", "insert", "update", "commit", "begin", "delete", "commit",
    ];
    assert_eq!(kinds(&found)[..40], round.repeat(5));
    let statements = found.statements();
    assert_eq!(statements[5].1, "INSERT INTO `shop`.`items` VALUES (...)");
    assert_eq!(statements[7].1, "UPDATE `shop`.`items` SET (...)");
    assert_eq!(statements[10].1, "DELETE FROM `shop`.`lines_of` WHERE (...)");
    let rows = found.columns(&["rows_affected"]).concat();
    assert_eq!(rows[5..8], ["2", "3", "1"]);
    let sessions = found.columns(&["session"]).concat();
    assert_eq!(sessions[4..12], ["0", "0", "0", "0", "0", "1", "1", "1"]);
    let starts = found.numbers("start_us");
    assert!(
        starts[4..9].windows(2).all(|pair| pair[0] == pair[1]),
        "a commit has one time"
    );
    assert!(starts.windows(2).all(|pair| pair[0] <= pair[1]));
    // the load paused for 20 ms after each round
    let rounds: Vec<_> = (0..5).map(|round| starts[4 + 8 * round]).collect();
    assert!(
        rounds
            .windows(2)
            .all(|pair| (20_000..60_000).contains(&(pair[1] - pair[0]))),
        "{rounds:?}"
    );
    assert!(found.literals.len() < 10, "no literals but those of CREATE TABLE");
}

#[test]
fn an_update_of_two_tables_changes_rows_of_both() {
    let found = read(&log("mysql-row"));
    let last = found.statements().len() - 4;
    let texts: Vec<_> = found.statements()[last..].iter().map(|(_, text)| *text).collect();
    assert_eq!(
        texts,
        [
            "BEGIN",
            "UPDATE `shop`.`items` SET (...)",
            "UPDATE `shop`.`lines_of` SET (...)",
            "COMMIT"
        ]
    );
}

#[test]
fn statements_are_those_that_were_sent() {
    for name in ["mysql-statement", "mariadb-statement"] {
        let found = read(&log(name));
        assert_eq!(found.facts.damaged_count, 0);
        let texts: Vec<_> = found.statements()[4..9].iter().map(|(_, text)| *text).collect();
        let insert = "INSERT INTO items(n, note) VALUES (...)";
        let update = "UPDATE items SET n = n + ? WHERE n = ?";
        assert_eq!(
            texts,
            ["BEGIN", insert, "INSERT INTO lines_of VALUES (...)", update, "COMMIT"],
            "{name}"
        );
        assert_eq!(found.literals_of(7), [("0", "int", "1"), ("1", "int", "0")], "{name}");
    }
}

#[test]
fn rows_of_mariadb_have_the_statement_beside_them() {
    let found = read(&log("mariadb-row"));
    let source = &found.facts.sources[0];
    assert_eq!(
        (source.flavour, source.resolution_us, source.damaged_count),
        (Some("mariadb"), 1_000_000, 0)
    );
    let round = [
        "begin", "insert", "insert", "update", "commit", "begin", "delete", "commit",
    ];
    assert_eq!(kinds(&found)[..40], round.repeat(5));
    assert_eq!(found.statements()[5].1, "INSERT INTO items(n, note) VALUES (...)");
    assert_eq!(found.columns(&["rows_affected"]).concat()[5..8], ["2", "3", "1"]);
}

#[test]
fn what_is_compressed_is_left_out_and_told() {
    let found = read(&log("mysql-compressed"));
    assert_eq!(found.damage[1][2], "a compressed transaction, which is not read");
    assert_eq!(kinds(&found), ["begin", "insert", "commit"]);
    let found = read(&log("mariadb-compressed"));
    let last = found.statements().len() - 2;
    assert_eq!(
        found.statements()[last],
        ("insert", "INSERT INTO shop.comp VALUES (REPEAT (?, ?))")
    );
    assert_eq!(
        found.columns(&["rows_affected"])[last],
        [""],
        "rows that are compressed are not counted"
    );
}

#[test]
fn pieces_make_no_difference() {
    for name in NAMES {
        let (log, whole) = (log(name), read(&log(name)));
        for bytes in [1, 7, 100] {
            let found = read_in_pieces(LogFormat::Binlog, &[&log], bytes).unwrap();
            assert_eq!(
                (found.events, found.damage),
                (whole.events.clone(), whole.damage.clone()),
                "{name}"
            );
        }
    }
}

#[test]
fn rotated_logs_go_on() {
    let logs = [log("mysql-row"), log("mysql-statement")];
    let found = read_in_pieces(LogFormat::Auto, &[&logs[0], &logs[1]], 4096).unwrap();
    let sessions = found.columns(&["session"]).concat();
    assert_eq!(found.facts.sessions_count, 2, "{sessions:?}");
}

#[test]
fn a_log_that_ends_anywhere_loses_its_last_event() {
    for name in NAMES {
        let (log, whole) = (log(name), read(&log(name)));
        let mut before = 0;
        for end in 5..log.len() {
            let found = read_in_pieces(LogFormat::Binlog, &[&log[..end]], 4096).unwrap();
            let count = found.events.len();
            assert!(count >= before && count <= whole.events.len(), "{name}: {end} bytes");
            assert!(
                found.damage.len() <= whole.damage.len() + 1,
                "{name}: {end} bytes: {:?}",
                found.damage
            );
            before = count;
        }
    }
}

#[test]
fn a_wrong_byte_loses_its_event_and_no_other() {
    for name in ["mysql-row", "mariadb-statement"] {
        let (log, whole) = (log(name), read(&log(name)));
        for at in (300..log.len()).step_by(3) {
            let mut damaged = log.clone();
            damaged[at] ^= 0x55;
            let found = read_in_pieces(LogFormat::Binlog, &[&damaged], 4096).unwrap();
            assert!(found.facts.damaged_count >= 1, "{name}: byte {at} is seen to be wrong");
            // the table map of a statement takes its rows with it
            let lost = whole.events.len() - found.events.len().min(whole.events.len());
            assert!(lost <= 2, "{name}: byte {at} loses {lost} entries: {:?}", found.damage);
        }
    }
}

#[test]
fn bytes_that_are_missing_or_strange_lose_what_is_around_them() {
    let (log, whole) = (log("mysql-row"), read(&log("mysql-row")));
    for from in (300..log.len() - 200).step_by(13) {
        let cut = [&log[..from], &log[from + 100..]].concat();
        let strange = [&log[..from], &[0xA5; 333][..], &log[from..]].concat();
        for bytes in [cut, strange] {
            let found = read(&bytes);
            assert!(found.facts.damaged_count >= 1);
            assert!(found.events.len() < whole.events.len() + 1);
        }
    }
}

#[test]
fn encrypted_logs_are_refused() {
    let fault = read_in_pieces(LogFormat::Auto, &[b"\xfdbin\x01\x01\x00"], 100).unwrap_err();
    assert!(matches!(fault, ReadFault::Encrypted));
    let mut log = log("mariadb-row");
    // MariaDB writes an event that says so behind the first one, whose length its header has
    let first = 4 + u32::from_le_bytes(log[13..17].try_into().unwrap()) as usize;
    log[first + 4] = 164;
    let length = u32::from_le_bytes(log[first + 9..first + 13].try_into().unwrap()) as usize;
    let checked = crc32fast::hash(&log[first..first + length - 4]).to_le_bytes();
    log[first + length - 4..first + length].copy_from_slice(&checked);
    assert!(matches!(
        read_in_pieces(LogFormat::Auto, &[&log], 100).unwrap_err(),
        ReadFault::Encrypted
    ));
}
