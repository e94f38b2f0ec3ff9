//! Each kind of OLTP workload on a real server: what it does to the data, and what its options change.

mod legacy;
#[path = "../support/mod.rs"]
mod support;

use std::sync::atomic::{AtomicU64, Ordering};

use plimsoll_core::message::FailureClass;
use plimsoll_core::plan::{
    DataPlan, DataSet, Isolation, Layout, LoadMethod, OltpData, OltpKind, OltpOptions, OltpPlan, Target, UserDelay,
};
use plimsoll_core::snapshot::Counts;
use plimsoll_session::Terms;
use plimsoll_wire::Connection;
use plimsoll_workloads::{Workload, data, factory};
use support::trial::{Load, Until, run};
use support::{connect, on_each_server, source, value};

const TABLE_SIZE: u64 = 1_000;
const TRANSACTIONS: u64 = 100;

/// The next run's.
static SEED: AtomicU64 = AtomicU64::new(3);

fn prepare(target: &Target, data: OltpData) {
    let plan = DataPlan {
        protocol: 1,
        target: target.clone(),
        data_set: DataSet::Oltp(data),
        loaders: 1,
        method: LoadMethod::Auto,
        drop_foreign: false,
    };
    data::prepare(&plan, &mut |_| {}).unwrap();
}

fn rows() -> OltpData {
    OltpData {
        table_size: TABLE_SIZE,
        ..OltpData::default()
    }
}

fn rows_04() -> OltpData {
    OltpData {
        layout: Layout::Sysbench04,
        ..rows()
    }
}

fn options() -> OltpOptions {
    OltpOptions {
        table_size: TABLE_SIZE,
        ..OltpOptions::default()
    }
}

/// Runs a hundred transactions on two connections after the preflight found nothing. With a seed of its own each time,
/// since an update to what is there already does not count as a write.
fn counts(workload: &OltpPlan, target: &Target) -> Counts {
    assert_eq!(workload.preflight(&source(target), 2).unwrap(), vec![]);
    let load = Load {
        connections: 2,
        until: Until::Transactions(TRANSACTIONS),
        seed: SEED.fetch_add(1, Ordering::Relaxed),
    };
    let counts = run(workload, &source(target), load).unwrap().snapshot.counts();
    assert_eq!((counts.completed, counts.failed), (TRANSACTIONS, 0), "{workload:?}");
    counts
}

fn number(control: &mut Connection, sql: &str) -> u64 {
    value(control, sql).parse().unwrap()
}

#[test]
fn inserts_deletes_and_updates_change_what_they_say() {
    on_each_server("changes", |_, target| {
        prepare(target, rows());
        let mut control = connect(target);
        let k = "SELECT SUM(k) FROM sbtest1";
        let before = number(&mut control, k);
        counts(
            &OltpKind::UpdateIndex.with(OltpOptions {
                index_updates: 3,
                ..options()
            }),
            target,
        );
        assert_eq!(number(&mut control, k), before + 3 * TRANSACTIONS);
        let texts = "SELECT COUNT(*) FROM sbtest1 WHERE LENGTH(c) = 119 AND LENGTH(pad) = 59";
        let updated = counts(&OltpKind::UpdateNonIndex.with(options()), target);
        assert_eq!(
            (updated.writes, number(&mut control, texts)),
            (TRANSACTIONS, TABLE_SIZE)
        );
        let inserted = counts(&OltpKind::Insert.with(options()), target);
        assert_eq!(inserted.rows_affected, TRANSACTIONS);
        assert_eq!(number(&mut control, texts), TABLE_SIZE + TRANSACTIONS);
        let deleted = counts(&OltpKind::Delete.with(options()), target);
        assert_eq!((deleted.writes + deleted.others, deleted.reads), (TRANSACTIONS, 0));
        let left = number(&mut control, texts);
        assert_eq!(left, TABLE_SIZE + TRANSACTIONS - deleted.rows_affected);
    });
}

#[test]
fn ids_that_the_client_gives_do_not_repeat() {
    on_each_server("ids", |_, target| {
        let own_ids = OltpData {
            auto_increment: false,
            empty: true,
            ..rows()
        };
        prepare(target, own_ids);
        let refused = OltpKind::Insert
            .with(options())
            .preflight(&source(target), 1)
            .unwrap_err();
        assert!(refused.message.contains("sbtest1 has no AUTO_INCREMENT"), "{refused}");
        let workload = OltpKind::Insert.with(OltpOptions {
            auto_increment: false,
            ..options()
        });
        counts(&workload, target);
        let spread = "SELECT COUNT(DISTINCT id DIV 400000000) FROM sbtest1";
        let mut control = connect(target);
        assert_eq!(number(&mut control, "SELECT COUNT(*) FROM sbtest1"), TRANSACTIONS);
        assert!(number(&mut control, spread) > 8, "over the whole column");
    });
}

#[test]
fn lists_of_k_stay_within_the_connections_part() {
    on_each_server("lists", |_, target| {
        prepare(target, rows());
        connect(target).query("UPDATE sbtest1 SET k = id").unwrap();
        for prepared in [true, false] {
            let options = OltpOptions {
                random_points: 4,
                number_of_ranges: 3,
                prepared,
                ..options()
            };
            let points = counts(&OltpKind::RandomPoints.with(options.clone()), target);
            assert_eq!(points.reads, TRANSACTIONS);
            // Of four values some are equal, and value 0 has no row.
            assert!((390..=400).contains(&points.rows_returned), "{points:?}");
            let ranges = counts(&OltpKind::RandomRanges.with(options), target);
            assert_eq!((ranges.reads, ranges.rows_returned), (TRANSACTIONS, TRANSACTIONS));
        }
    });
}

#[test]
fn bulk_inserts_fill_each_connections_table_without_gaps() {
    on_each_server("bulk_rows", |_, target| {
        let tables = 2;
        let data = OltpData {
            layout: Layout::Bulk,
            empty: true,
            tables,
            ..rows()
        };
        prepare(target, data);
        let workload = OltpKind::BulkInsert.with(OltpOptions { tables, ..options() });
        assert_eq!(workload.preflight(&source(target), 4).unwrap(), vec![]);
        let load = Load {
            connections: 4,
            until: Until::Transactions(8),
            seed: 1,
        };
        let counts = run(&workload, &source(target), load).unwrap().snapshot.counts();
        assert_eq!((counts.completed, counts.writes, counts.failed), (8, 8, 0));
        let mut control = connect(target);
        let all = "SELECT COUNT(*) FROM (SELECT id FROM sbtest1 UNION ALL SELECT id FROM sbtest2) all_rows";
        assert_eq!(number(&mut control, all), counts.rows_affected);
        let refused = workload.preflight(&source(target), 4).unwrap_err();
        assert!(refused.message.contains("holds ids from"), "{refused}");
    });
}

#[test]
fn connections_are_renewed_after_so_many_transactions() {
    on_each_server("renewed", |_, target| {
        prepare(target, rows());
        let mut control = connect(target);
        let opened = |control: &mut Connection| number(control, "SHOW GLOBAL STATUS LIKE 'Connections'");
        let before = opened(&mut control);
        let workload = OltpKind::PointSelect.with(OltpOptions {
            reconnect_after: 10,
            ..options()
        });
        let load = Load {
            connections: 1,
            until: Until::Transactions(100),
            seed: 1,
        };
        let summary = run(&workload, &source(target), load).unwrap();
        assert_eq!(summary.snapshot.counts().completed, 100);
        assert!(summary.snapshot.errors.is_empty(), "{:?}", summary.snapshot.errors);
        // Other tests connect to the same server.
        assert!(opened(&mut control) >= before + 10);
    });
}

#[test]
fn every_connection_has_the_isolation_level_that_was_asked_for() {
    on_each_server("isolation", |_, target| {
        prepare(target, rows());
        let mut control = connect(target);
        control.query("CREATE TABLE seen (level VARCHAR(40))").unwrap();
        let variable = if value(&mut control, "SELECT VERSION()").contains("MariaDB") {
            "@@tx_isolation"
        } else {
            "@@transaction_isolation"
        };
        control
            .query(&format!(
                "CREATE TRIGGER spy AFTER UPDATE ON sbtest1 FOR EACH ROW INSERT INTO seen VALUES ({variable})"
            ))
            .unwrap();
        let workload = OltpKind::UpdateIndex.with(OltpOptions {
            isolation: Isolation::ReadCommitted,
            reconnect_after: 7,
            ..options()
        });
        counts(&workload, target);
        let seen = "SELECT CONCAT(COUNT(*), ' ', MIN(level), ' ', MAX(level)) FROM seen";
        assert_eq!(value(&mut control, seen), "100 READ-COMMITTED READ-COMMITTED");
    });
}

#[test]
fn a_user_takes_time_before_each_statement() {
    on_each_server("delay", |_, target| {
        prepare(target, rows());
        let user_delay = UserDelay {
            min_ms: 4.0,
            max_ms: 6.0,
        };
        let workload = OltpKind::WriteOnly.with(OltpOptions {
            user_delay,
            ..options()
        });
        let load = Load {
            connections: 1,
            until: Until::Transactions(20),
            seed: 1,
        };
        let summary = run(&workload, &source(target), load).unwrap();
        let shortest_ms = 6.0 * user_delay.min_ms;
        let done_s = summary.done.unwrap().duration_ns as f64 / 1e9;
        assert!(done_s > 20.0 * shortest_ms / 1e3, "{done_s}");
    });
}

#[test]
fn options_without_sense_are_refused_with_the_cure() {
    let refused = |workload: &dyn Workload| {
        let fault = factory(workload, &support::nowhere(), 1, 1, Terms::default())
            .err()
            .unwrap();
        assert_eq!(fault.class, FailureClass::Spec);
        fault.message
    };
    let cases: [(OltpKind, OltpOptions, &str); 3] = [
        (
            OltpKind::RandomPoints,
            OltpOptions {
                random_points: 70_000,
                ..options()
            },
            "workload.random_points: must be within 1..=65535, is 70000",
        ),
        (
            OltpKind::Simple04,
            OltpOptions { tables: 3, ..options() },
            "workload.tables: sysbench 0.4 has one table, is 3",
        ),
        (
            OltpKind::ReadOnly,
            OltpOptions {
                point_selects: 2_000_000,
                ..options()
            },
            "workload.point_selects: must be at most 1000000, is 2000000",
        ),
    ];
    for (kind, options, expected) in cases {
        assert_eq!(refused(&kind.with(options)), expected);
    }
}
