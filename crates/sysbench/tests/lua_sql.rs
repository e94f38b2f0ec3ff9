//! Scripts on real servers.

mod lua_support;
#[path = "../../workloads/tests/support/mod.rs"]
mod support;

use std::path::Path;
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use lua_support::{Outcome, named, text, words_to};
use plimsoll_core::plan::Target;
use plimsoll_core::snapshot::ErrorClass;
use support::{Kind, Server, connect, on_each_server, value};

fn with<'a>(target: &'a [String], words: &[&'a str]) -> Vec<&'a str> {
    words.iter().copied().chain(target.iter().map(String::as_str)).collect()
}

/// Runs the body of an event once, on one connection.
fn once(target: &Target, body: &str, words: &[&str]) -> Outcome {
    let script = format!("function event() local con = sysbench.sql.driver():connect() {body} end");
    text(
        &script,
        &with(&words_to(target), &[&["run", "--events=1"], words].concat()),
    )
}

#[track_caller]
fn passes(target: &Target, body: &str) {
    let outcome = once(target, body, &[]);
    assert_eq!(outcome.exit, 0, "{body}: {}", outcome.out);
}

#[test]
fn the_built_in_workload_does_what_it_says() {
    on_each_server("lua_oltp", |_, target| {
        let to = words_to(target);
        let size = ["--tables=3", "--table-size=300", "--threads=2"];
        let prepared = named("oltp_read_write", &with(&to, &[&["prepare"], &size[..]].concat()));
        assert_eq!(prepared.exit, 0, "{}", prepared.out);
        let mut control = connect(target);
        for table in ["sbtest1", "sbtest2", "sbtest3"] {
            let sql = format!(
                "SELECT CONCAT(COUNT(*), ' ', MIN(LENGTH(c)), ' ', MAX(LENGTH(pad)), ' ', MAX(k) <= 300) FROM {table}"
            );
            assert_eq!(value(&mut control, &sql), "300 119 59 1");
        }
        for (workload, reads, writes, others) in [
            ("oltp_read_write", 14, 4, 2),
            ("oltp_read_only", 14, 0, 2),
            ("oltp_write_only", 0, 4, 2),
            ("oltp_point_select", 1, 0, 0),
            ("oltp_update_index", 0, 1, 0),
            ("oltp_update_non_index", 0, 1, 0),
            ("oltp_insert", 0, 1, 0),
            ("select_random_points", 1, 0, 0),
            ("select_random_ranges", 1, 0, 0),
        ] {
            let seed = format!("--rand-seed={}", workload.len() as u64 * 100 + reads); // equal values would change no row
            let outcome = named(
                workload,
                &with(&to, &[&["run", "--events=50", &seed], &size[..]].concat()),
            );
            let counts = outcome.snapshot.counts();
            assert_eq!((outcome.exit, counts.completed), (0, 50), "{workload}: {}", outcome.out);
            let expected = (50 * reads, 50 * writes, 50 * others);
            assert_eq!((counts.reads, counts.writes, counts.others), expected, "{workload}");
        }
        let warm = named("oltp_read_only", &with(&to, &[&["warmup"], &size[..]].concat()));
        assert_eq!(warm.exit, 0, "{}", warm.out);
        let delete = named(
            "oltp_delete",
            &with(&to, &[&["run", "--events=50"], &size[..]].concat()),
        );
        assert_eq!(delete.snapshot.counts().statements(), 50);
        let gone = named("oltp_read_write", &with(&to, &[&["cleanup"], &size[..]].concat()));
        assert_eq!(
            (
                gone.exit,
                value(
                    &mut control,
                    "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()"
                )
                .as_str()
            ),
            (0, "0")
        );
    });
}

#[test]
fn bulk_inserts_send_rows_by_the_statement() {
    on_each_server("lua_bulk", |_, target| {
        let to = words_to(target);
        assert_eq!(named("bulk_insert", &with(&to, &["prepare", "--threads=2"])).exit, 0);
        let outcome = named("bulk_insert", &with(&to, &["run", "--threads=2", "--events=100000"]));
        assert_eq!(outcome.exit, 0, "{}", outcome.out);
        let rows = "SELECT (SELECT COUNT(*) FROM sbtest1) + (SELECT COUNT(*) FROM sbtest2)";
        assert_eq!(value(&mut connect(target), rows), "100000");
        let counts = outcome.snapshot.counts();
        assert!((2..=5).contains(&counts.writes), "{counts:?}");
    });
}

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

/// Rows and commands of a script that is run while something else happens to the server.
fn beside(server: &Server, script: &str, words: &[&str], action: impl FnOnce() + Send) -> (Outcome, Duration) {
    let target = server.create_database("beside");
    let to = words_to(&target);
    let begin = Instant::now();
    let outcome = scope(|scope| {
        scope.spawn(|| {
            sleep(Duration::from_millis(500));
            action();
        });
        text(script, &with(&to, words))
    });
    (outcome, begin.elapsed())
}

#[test]
fn a_run_ends_in_time_when_its_server_does_not_come_back() {
    let Some(mut server) = Server::start(Kind::MariaDb, &[], Path::new("/var/tmp")) else {
        return;
    };
    let script = "
        function thread_init() con = sysbench.sql.driver():connect() end
        function event() con:query('DO 1') end";
    let to = words_to(&server.create_database("gone"));
    let begin = Instant::now();
    let outcome = scope(|scope| {
        scope.spawn(|| {
            sleep(Duration::from_millis(500));
            server.kill();
        });
        text(
            script,
            &with(&to, &["run", "--time=2", "--threads=4", "--mysql-ignore-errors=2013"]),
        )
    });
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
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
        let (outcome, took) = beside(server, script, &["run", "--time=1", "--threads=2"], || {});
        assert!(took < Duration::from_secs(10), "{took:?}");
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

/// The scripts that Debian's package has.
#[test]
fn scripts_of_an_installed_sysbench_run() {
    let folder = Path::new("/usr/share/sysbench");
    if !folder.join("oltp_read_write.lua").exists() {
        return support::skip("sysbench's scripts are not installed (Debian: sysbench)");
    }
    on_each_server("lua_debian", |_, target| {
        let to = words_to(target);
        let path = |name: &str| folder.join(format!("{name}.lua")).display().to_string();
        let size = ["--tables=2", "--table-size=200", "--threads=2"];
        let prepared = named(
            &path("oltp_read_write"),
            &with(&to, &[&["prepare"], &size[..]].concat()),
        );
        assert_eq!(prepared.exit, 0, "{}", prepared.out);
        for (workload, statements) in [
            ("oltp_read_write", 20),
            ("oltp_read_only", 16),
            ("oltp_write_only", 6),
            ("oltp_point_select", 1),
            ("oltp_update_index", 1),
            ("oltp_update_non_index", 1),
            ("oltp_insert", 1),
            ("oltp_delete", 1),
            ("select_random_points", 1),
            ("select_random_ranges", 1),
        ] {
            let size = if workload.starts_with("select") {
                &size[1..]
            } else {
                &size[..]
            };
            let outcome = named(&path(workload), &with(&to, &[&["run", "--events=20"], size].concat()));
            let counts = outcome.snapshot.counts();
            let expected = (0, 20, 20 * statements);
            assert_eq!(
                (outcome.exit, counts.completed, counts.statements()),
                expected,
                "{workload}: {}",
                outcome.out
            );
        }
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

/// Whatever is called on whatever in whatever order: errors perhaps, never a crash.
#[test]
fn no_order_of_calls_crashes() {
    let script = "
        local C, rand = ffi.C, sysbench.rand
        local things = {}
        local texts = {'SELECT 1, NULL', 'DO 1', 'SELECT ?', 'SELECT 1; SELECT 2', 'nonsense', '', 'INSERT INTO t VALUES (?)',
          'SELECT SLEEP(0)', ('x'):rep(5000)}
        local function any() return things[rand.uniform(1, 40)] end
        local function arg()
          local n = rand.uniform(1, 9)
          if n == 1 then return nil elseif n == 2 then return rand.uniform(0, 14) elseif n == 3 then return {}
          elseif n == 4 then return true elseif n == 5 then return any() elseif n == 6 then return -1e300
          else return texts[rand.uniform(1, #texts)] end
        end
        local names = {'query', 'query_row', 'prepare', 'bulk_insert_init', 'bulk_insert_next', 'bulk_insert_done',
          'more_results', 'next_result', 'disconnect', 'reconnect', 'check_error', 'bind_create', 'bind_param', 'execute', 'close',
          'fetch_row', 'free', 'set', 'set_rand_str', 'connect', 'name', 'update', 'print_nothing'}
        local drv = sysbench.sql.driver()
        local function keep(thing)
          if type(thing) == 'cdata' then things[rand.uniform(1, 40)] = thing end
        end
        function event()
          local n = rand.uniform(1, 60)
          if n == 1 then collectgarbage()
          elseif n == 2 then things[rand.uniform(1, 40)] = nil
          elseif n == 3 and #things < 30 then keep(drv:connect())
          elseif n == 4 then keep(sysbench.histogram.new(rand.uniform(2, 99), 1, 9))
          else
            local thing = any()
            pcall(function()
              keep(thing[names[rand.uniform(1, #names)]](rand.uniform(1, 9) == 1 and any() or thing, arg(), arg(), arg()))
            end)
          end
        end";
    on_each_server("lua_monkey", |_, target| {
        let to = words_to(target);
        for seed in ["--rand-seed=1", "--rand-seed=2"] {
            let words = [
                "run",
                "--threads=2",
                "--events=20000",
                "--time=60",
                "--mysql-ignore-errors=all",
                seed,
            ];
            let outcome = text(script, &with(&to, &words));
            let last = outcome.out.lines().last().unwrap_or_default().to_owned();
            assert_eq!(
                (outcome.exit, outcome.snapshot.counts().completed),
                (0, 20_000),
                "{last}"
            );
            assert!(!outcome.out.contains("panicked"), "{last}");
        }
    });
}
