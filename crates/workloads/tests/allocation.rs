//! No memory is allocated for a transaction that succeeds.

#![allow(unsafe_code)] // an allocator that counts

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use plimsoll_core::plan::{
    DataPlan, DataSet, LoadMethod, OltpData, OltpKind, OltpOptions, ReadPolicy, ReadsPlan, Role, RoleTarget,
    StatementsPlan, Target, TpccData, TpccKit, TpccMode, TpccOptions,
};
use plimsoll_session::GroupServers;
use plimsoll_workloads::{Workload, data};
use serde_json::json;
use support::statements::{as_text, column, counting, drawn, integer, statement, table, transaction, workload};
use support::trial::{Load, Until, run_in_one_interval};
use support::{on_each_server, on_mariadb_or_each_server, source};

struct Counting;

static COUNT: AtomicU64 = AtomicU64::new(0);

/// Held by the one test that loads or counts: all threads count together. It is taken when servers run, for all tests to share
/// them.
static ALONE: Mutex<()> = Mutex::new(());

thread_local! {
    /// The test's own thread collects intervals and is not counted; workers have threads of their own.
    static COUNTED: Cell<bool> = const { Cell::new(true) };
}

// SAFETY: all work is passed on to the system's allocator; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if COUNTED.try_with(Cell::get).unwrap_or(false) {
            COUNT.fetch_add(1, Ordering::Relaxed);
        }
        // SAFETY: the caller keeps the rules of this very function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the rules of this very function.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn a_transaction_allocates_nothing() {
    COUNTED.set(false);
    on_each_server("allocates", |_, target| {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let plan = DataPlan {
            protocol: 1,
            target: target.clone(),
            data_set: DataSet::Oltp(OltpData {
                tables: 1,
                table_size: 10_000,
                seed: 1,
                ..OltpData::default()
            }),
            loaders: 1,
            method: LoadMethod::Auto,
            drop_foreign: false,
        };
        data::prepare(&plan, &mut |_| {}).unwrap();
        let text = OltpOptions {
            prepared: false,
            ..OltpOptions::default()
        };
        for workload in [
            OltpKind::ReadWrite.with(OltpOptions::default()),
            OltpKind::ReadWrite.with(text.clone()),
            OltpKind::RandomPoints.with(OltpOptions::default()),
            OltpKind::RandomRanges.with(text.clone()),
            OltpKind::Insert.with(text),
        ] {
            assert_allocates_nothing(&workload, target);
        }
    });
}

#[test]
fn a_transaction_of_a_users_own_statements_allocates_nothing() {
    COUNTED.set(false);
    on_each_server("allocates_own", |_, target| {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let row = json!({"kind": "sequence", "first": 1, "step": 1});
        let text = json!({"kind": "characters", "alphabet": "letters", "length_min": 100, "length_max": 200});
        let columns = [column("id", "BIGINT", &row), column("c", "VARCHAR(200)", &text)];
        let plan = support::statements::data(target, &[table("own", 1_000, &columns)]);
        data::prepare(&plan, &mut |_| {}).unwrap();
        let keep = json!([{"column": "c", "name": "c"}, {"column": "id", "name": "id"}]);
        let find = statement(
            "SELECT id, c FROM own WHERE id = ?",
            &["key"],
            json!({"values": [drawn("key", &integer(1_000))], "keep": keep, "no_row": "fail"}),
        );
        let change = statement(
            "UPDATE own SET c = ? WHERE id = ? AND c = ?",
            &["new", "id", "c"],
            json!({}),
        );
        let given = json!({"begin": true, "values": [drawn("new", &text)], "statements": [find, change]});
        let prepared = workload(&["own"], &json!([transaction("t", given)]));
        for workload in [&prepared, &as_text(&prepared), &learned(), &as_text(&learned())] {
            assert_allocates_nothing(workload, target);
        }
    });
}

/// A loop over a list, recent keys and hot values, rows of sorted texts.
fn learned() -> StatementsPlan {
    let hot = json!({"kind": "hot", "shares": [0.2, 0.1], "exponent": 0.8});
    let mut ids = drawn(
        "ids",
        &json!({"kind": "integer", "first": 1, "step": 1, "count": 1_000, "distribution": hot}),
    );
    ids["items"] = json!({"range": {"min": 2, "max": 3}});
    let recent = json!({"name": "last", "source": {"recent": {"counter": 0, "distribution": hot}}});
    let sql = "SELECT id FROM own WHERE id = ? OR id IN";
    let find = statement(
        &format!("{sql} (?)"),
        &["last", "ids"],
        json!({"values": [ids, recent], "variants": [format!("{sql} (?, ?)"), format!("{sql} (?, ?, ?)")]}),
    );
    let text = json!({"kind": "characters", "alphabet": "letters", "length_min": 100, "length_max": 200});
    let mut words = drawn("words", &text);
    words["items"] = json!({"range": {"min": 2, "max": 3}});
    (words["sorted"], words["distinct"]) = (json!(true), json!(true));
    let item = json!({"name": "word", "source": {"item_of": {"list": "words"}}});
    let set = statement(
        "UPDATE own SET c = ? WHERE id = ?",
        &["word", "last"],
        json!({"values": [item]}),
    );
    let given = json!({"begin": true, "rollback_ratio": 0.5, "values": [words], "statements": [find, set],
        "loops": [{"first": 0, "count": 2, "repeat": {"items_of": "words"}}]});
    counting(&workload(&["own"], &json!([transaction("t", given)])), &[("own", "id")])
}

#[test]
fn a_transaction_of_the_tpcc_derived_workload_allocates_nothing() {
    COUNTED.set(false);
    on_mariadb_or_each_server("allocates_tpcc", |_, target| {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let data = TpccData {
            procedures: true,
            ..TpccData::default()
        };
        data::prepare(&support::tpcc::data_plan(target, data), &mut |_| {}).unwrap();
        let usual = TpccOptions::default();
        let text = TpccOptions {
            prepared: false,
            ..usual.clone()
        };
        let calls = TpccOptions {
            mode: TpccMode::Procedures,
            ..usual.clone()
        };
        let one_by_one = TpccOptions {
            quirks: Some(TpccKit::TpccMysql),
            ..usual.clone()
        };
        for options in [usual.clone(), text, calls, one_by_one] {
            assert_allocates_nothing(&options, target);
        }
        let replica = RoleTarget {
            role: Role::Replica,
            instance: Some("replica".to_owned()),
            target: target.clone(), // any server that has the data will do
        };
        let targets = [source(target), vec![replica]].concat();
        for policy in [ReadPolicy::RoundRobin, ReadPolicy::LeastOutstanding] {
            let reads = ReadsPlan {
                policy,
                ..ReadsPlan::default()
            };
            assert_allocates_nothing_on(&usual, &GroupServers::new(&targets, Some(reads)));
        }
    });
}

/// Runs a few transactions, which are enough to prepare all statements, and many.
fn assert_allocates_nothing(workload: &(impl Workload + Debug), target: &Target) {
    assert_allocates_nothing_on(workload, &support::servers(target));
}

/// The same where reads are spread.
fn assert_allocates_nothing_on(workload: &(impl Workload + Debug), servers: &GroupServers) {
    let allocated = |transactions| {
        let load = Load {
            connections: 1,
            until: Until::Transactions(transactions),
            seed: 1,
        };
        let before = COUNT.load(Ordering::Relaxed);
        run_in_one_interval(workload, servers, load).unwrap();
        COUNT.load(Ordering::Relaxed) - before
    };
    let (few, many) = (allocated(100), allocated(400));
    // Histograms grow with the slowest response so far, buffers with the longest row: a few times.
    let more = many.saturating_sub(few);
    assert!(
        more < 20,
        "{workload:?}: 300 more transactions made {more} more allocations"
    );
}
