//! The server must do the same work for us as for sysbench: its own counters, for each transaction, on the same tables.

mod support;

use plimsoll_core::plan::{DataPlan, DataSet, Layout, LoadMethod, OltpData, OltpKind, OltpOptions, Target};
use plimsoll_wire::Connection;
use plimsoll_workloads::data;
use support::counters::{counted, differences};
use support::sysbench::{Events, run_sysbench};
use support::trial::{Load, Until, run};
use support::{Server, connect, installed, on_each_server, skip, source};

const TRANSACTIONS: u64 = 500;
const TABLES: u32 = 2;
const TABLE_SIZE: u64 = 10_000;

/// Rows are drawn from so many, so that each range of a hundred has as many: with shorter ones at the end of a table chance
/// would decide what few transactions read.
const DRAWN_SIZE: u64 = TABLE_SIZE - 100;

fn prepare(target: &Target, data: OltpData) {
    let plan = DataPlan {
        protocol: 1,
        target: target.clone(),
        data_set: DataSet::Oltp(data),
        loaders: 1,
        method: LoadMethod::Auto,
        drop_foreign: true,
    };
    data::cleanup(&plan, &mut |_| {}).unwrap();
    data::prepare(&plan, &mut |_| {}).unwrap();
}

/// A workload that both have.
struct Case {
    script: &'static str,
    workload: OltpKind,
    prepared: bool,
    /// Puts the data into a state in which chance plays no part.
    before: &'static [&'static str],
}

impl Case {
    const fn new(script: &'static str, workload: OltpKind) -> Self {
        Self {
            script,
            workload,
            prepared: true,
            before: &[],
        }
    }

    fn options(&self) -> OltpOptions {
        OltpOptions {
            tables: TABLES,
            table_size: DRAWN_SIZE,
            prepared: self.prepared,
            ..OltpOptions::default()
        }
    }
}

const ONE_ROW_FOR_EACH_K: &[&str] = &["UPDATE sbtest1 SET k = id"];
const ALL_ROWS: &[&str] = &[
    "INSERT IGNORE INTO sbtest1 SELECT * FROM sbtest2",
    "INSERT IGNORE INTO sbtest2 SELECT * FROM sbtest1",
];

fn cases() -> [Case; 10] {
    [
        Case::new("oltp_point_select", OltpKind::PointSelect),
        Case::new("oltp_read_only", OltpKind::ReadOnly),
        Case::new("oltp_write_only", OltpKind::WriteOnly),
        Case::new("oltp_read_write", OltpKind::ReadWrite),
        Case::new("oltp_update_index", OltpKind::UpdateIndex),
        Case::new("oltp_update_non_index", OltpKind::UpdateNonIndex),
        Case {
            before: ONE_ROW_FOR_EACH_K,
            ..Case::new("select_random_points", OltpKind::RandomPoints)
        },
        Case {
            before: ONE_ROW_FOR_EACH_K,
            ..Case::new("select_random_ranges", OltpKind::RandomRanges)
        },
        // sysbench sends this one as text.
        Case {
            prepared: false,
            ..Case::new("oltp_insert", OltpKind::Insert)
        },
        Case {
            before: ALL_ROWS,
            ..Case::new("oltp_delete", OltpKind::Delete)
        },
    ]
}

fn once(transactions: u64, seed: u64) -> Load {
    Load {
        connections: 1,
        until: Until::Transactions(transactions),
        seed,
    }
}

fn compare(server: &Server, target: &Target, case: &Case, seed: u64) -> Vec<String> {
    let mut control = connect(target);
    let restore = |control: &mut Connection| {
        for sql in case.before {
            control.query(sql).unwrap();
        }
    };
    restore(&mut control);
    let events = Events {
        count: TRANSACTIONS,
        options: &[&format!("--tables={TABLES}"), &format!("--table-size={DRAWN_SIZE}")],
    };
    let theirs = counted(&mut control, TRANSACTIONS, || {
        run_sysbench(server, target, case.script, &events);
    });
    restore(&mut control);
    let ours = counted(&mut control, TRANSACTIONS, || {
        run(
            &case.workload.with(case.options()),
            &source(target),
            once(TRANSACTIONS, seed),
        )
        .unwrap();
    });
    let executed = if case.prepared {
        "Com_stmt_execute"
    } else {
        "Com_insert"
    };
    assert!(theirs[executed] > 0.99, "{theirs:?}");
    differences(&ours, &theirs, TRANSACTIONS)
}

/// One test, since the server's counters do not say whose work they count.
#[test]
fn the_server_does_the_same_work_for_each_transaction() {
    if !installed("sysbench") {
        return skip("sysbench is not installed");
    }
    on_each_server("same", |server, target| {
        let data = OltpData {
            tables: TABLES,
            table_size: TABLE_SIZE,
            ..OltpData::default()
        };
        prepare(target, data);
        for (seed, case) in (1..).zip(cases()) {
            let differences = compare(server, target, &case, seed);
            assert_eq!(differences, Vec::<String>::new(), "{}", case.script);
        }
        let bulk = server.create_database("bulk");
        assert_eq!(compare_bulk(server, &bulk), Vec::<String>::new(), "bulk_insert");
    });
}

/// sysbench counts rows and we count statements, so the work is compared for each row.
fn compare_bulk(server: &Server, target: &Target) -> Vec<String> {
    const STATEMENTS: u64 = 2;
    let data = OltpData {
        layout: Layout::Bulk,
        empty: true,
        ..OltpData::default()
    };
    prepare(target, data.clone());
    let mut control = connect(target);
    let mut rows = 0;
    let mut ours = counted(&mut control, 1, || {
        let workload = OltpKind::BulkInsert.with(OltpOptions::default());
        let summary = run(&workload, &source(target), once(STATEMENTS, 1)).unwrap();
        rows = summary.snapshot.counts().rows_affected;
    });
    for count in ours.values_mut() {
        *count /= rows as f64;
    }
    prepare(target, data);
    let events = Events {
        count: rows,
        options: &[],
    };
    let theirs = counted(&mut control, rows, || {
        run_sysbench(server, target, "bulk_insert", &events);
    });
    assert!(
        theirs["Handler_write"] > 0.99 && rows > 20_000 * STATEMENTS,
        "{rows} {theirs:?}"
    );
    differences(&ours, &theirs, TRANSACTIONS)
}
