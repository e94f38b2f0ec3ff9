//! Broken logs lose what is broken and nothing else, and no bytes are a panic.

mod support;

use std::fs;
use std::path::Path;

use plimsoll_core::plan::LogFormat;
use plimsoll_logs::TEXT_BYTES_MAX;
use plimsoll_logs::fuzz_entry::ENTRIES;
use proptest::prelude::*;
use support::{Read, read, read_in_pieces, sample, samples};

fn format_of(name: &str) -> LogFormat {
    if name.ends_with("-general.log") {
        LogFormat::General
    } else {
        LogFormat::Slow
    }
}

/// Lines and texts of the events.
fn entries(found: &Read) -> Vec<(String, String)> {
    let texts = found.statements().into_iter().map(|(_, text)| text.to_owned());
    texts
        .zip(found.columns(&["query_us"]).concat().into_iter().map(str::to_owned))
        .collect()
}

#[test]
fn a_log_that_ends_anywhere_loses_its_last_entry_at_most() {
    for (name, log) in samples() {
        let whole = entries(&read(&[&log]));
        let begins = begins(&name, &log);
        for end in 0..log.len() {
            let found = read_in_pieces(format_of(&name), &[&log[..end]], 4096).unwrap();
            let found = entries(&found);
            // entries whose next one has begun are whole
            let before = begins.iter().filter(|&&begin| begin < end).count();
            let least = before.saturating_sub(1);
            assert!(
                found.len() >= least && found.len() <= before,
                "{name}: {end} bytes: {} of {before}",
                found.len()
            );
            assert_eq!(found[..least], whole[..least], "{name}: {end} bytes");
        }
    }
}

#[test]
fn a_log_that_begins_anywhere_loses_its_first_entry_at_most() {
    for (name, log) in samples() {
        let whole = entries(&read(&[&log]));
        for begin in 0..log.len() {
            let found = read_in_pieces(format_of(&name), &[&log[begin..]], 4096).unwrap();
            let later = begins(&name, &log).iter().filter(|&&other| other >= begin).count();
            let found = entries(&found);
            assert!(
                found.len() == later || found.len() == later + 1,
                "{name} from {begin}: {} of {later}",
                found.len()
            );
            assert_eq!(
                found[found.len() - later..],
                whole[whole.len() - later..],
                "{name} from {begin}"
            );
        }
    }
}

/// Where entries begin.
fn begins(name: &str, log: &[u8]) -> Vec<usize> {
    let mut at = 0;
    let mut found = Vec::new();
    let mut after_time = false;
    for line in log.split_inclusive(|&byte| byte == b'\n') {
        let is_begin = match format_of(name) {
            LogFormat::General => line.starts_with(b"\t\t") || (line.starts_with(b"2") && line.contains(&b'\t')),
            _ => line.starts_with(b"# Time: ") || (line.starts_with(b"# User@Host: ") && !after_time),
        };
        after_time = line.starts_with(b"# Time: ");
        if is_begin {
            found.push(at);
        }
        at += line.len();
    }
    found
}

#[test]
fn bytes_that_are_missing_lose_the_entries_around_them() {
    let log = sample("mysql-slow.log");
    let whole = entries(&read(&[&log]));
    let begins = begins("mysql-slow.log", &log);
    for (from, bytes) in (0..log.len() - 400).step_by(7).zip((1..400).step_by(13).cycle()) {
        let cut = [&log[..from], &log[from + bytes..]].concat();
        let found = read_in_pieces(LogFormat::Slow, &[&cut], 4096).unwrap();
        let touched = begins
            .iter()
            .filter(|&&begin| begin > from && begin < from + bytes)
            .count()
            + 1;
        let lost = whole.len().saturating_sub(found.events.len() - 1);
        assert!(lost <= touched + 1, "{bytes} bytes at {from}: {lost} lost");
    }
}

#[test]
fn damage_is_told_with_its_line() {
    let log = b"rest of an entry;\n\
        # Time: 2026-11-23T10:00:00.000000Z\n# User@Host: a[a] @ h []  Id: 1\n# Query_time: x  Lock_time: 0\nSET timestamp=1;\nselect 1;\n\
        # Time: 2026-11-23T10:00:01.000000Z\n# User@Host: a[a] @ h []  Id: 1\n# Query_time: 0.1  Lock_time: 0\nSET timestamp=1;\nselect 2;\n\
        # Time: 2026-11-23T10:00:02.000000Z\n# User@Host: a[a] @ h []  Id: 1\n# Query_time: 0.1  Lock_time: 0\n\
        # Time: 2026-11-23T10:00:03.000000Z\n# User@Host: a[a] @ h []  Id: 1\n# Query_time: 0.1  Lock_time: 0\nSET timestamp=1;\nselect 3";
    let found = read(&[log]);
    assert_eq!(found.statements().len(), 1);
    let lines: Vec<_> = found.damage[1..].iter().map(|row| row[1].as_str()).collect();
    assert_eq!(lines, ["1", "2", "12", "15"], "{:?}", found.damage);
    assert_eq!(found.facts.damaged_count, 4);
}

#[test]
fn a_text_may_look_like_a_header() {
    let head = "# Time: 2026-11-23T10:00:00.000000Z\n# User@Host: a[a] @ h []  Id: 1\n# Query_time: 0.1  Lock_time: 0\nSET timestamp=1;\n";
    let log = format!(
        "{head}select '\n# Time: 2026-11-23T10:00:00.000000Z\n# Time: soon\n# User@Host: x\n# nothing\n', 7;\n{head}commit;\n"
    );
    let found = read(&[log.as_bytes()]);
    assert_eq!(found.statements(), [("select", "SELECT ?, ?"), ("commit", "COMMIT")]);
    assert_eq!(found.damage.len(), 1);
}

#[test]
fn statements_of_any_length_take_bounded_memory() {
    let head = "# Time: 2026-11-23T10:00:00.000000Z\n# User@Host: a[a] @ h []  Id: 1\n# Query_time: 0.1  Lock_time: 0\nSET timestamp=1;\n";
    let rows = "(1, 'x'), ".repeat(TEXT_BYTES_MAX / 5);
    let lines = "select 1 +\n".repeat(TEXT_BYTES_MAX / 5);
    let log = format!("{head}insert into t values {rows}(2, 'y');\n{head}{lines} 2;\n{head}commit;\n");
    let found = read(&[log.as_bytes()]);
    let statements = found.statements();
    assert_eq!(statements[0], ("insert", "INSERT INTO t VALUES (...)"));
    assert_eq!((statements[1].0, statements[2]), ("select", ("commit", "COMMIT")));
    assert_eq!((found.facts.sources[0].cut_count, found.facts.damaged_count), (2, 0));
}

#[test]
fn pieces_make_no_difference() {
    for (name, log) in samples() {
        let whole = read(&[&log]);
        for bytes in [1, 2, 3, 17, 100] {
            let found = read_in_pieces(LogFormat::Auto, &[&log], bytes).unwrap();
            assert_eq!(
                (found.events, found.literals),
                (whole.events.clone(), whole.literals.clone()),
                "{name}"
            );
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_are_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        for (_, entry) in ENTRIES {
            entry(&bytes);
        }
    }

    #[test]
    fn no_pieces_of_statements_are_a_panic(words in prop::collection::vec(prop::sample::select(PIECES), 0..40)) {
        let text = words.concat();
        for (_, entry) in ENTRIES {
            entry(text.as_bytes());
        }
    }

    #[test]
    fn no_damaged_log_is_a_panic(at in any::<prop::sample::Index>(), byte in any::<u8>(), from in any::<prop::sample::Index>()) {
        for (_, mut log) in samples() {
            let place = at.index(log.len());
            log[place] = byte;
            log.drain(from.index(place + 1)..place);
            for (_, entry) in ENTRIES {
                entry(&log);
            }
        }
    }
}

const PIECES: &[&str] = &[
    "insert into t ",
    "values ",
    "value",
    "(",
    ")",
    "(1,2)",
    ",",
    "?",
    "in ",
    "select ",
    "'a'",
    "\"",
    "'",
    "\\",
    "`",
    "/*",
    "/*!",
    "*/",
    "/*+",
    "-- ",
    "#",
    "\n",
    "-",
    ".",
    "@",
    "0x",
    "1e",
    ";",
    "null",
    "set autocommit=",
    "0",
    "x'",
    "_utf8",
    "for update",
    "with ",
    " ",
    "é",
];

#[test]
fn the_corpus_is_read() {
    for (name, entry) in ENTRIES {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../fuzz/corpus")
            .join(name);
        let files: Vec<_> = fs::read_dir(corpus).unwrap().collect();
        assert!(!files.is_empty(), "{name}");
        for file in files {
            entry(&fs::read(file.unwrap().path()).unwrap());
        }
    }
}
