//! Data sets on a real server: made, used again, refused, remade, removed.

mod support;

use std::path::Path;

use plimsoll_core::message::Progress;
use plimsoll_core::plan::{DataPlan, DataSet, LoadMethod, OltpData, Target};
use plimsoll_workloads::data::{self, DataDone, DataEvent};
use support::{Kind, Server, connect, on_each_server, value};

/// Rows of a table, which go in three statements where they are inserted.
const ROWS: u64 = 6_000;

fn plan(target: &Target) -> DataPlan {
    DataPlan {
        protocol: 1,
        target: target.clone(),
        data_set: DataSet::Oltp(OltpData {
            tables: 2,
            table_size: ROWS,
            seed: 42,
            ..OltpData::default()
        }),
        loaders: 2,
        method: LoadMethod::Auto,
        drop_foreign: false,
    }
}

fn sized(target: &Target, table_size: u64) -> DataPlan {
    DataPlan {
        data_set: DataSet::Oltp(OltpData {
            tables: 2,
            table_size,
            seed: 42,
            ..OltpData::default()
        }),
        ..plan(target)
    }
}

fn phases(plan: &DataPlan) -> Vec<Progress> {
    let mut last: Vec<Progress> = Vec::new();
    let mut observe = |event: DataEvent| {
        let DataEvent::Progress(progress) = event else { return };
        last.retain(|one| one.phase != progress.phase);
        last.push(progress);
    };
    data::prepare(plan, &mut observe).unwrap();
    last
}

fn prepare(plan: &DataPlan) -> DataDone {
    data::prepare(plan, &mut |_| {}).unwrap()
}

fn refusal(plan: &DataPlan) -> String {
    data::prepare(plan, &mut |_| {}).unwrap_err().message
}

fn checksum(target: &Target) -> Vec<String> {
    let mut connection = connect(target);
    let rows = connection.query_rows("CHECKSUM TABLE sbtest1, sbtest2", 2).unwrap();
    rows.into_iter().map(|row| row[1].clone().unwrap()).collect()
}

#[test]
fn tables_are_made_with_the_shape_of_sysbench() {
    on_each_server("shape", |_server, target| {
        let phases = phases(&plan(target));
        let named: Vec<(&str, u64, u64)> = phases
            .iter()
            .map(|p| (&*p.phase, p.done_count, p.total_count))
            .collect();
        let expected = [
            ("create", 2, 2),
            ("load", 2 * ROWS, 2 * ROWS),
            ("index", 2, 2),
            ("analyze", 2, 2),
        ];
        assert_eq!(named, expected);
        let mut connection = connect(target);
        let ddl = value(&mut connection, "SHOW CREATE TABLE sbtest2").replace('`', "");
        for part in [
            "c char(120)",
            "pad char(60)",
            "PRIMARY KEY (id)",
            "KEY k_2 (k)",
            "AUTO_INCREMENT",
            "ENGINE=InnoDB",
        ] {
            assert!(ddl.contains(part), "{part} in {ddl}");
        }
        assert!(
            ddl.contains("COMMENT='plimsoll oltp rows=6000 seed=42 state=complete'"),
            "{ddl}"
        );
        assert_eq!(
            value(
                &mut connection,
                "SELECT COUNT(*) FROM sbtest1 WHERE LENGTH(c) <> 119 OR LENGTH(pad) <> 59"
            ),
            "0"
        );
        assert_eq!(
            value(
                &mut connection,
                "SELECT COUNT(*) FROM sbtest1 WHERE k NOT BETWEEN 1 AND 6000"
            ),
            "0"
        );
        assert_eq!(data::check(&plan(target), &mut |_| {}).unwrap().rows_count, 2 * ROWS);
    });
}

#[test]
fn content_does_not_depend_on_loaders_or_method() {
    on_each_server("same_a", |server, target| {
        prepare(&DataPlan {
            loaders: 1,
            ..plan(target)
        });
        let expected = checksum(target);
        assert_ne!(expected[0], expected[1], "tables must differ");
        for (database, loaders, method) in [("same_b", 4, LoadMethod::Auto), ("same_c", 3, LoadMethod::Inserts)] {
            let target = &server.create_database(database);
            prepare(&DataPlan {
                loaders,
                method,
                ..plan(target)
            });
            assert_eq!(checksum(target), expected, "{loaders} loaders, {method:?}");
        }
    });
}

#[test]
fn a_server_that_refuses_local_files_gets_inserts() {
    on_each_server("refuses", |_server, target| {
        let mut control = connect(target);
        let was = value(&mut control, "SELECT @@local_infile");
        control.query("SET GLOBAL local_infile = 0").unwrap();
        let done = prepare(&plan(target));
        control.query(&format!("SET GLOBAL local_infile = {was}")).unwrap();
        assert_eq!(done.rows_count, 2 * ROWS);
        assert_eq!(data::check(&plan(target), &mut |_| {}).unwrap().rows_count, 2 * ROWS);
    });
}

#[test]
fn complete_tables_are_used_again_and_unfinished_ones_made_again() {
    on_each_server("again", |_server, target| {
        prepare(&plan(target));
        let expected = checksum(target);
        let mut control = connect(target);
        let again: Vec<String> = phases(&plan(target)).into_iter().map(|p| p.phase).collect();
        assert_eq!(again, ["verify"]);
        control
            .query("ALTER TABLE sbtest2 COMMENT = 'plimsoll oltp rows=77 seed=9 state=loading'")
            .unwrap();
        control.query("DELETE FROM sbtest2 WHERE id > 100").unwrap();
        let fault = data::check(&plan(target), &mut |_| {}).unwrap_err();
        assert!(fault.message.contains("sbtest2 is unfinished"), "{}", fault.message);
        prepare(&plan(target));
        assert_eq!(checksum(target), expected);
    });
}

#[test]
fn what_is_not_wanted_is_refused_and_left_alone() {
    on_each_server("refused", |_server, target| {
        prepare(&plan(target));
        let message = refusal(&sized(target, 500));
        assert!(
            message.contains("sbtest1 was made as (rows=6000 seed=42) and not as wanted (rows=500 seed=42): "),
            "{message}"
        );
        assert!(message.contains("sbtest2"), "all at once: {message}");
        let mut control = connect(target);
        control.query("DELETE FROM sbtest1 WHERE id = 7").unwrap();
        let message = refusal(&plan(target));
        assert!(message.contains("5999 1 6000 and not 6000 1 6000"), "{message}");
        control.query("ALTER TABLE sbtest1 COMMENT = 'mine'").unwrap();
        let message = refusal(&plan(target));
        assert!(
            message.contains("sbtest1 exists and was not made by Plimsoll"),
            "{message}"
        );
        let message = data::cleanup(&plan(target), &mut |_| {}).unwrap_err().message;
        assert!(message.contains("sbtest1 not made by Plimsoll"), "{message}");
        assert_eq!(
            value(&mut control, "SELECT COUNT(*) FROM sbtest2"),
            "6000",
            "nothing was dropped"
        );
        prepare(&DataPlan {
            drop_foreign: true,
            ..plan(target)
        });
        assert_eq!(value(&mut control, "SELECT COUNT(*) FROM sbtest1"), "6000");
    });
}

fn foreseen(plan: &DataPlan, resets: bool) -> Result<u64, String> {
    let found = data::foresee(plan, resets, &mut |_| {});
    found.map(|done| done.rows_count).map_err(|fault| fault.message)
}

#[test]
fn what_would_be_refused_is_foreseen_and_nothing_is_changed() {
    on_each_server("foreseen", |_server, target| {
        let mut control = connect(target);
        assert_eq!(foreseen(&plan(target), true), Ok(0), "they can be made");
        assert!(control.query_rows("SHOW TABLES", 9).unwrap().is_empty());
        prepare(&plan(target));
        assert_eq!(foreseen(&plan(target), true), Ok(2 * ROWS));
        control.query("DROP TABLE sbtest2").unwrap();
        assert_eq!(foreseen(&plan(target), true), Ok(0), "the other one can be made");
        let message = foreseen(&sized(target, 500), false).unwrap_err();
        assert!(
            message.contains("sbtest1 was made as (rows=6000 seed=42) and not as wanted (rows=500 seed=42): "),
            "{message}"
        );
        control.query("DELETE FROM sbtest1 WHERE id = 7").unwrap();
        let message = foreseen(&plan(target), false).unwrap_err();
        assert!(message.contains("5999 1 6000 and not 6000 1 6000"), "{message}");
        control.query("ALTER TABLE sbtest1 COMMENT = 'mine'").unwrap();
        let message = foreseen(&plan(target), false).unwrap_err();
        assert!(
            message.contains("sbtest1 exists and was not made by Plimsoll"),
            "{message}"
        );
        assert_eq!(value(&mut control, "SELECT COUNT(*) FROM sbtest1"), "5999");
        assert_eq!(control.query_rows("SHOW TABLES", 9).unwrap().len(), 1);
    });
}

#[test]
fn tables_of_others_that_fit_can_be_measured_and_not_put_back() {
    on_each_server("theirs", |_server, target| {
        prepare(&plan(target));
        connect(target).query("ALTER TABLE sbtest2 COMMENT = ''").unwrap();
        assert_eq!(foreseen(&plan(target), false), Ok(2 * ROWS));
        let message = foreseen(&plan(target), true).unwrap_err();
        assert!(
            message.starts_with("sbtest2 not made by Plimsoll, so it cannot be put back"),
            "{message}"
        );
    });
}

#[test]
fn a_table_that_somebody_makes_meanwhile_is_not_dropped() {
    on_each_server("meanwhile", |_server, target| {
        prepare(&plan(target));
        let mut control = connect(target);
        control.query("DROP TABLE sbtest2").unwrap();
        let mut theirs = |event| {
            if matches!(event, DataEvent::Progress(progress) if progress.phase == "verify" && progress.done_count == 1)
            {
                control.query("CREATE TABLE IF NOT EXISTS sbtest2 (mine INT)").unwrap();
            }
        };
        let fault = data::prepare(&plan(target), &mut theirs).unwrap_err();
        assert_eq!(fault.code, Some(1050), "{fault}");
        let mut control = connect(target);
        assert_eq!(value(&mut control, "SELECT COUNT(mine) FROM sbtest2"), "0");
    });
}

#[test]
fn rows_are_kept_where_autocommit_is_off() {
    let Some(server) = Server::start(Kind::MariaDb, &[], Path::new("/var/tmp")) else {
        return;
    };
    let target = server.create_database("off");
    connect(&target).query("SET GLOBAL autocommit = 0").unwrap();
    for method in [LoadMethod::Auto, LoadMethod::Inserts] {
        prepare(&DataPlan {
            method,
            ..plan(&target)
        });
        assert_eq!(data::check(&plan(&target), &mut |_| {}).unwrap().rows_count, 2 * ROWS);
        data::cleanup(&plan(&target), &mut |_| {}).unwrap();
    }
}

#[test]
fn cleanup_drops_its_tables_and_nothing_else() {
    on_each_server("dropped", |_server, target| {
        prepare(&plan(target));
        let mut control = connect(target);
        control.query("CREATE TABLE sbtest3 (id INT)").unwrap();
        control.query("CREATE TABLE sbtest01 (id INT)").unwrap();
        data::cleanup(&plan(target), &mut |_| {}).unwrap();
        let left = control.query_rows("SHOW TABLES", 9).unwrap();
        let mut left: Vec<String> = left.into_iter().map(|row| row[0].clone().unwrap()).collect();
        left.sort();
        assert_eq!(left, ["sbtest01", "sbtest3"]);
        data::cleanup(&plan(target), &mut |_| {}).unwrap();
        let fault = data::check(&plan(target), &mut |_| {}).unwrap_err();
        assert!(
            fault
                .message
                .contains("sbtest1 does not exist: make it with `plimsoll prepare`"),
            "{}",
            fault.message
        );
    });
}

#[test]
fn a_missing_database_is_named_with_the_cure() {
    on_each_server("there", |server, _target| {
        let fault = data::prepare(&plan(&server.target("not_there")), &mut |_| {}).unwrap_err();
        assert_eq!(fault.code, Some(1049));
        assert!(
            fault.message.contains("not_there") && fault.message.contains("CREATE DATABASE"),
            "{}",
            fault.message
        );
    });
}
