//! No memory is allocated for a transaction that succeeds.

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use plimsoll_core::plan::{DataPlan, DataSet, LoadMethod, OltpData, OltpOptions, WorkloadPlan};
use plimsoll_workloads::data;
use serde_json::json;
use support::statements::{as_text, column, drawn, integer, statement, table, transaction, workload};
use support::trial::{Load, Until, run};
use support::{on_each_server, source};

struct Counting;

static COUNT: AtomicU64 = AtomicU64::new(0);

/// Held by the one test that counts: all threads count together.
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
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    on_each_server("allocates", |_, target| {
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
            WorkloadPlan::OltpReadWrite(OltpOptions::default()),
            WorkloadPlan::OltpReadWrite(text.clone()),
            WorkloadPlan::SelectRandomPoints(OltpOptions::default()),
            WorkloadPlan::SelectRandomRanges(text.clone()),
            WorkloadPlan::OltpInsert(text),
        ] {
            let allocated = |transactions| {
                let load = Load {
                    connections: 1,
                    until: Until::Transactions(transactions),
                    seed: transactions,
                };
                let before = COUNT.load(Ordering::Relaxed);
                run(&workload, &source(target), load).unwrap();
                COUNT.load(Ordering::Relaxed) - before
            };
            let (few, many) = (allocated(50), allocated(1_050));
            // An interval allocates for its histograms, whatever the number of transactions in it.
            let more = many.saturating_sub(few);
            assert!(
                more < 1_000,
                "{workload:?}: 1,000 more transactions made {more} more allocations"
            );
        }
    });
}

#[test]
fn a_transaction_of_a_users_own_statements_allocates_nothing() {
    COUNTED.set(false);
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    on_each_server("allocates_own", |_, target| {
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
        for workload in [&prepared, &as_text(&prepared)] {
            let allocated = |transactions| {
                let load = Load {
                    connections: 1,
                    until: Until::Transactions(transactions),
                    seed: transactions,
                };
                let before = COUNT.load(Ordering::Relaxed);
                run(workload, &source(target), load).unwrap();
                COUNT.load(Ordering::Relaxed) - before
            };
            let (few, many) = (allocated(50), allocated(1_050));
            let more = many.saturating_sub(few);
            assert!(
                more < 1_000,
                "1,000 more transactions of 4 statements made {more} more allocations"
            );
        }
    });
}
