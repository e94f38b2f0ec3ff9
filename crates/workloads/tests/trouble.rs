//! Servers in trouble while data is loaded: a full disk, and connections that are cut.

mod support;

use std::path::Path;
use std::time::{Duration, Instant};

use plimsoll_core::plan::{DataPlan, DataSet, LoadMethod, OltpData, Target};
use plimsoll_workloads::data::{self, DataDone};
use support::disk::SmallDisk;
use support::{Kind, Server, connect, on_each_server, value};

fn plan(target: &Target, table_size: u64) -> DataPlan {
    DataPlan {
        protocol: 1,
        target: target.clone(),
        data_set: DataSet::Oltp(OltpData {
            tables: 1,
            table_size,
            seed: 1,
            ..OltpData::default()
        }),
        loaders: 2,
        method: LoadMethod::Auto,
        drop_foreign: false,
    }
}

fn prepare(plan: &DataPlan) -> DataDone {
    data::prepare(plan, &mut |_| {}).unwrap()
}

#[test]
fn a_full_disk_is_told_as_such_and_the_table_can_be_made_again() {
    let Some(disk) = SmallDisk::mount(160) else { return };
    let small = ["--innodb-log-file-size=8M", "--innodb-buffer-pool-size=32M"];
    let Some(server) = Server::start(Kind::MariaDb, &small, Path::new(&disk.0)) else {
        return;
    };
    let target = server.create_database("full");
    let fault = data::prepare(&plan(&target, 2_000_000), &mut |_| {}).unwrap_err();
    for part in ["sbtest1", "disk is full", "free space", "`plimsoll prepare`"] {
        assert!(fault.message.contains(part), "{part}: {fault}");
    }
    let comment = "SELECT TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_NAME = 'sbtest1'";
    assert!(value(&mut connect(&target), comment).ends_with("state=loading"));
    assert_eq!(prepare(&plan(&target, 1_000)).rows_count, 1_000);
}

#[test]
fn a_load_that_was_cut_leaves_a_table_that_is_made_again() {
    on_each_server("cut", |server, target| {
        let killer = std::thread::scope(|scope| {
            let loading = scope.spawn(|| data::prepare(&plan(target, 3_000_000), &mut |_| {}));
            let mut control = connect(&server.target(""));
            // Its table is there by then.
            let rows = "SELECT ID FROM information_schema.PROCESSLIST WHERE DB = 'cut' AND INFO LIKE '%sbtest1 %' \
                        AND INFO NOT LIKE 'CREATE%'";
            let begin = Instant::now();
            while !loading.is_finished() && begin.elapsed() < Duration::from_secs(60) {
                std::thread::sleep(Duration::from_millis(20));
                for row in control.query_rows(rows, 9).unwrap() {
                    // It may be gone by now.
                    let _ = control.query(&format!("KILL {}", row[0].as_deref().unwrap()));
                }
            }
            loading.join().unwrap()
        });
        assert!(killer.is_err(), "loading was not cut");
        let fault = data::check(&plan(target, 3_000_000), &mut |_| {}).unwrap_err();
        assert!(fault.message.contains("sbtest1 is unfinished"), "{fault}");
        assert_eq!(prepare(&plan(target, 1_000)).rows_count, 1_000);
    });
}
