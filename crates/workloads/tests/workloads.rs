//! The OLTP workloads on a real server: what they do, and what they say when they cannot.

mod support;

use std::collections::BTreeSet;
use std::path::Path;

use plimsoll_core::message::FailureClass;
use plimsoll_core::plan::{DataPlan, DataSet, LoadMethod, OltpData, OltpKind, OltpOptions, Target};
use plimsoll_core::snapshot::ErrorClass;
use plimsoll_session::{Terms, default_retry};
use plimsoll_wire::Connection;
use plimsoll_workloads::{Workload, data, factory};
use support::killing::kill_all;
use support::trial::{Load, Until, run, run_beside};
use support::{Kind, Server, connect, on_each_server, source, value};

const TABLE_SIZE: u64 = 2_000;

fn prepare(target: &Target) {
    let plan = DataPlan {
        protocol: 1,
        target: target.clone(),
        data_set: DataSet::Oltp(OltpData {
            tables: 2,
            table_size: TABLE_SIZE,
            seed: 1,
            ..OltpData::default()
        }),
        loaders: 1,
        method: LoadMethod::Auto,
        drop_foreign: false,
    };
    data::prepare(&plan, &mut |_| {}).unwrap();
}

fn options(prepared: bool) -> OltpOptions {
    OltpOptions {
        tables: 2,
        table_size: TABLE_SIZE,
        prepared,
        ..OltpOptions::default()
    }
}

fn load(connections: u32, until: Until) -> Load {
    Load {
        connections,
        until,
        seed: 7,
    }
}

#[test]
fn all_workloads_do_what_they_say_prepared_and_as_text() {
    on_each_server("does", |_server, target| {
        prepare(target);
        // Statements in each transaction that read, write, and do neither.
        let expected: [(OltpKind, u64, u64, u64); 4] = [
            (OltpKind::ReadOnly, 14, 0, 2),
            (OltpKind::ReadWrite, 14, 4, 2),
            (OltpKind::WriteOnly, 0, 4, 2),
            (OltpKind::PointSelect, 1, 0, 0),
        ];
        for (seed, prepared) in [(1, true), (2, false)] {
            for (workload, reads, writes, others) in expected {
                let workload = workload.with(options(prepared));
                assert_eq!(workload.preflight(&source(target), 2).unwrap(), vec![]);
                // With another seed, since an update that changes nothing does not count as a write.
                let load = Load {
                    seed,
                    ..load(2, Until::Transactions(100))
                };
                let summary = run(&workload, &source(target), load).unwrap();
                let counts = summary.snapshot.counts();
                // A deadlock repeats the statements before it, so there may be more of them.
                assert_eq!((counts.completed, counts.failed), (100, 0), "{workload:?}");
                if counts.retries == 0 {
                    let statements = (counts.reads, counts.writes, counts.others);
                    assert_eq!(statements, (100 * reads, 100 * writes, 100 * others), "{workload:?}");
                }
            }
        }
        let mut control = connect(target);
        for table in ["sbtest1", "sbtest2"] {
            assert_eq!(
                value(&mut control, &format!("SELECT COUNT(*) FROM {table}")),
                TABLE_SIZE.to_string()
            );
        }
    });
}

#[test]
fn the_same_seed_draws_the_same_rows() {
    on_each_server("seed_a", |server, target| {
        let other = server.create_database("seed_b");
        let mut checksums = vec![];
        for (target, prepared) in [(target, true), (&other, false)] {
            prepare(target);
            run(
                &OltpKind::WriteOnly.with(options(prepared)),
                &source(target),
                load(1, Until::Transactions(50)),
            )
            .unwrap();
            checksums.push(value(&mut connect(target), "CHECKSUM TABLE sbtest1"));
        }
        assert_eq!(
            checksums[0], checksums[1],
            "text and prepared statements must do the same to the data"
        );
    });
}

#[test]
fn deadlocks_are_repeated_and_counted() {
    on_each_server("deadlocks", |_server, target| {
        prepare(target);
        let narrow = OltpOptions {
            tables: 1,
            table_size: 10,
            index_updates: 4,
            ..options(true)
        };
        let summary = run(
            &OltpKind::WriteOnly.with(narrow),
            &source(target),
            load(16, Until::Transactions(300)),
        )
        .unwrap();
        let counts = summary.snapshot.counts();
        let retryable: u64 = summary
            .snapshot
            .errors
            .iter()
            .filter(|one| one.class == ErrorClass::Retryable)
            .map(|one| one.count)
            .sum();
        assert!(counts.completed > 0 && counts.retries > 0, "{counts:?}");
        assert_eq!(
            retryable,
            summary.snapshot.errors.iter().map(|one| one.count).sum::<u64>()
        );
        assert!(retryable >= counts.retries, "{retryable} {counts:?}");
        assert_eq!(
            value(&mut connect(target), "SELECT COUNT(*) FROM sbtest1"),
            TABLE_SIZE.to_string()
        );
    });
}

/// After a lock-wait timeout the server keeps the transaction's earlier changes: they must not stay when it is repeated.
#[test]
fn a_repeated_transaction_changes_the_data_once() {
    on_each_server("once", |_, target| {
        prepare(target);
        let options = OltpOptions {
            tables: 1,
            table_size: 50,
            index_updates: 5,
            non_index_updates: 0,
            delete_inserts: 0,
            ..options(true)
        };
        let mut control = connect(target);
        let sum = |control: &mut Connection| value(control, "SELECT SUM(k) FROM sbtest1").parse::<u64>().unwrap();
        let before = sum(&mut control);
        control.query("SET GLOBAL innodb_lock_wait_timeout = 1").unwrap();
        control.query("BEGIN").unwrap();
        control.query("SELECT * FROM sbtest1 WHERE id = 25 FOR UPDATE").unwrap();
        let workload = OltpKind::WriteOnly.with(options);
        let summary = std::thread::scope(|scope| {
            let running = scope.spawn(|| run(&workload, &source(target), load(1, Until::Transactions(100))));
            // MySQL looks for waits that are too long once a second.
            std::thread::sleep(std::time::Duration::from_secs(3));
            control.query("ROLLBACK").unwrap();
            running.join().unwrap().unwrap()
        });
        control.query("SET GLOBAL innodb_lock_wait_timeout = 50").unwrap();
        let errors = &summary.snapshot.errors;
        assert!(errors.iter().any(|error| error.code == 1205), "{errors:?}");
        assert_eq!(summary.snapshot.counts().completed, 100);
        assert_eq!(sum(&mut control), before + 5 * 100);
    });
}

#[test]
fn lost_connections_are_opened_again() {
    on_each_server("lost", |_server, target| {
        prepare(target);
        let workload = OltpKind::ReadWrite.with(options(true));
        let lasts = load(4, Until::ItGoesOn(0));
        let (summary, ()) = run_beside(&workload, &source(target), lasts, &default_retry(), || {
            let (mut control, mut killed) = (connect(target), BTreeSet::new());
            for _ in 0..5 {
                kill_all(&mut control, "lost", 4, &mut killed);
            }
        });
        // Each of the 20 was opened again before the next were killed. One that is killed while it rolls back after a deadlock is
        // noticed without an error of its own.
        let (lost, counts) = (summary.errors_of(ErrorClass::Connection), summary.counts());
        assert!(
            (1..=20).contains(&lost) && counts.failed >= lost,
            "{lost} lost, {counts:?}, {:?}",
            summary.snapshot.errors
        );
        assert_eq!(
            value(&mut connect(target), "SELECT COUNT(*) FROM sbtest1"),
            TABLE_SIZE.to_string()
        );
    });
}

#[test]
fn misuse_ends_the_run_with_the_cure() {
    on_each_server("misuse", |_server, target| {
        let workload = OltpKind::ReadOnly.with(options(true));
        let fault = workload.preflight(&source(target), 1).unwrap_err();
        assert!(
            fault.message.contains("sbtest1 … sbtest2") && fault.message.contains("`plimsoll prepare`"),
            "{fault}"
        );
        for prepared in [true, false] {
            let workload = OltpKind::ReadOnly.with(options(prepared));
            let fault = run(&workload, &source(target), load(2, Until::Milliseconds(5_000)))
                .err()
                .unwrap();
            assert_eq!((fault.class, fault.code), (FailureClass::Target, Some(1146)));
            assert!(fault.message.contains("`plimsoll prepare`"), "{fault}");
        }
        prepare(target);
        connect(target)
            .query("ALTER TABLE sbtest2 CHANGE pad padding CHAR(60)")
            .unwrap();
        let fault = workload.preflight(&source(target), 1).unwrap_err();
        assert!(fault.message.contains("sbtest2 has no column pad char"), "{fault}");
    });
}

#[test]
fn preflight_knows_the_limits_of_the_server() {
    on_each_server("limits", |_server, target| {
        prepare(target);
        let workload = OltpKind::ReadWrite.with(options(true));
        let fault = workload.preflight(&source(target), 5_000).unwrap_err();
        assert!(fault.message.contains("max_connections is"), "{fault}");
        let mut control = connect(target);
        control.query("SET GLOBAL max_prepared_stmt_count = 100").unwrap();
        let refused = workload.preflight(&source(target), 50).unwrap_err();
        let as_text = OltpKind::ReadWrite.with(options(false)).preflight(&source(target), 50);
        control.query("SET GLOBAL max_prepared_stmt_count = 16382").unwrap();
        assert!(
            refused.message.contains("50 connections prepare 1000 statements"),
            "{refused}"
        );
        assert_eq!(as_text.unwrap(), vec![]);
        let app = limited_account(&mut control, target);
        assert_eq!(workload.preflight(&source(&app), 7).unwrap(), vec![]);
        let refused = workload.preflight(&source(&app), 8).unwrap_err();
        assert!(refused.message.contains("this account may have 7"), "{refused}");
    });
}

/// An account that may have seven connections.
fn limited_account(control: &mut Connection, target: &Target) -> Target {
    for sql in [
        "DROP USER IF EXISTS few@localhost",
        "CREATE USER few@localhost IDENTIFIED BY '' WITH MAX_USER_CONNECTIONS 7",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON limits.* TO few@localhost",
    ] {
        control.query(sql).unwrap();
    }
    Target {
        user: "few".to_owned(),
        ..target.clone()
    }
}

#[test]
fn statements_that_nothing_would_commit_are_refused() {
    let Some(server) = Server::start(Kind::MariaDb, &[], Path::new("/var/tmp")) else {
        return;
    };
    let target = server.create_database("off");
    prepare(&target);
    connect(&target).query("SET GLOBAL autocommit = 0").unwrap();
    let look = |workload: &dyn Workload| workload.preflight(&source(&target), 1);
    let fault = look(&OltpKind::PointSelect.with(options(true))).unwrap_err();
    assert!(fault.message.contains("autocommit is 0"), "{fault}");
    let alone = OltpOptions {
        skip_transaction: true,
        ..options(true)
    };
    assert!(look(&OltpKind::WriteOnly.with(alone)).is_err());
    assert_eq!(look(&OltpKind::WriteOnly.with(options(true))).unwrap(), vec![]);
}

#[test]
fn tables_that_were_prepared_smaller_are_refused() {
    on_each_server("smaller", |_server, target| {
        prepare(target);
        let beyond = OltpOptions {
            table_size: 16_000,
            ..options(true)
        };
        let fault = OltpKind::PointSelect
            .with(beyond)
            .preflight(&source(target), 1)
            .unwrap_err();
        assert!(
            fault
                .message
                .contains("sbtest1 was prepared with 2000 rows, and table_size is 16000"),
            "{fault}"
        );
    });
}

#[test]
fn keys_without_rows_are_a_doubt() {
    on_each_server("misses", |_server, target| {
        prepare(target);
        let mut connection = connect(target);
        for number in 1..=2 {
            connection
                .query(&format!("ALTER TABLE sbtest{number} COMMENT = ''"))
                .unwrap();
        }
        let doubts = |table_size| {
            let options = OltpOptions {
                table_size,
                ..options(true)
            };
            OltpKind::PointSelect
                .with(options)
                .preflight(&source(target), 1)
                .unwrap()
        };
        assert_eq!(doubts(TABLE_SIZE), vec![]);
        let beyond = doubts(16_000);
        assert_eq!(beyond[0].code, "key-range-misses-data");
        assert!(beyond[0].evidence.contains("from 1 to 16000") && beyond[0].evidence.contains("1 to 2000:"));
        assert!(
            beyond[0].advice.starts_with("Set table_size to 2000"),
            "{}",
            beyond[0].advice
        );
        connection
            .query("DELETE FROM sbtest2 WHERE id % 25 IN (1, 2, 3, 4, 5, 6, 7)")
            .unwrap();
        let gaps = doubts(TABLE_SIZE);
        let share = gaps[0]
            .evidence
            .split("about ")
            .nth(1)
            .unwrap()
            .split(' ')
            .next()
            .unwrap();
        assert!(
            (share.parse::<f64>().unwrap() - 28.0).abs() < 5.0,
            "{}",
            gaps[0].evidence
        );
        assert!(
            gaps[0].evidence.contains("from 8 to 2000, with gaps") && !gaps[0].advice.contains("Set"),
            "{}",
            gaps[0].evidence
        );
    });
}

#[test]
fn nonsense_is_refused_before_anything_is_connected() {
    let nothing = OltpOptions {
        tables: 0,
        table_size: 0,
        ..OltpOptions::default()
    };
    let fault = factory(
        &OltpKind::ReadOnly.with(nothing),
        &support::nowhere(),
        1,
        0,
        Terms::default(),
    )
    .err()
    .unwrap();
    assert_eq!(fault.class, FailureClass::Spec);
    for part in ["tables", "table_size", "connections"] {
        assert!(fault.message.contains(part), "{fault}");
    }
}
