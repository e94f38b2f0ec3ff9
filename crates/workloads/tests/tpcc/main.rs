//! The TPC-C-derived workload on real servers: its data set, its five transactions as statements and as procedures, and the
//! deviations of known kits.
//!
//! Making the tables takes longest. So there are three sets of them, and what can be seen on one is seen on one: first what
//! needs rows as they were made, then what changes them, and at the end what breaks them or removes them.

mod conditions;
mod data;
mod kits;
mod procedures;
#[path = "../support/mod.rs"]
mod support;
mod transactions;

use plimsoll_core::plan::{DataPlan, OrderNames, Target, TpccData};
use support::tpcc::data_plan;
use support::{Kind, on_each_server, on_server};

/// Two warehouses.
fn two_warehouses(target: &Target) -> DataPlan {
    let data = TpccData {
        warehouses: 2,
        ..TpccData::default()
    };
    data_plan(target, data)
}

/// One warehouse whose tables refer to each other.
fn with_foreign_keys(target: &Target) -> DataPlan {
    let data = TpccData {
        foreign_keys: true,
        ..TpccData::default()
    };
    data_plan(target, data)
}

/// The fifth warehouse in tables with partitions, under the specification's names.
fn with_partitions(target: &Target) -> DataPlan {
    let data = TpccData {
        first_warehouse: 5,
        partitions: 4,
        order_names: OrderNames::Tpc,
        procedures: true,
        ..TpccData::default()
    };
    data_plan(target, data)
}

#[test]
fn two_warehouses_and_what_transactions_do_to_them() {
    on_each_server("tpcc_two", |server, target| {
        transactions::tables_that_are_missing_are_told_before_the_load(target);
        data::one_loader_makes_the_rows_of_the_seed(target);
        // What does not depend on the server.
        if server.kind == Kind::MariaDb {
            let resumed = server.create_database("tpcc_resumed");
            data::an_interrupted_load_is_resumed_and_ends_with_the_same_rows(&resumed, target);
            procedures::both_modes_leave_equal_tables(target, &resumed);
            kits::kits_depart_as_they_are_said_to(&resumed);
        }
        transactions::what_is_missing_is_told_before_the_load(target);
        transactions::transactions_keep_their_counters_and_the_conditions(target);
        transactions::conditions_hold_after_connections_were_killed(target);
        transactions::terminals_stay_at_home_and_deliveries_wait_in_a_queue(target);
    });
}

#[test]
fn one_warehouse_with_foreign_keys_and_procedures() {
    on_each_server("tpcc_keys", |server, target| {
        data::tables_of_others_are_refused(target);
        data::inserts_make_the_rows_of_the_seed_and_foreign_keys(target);
        if server.kind == Kind::MariaDb {
            conditions::each_condition_is_seen_to_fail_alone(target);
        }
        procedures::procedures_are_made_like_tables(target);
        procedures::conditions_hold_after_connections_were_killed(target);
        data::tables_that_others_refer_to_stay(target);
        procedures::only_ours_are_dropped(target);
    });
}

#[test]
fn a_warehouse_in_tables_with_partitions() {
    on_server(Kind::MariaDb, "tpcc_parts", |_server, target| {
        data::tables_are_shaped_as_asked_and_all_of_them_are_dropped(target);
    });
}
