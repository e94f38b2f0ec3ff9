//! The modes of sysbench 0.4 on a real server.

use plimsoll_core::plan::{NontrxMode, OltpData, OltpKind, OltpOptions, ReconnectMode};
use plimsoll_wire::Connection;

use super::support::trial::{Load, Until, run};
use super::support::{connect, on_each_server, source, value};
use super::{TABLE_SIZE, TRANSACTIONS, counts, number, options, prepare, rows_04};

#[test]
fn the_modes_of_sysbench_04_do_what_they_say() {
    on_each_server("modes", |_, target| {
        prepare(target, rows_04());
        // Statements in each transaction that read, write, and do neither.
        let complex = |options| OltpKind::Complex04.with(options);
        let nontrx = |nontrx_mode| {
            OltpKind::Nontrx04.with(OltpOptions {
                nontrx_mode,
                ..options()
            })
        };
        let read_only = OltpOptions {
            read_only: true,
            ..options()
        };
        let text = OltpOptions {
            prepared: false,
            ..options()
        };
        let by_handler = OltpOptions {
            point_select_handler: true,
            ..options()
        };
        let expected = [
            (OltpKind::Simple04.with(options()), (1, 0, 0)),
            (complex(by_handler), (14, 4, 2)),
            (complex(options()), (14, 4, 2)),
            (complex(text), (14, 4, 2)),
            (complex(read_only), (14, 0, 2)),
            (nontrx(NontrxMode::Select), (1, 0, 0)),
            (nontrx(NontrxMode::UpdateKey), (0, 1, 0)),
            (nontrx(NontrxMode::UpdateNokey), (0, 1, 0)),
            (nontrx(NontrxMode::Insert), (0, 1, 0)),
            (nontrx(NontrxMode::Delete), (0, 1, 0)),
        ];
        for (workload, (reads, writes, others)) in expected {
            let counts = counts(&workload, target);
            // A deadlock repeats statements; a text that is there already is no write.
            if counts.retries == 0 {
                let (r, w, o) = (counts.reads, counts.writes, counts.others);
                assert_eq!((r, w + o), (100 * reads, 100 * (writes + others)), "{workload:?}");
                assert!(w >= 95 * writes, "{workload:?} {counts:?}");
            }
        }
        let mut control = connect(target);
        let counted = number(&mut control, "SELECT COUNT(*) FROM sbtest");
        assert_eq!(
            counted, TABLE_SIZE,
            "a hundred were inserted, and a hundred others deleted"
        );
        let longest = number(&mut control, "SELECT MAX(LENGTH(c)) FROM sbtest");
        assert!((90..=109).contains(&longest), "{longest}");
    });
}

#[test]
fn a_procedure_is_called_with_the_connections_number_and_their_count() {
    on_each_server("calls", |_, target| {
        prepare(target, rows_04());
        let mut control = connect(target);
        control.query("CREATE TABLE calls (number INT, count INT)").unwrap();
        control
            .query(
                "CREATE PROCEDURE note(n INT, c INT) BEGIN \
                 INSERT INTO calls VALUES (n, c); SELECT n; SELECT c; \
                 /* Until all have called: on a busy machine two may do the calls of three. */ \
                 WHILE (SELECT COUNT(DISTINCT number) FROM calls) < c DO DO SLEEP(0.01); END WHILE; END",
            )
            .unwrap();
        let workload = OltpKind::Sp04.with(OltpOptions {
            procedure: "note".to_owned(),
            ..options()
        });
        let load = Load {
            connections: 3,
            until: Until::Transactions(60),
            seed: 1,
        };
        let counts = run(&workload, &source(target), load).unwrap().snapshot.counts();
        assert_eq!((counts.completed, counts.rows_returned), (60, 120), "{counts:?}");
        let called =
            "SELECT CONCAT(COUNT(*), ' ', COUNT(DISTINCT number), ' ', MAX(number), ' ', MIN(count)) FROM calls";
        assert_eq!(value(&mut control, called), "60 3 2 3");
    });
}

#[test]
fn a_connection_is_renewed_as_sysbench_04_does_it() {
    on_each_server("renewed_04", |_, target| {
        prepare(target, rows_04());
        let connections_of = |reconnect_mode| {
            let mut control = connect(target);
            let opened = |control: &mut Connection| number(control, "SHOW GLOBAL STATUS LIKE 'Connections'");
            let before = opened(&mut control);
            let workload = OltpKind::Complex04.with(OltpOptions {
                reconnect_mode,
                read_only: true,
                ..options()
            });
            let load = Load {
                connections: 1,
                until: Until::Transactions(20),
                seed: 1,
            };
            let summary = run(&workload, &source(target), load).unwrap();
            assert_eq!(summary.snapshot.counts().completed, 20);
            assert!(summary.snapshot.errors.is_empty(), "{:?}", summary.snapshot.errors);
            opened(&mut control) - before
        };
        // Other tests connect to the same server, so there may be some more.
        assert!(connections_of(ReconnectMode::Random) > 4);
        assert!(connections_of(ReconnectMode::Transaction) > 19);
        assert!(connections_of(ReconnectMode::Query) > 20 * 16);
    });
}

#[test]
fn a_table_without_transactions_is_locked() {
    on_each_server("locks", |_, target| {
        let engine = || "MyISAM".to_owned();
        prepare(
            target,
            OltpData {
                storage_engine: engine(),
                ..rows_04()
            },
        );
        let ddl = value(&mut connect(target), "SHOW CREATE TABLE sbtest");
        assert!(ddl.contains("ENGINE=MyISAM"), "{ddl}");
        let workload = OltpKind::Complex04.with(OltpOptions {
            storage_engine: engine(),
            ..options()
        });
        let mut control = connect(target);
        let locks = "SHOW GLOBAL STATUS LIKE 'Com_lock_tables'";
        let before = number(&mut control, locks);
        counts(&workload, target);
        assert!(number(&mut control, locks) >= before + TRANSACTIONS);
    });
}
