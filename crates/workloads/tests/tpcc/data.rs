//! The data set: made by every method, resumed, refused, shaped as asked, removed.

use plimsoll_core::message::FailureClass;
use plimsoll_core::plan::{DataPlan, LoadMethod, Target, TpccData};
use plimsoll_engine::WorkerFault;
use plimsoll_wire::Connection;
use plimsoll_workloads::data::{self, DataEvent};

use crate::support::tpcc::data_plan;
use crate::support::{await_no_others, connect, on_each_server, value};
use crate::{two_warehouses, with_foreign_keys, with_partitions};

/// Each table, which of its rows are of the first warehouse, and what these are: their number, and the sum of their
/// checksums. They depend on the seed, and on nothing else.
const FIRST_WAREHOUSE: [(&str, &str, &str); 9] = [
    ("item", "TRUE", "100000 214807980804454"),
    ("stock", "s_w_id = 1", "100000 214984760522822"),
    ("district", "d_w_id = 1", "10 14404770708"),
    ("customer", "c_w_id = 1", "30000 64227823697576"),
    ("history", "h_w_id = 1", "30000 64447794490578"),
    ("orders", "o_w_id = 1", "30000 64522216176179"),
    ("new_orders", "no_w_id = 1", "9000 19323948043167"),
    ("order_line", "ol_w_id = 1", "300188 645632959744535"),
    ("warehouse", "w_id = 1", "1 3417427880"),
];

fn prepare(plan: &DataPlan) {
    data::prepare(plan, &mut |_| {}).unwrap();
}

fn refusal(outcome: Result<data::DataDone, WorkerFault>) -> (FailureClass, String) {
    let fault = outcome.unwrap_err();
    (fault.class, fault.message)
}

fn checksums(target: &Target) -> Vec<String> {
    let tables = FIRST_WAREHOUSE.map(|(table, _, _)| table);
    let rows = connect(target).query_rows(&format!("CHECKSUM TABLE {}", tables.join(", ")), 9);
    rows.unwrap().into_iter().map(|row| row[1].clone().unwrap()).collect()
}

/// Whether the rows of the first warehouse are those of the seed.
fn check_first_warehouse(target: &Target) {
    let mut connection = connect(target);
    let found = FIRST_WAREHOUSE.map(|(table, which, _)| {
        let columns = format!(
            "SELECT GROUP_CONCAT('IFNULL(', COLUMN_NAME, ', -1)' ORDER BY ORDINAL_POSITION) FROM information_schema.COLUMNS \
             WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '{table}'"
        );
        let columns = value(&mut connection, &columns);
        let sum = format!("SELECT CONCAT(COUNT(*), ' ', SUM(CRC32(CONCAT_WS('|', {columns})))) FROM {table} WHERE {which}");
        (table, which, value(&mut connection, &sum))
    });
    assert_eq!(
        found,
        FIRST_WAREHOUSE.map(|(table, which, rows)| (table, which, rows.to_owned()))
    );
}

pub fn one_loader_makes_the_rows_of_the_seed(target: &Target) {
    let plan = two_warehouses(target);
    prepare(&DataPlan {
        loaders: 1,
        ..plan.clone()
    });
    check_first_warehouse(target);
    let done = data::verify(&plan, &mut |_| {}).unwrap();
    let mut connection = connect(target);
    let counts = FIRST_WAREHOUSE.map(|(table, _, _)| {
        let count = value(&mut connection, &format!("SELECT COUNT(*) FROM {table}"));
        count.parse::<u64>().unwrap()
    });
    assert_eq!(counts[..7], [100_000, 200_000, 20, 60_000, 60_000, 60_000, 18_000]);
    assert_eq!(done.rows_count, counts.iter().sum::<u64>());
}

/// Resumed by two loaders, where the other tables were made by one.
pub fn an_interrupted_load_is_resumed_and_ends_with_the_same_rows(target: &Target, made: &Target) {
    let plan = two_warehouses(target);
    interrupt(&plan);
    let (class, message) = refusal(data::check(&plan, &mut |_| {}));
    assert_eq!(class, FailureClass::Data);
    assert!(
        message.contains("stock is unfinished: complete it with `plimsoll prepare`"),
        "{message}"
    );
    prepare(&plan);
    assert_eq!(checksums(target), checksums(made));
}

/// Prepares, and loses all connections in the middle.
fn interrupt(plan: &DataPlan) {
    let mut control = connect(&plan.target);
    let mut killed = false;
    let outcome = data::prepare(plan, &mut |event| {
        let DataEvent::Progress(progress) = event else { return };
        if progress.phase == "load" && progress.done_count > 500_000 && !killed {
            killed = true;
            kill_others(&mut control);
        }
    });
    assert!(killed && outcome.is_err(), "{outcome:?}");
    await_no_others(&mut control, &format!("DB = '{}'", plan.target.database));
}

fn kill_others(control: &mut Connection) {
    let others = "SELECT ID FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() AND DB = DATABASE()";
    for row in control.query_rows(others, 100).unwrap() {
        let _ = control.query(&format!("KILL {}", row[0].as_ref().unwrap())); // it may be gone already
    }
}

pub fn tables_of_others_are_refused(target: &Target) {
    let plan = with_foreign_keys(target);
    let mut connection = connect(target);
    connection.query("CREATE TABLE item (id INT)").unwrap();
    let (class, message) = refusal(data::prepare(&plan, &mut |_| {}));
    assert_eq!(class, FailureClass::Target);
    assert!(
        message.starts_with("item exists and was not made by Plimsoll"),
        "{message}"
    );
    let (_, message) = refusal(data::cleanup(&plan, &mut |_| {}));
    assert!(message.contains("nothing was dropped"), "{message}");
    let foreseen = |resets| refusal(data::foresee(&plan, resets, &mut |_| {})).1;
    assert!(foreseen(false).starts_with("item exists and was not made by Plimsoll"));
    assert!(foreseen(true).starts_with("item not made by Plimsoll, so it cannot be put back"));
    connection.query("DROP TABLE item").unwrap();
    assert!(data::foresee(&plan, true, &mut |_| {}).is_ok());
}

pub fn inserts_make_the_rows_of_the_seed_and_foreign_keys(target: &Target) {
    prepare(&DataPlan {
        loaders: 4,
        method: LoadMethod::Inserts,
        ..with_foreign_keys(target)
    });
    check_first_warehouse(target);
    let keys = "SELECT COUNT(*) FROM information_schema.TABLE_CONSTRAINTS \
                WHERE CONSTRAINT_SCHEMA = DATABASE() AND CONSTRAINT_TYPE = 'FOREIGN KEY'";
    assert_eq!(value(&mut connect(target), keys), "10");
    let (_, message) = refusal(data::prepare(&two_warehouses(target), &mut |_| {}));
    assert!(
        message.contains("made as (warehouses=1 first=1 seed=1 foreign-keys) and not as wanted"),
        "{message}"
    );
}

pub fn tables_are_shaped_as_asked_and_all_of_them_are_dropped(target: &Target) {
    let plan = with_partitions(target);
    prepare(&plan);
    data::verify(&plan, &mut |_| {}).unwrap();
    let mut connection = connect(target);
    assert_eq!(value(&mut connection, "SELECT w_id FROM warehouse"), "5");
    assert_eq!(value(&mut connection, "SELECT COUNT(*) FROM new_order"), "9000");
    let index = "SELECT GROUP_CONCAT(COLUMN_NAME ORDER BY SEQ_IN_INDEX) FROM information_schema.STATISTICS \
                 WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'history'";
    assert_eq!(value(&mut connection, index), "h_c_w_id,h_c_d_id,h_c_id");
    connection.query("CALL plimsoll_delivery(5, 1)").unwrap();
    let other = data_plan(target, TpccData::default());
    let (_, message) = refusal(data::check(&other, &mut |_| {}));
    assert!(message.contains("first=5 seed=1"), "{message}");
    assert!(message.contains("order-names=tpc) and not as wanted"), "{message}");
    let parts = "SELECT COUNT(*) FROM information_schema.PARTITIONS \
                 WHERE TABLE_SCHEMA = DATABASE() AND PARTITION_NAME IS NOT NULL";
    assert_eq!(value(&mut connection, parts), "32");
    data::cleanup(&other, &mut |_| {}).unwrap();
    let left = "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()";
    assert_eq!(value(&mut connection, left), "0");
}

pub fn tables_that_others_refer_to_stay(target: &Target) {
    let mut connection = connect(target);
    let child = "CREATE TABLE theirs (w INT NOT NULL, CONSTRAINT to_w FOREIGN KEY (w) REFERENCES warehouse (w_id))";
    connection.query(child).unwrap();
    let (class, message) = refusal(data::cleanup(&with_foreign_keys(target), &mut |_| {}));
    assert_eq!(class, FailureClass::Target);
    assert!(
        message.contains("nothing was dropped") && message.contains(".theirs (to_w)"),
        "{message}"
    );
    assert_eq!(value(&mut connection, "SELECT COUNT(*) FROM warehouse"), "1");
    connection.query("ALTER TABLE theirs DROP FOREIGN KEY to_w").unwrap();
}

#[test]
fn plans_that_make_no_sense_are_refused_with_all_their_faults() {
    on_each_server("tpcc_faults", |_server, target| {
        let data = TpccData {
            warehouses: 0,
            partitions: 2,
            foreign_keys: true,
            storage_engine: "inno db".to_owned(),
            ..TpccData::default()
        };
        let (class, message) = refusal(data::prepare(&data_plan(target, data), &mut |_| {}));
        assert_eq!(class, FailureClass::Spec);
        assert_eq!(message.matches("data_set.").count(), 3, "{message}");
    });
}
