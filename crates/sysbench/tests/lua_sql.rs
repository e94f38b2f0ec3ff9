//! Scripts on real servers.

mod lua_support;
#[path = "../../workloads/tests/support/mod.rs"]
mod support;

use std::path::Path;
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use lua_support::{once, passes, text, with, words_to};
use plimsoll_core::plan::Target;
use plimsoll_core::snapshot::ErrorClass;
use support::{Kind, Server, connect, on_each_server, value};

#[test]
fn rows_come_as_text_and_null_as_nil() {
    on_each_server("lua_rows", |_, target| {
        passes(
            target,
            "
            local rs = con:query([[SELECT 1, NULL, 'a\\0b', 2.50 UNION ALL SELECT -7, 'x', '', NULL]])
            assert(rs ~= nil and rs.nrows == 2 and rs.nfields == 4 and rs.counter == ffi.C.SB_CNT_READ)
            local a, b, c = rs:fetch_row(), rs:fetch_row(), rs:fetch_row()
            assert(a[1] == '1' and a[2] == nil and a[3] == 'a\\0b' and a[4] == '2.50', a[4])
            assert(b[1] == '-7' and b[2] == 'x' and b[3] == '' and b[4] == nil and c == nil)
            rs:free()
            assert(not pcall(rs.free, rs))
            local x, y, z = con:query_row('SELECT 1, NULL, 3')
            assert(x == '1' and y == nil and z == '3')
            assert(con:query_row('SELECT 1 FROM DUAL WHERE 1 = 0') == nil)
            local none = con:query('DO 1')
            assert(none == nil and tostring(con) == '<sql_connection>' and con.driver:name() == 'mysql')
            con:query('SELECT 1')
            con:query('DO 1')",
        );
        passes(
            target,
            "
            local rs = con:query(\"SELECT 1; SELECT 2, 3; DO 1; SELECT 'last'\")
            assert(rs:fetch_row()[1] == '1' and con:more_results())
            rs = con:next_result()
            assert(rs.nfields == 2 and rs:fetch_row()[2] == '3')
            assert(con:next_result() == nil and con:more_results())
            assert(con:next_result():fetch_row()[1] == 'last' and not con:more_results() and con:next_result() == nil)",
        );
    });
}

#[test]
fn statements_take_values_of_all_types() {
    let body = "
        con:query('CREATE TABLE t (i BIGINT, d DOUBLE, s VARCHAR(20))')
        local T = sysbench.sql.type
        local stmt = con:prepare('INSERT INTO t VALUES (?, ?, ?)')
        local i, d, s = stmt:bind_create(T.INT), stmt:bind_create(T.DOUBLE), stmt:bind_create(T.VARCHAR, 5)
        stmt:bind_param(i, d, s)
        i:set(1.9) d:set(0.5) s:set('abcdefgh') stmt:execute()
        i:set(-9007199254740992LL) d:set(-1e3) s:set(12) stmt:execute()
        i:set(nil) d:set(nil) s:set(nil) assert(stmt:execute() == nil)
        local all = con:query_row([[SELECT GROUP_CONCAT(CONCAT_WS(',', i, d, s) ORDER BY COALESCE(d, -9999) DESC SEPARATOR '|') FROM t]])
        assert(all == '1,0.5,abcde|-9007199254740992,-1000,12|', all)
        con:query('DROP TABLE t')";
    let selects = "
        local stmt = con:prepare([[SELECT CAST(? AS SIGNED) AS a, 'x', NULL, 1.5, CAST('2020-01-02' AS DATE)]])
        local p = stmt:bind_create(sysbench.sql.type.BIGINT)
        stmt:bind_param(p)
        for value = 1, 3 do
          p:set(value)
          local rs = stmt:execute()
          assert(rs.nrows == 1 and rs.nfields == 5)
          local row = rs:fetch_row()
          assert(row[1] == tostring(value) and row[2] == 'x' and row[3] == nil and row[4] == '1.5' and row[5] == '2020-01-02')
          assert(rs:fetch_row() == nil)
        end
        stmt:close()";
    on_each_server("lua_binds", |_, target| {
        for mode in [&[][..], &["--db-ps-mode=disable"]] {
            for body in [body, selects] {
                let outcome = once(target, body, mode);
                assert_eq!(outcome.exit, 0, "{mode:?}: {}", outcome.out);
            }
        }
    });
}

#[test]
fn errors_are_told_and_end_the_run_or_are_lived_with() {
    on_each_server("lua_errors", |_, target| {
        let fatal = once(target, "\ncon:query('SELECT * FROM missing')", &[]);
        assert_eq!(fatal.exit, 1);
        let lines: Vec<&str> = fatal.out.lines().collect();
        assert!(lines[0].starts_with("FATAL: mysql_drv_query() returned error 1146 (Table 'lua_errors.missing' doesn't exist) for query 'SELECT * FROM missing'"), "{lines:?}");
        assert_eq!(
            lines[1],
            "FATAL: `thread_run' function failed: stdin:2: SQL error, errno = 1146, state = '42S02': Table 'lua_errors.missing' doesn't exist"
        );
        let ignored = "
            if not done then
              done = true
              local ok, failure = pcall(con.query, con, 'SELECT * FROM missing')
              assert(not ok and failure.errcode == sysbench.error.RESTART_EVENT and failure.sql_errno == 1146)
              assert(failure.sql_state == '42S02' and failure.query == 'SELECT * FROM missing' and failure.connection == con)
              con:query('SELECT * FROM missing')
            end";
        let outcome = once(target, ignored, &["--mysql-ignore-errors=1146"]);
        assert_eq!(
            (outcome.exit, outcome.out.contains("FATAL")),
            (0, false),
            "{}",
            outcome.out
        );
        assert_eq!(
            (outcome.snapshot.counts().retries, outcome.snapshot.errors[0].count),
            (1, 2)
        );
        let hook = "
            sysbench.hooks.sql_error_ignorable = function(failure) return failure.sql_errno == 1146 end
            if not done then done = true con:query('SELECT * FROM missing') end";
        let outcome = once(target, hook, &[]);
        assert_eq!(
            (outcome.exit, outcome.snapshot.counts().retries),
            (0, 1),
            "{}",
            outcome.out
        );
        let unprepared = once(target, "con:prepare('SELECT * FROM missing')", &[]);
        assert!(unprepared.out.starts_with("FATAL: mysql_stmt_prepare() failed\nFATAL: MySQL error: 1146 \"Table 'lua_errors.missing' doesn't exist\"\n"), "{}", unprepared.out);
        let bulk = once(
            target,
            "con:bulk_insert_init('INSERT INTO missing VALUES') con:bulk_insert_next('(1)') con:bulk_insert_done()",
            &["--mysql-ignore-errors=all"],
        );
        assert!(bulk.out.contains("db_bulk_insert_done() failed"), "{}", bulk.out);
        let second = once(target, "con:query('DO 1; SELECT * FROM missing')", &[]);
        assert!(second.out.contains("errno = 1146"), "{}", second.out);
    });
}

#[test]
fn connections_that_are_lost_come_back() {
    on_each_server("lua_lost", |_, target| {
        let body = "
            local stmt = con:prepare('SELECT ?')
            local p = stmt:bind_create(sysbench.sql.type.INT)
            stmt:bind_param(p)
            p:set(1)
            local other = sysbench.sql.driver():connect()
            local id = con:query_row('SELECT CONNECTION_ID()')
            other:query('KILL ' .. id)
            local ok, failure = pcall(stmt.execute, stmt)
            assert(not ok, 'it was lost')
            assert(type(failure) == 'table' and failure.errcode == 1, failure)
            assert(stmt:execute().nrows == 1)
            assert(con:query_row('SELECT CONNECTION_ID()') ~= id)
            con:reconnect()
            assert(stmt:execute().nrows == 1)";
        let outcome = once(target, body, &["--mysql-ignore-errors=2006,2013,1927"]);
        assert_eq!((outcome.exit, outcome.reconnects), (0, 1), "{}", outcome.out);
        let lost = outcome
            .snapshot
            .errors
            .iter()
            .filter(|error| error.class == ErrorClass::Connection);
        assert_eq!(lost.map(|error| error.count).sum::<u64>(), 1);
    });
}

#[test]
fn a_server_that_is_not_there_is_said() {
    let outcome = text(
        "function thread_init() sysbench.sql.driver():connect() end function event() end",
        &["run", "--mysql-socket=/nowhere"],
    );
    let expected = "FATAL: unable to connect to MySQL server on socket '/nowhere', aborting...\nFATAL: error 2002: ";
    assert!(outcome.out.starts_with(expected), "{}", outcome.out);
    assert!(
        outcome
            .out
            .ends_with("FATAL: `thread_init' function failed: stdin:1: connection creation failed\nFATAL: Thread initialization failed!\n"),
        "{}",
        outcome.out
    );
    assert_eq!(outcome.exit, 1);
}

/// Waits until so many connections use a database.
fn await_connections(target: &Target, count: usize) {
    let mut control = connect(&Target {
        database: String::new(),
        ..target.clone()
    });
    let sql = format!(
        "SELECT COUNT(*) >= {count} FROM information_schema.PROCESSLIST WHERE DB = '{}'",
        target.database
    );
    let begin = Instant::now();
    while value(&mut control, &sql) != "1" {
        assert!(begin.elapsed() < Duration::from_secs(300), "connections do not come");
        sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_run_ends_in_time_when_its_server_does_not_come_back() {
    let Some(mut server) = Server::start(Kind::MariaDb, &[], Path::new("/var/tmp")) else {
        return;
    };
    let script = "
        function thread_init() con = sysbench.sql.driver():connect() end
        function event() con:query('DO 1') end";
    let target = server.create_database("gone");
    let to = words_to(&target);
    let begin = Instant::now();
    let outcome = scope(|scope| {
        scope.spawn(|| {
            await_connections(&target, 4);
            server.kill();
        });
        text(
            script,
            &with(&to, &["run", "--time=8", "--threads=4", "--mysql-ignore-errors=2013"]),
        )
    });
    assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", begin.elapsed());
    let lost = outcome
        .snapshot
        .errors
        .iter()
        .filter(|error| error.class == ErrorClass::Connection);
    assert_eq!(lost.map(|error| error.count).sum::<u64>(), 4);
    assert_eq!(
        (outcome.exit, outcome.out.contains("FATAL")),
        (0, false),
        "{}",
        outcome.out
    );
}

#[test]
fn statements_that_hang_are_cut_at_the_end() {
    on_each_server("lua_cut", |server, _| {
        let script = "
            function thread_init() con = sysbench.sql.driver():connect() end
            function event() con:query('SELECT SLEEP(60)') end";
        let to = words_to(&server.create_database("hang"));
        let begin = Instant::now();
        let outcome = text(script, &with(&to, &["run", "--time=1", "--threads=2"]));
        assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
        assert_eq!(
            (outcome.exit, outcome.out.contains("FATAL")),
            (0, false),
            "{}",
            outcome.out
        );
    });
}

#[test]
fn rows_of_many_megabytes_are_kept() {
    on_each_server("lua_large", |_, target| {
        let body = "
            local rs = con:query([[SELECT REPEAT('x', 5000000) UNION ALL SELECT 'last']])
            assert(rs.nrows == 2 and #rs:fetch_row()[1] == 5000000 and rs:fetch_row()[1] == 'last')
            local stmt = con:prepare([[SELECT REPEAT('y', 5000000)]])
            assert(#stmt:execute():fetch_row()[1] == 5000000)";
        passes(target, body);
    });
}

#[test]
fn results_and_statements_are_those_of_their_connection() {
    on_each_server("lua_alias", |_, target| {
        passes(
            target,
            "
            local rs = con:query('SELECT 1 UNION SELECT 2')
            con:query([[SELECT 'x', 'y']])
            assert(rs.nfields == 2 and rs:fetch_row()[2] == 'y', 'there is one live result for each connection')
            local stmt = con:prepare('SELECT ?')
            local ok, failure = pcall(stmt.execute, stmt)
            assert(not ok and failure:find('errno = 2031'), failure)
            local p = stmt:bind_create(sysbench.sql.type.INT)
            p:set(1)
            stmt:bind_param(p)
            p = nil
            collectgarbage()
            rs = stmt:execute()
            con:disconnect()
            assert(rs:fetch_row() == nil and not pcall(rs.free, rs) and not pcall(stmt.execute, stmt))
            stmt:close()
            con = nil
            collectgarbage()
            assert(not pcall(stmt.execute, stmt) and rs.nrows == 0)",
        );
    });
}
