//! Tables are those that sysbench makes: the same definition, and the same size on disk.

mod support;

use plimsoll_core::plan::{DataPlan, DataSet, Distribution, HotBand, Layout, LoadMethod, OltpData, Target};
use plimsoll_workloads::data;
use support::sysbench::prepare_sysbench;
use support::{connect, installed, on_each_server, skip, value};

fn plan(target: &Target, data: &OltpData) -> DataPlan {
    DataPlan {
        protocol: 1,
        target: target.clone(),
        data_set: DataSet::Oltp(data.clone()),
        // As sysbench does it: each further one costs a table an extent.
        loaders: 1,
        method: LoadMethod::Auto,
        drop_foreign: false,
    }
}

/// A table's definition without our mark and without the next number.
fn definition(target: &Target, table: &str) -> String {
    let ddl = value(&mut connect(target), &format!("SHOW CREATE TABLE {table}"));
    let ddl = ddl.split(" COMMENT='plimsoll").next().unwrap();
    let words = ddl.split(' ').filter(|word| !word.starts_with("AUTO_INCREMENT="));
    words.collect::<Vec<_>>().join(" ")
}

/// Size of the table and of its indexes.
fn bytes(target: &Target) -> [f64; 2] {
    let mut control = connect(target);
    control.query("ANALYZE TABLE sbtest1").unwrap();
    // MySQL keeps what it knew for a day; MariaDB has no such variable.
    let _ = control.query("SET information_schema_stats_expiry = 0");
    ["data_length", "index_length"].map(|column| {
        let sql = format!(
            "SELECT {column} FROM information_schema.tables \
             WHERE table_schema = DATABASE() AND table_name = 'sbtest1'"
        );
        value(&mut control, &sql).parse().unwrap()
    })
}

fn small() -> OltpData {
    OltpData {
        tables: 2,
        table_size: 500,
        ..OltpData::default()
    }
}

#[test]
fn definitions_are_those_of_sysbench() {
    if !installed("sysbench") {
        return skip("sysbench is not installed");
    }
    on_each_server("shape_ours", |server, ours| {
        let cases: [(&str, &[&str], OltpData); 5] = [
            ("oltp_read_write", &[], small()),
            (
                "oltp_read_write",
                &["--secondary=on"],
                OltpData {
                    secondary: true,
                    ..small()
                },
            ),
            (
                "oltp_read_write",
                &["--auto_inc=off", "--create_secondary=off"],
                OltpData {
                    auto_increment: false,
                    create_secondary: false,
                    ..small()
                },
            ),
            (
                "oltp_insert",
                &["--auto_inc=off"],
                OltpData {
                    auto_increment: false,
                    empty: true,
                    ..small()
                },
            ),
            (
                "bulk_insert",
                &["--threads=2"],
                OltpData {
                    layout: Layout::Bulk,
                    empty: true,
                    ..small()
                },
            ),
        ];
        for (script, options, data) in cases {
            let theirs = server.create_database("shape_theirs");
            let options = [&["--tables=2", "--table-size=500"], options].concat();
            prepare_sysbench(
                server,
                &theirs,
                script,
                &options[if script == "bulk_insert" { 2 } else { 0 }..],
            );
            let done = data::prepare(&plan(ours, &data), &mut |_| {}).unwrap();
            assert_eq!(done.rows_count, data.rows_count());
            for table in ["sbtest1", "sbtest2"] {
                assert_eq!(
                    definition(ours, table),
                    definition(&theirs, table),
                    "{script} {options:?}"
                );
            }
            let foreign = data::check(&plan(&theirs, &data), &mut |_| {}).unwrap();
            assert_eq!(foreign.rows_count, data.rows_count(), "theirs fit as they are");
            data::cleanup(&plan(ours, &data), &mut |_| {}).unwrap();
        }
    });
}

#[test]
fn tables_are_as_large_as_those_of_sysbench() {
    if !installed("sysbench") {
        return skip("sysbench is not installed");
    }
    on_each_server("size_ours", |server, ours| {
        let theirs = server.create_database("size_theirs");
        prepare_sysbench(server, &theirs, "oltp_read_write", &["--table-size=100000"]);
        let data = OltpData {
            table_size: 100_000,
            ..OltpData::default()
        };
        data::prepare(&plan(ours, &data), &mut |_| {}).unwrap();
        for (ours, theirs) in bytes(ours).into_iter().zip(bytes(&theirs)) {
            assert!((0.97..=1.03).contains(&(ours / theirs)), "{ours} {theirs}");
        }
    });
}

#[test]
fn the_table_of_sysbench_04_has_its_own_shape_and_rows() {
    on_each_server("shape_04", |_, target| {
        let data = OltpData {
            layout: Layout::Sysbench04,
            table_size: 500,
            ..OltpData::default()
        };
        data::prepare(&plan(target, &data), &mut |_| {}).unwrap();
        let ddl = definition(target, "sbtest").replace("int(10)", "int");
        for part in [
            "`id` int unsigned NOT NULL AUTO_INCREMENT",
            "`k` int unsigned NOT NULL",
            "PRIMARY KEY (`id`)",
            "KEY `k` (`k`)",
        ] {
            assert!(ddl.contains(part), "{part} in {ddl}");
        }
        let odd = "SELECT COUNT(*) FROM sbtest WHERE k <> 0 OR c <> '' \
                   OR pad <> 'qqqqqqqqqqwwwwwwwwwweeeeeeeeeerrrrrrrrrrtttttttttt'";
        assert_eq!(value(&mut connect(target), odd), "0");
        assert_eq!(data::check(&plan(target, &data), &mut |_| {}).unwrap().rows_count, 500);
        data::cleanup(&plan(target, &data), &mut |_| {}).unwrap();
        let gone = data::check(&plan(target, &data), &mut |_| {}).unwrap_err();
        assert!(gone.message.contains("sbtest does not exist"), "{gone}");
    });
}

#[test]
fn tables_of_another_shape_are_refused() {
    on_each_server("shape_other", |_, target| {
        let special = OltpData {
            distribution: Distribution::Special10(HotBand::default()),
            ..small()
        };
        data::prepare(&plan(target, &special), &mut |_| {}).unwrap();
        assert!(
            data::prepare(&plan(target, &special), &mut |_| {}).is_ok(),
            "used again"
        );
        for refused in [
            data::prepare(&plan(target, &small()), &mut |_| {}).unwrap_err(),
            data::check(&plan(target, &small()), &mut |_| {}).unwrap_err(),
        ] {
            let other = " shape=k:special-1.0:1:75:12) and not as wanted (";
            assert!(refused.message.contains(other), "{refused}");
        }
        let keyless = OltpData {
            secondary: true,
            ..special.clone()
        };
        for table in [1, 2] {
            let foreign = format!("ALTER TABLE sbtest{table} COMMENT = '', DROP KEY k_{table}");
            connect(target).query(&foreign).unwrap();
        }
        let refused = data::check(&plan(target, &keyless), &mut |_| {}).unwrap_err();
        let columns = "id PRI, k, c, pad and not id MUL, k MUL, c, pad";
        assert!(refused.message.contains(columns), "{refused}");
    });
}

#[test]
fn any_number_of_rows_fits_where_workloads_change_it() {
    on_each_server("shape_rows", |_, target| {
        data::prepare(&plan(target, &small()), &mut |_| {}).unwrap();
        connect(target).query("DELETE FROM sbtest2 WHERE id > 400").unwrap();
        assert!(data::check(&plan(target, &small()), &mut |_| {}).is_err());
        let changing = OltpData {
            changing: true,
            ..small()
        };
        assert_eq!(
            data::check(&plan(target, &changing), &mut |_| {}).unwrap().rows_count,
            900
        );
    });
}
