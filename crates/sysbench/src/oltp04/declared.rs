//! The options of sysbench 0.4's database test.

use crate::options::{Kind, OptionSpec};

/// All of them, in its order, with those of its MySQL driver that later versions do not have.
pub fn options() -> Vec<OptionSpec> {
    [statements(), manner()].concat()
}

/// Which statements there are, and how many of each.
fn statements() -> Vec<OptionSpec> {
    let with = OptionSpec::new;
    let (text, int, switch) = (Kind::String, Kind::Int, Kind::Bool);
    vec![
        with(
            "oltp-test-mode",
            text,
            "complex",
            "test type to use {simple,complex,nontrx,sp}",
        ),
        with(
            "oltp-reconnect-mode",
            text,
            "session",
            "reconnect mode {session,transaction,query,random}",
        ),
        with(
            "oltp-sp-name",
            text,
            "",
            "name of store procedure to call in SP test mode",
        ),
        with(
            "oltp-read-only",
            switch,
            "off",
            "generate only 'read' queries (do not modify database)",
        ),
        with(
            "oltp-write-only",
            switch,
            "off",
            "generate only queries that modify the database",
        ),
        with("oltp-skip-trx", switch, "off", "skip BEGIN/COMMIT statements"),
        with("oltp-range-selects", switch, "on", "generate range selects"),
        with("oltp-range-size", int, "100", "range size for range queries"),
        with("oltp-point-selects", int, "10", "number of point selects"),
        with("oltp-simple-ranges", int, "1", "number of simple ranges"),
        with("oltp-sum-ranges", int, "1", "number of sum ranges"),
        with("oltp-order-ranges", int, "1", "number of ordered ranges"),
        with("oltp-distinct-ranges", int, "1", "number of distinct ranges"),
        with("oltp-index-updates", int, "1", "number of index update"),
        with("oltp-non-index-updates", int, "1", "number of non-index updates"),
        with("oltp-delete-inserts", int, "1", "number of pairs of delete and insert"),
        with(
            "oltp-nontrx-mode",
            text,
            "select",
            "mode for non-transactional test {select, update_key, update_nokey, insert, delete}",
        ),
        with(
            "oltp-auto-inc",
            switch,
            "on",
            "whether AUTO_INCREMENT should be used on id column",
        ),
    ]
}

/// How it is done: delays, the table, which rows, how.
fn manner() -> Vec<OptionSpec> {
    let with = OptionSpec::new;
    let (text, int, switch) = (Kind::String, Kind::Int, Kind::Bool);
    vec![
        with(
            "oltp-connect-delay",
            int,
            "10000",
            "time in microseconds to sleep after connection to database (taken, and not done)",
        ),
        with(
            "oltp-user-delay-min",
            int,
            "0",
            "minimum time in microseconds to sleep after each request",
        ),
        with(
            "oltp-user-delay-max",
            int,
            "0",
            "maximum time in microseconds to sleep after each request",
        ),
        with("oltp-table-name", text, "sbtest", "name of test table"),
        with("oltp-table-size", int, "10000", "number of records in test table"),
        with(
            "oltp-dist-type",
            text,
            "special",
            "random numbers distribution {uniform,gaussian,special}",
        ),
        with(
            "oltp-dist-iter",
            int,
            "12",
            "number of iterations used for numbers generation",
        ),
        with(
            "oltp-dist-pct",
            int,
            "1",
            "percentage of values to be treated as 'special' (for special distribution)",
        ),
        with(
            "oltp-dist-res",
            int,
            "75",
            "percentage of 'special' values to use (for special distribution)",
        ),
        with(
            "oltp-point-select-mysql-handler",
            switch,
            "off",
            "use MySQL HANDLER for point select",
        ),
        with(
            "oltp-point-select-all-cols",
            switch,
            "off",
            "select all columns for the point-select query",
        ),
        with(
            "oltp-secondary",
            switch,
            "off",
            "use a secondary index in place PRIMARY index",
        ),
        with(
            "mysql-table-engine",
            text,
            "innodb",
            "storage engine to use for the test table",
        ),
        with(
            "mysql-engine-trx",
            text,
            "auto",
            "whether storage engine used is transactional or not {yes,no,auto}",
        ),
        with(
            "myisam-max-rows",
            int,
            "1000000",
            "max-rows parameter for MyISAM tables",
        ),
        with(
            "mysql-create-options",
            text,
            "",
            "additional options passed to CREATE TABLE",
        ),
        with(
            "tx-jitter",
            int,
            "0",
            "target transaction variation, in microseconds (taken, and not done)",
        ),
        with("init-rng", switch, "off", "initialize random number generator"),
    ]
}
