//! sysbench's own scripts, by their paths, under our command line and under sysbench: the same tables, counters, work of the
//! server, statements and exit codes.

#[path = "../../workloads/tests/support/mod.rs"]
mod support;

mod beside;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

use beside::{READING, WRITING};
use plimsoll_core::plan::Target;
use plimsoll_wire::Connection;
use support::counters::{counted, differences};
use support::{Server, connect, on_each_server, skip};

/// Where the package of sysbench puts its scripts.
const SCRIPTS: &str = "/usr/share/sysbench";

const EVENTS: u64 = 300;

/// Which program runs a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Program {
    Plimsoll,
    Sysbench,
}

use Program::{Plimsoll, Sysbench};

impl Program {
    /// Runs a script on a database with further words.
    fn run(self, server: &Server, target: &Target, script: &str, words: &[&str]) -> Output {
        let mut command = match self {
            Plimsoll => Command::new(env!("CARGO_BIN_EXE_plimsoll-engine")),
            Sysbench => Command::new("sysbench"),
        };
        if self == Plimsoll {
            command.arg("sysbench");
        }
        command
            .arg(script)
            .arg(format!("--mysql-socket={}", server.socket().display()))
            .arg(format!("--mysql-db={}", target.database))
            .args(["--mysql-user=root", "--rand-type=uniform", "--time=0"])
            .args(words)
            .output()
            .expect("the program runs")
    }

    /// The same, which must end well; gives what it printed.
    fn ends_well(self, server: &Server, target: &Target, script: &str, words: &[&str]) -> String {
        let output = self.run(server, target, script, words);
        let (text, errors) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        assert!(output.status.success(), "{self:?} {script} {words:?}\n{text}{errors}");
        text.into_owned()
    }
}

fn path(script: &str) -> String {
    format!("{SCRIPTS}/{script}.lua")
}

/// On both kinds of server, where sysbench and its scripts are; one test at a time, since the server's counters and log do not
/// say whose work they tell.
fn beside_sysbench(database: &str, test: impl Fn(&Server, &Target)) {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    if !Path::new(&path("oltp_read_write")).exists() {
        return skip("sysbench and its scripts are not installed");
    }
    on_each_server(database, test);
}

/// The tables of a database with their definitions and numbers of rows.
fn tables(target: &Target) -> BTreeMap<String, (String, String)> {
    let mut control = connect(target);
    let names = control.query_rows("SHOW TABLES", 100).unwrap();
    let describe = |row: Vec<Option<String>>| {
        let name = row[0].clone().unwrap();
        let count = support::value(&mut control, &format!("SELECT COUNT(*) FROM {name}"));
        let definition = support::value(&mut control, &format!("SHOW CREATE TABLE {name}"));
        (name, (definition, count))
    };
    names.into_iter().map(describe).collect()
}

#[test]
fn prepare_makes_the_same_tables_and_cleanup_removes_them() {
    beside_sysbench("front_tables", |server, _| {
        let cases: [(&str, &[&str]); 6] = [
            ("oltp_read_write", &["--tables=3", "--table_size=500", "--threads=2"]),
            ("oltp_read_only", &["--secondary=on"]),
            ("oltp_write_only", &["--create_secondary=off", "--table_size=20"]),
            ("oltp_insert", &["--auto_inc=off", "--tables=2"]),
            ("select_random_points", &["--table_size=100"]),
            ("bulk_insert", &["--threads=2"]),
        ];
        for (script, options) in cases {
            let made = [Sysbench, Plimsoll].map(|program| {
                let target = server.create_database("front_tables");
                let words = [options, &["prepare"]].concat();
                program.ends_well(server, &target, &path(script), &words);
                let made = tables(&target);
                let words = [options, &["cleanup"]].concat();
                program.ends_well(server, &target, &path(script), &words);
                assert!(tables(&target).is_empty(), "{program:?} {script} leaves tables");
                made
            });
            assert!(!made[0].is_empty(), "{script}");
            assert_eq!(made[1], made[0], "{script} {options:?}");
        }
    });
}

/// The numbers of a report by their labels.
fn counters(report: &str) -> BTreeMap<String, u64> {
    let wanted = [
        "read:",
        "write:",
        "other:",
        "total:",
        "transactions:",
        "queries:",
        "ignored errors:",
        "reconnects:",
    ];
    let line = |line: &str| {
        let label = wanted.iter().find(|label| line.trim_start().starts_with(**label))?;
        let number = line.trim_start()[label.len()..].split_whitespace().next()?;
        Some(((*label).to_owned(), number.parse().ok()?))
    };
    report.lines().filter_map(line).collect()
}

#[test]
fn counters_and_the_servers_work_are_the_same() {
    beside_sysbench("front_work", |server, _| {
        let target = server.create_database("front_work");
        let size = &["--tables=2", "--table_size=10000"];
        let prepare = [&size[..], &["prepare"]].concat();
        Sysbench.ends_well(server, &target, &path("oltp_read_write"), &prepare);
        let mut control = connect(&target);
        control.query("UPDATE sbtest1 SET k = id").unwrap(); // so that each value is there once, whatever is drawn
        let events = format!("--events={EVENTS}");
        for script in READING {
            let words = [&size[..], &["--threads=4", &events, "run"]].concat();
            let told = [Sysbench, Plimsoll]
                .map(|program| counters(&program.ends_well(server, &target, &path(script), &words)));
            assert_eq!(told[1], told[0], "{script}");
            assert_eq!(told[0]["transactions:"], EVENTS);
        }
        for (number, script) in READING.iter().chain(&WRITING).enumerate() {
            // With the same seed, runs within one second, it would write what is there already, and count no write.
            let seed = format!("--rand-seed={}", number + 1);
            let words = [&size[..], &["--threads=1", &events, &seed, "run"]].concat();
            let work = [Sysbench, Plimsoll].map(|program| {
                let mut told = BTreeMap::new();
                let status = counted(&mut control, EVENTS, || {
                    told = counters(&program.ends_well(server, &target, &path(script), &words));
                });
                (status, told)
            });
            let [(theirs, their_report), (ours, our_report)] = work;
            if *script == "oltp_delete" {
                assert_eq!(our_report["queries:"], their_report["queries:"]); // which rows are gone already is chance
                continue;
            }
            assert_eq!(our_report, their_report, "{script}");
            assert_eq!(differences(&ours, &theirs, EVENTS), Vec::<String>::new(), "{script}");
        }
    });
}

/// Statements in a server's log with each number as `#` and each text as `'x'`, and how often they came.
fn statements(control: &mut Connection) -> BTreeMap<String, u64> {
    let sql = "SELECT CONCAT(command_type, ' ', argument) FROM mysql.general_log \
               WHERE command_type IN ('Query', 'Prepare', 'Execute')";
    let mut counts = BTreeMap::new();
    for row in control.query_rows(sql, 100_000).unwrap() {
        let text = row[0].clone().unwrap();
        if !text.contains("general_log") {
            *counts.entry(shape(&text)).or_default() += 1;
        }
    }
    counts
}

/// A statement without its values.
fn shape(text: &str) -> String {
    let mut shape = String::new();
    let mut is_quoted = false;
    for character in text.chars() {
        match character {
            '\'' => {
                is_quoted = !is_quoted;
                shape.push(character);
            }
            _ if is_quoted => {}
            '0'..='9' if shape.ends_with('#') => {}
            '0'..='9' => shape.push('#'),
            other => shape.push(other),
        }
    }
    shape.replace("-#", "#")
}

#[test]
fn the_server_sees_the_same_statements() {
    beside_sysbench("front_log", |server, _| {
        let target = server.create_database("front_log");
        let prepare = ["--table_size=1000", "prepare"];
        Sysbench.ends_well(server, &target, &path("oltp_read_write"), &prepare);
        let mut control = connect(&target);
        for sql in ["SET GLOBAL log_output = 'TABLE'", "SET GLOBAL general_log = ON"] {
            control.query(sql).unwrap();
        }
        for script in ["oltp_read_write", "oltp_insert", "select_random_ranges"] {
            for mode in ["auto", "disable"] {
                let words = [
                    "--table_size=1000",
                    "--events=50",
                    &format!("--db-ps-mode={mode}"),
                    "run",
                ];
                let seen = [Sysbench, Plimsoll].map(|program| {
                    control.query("TRUNCATE mysql.general_log").unwrap();
                    program.ends_well(server, &target, &path(script), &words);
                    statements(&mut control)
                });
                assert!(!seen[0].is_empty(), "{script}");
                assert_eq!(seen[1], seen[0], "{script} {mode}");
            }
        }
        control.query("SET GLOBAL general_log = OFF").unwrap();
    });
}

#[test]
fn exit_codes_are_the_same() {
    beside_sysbench("front_codes", |server, target| {
        let script = path("oltp_read_write");
        let cases: [&[&str]; 7] = [
            &["run"], // no tables
            &["cleanup"],
            &["help"],
            &["frob"],
            &["--no-such-option=1", "run"],
            &["--mysql-user=nobody", "--mysql-password=wrong", "run"],
            &["--table_size=100", "prepare"],
        ];
        for words in cases {
            let codes = [Sysbench, Plimsoll].map(|program| {
                let output = program.run(server, target, &script, words);
                program.run(server, target, &script, &["cleanup"]);
                output.status.code()
            });
            assert_eq!(codes[1], codes[0], "{words:?}");
        }
    });
}

#[test]
fn a_workload_by_its_name_tells_the_same_counters() {
    beside_sysbench("front_names", |server, _| {
        for script in READING.iter().chain(&WRITING) {
            let told = [Sysbench, Plimsoll].map(|program| {
                let target = server.create_database("front_names");
                let size = &["--tables=1", "--table_size=300"];
                let prepare = [&size[..], &["prepare"]].concat();
                program.ends_well(server, &target, script, &prepare);
                let made = tables(&target);
                let events = ["--events=100", "--threads=1", "run"];
                let report = program.ends_well(server, &target, script, &[&size[..], &events].concat());
                (made, counters(&report))
            });
            if *script == "oltp_delete" {
                assert_eq!(told[1].0, told[0].0, "{script}"); // which rows are gone already is chance
            } else {
                assert_eq!(told[1], told[0], "{script}");
            }
        }
    });
}
