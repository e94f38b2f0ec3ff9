//! Loads that were interrupted on a real server, and whether what is there is what was meant.

mod support;

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use plimsoll_core::message::{FailureClass, Progress};
use plimsoll_core::plan::{DataPlan, DataSet, Endpoint, Layout, LoadMethod, OltpData, Secret, ServerKey, Target, Tls};
use plimsoll_wire::Connection;
use plimsoll_workloads::data::{self, DataEvent};
use rustix::process::{Signal, getpid, kill_process};
use support::{
    Kind, await_no_others, connect, installed, is_for_each_server, on_each_server, on_mariadb_or_each_server, skip,
    value,
};

/// Six chunks for two loaders. What is loaded is told four times a second, so it takes more than that from the first to the last.
const ROWS: u64 = 300_000;
const CHUNK_ROWS: u64 = 50_000;

fn plan(target: &Target, table_size: u64, method: LoadMethod) -> DataPlan {
    DataPlan {
        protocol: 1,
        target: target.clone(),
        data_set: DataSet::Oltp(OltpData {
            table_size,
            seed: 7,
            ..OltpData::default()
        }),
        loaders: 2,
        method,
        drop_foreign: false,
    }
}

fn sized(target: &Target, table_size: u64) -> DataPlan {
    plan(target, table_size, LoadMethod::Auto)
}

/// Servers are shared and count the rows of all that insert. To be taken when there is a server, so that those who wait keep it.
fn alone() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Rows that servers write into tables of their own while catalogues and counters are looked at, at most.
const CATALOGUE_ROWS: u64 = 5_000;

/// Makes the tables; returns what was told of the phase `load`, and how many rows the server wrote.
fn prepare(plan: &DataPlan) -> (Vec<Progress>, u64) {
    let mut control = connect(&plan.target);
    let written = |control: &mut Connection| -> u64 {
        let count = value(control, "SHOW GLOBAL STATUS LIKE 'Handler_write'");
        count.parse().unwrap()
    };
    let before = written(&mut control);
    let mut told = Vec::new();
    let mut observe = |event: DataEvent| match event {
        DataEvent::Progress(progress) if progress.phase == "load" => told.push(progress),
        _ => {}
    };
    data::prepare(plan, &mut observe).unwrap();
    (told, written(&mut control) - before)
}

fn checksum(target: &Target) -> String {
    value(&mut connect(target), "CHECKSUM TABLE sbtest1")
}

fn comment(target: &Target) -> String {
    let sql = "SELECT TABLE_COMMENT FROM information_schema.TABLES \
               WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'sbtest1'";
    value(&mut connect(target), sql)
}

/// Puts a complete table back to what an engine that was killed while loading leaves.
fn interrupt(target: &Target, table_size: u64, lost: &[&str]) {
    let mut control = connect(target);
    for sql in [
        "ALTER TABLE sbtest1 DROP INDEX k_1".to_owned(),
        format!("ALTER TABLE sbtest1 COMMENT = 'plimsoll oltp rows={table_size} seed=7 state=loading'"),
    ] {
        control.query(&sql).unwrap();
    }
    for ids in lost {
        control.query(&format!("DELETE FROM sbtest1 WHERE id {ids}")).unwrap();
    }
}

/// Not a test by itself: the process that the next one starts, which dies in the middle of loading.
#[test]
#[ignore = "it kills its own process"]
fn loader_that_is_killed() {
    let setting = |name: &str| std::env::var(name).unwrap();
    let target = Target {
        endpoint: Endpoint::Socket {
            path: PathBuf::from(setting("LOADER_SOCKET")),
        },
        user: "root".to_owned(),
        password: Secret::default(),
        database: setting("LOADER_DATABASE"),
        tls: Tls::Preferred,
        server_key: ServerKey::None,
    };
    let method = if setting("LOADER_METHOD") == "inserts" {
        LoadMethod::Inserts
    } else {
        LoadMethod::Auto
    };
    let mut die = |event: DataEvent| {
        if let DataEvent::Progress(progress) = event {
            if progress.phase == "load" && (CHUNK_ROWS..ROWS).contains(&progress.done_count) {
                kill_process(getpid(), Signal::KILL).unwrap();
            }
        }
    };
    data::prepare(&plan(&target, ROWS, method), &mut die).unwrap();
}

#[test]
fn a_load_that_was_killed_is_gone_on_with_and_ends_with_the_same_rows() {
    on_each_server("whole", |server, target| {
        let _alone = alone();
        prepare(&sized(target, ROWS));
        let expected = checksum(target);
        // What was inserted does not depend on the server.
        let methods = if server.kind == Kind::MariaDb || is_for_each_server() {
            &["auto", "inserts"][..]
        } else {
            &["auto"]
        };
        for method in methods {
            let target = server.create_database(&format!("killed_{method}"));
            let loader = Command::new(std::env::current_exe().unwrap())
                .args(["--ignored", "--exact", "loader_that_is_killed"])
                .env("LOADER_SOCKET", server.socket())
                .env("LOADER_DATABASE", &target.database)
                .env("LOADER_METHOD", method)
                .output()
                .unwrap();
            assert!(!loader.status.success(), "it ended before it was killed");
            await_no_others(&mut connect(&target), "DB = DATABASE()");
            assert_eq!(
                comment(&target),
                format!("plimsoll oltp rows={ROWS} seed=7 state=loading")
            );
            let (told, written) = prepare(&sized(&target, ROWS));
            assert!(
                written <= ROWS - CHUNK_ROWS + CATALOGUE_ROWS,
                "{method}: {written} rows were sent again"
            );
            assert!(told[0].done_count >= CHUNK_ROWS, "{method}: {:?}", told[0]);
            assert_eq!(told.last().unwrap().done_count, ROWS);
            assert_eq!(checksum(&target), expected, "{method}");
            assert_eq!(
                comment(&target),
                format!("plimsoll oltp rows={ROWS} seed=7 state=complete")
            );
        }
    });
}

#[test]
fn only_what_is_missing_is_sent_and_one_altered_row_is_found() {
    on_each_server("missing", |_server, target| {
        let _alone = alone();
        let plan = sized(target, 60_000);
        prepare(&plan);
        check_that_only_what_is_missing_is_sent(&plan);
        check_that_one_altered_row_is_found(&plan);
    });
}

fn check_that_only_what_is_missing_is_sent(plan: &DataPlan) {
    let target = &plan.target;
    let expected = checksum(target);
    interrupt(target, 60_000, &["BETWEEN 40001 AND 50000", "> 55000"]);
    let sent = prepare(plan).1;
    assert!((15_000..15_000 + CATALOGUE_ROWS).contains(&sent), "{sent}");
    assert_eq!(checksum(target), expected);
    interrupt(target, 60_000, &[]);
    let sent = prepare(plan).1;
    assert!(sent < CATALOGUE_ROWS, "only the index was missing: {sent}");
    let mut control = connect(target);
    let mark = "ALTER TABLE sbtest1 COMMENT = 'plimsoll oltp rows=60000 seed=7 state=loading'";
    control.query(mark).unwrap();
    let sent = prepare(plan).1;
    assert!(sent < CATALOGUE_ROWS, "only the mark was missing: {sent}");
}

fn check_that_one_altered_row_is_found(plan: &DataPlan) {
    let mut control = connect(&plan.target);
    assert_eq!(data::verify(plan, &mut |_| {}).unwrap().rows_count, 60_000);
    for change in [
        "UPDATE sbtest1 SET k = k + 1 WHERE id = 50001",
        "UPDATE sbtest1 SET pad = REPLACE(pad, '1', '2') WHERE id = 50001",
        "UPDATE sbtest1 a, sbtest1 b SET a.c = b.c, b.c = a.c WHERE a.id = 50001 AND b.id = 50002",
    ] {
        control
            .query("CREATE TABLE kept AS SELECT * FROM sbtest1 WHERE id IN (50001, 50002)")
            .unwrap();
        control.query(change).unwrap();
        data::check(plan, &mut |_| {}).expect("as many rows as before");
        let fault = data::verify(plan, &mut |_| {}).unwrap_err();
        assert_eq!(fault.class, FailureClass::Data);
        assert!(
            fault.message.contains("sbtest1 id 50001 to 60000: "),
            "{change}: {fault}"
        );
        control.query("REPLACE INTO sbtest1 SELECT * FROM kept").unwrap();
        control.query("DROP TABLE kept").unwrap();
    }
    data::verify(plan, &mut |_| {}).expect("all changes were taken back");
    control.query("DELETE FROM sbtest1 WHERE id = 9").unwrap();
    let fault = data::verify(plan, &mut |_| {}).unwrap_err();
    assert_eq!(fault.class, FailureClass::Data);
    assert!(fault.message.contains("59999 1 60000"), "{fault}");
}

#[test]
fn rows_of_somebody_else_in_an_unfinished_table_are_refused_and_stay() {
    let theirs = [
        (
            "a row that was altered",
            "UPDATE sbtest1 SET c = 'mine' WHERE id = 3",
            "id 1 to 1000",
        ),
        (
            "a gap before others",
            "DELETE FROM sbtest1 WHERE id = 2",
            "id 1 to 1000",
        ),
        (
            "a row behind the last",
            "INSERT INTO sbtest1 VALUES (1001, 1, 'mine', '')",
            "beyond its own 1 to 1000",
        ),
        (
            "a row before the first",
            "INSERT INTO sbtest1 VALUES (-1, 1, 'mine', '')",
            "from -1 to",
        ),
    ];
    on_each_server("theirs", |_server, target| {
        let _alone = alone();
        let plan = sized(target, 1_000);
        for (what, sql, place) in theirs {
            prepare(&plan);
            interrupt(target, 1_000, &[]);
            connect(target).query(sql).unwrap();
            let before = checksum(target);
            let fault = data::prepare(&plan, &mut |_| {}).unwrap_err();
            assert_eq!(fault.class, FailureClass::Data, "{what}: {fault}");
            assert!(
                fault.message.contains(place) && fault.message.contains("plimsoll cleanup"),
                "{what}: {fault}"
            );
            assert_eq!(checksum(target), before, "{what}");
            data::cleanup(&plan, &mut |_| {}).unwrap();
        }
    });
}

/// A database may keep its texts in two or four bytes for each character.
#[test]
fn the_content_does_not_depend_on_the_character_set() {
    on_each_server("wide", |_server, target| {
        let _alone = alone();
        connect(target)
            .query("ALTER DATABASE wide CHARACTER SET utf16")
            .unwrap();
        let plan = sized(target, 1_000);
        prepare(&plan);
        let column = value(
            &mut connect(target),
            "SELECT CHARACTER_SET_NAME FROM information_schema.COLUMNS \
             WHERE TABLE_SCHEMA = 'wide' AND TABLE_NAME = 'sbtest1' AND COLUMN_NAME = 'c'",
        );
        assert_eq!(column, "utf16");
        data::verify(&plan, &mut |_| {}).unwrap();
    });
}

#[test]
fn tables_of_every_shape_are_gone_on_with_and_compared() {
    let usual = OltpData {
        table_size: 1_000,
        seed: 7,
        ..OltpData::default()
    };
    let shapes = [
        OltpData {
            layout: Layout::Sysbench04,
            ..usual.clone()
        },
        OltpData {
            secondary: true,
            auto_increment: false,
            ..usual.clone()
        },
        OltpData {
            empty: true,
            ..usual.clone()
        },
    ];
    on_each_server("shapes", |_server, target| {
        let _alone = alone();
        for data in &shapes {
            let plan = DataPlan {
                data_set: DataSet::Oltp(data.clone()),
                ..sized(target, 1_000)
            };
            data::prepare(&plan, &mut |_| {}).unwrap();
            let mut control = connect(target);
            let name = value(&mut control, "SHOW TABLES");
            let loading = value(
                &mut control,
                "SELECT REPLACE(TABLE_COMMENT, 'complete', 'loading') FROM information_schema.TABLES \
                 WHERE TABLE_SCHEMA = DATABASE()",
            );
            control
                .query(&format!("ALTER TABLE {name} COMMENT = '{loading}'"))
                .unwrap();
            control.query(&format!("DELETE FROM {name} WHERE id > 600")).unwrap();
            data::prepare(&plan, &mut |_| {}).unwrap();
            data::verify(&plan, &mut |_| {}).unwrap();
            data::cleanup(&plan, &mut |_| {}).unwrap();
        }
    });
}

#[test]
fn nothing_of_the_server_is_set_and_no_session_stays() {
    on_each_server("settings", |_server, target| {
        let _alone = alone();
        let mut control = connect(target);
        let globals = |control: &mut Connection| {
            let rows = control.query_rows("SHOW GLOBAL VARIABLES", 10_000).unwrap();
            // The position in a log moves with each statement.
            let is_setting = |row: &Vec<Option<String>>| !row[0].as_ref().is_some_and(|name| name.contains("gtid"));
            rows.into_iter().filter(is_setting).collect::<Vec<_>>()
        };
        let before = globals(&mut control);
        for method in [LoadMethod::Auto, LoadMethod::Inserts] {
            prepare(&plan(target, 10_000, method));
            data::cleanup(&plan(target, 10_000, method), &mut |_| {}).unwrap();
        }
        assert_eq!(globals(&mut control), before);
        let sessions = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = 'settings'";
        let deadline = Instant::now() + Duration::from_secs(300);
        while value(&mut control, sessions) != "1" {
            assert!(Instant::now() < deadline, "sessions stay open");
            std::thread::yield_now();
        }
    });
}

/// Bytes of the rows and of the indexes beside them.
fn sizes(target: &Target) -> [f64; 2] {
    let mut control = connect(target);
    control.query("ANALYZE TABLE sbtest1").unwrap();
    ["DATA_LENGTH", "INDEX_LENGTH"].map(|column| {
        let sql = format!(
            "SELECT {column} FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'sbtest1'"
        );
        value(&mut control, &sql).parse().unwrap()
    })
}

#[test]
fn tables_take_as_much_room_as_those_of_sysbench() {
    if !installed("sysbench") {
        return skip("sysbench is not installed");
    }
    on_mariadb_or_each_server("room", |server, target| {
        let _alone = alone();
        let theirs = server.create_database("room_sysbench");
        let output = Command::new("sysbench")
            .arg("oltp_read_write")
            .arg(format!("--mysql-socket={}", server.socket().display()))
            .arg(format!("--mysql-db={}", theirs.database))
            .args(["--mysql-user=root", "--table-size=200000", "prepare"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        prepare(&sized(target, 200_000));
        for (ours, theirs) in sizes(target).into_iter().zip(sizes(&theirs)) {
            eprintln!("{ours} bytes, sysbench {theirs}");
            assert!((ours / theirs - 1.0).abs() < 0.03, "{ours} bytes, sysbench {theirs}");
        }
    });
}
