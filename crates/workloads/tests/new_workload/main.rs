//! A new kind of workload is a folder and a line: here the folder `counter`, and the line that names it. It is made, resumed,
//! checked, run and removed on a real server by what all workloads have.

mod counter;
#[path = "../support/mod.rs"]
mod support;

use plimsoll_core::message::FailureClass;
use plimsoll_core::plan::{LoadMethod, Target};
use plimsoll_session::Terms;
use plimsoll_workloads::data::{self, Job};
use plimsoll_workloads::loading::pool::LoadOptions;
use plimsoll_workloads::{Workload as _, factory};

use counter::Counter;
use support::trial::{Load, Until, run};
use support::{connect, nowhere, on_mariadb_or_each_server, source, value};

const ROWS: u64 = 500;
const COUNTED: u64 = 100;

fn job<'a>(counter: &'a Counter, target: &'a Target) -> Job<'a> {
    Job {
        set: counter,
        options: LoadOptions {
            target,
            loaders: 2,
            method: LoadMethod::Auto,
            drop_foreign: false,
        },
    }
}

#[test]
fn a_workload_of_one_folder_is_made_resumed_checked_run_and_removed() {
    on_mariadb_or_each_server("new_workload", |_server, target| {
        let counter = Counter { rows: ROWS };
        let fault = counter.preflight(&source(target), 2).unwrap_err();
        assert!(
            fault.message.contains("counter does not exist: make it with"),
            "{fault}"
        );
        let prepare = |counter: &Counter| data::prepare(job(counter, target), &mut |_| {});
        let verify = || data::verify(job(&counter, target), &mut |_| {});
        assert_eq!(prepare(&counter).unwrap().rows_count, ROWS);
        assert_eq!(verify().unwrap().rows_count, ROWS);

        let mut control = connect(target);
        control.query("DELETE FROM counter WHERE id > 200").unwrap();
        control
            .query("ALTER TABLE counter COMMENT = 'plimsoll counter rows=500 state=loading'")
            .unwrap();
        assert!(verify().unwrap_err().message.contains("counter is unfinished"));
        assert_eq!(prepare(&counter).unwrap().rows_count, ROWS, "it is resumed");
        assert_eq!(verify().unwrap().rows_count, ROWS);

        let message = prepare(&Counter { rows: 7 }).unwrap_err().message;
        let expected = "counter was made as (rows=500) and not as wanted (rows=7): ";
        assert!(message.starts_with(expected), "{message}");

        assert_eq!(counter.preflight(&source(target), 2).unwrap(), vec![]);
        let load = Load {
            connections: 2,
            until: Until::Transactions(COUNTED),
            seed: 1,
        };
        let counts = run(&counter, &source(target), load).unwrap().snapshot.counts();
        assert_eq!((counts.completed, counts.failed), (COUNTED, 0));
        let sum = value(&mut control, "SELECT SUM(n) FROM counter");
        assert_eq!(sum, COUNTED.to_string());
        assert!(verify().unwrap_err().message.contains("rows are not as they were made"));

        data::cleanup(job(&counter, target), &mut |_| {}).unwrap();
        assert!(control.query_rows("SHOW TABLES", 9).unwrap().is_empty());
    });
}

#[test]
fn its_options_are_checked_as_those_of_all_others() {
    let refused = factory(&Counter { rows: 0 }, &nowhere(), 1, 1, Terms::default());
    let fault = refused.err().expect("refused");
    assert_eq!(fault.class, FailureClass::Spec);
    assert_eq!(fault.message, "workload.rows: must be at least 1, is 0");
}
