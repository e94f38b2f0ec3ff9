//! What scripts and names do to a server, and what is told of it, beside sysbench 1.0.20: the server's own counters, the report's
//! numbers, the words of errors.

#[path = "../../workloads/tests/support/mod.rs"]
mod support;

mod beside;

use std::process::Command;
use std::sync::{Mutex, PoisonError};

use beside::{Folder, READING, WRITING, exactly, number, our_command, output, their_command};
use plimsoll_core::plan::Target;
use support::counters::{Status, counted, differences};
use support::{Kind, Server, connect, installed, on_server, skip};

const EVENTS: u64 = 300;

/// sysbench, and our command line.
const BOTH: [fn() -> Command; 2] = [their_command, our_command];

/// Where sysbench is; one test at a time, since the server's counters do not say whose work they tell.
fn beside_sysbench(database: &str, test: impl Fn(&Server, &Target)) {
    static ALONE: Mutex<()> = Mutex::new(());
    if !installed("sysbench") {
        return skip("sysbench is not installed");
    }
    on_server(Kind::MariaDb, database, |server, target| {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        test(server, target);
    });
}

/// Words, and those that lead to a server.
fn told(server: &Server, target: &Target, program: fn() -> Command, words: &[&str]) -> (String, String, Option<i32>) {
    let place = [
        format!("--mysql-socket={}", server.socket().display()),
        format!("--mysql-db={}", target.database),
        "--mysql-user=root".to_owned(),
    ];
    let words: Vec<&str> = words.iter().copied().chain(place.iter().map(String::as_str)).collect();
    exactly(&output(program(), &words, ""))
}

/// The same, which must end well; gives what it printed.
fn ends_well(server: &Server, target: &Target, program: fn() -> Command, words: &[&str]) -> String {
    let (out, err, code) = told(server, target, program, words);
    assert_eq!(code, Some(0), "{words:?}\n{out}{err}");
    out
}

fn numbers(report: &str) -> [u64; 6] {
    [
        "read:",
        "write:",
        "other:",
        "total:",
        "transactions:",
        "ignored errors:",
    ]
    .map(|label| number(report, label))
}

fn statements_only(status: Status) -> Status {
    status
        .into_iter()
        .filter(|(name, _)| name.starts_with("Com_"))
        .collect()
}

#[test]
fn a_server_does_the_same_for_a_workload_by_its_name() {
    beside_sysbench("names_work", |server, target| {
        let mut control = connect(target);
        let size = ["--tables=2", "--table_size=5000", "--rand-type=uniform", "--time=0"];
        ends_well(
            server,
            target,
            their_command,
            &[&["oltp_read_write"], &size[..], &["prepare"]].concat(),
        );
        let events = format!("--events={EVENTS}");
        for name in READING.iter().chain(&WRITING) {
            for option in ["--db-ps-mode=auto", "--db-ps-mode=disable"] {
                let words = [&[*name], &size[..], &[&events, option, "run"]].concat();
                let [theirs, ours] = BOTH.map(|program| {
                    let counted = counted(&mut control, EVENTS, || {
                        ends_well(server, target, program, &words);
                    });
                    statements_only(counted)
                });
                assert_eq!(
                    differences(&ours, &theirs, EVENTS),
                    Vec::<String>::new(),
                    "{name} {option}"
                );
                let is_prepared = |status: &Status| status["Com_stmt_execute"] > 0.0;
                assert_eq!(is_prepared(&ours), is_prepared(&theirs), "{name} {option}");
            }
        }
    });
}

#[test]
fn names_take_numbers_that_leave_nothing_to_do() {
    beside_sysbench("names_nothing", |server, target| {
        ends_well(server, target, their_command, &["oltp_read_write", "prepare"]);
        for words in [
            &["oltp_update_non_index", "--non_index_updates=0"][..],
            &["oltp_read_only", "--point_selects=0", "--range_selects=off"],
            &[
                "oltp_read_only",
                "--point_selects=0",
                "--range_selects=off",
                "--skip_trx",
            ],
            &["oltp_read_only", "--range_size="],
            &["oltp_read_only", "--table_size=0"],
            &["oltp_point_select", "--point_selects="],
        ] {
            let words = [words, &["--rand-type=uniform", "--events=20", "run"]].concat();
            let told = BOTH.map(|program| numbers(&ends_well(server, target, program, &words)));
            assert_eq!(told[1], told[0], "{words:?}");
        }
        let (out, _, code) = told(server, target, our_command, &["oltp_read_only", "--tables=x", "run"]);
        assert!(out.contains("--tables: must be at least 1, is 0"), "{out}");
        assert_eq!(code, Some(1));
    });
}

#[test]
fn rows_in_bulk_are_written_in_the_same_statements_and_counted() {
    beside_sysbench("names_bulk", |server, target| {
        for words in [
            &["--events=1"][..],
            &["--events=30000"],
            &["--events=60000", "--any=thing"],
        ] {
            let made = BOTH.map(|program| {
                server.create_database("names_bulk");
                ends_well(
                    server,
                    target,
                    program,
                    &[&["bulk_insert"], words, &["prepare"]].concat(),
                );
                let words = [&["bulk_insert", "--time=0"], words, &["run"]].concat();
                numbers(&ends_well(server, target, program, &words))
            });
            assert!(made[0][1] >= 1, "{made:?}");
            assert_eq!(made[1], made[0], "{words:?}");
        }
    });
}

#[test]
fn a_body_may_use_a_server_with_a_command_and_without() {
    beside_sysbench("body", |server, target| {
        let folder = Folder::new();
        let script = folder.script(
            "local con = sysbench.sql.driver():connect()
             print('body', con:query_row('SELECT 41 + 1'))
             db_query('SET @a = 1')
             function prepare() print('prepare', con:query_row('SELECT 43')) end
             function init() con:query('SELECT 1') end
             function event() con:query('SELECT 2') end",
        );
        for words in [&[][..], &["prepare"], &["--mysql-user=nobody", "--mysql-password=x"]] {
            let words = [&[script.as_str()], words].concat();
            let told = BOTH.map(|program| told(server, target, program, &words));
            assert!(told[0].0.contains("body") || told[0].2 == Some(1), "{told:?}");
            assert_eq!(told[1], told[0], "{words:?}");
        }
        let words = [script.as_str(), "--events=5", "--threads=2", "--time=0", "run"];
        let counted = BOTH.map(|program| numbers(&ends_well(server, target, program, &words)));
        assert_eq!(counted[1], counted[0]);
    });
}

#[test]
fn what_scripts_count_by_hand_is_counted_and_not_named() {
    beside_sysbench("by_hand", |server, target| {
        let folder = Folder::new();
        let script = folder.script(
            "ffi.cdef[[void sb_counter_inc(int, sb_counter_type);]]
             function thread_init() con = sysbench.sql.driver():connect() end
             function event()
               con:query('BEGIN') con:query('ROLLBACK')
               for _, counter in ipairs{0, 1, 2, 4, 5, 6, 7} do ffi.C.sb_counter_inc(sysbench.tid, counter) end
               ffi.C.sb_counter_inc(sysbench.tid, ffi.C.SB_CNT_ERROR)
             end",
        );
        let words = [script.as_str(), "--events=6", "--time=0", "run"];
        let reports = BOTH.map(|program| ends_well(server, target, program, &words));
        let [theirs, ours] = reports
            .each_ref()
            .map(|report| (numbers(report), number(report, "reconnects:")));
        assert_eq!((ours.0[5], ours.1), (12, 6), "{}", reports[1]);
        assert_eq!(ours, theirs);
        assert!(!reports[1].contains("errors by code"), "{}", reports[1]);
        let seen = folder.script(
            "n = 0
             function thread_init() con = sysbench.sql.driver():connect() end
             function event() n = n + 1 if n % 2 == 1 then con:query('SELECT * FROM nothere') end end",
        );
        let words = [
            seen.as_str(),
            "--events=3",
            "--time=0",
            "--mysql-ignore-errors=1146",
            "run",
        ];
        let reports = BOTH.map(|program| ends_well(server, target, program, &words));
        assert_eq!(numbers(&reports[1]), numbers(&reports[0]));
        assert!(
            reports[1].contains("MySQL errors by code:\n    1146:"),
            "{}",
            reports[1]
        );
    });
}

/// A message without the place in a script, and without values.
fn without_place(line: &str) -> String {
    let end = ["function failed: ", " for query "]
        .iter()
        .find_map(|mark| line.find(mark));
    line[..end.unwrap_or(line.len())].to_owned()
}

#[test]
fn missing_tables_are_told_as_sysbench_tells_them_and_the_password_may_be_in_the_environment() {
    beside_sysbench("no_tables", |server, target| {
        let mut control = connect(target);
        control
            .query("CREATE USER IF NOT EXISTS locked@localhost IDENTIFIED BY 'geheim'")
            .unwrap();
        control.query("GRANT ALL ON *.* TO locked@localhost").unwrap();
        let place = [
            format!("--mysql-socket={}", server.socket().display()),
            format!("--mysql-db={}", target.database),
            "--mysql-user=locked".to_owned(),
        ];
        for workload in ["oltp_read_write", "select_random_points", "oltp_insert"] {
            let words = [workload, "--events=1", "run"];
            let words: Vec<&str> = words.iter().copied().chain(place.iter().map(String::as_str)).collect();
            let told = BOTH.map(|program| {
                let mut command = program();
                command.env("MYSQL_PWD", "geheim");
                let (out, err, code) = exactly(&output(command, &words, ""));
                let fatal = out.lines().filter(|line| line.starts_with("FATAL: "));
                (fatal.map(without_place).collect::<Vec<_>>(), err, code)
            });
            assert!(told[0].0.len() > 1 && told[0].2 == Some(1), "{told:?}");
            assert_eq!(told[1], told[0], "{workload}");
        }
        control.query("DROP USER locked@localhost").unwrap();
    });
}

#[test]
fn nothing_follows_a_report_that_a_script_wrote() {
    beside_sysbench("own_report", |server, target| {
        let folder = Folder::new();
        let script = folder.script(
            "sysbench.hooks.report_cumulative = function(stat) print('last: ' .. stat.errors) end
             n = 0
             function thread_init() con = sysbench.sql.driver():connect() end
             function event() n = n + 1 if n % 2 == 1 then con:query('SELECT * FROM nothere') end end",
        );
        let words = [
            script.as_str(),
            "--events=3",
            "--time=0",
            "--mysql-ignore-errors=1146",
            "run",
        ];
        let told = BOTH.map(|program| told(server, target, program, &words));
        assert_eq!(told[1].0, told[0].0);
        assert!(told[1].0.ends_with("last: 3\n"), "{told:?}");
        assert!(told[1].1.contains("    1146:"), "{told:?}");
    });
}

#[test]
fn errors_name_the_line_of_the_script_and_lose_their_end_where_they_are_long() {
    beside_sysbench("errors", |server, target| {
        let folder = Folder::new();
        let event = |body: &str| {
            folder.script(&format!(
                "function event() local con = sysbench.sql.driver():connect()\n{body}\nend"
            ))
        };
        let ours = |script: &str| told(server, target, our_command, &[script, "--events=1", "run"]).0;
        for (body, line) in [
            (
                "con:disconnect() con:query('SELECT 1')",
                "`thread_run' function failed: SQL API error\n",
            ),
            (
                "local function f() con:query('SELECT 1') end con:disconnect()\nf()\nlocal x = 1",
                "script.lua:3: SQL API error\n",
            ),
            (
                "con:disconnect() con:query_row('SELECT 1')",
                "script.lua:2: SQL API error\n",
            ),
            ("con:prepare('SELEC 1')", "script.lua:2: SQL API error\n"),
            (
                "con:query('SELEC 1')",
                "script.lua:2: SQL error, errno = 1064, state = '42000': ",
            ),
            (
                "con:query_row('SELEC 1')",
                "script.lua:2: SQL error, errno = 1064, state = '42000': ",
            ),
        ] {
            let out = ours(&event(body));
            assert!(out.contains(line), "{body}: {out}");
        }
        let long = event("con:query('SELECT x' .. string.rep('a', 200000))");
        let out = ours(&long);
        assert!(
            out.contains("mysql_drv_query() returned error 1054") && out.contains("aaa...\n"),
            "{out}"
        );
        assert!(out.len() < 6_000, "{}", out.len());
        let theirs = told(server, target, their_command, &[&long, "--events=1", "run"]).0;
        assert!(theirs.len() < 6_000, "{}", theirs.len());
    });
}
