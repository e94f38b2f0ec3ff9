//! Scripts that use the API wrongly: errors of theirs, never a crash.

mod lua_support;
#[path = "../../workloads/tests/support/mod.rs"]
mod support;

use lua_support::{text, with, words_to};
use support::on_each_server;

const DRY: &str = "--mysql-dry-run";

#[test]
fn misuse_is_an_error_of_the_script() {
    for (misuse, expected) in [
        ("con:query()", "attempt to get length"),
        ("con.query(nil, 'x')", "connection expected, got nil"),
        (
            "con.query(ffi.cast('sql_connection *', nil), 'x')",
            "connection expected, got nil",
        ),
        ("con.query({}, 'x')", "connection expected, got table"),
        ("con:disconnect() con:query('x')", "SQL API error"),
        (
            "con:disconnect() con:disconnect() error('closed twice')",
            "closed twice",
        ),
        ("con:disconnect() con:reconnect()", "SQL API error"),
        ("con:disconnect() con:prepare('x')", "SQL API error"),
        (
            "con:disconnect() con:bulk_insert_init('x')",
            "db_bulk_insert_init() failed",
        ),
        ("con:bulk_insert_next('x')", "db_bulk_insert_next() failed"),
        (
            "con:bulk_insert_init(('x'):rep(600000))",
            "db_bulk_insert_init() failed",
        ),
        (
            "con:bulk_insert_init('x') con:bulk_insert_next(('x'):rep(600000))",
            "db_bulk_insert_next() failed",
        ),
        (
            "local s = con:prepare('?') con:disconnect() s:execute()",
            "SQL API error",
        ),
        (
            "local s = con:prepare('?') s:close() s:close() s:execute()",
            "SQL API error",
        ),
        (
            "local s = con:prepare('?') s:bind_create(7)",
            "Unsupported argument type: 7",
        ),
        (
            "local s = con:prepare('?') s:bind_create()",
            "Unsupported argument type: nil",
        ),
        ("local s = con:prepare('?') s:bind_create(12)", "needs a length"),
        (
            "local s = con:prepare('?') s:bind_create(12, 1e15)",
            "Unsupported argument type",
        ),
        (
            "local s = con:prepare('?') s:bind_param(5)",
            "parameter expected, got 5",
        ),
        ("local s = con:prepare('?') s:bind_create(3):set('x')", "cannot convert"),
        (
            "local s = con:prepare('?') s:bind_create(3):set_rand_str('#')",
            "not of text",
        ),
        ("sysbench.sql.driver({})", "a name expected"),
        ("sysbench.sql.driver('oracle')", "failed to initialize the DB driver"),
        ("sysbench.sql.driver('pgsql')", "failed to initialize the DB driver"),
        ("con.result:free()", "result expected"),
        (
            "ffi.cast('sql_result *', con.result):free()",
            "db_free_results() failed",
        ),
        ("sysbench.rand.varstring(5, 2)", "varstring"),
        ("sysbench.histogram.new(0, 1, 2)", "histogram"),
        ("sysbench.rand.string()", "attempt to get length"),
    ] {
        let script = format!(
            "function event() local con = sysbench.sql.driver():connect() {misuse} error('it was allowed') end"
        );
        let outcome = text(&script, &["run", DRY]);
        assert_eq!(outcome.exit, 1, "{misuse}");
        let last = outcome.out.lines().last().unwrap_or_default();
        assert!(last.contains(expected), "{misuse}: {}", outcome.out);
    }
}

#[test]
fn handles_outlive_what_they_belong_to() {
    let script = "
        function event()
          local params, stmts, results = {}, {}, {}
          for i = 1, 200 do
            local con = sysbench.sql.driver():connect()
            local stmt = con:prepare('SELECT ?')
            local p = stmt:bind_create(sysbench.sql.type.VARCHAR, 100)
            p:set(('x'):rep(1000))
            stmt:bind_param(p)
            assert(stmt:bind_param() == nil and stmt:bind_param(p, p) == 1)
            results[i] = ffi.cast('sql_result *', con.result)
            if i % 2 == 0 then stmts[i] = stmt else params[i] = p end
            p, con, stmt = nil, nil, nil
            collectgarbage()
            for _, stmt in pairs(stmts) do stmt:execute() end
            for _, p in pairs(params) do p:set('y') p:set(nil) p:set_rand_str('@@') end
            for _, rs in pairs(results) do assert(not pcall(rs.free, rs)) end
          end
          return true
        end";
    let outcome = text(script, &["run", DRY]);
    assert_eq!(outcome.exit, 0, "{}", outcome.out.lines().last().unwrap_or_default());
}

#[test]
fn pointers_that_are_none_of_ours_are_not_looked_behind() {
    let script = "
        function event()
          local C = ffi.C
          for _, address in ipairs({0, 64, 4096, 2^40}) do
            local function at(kind) return ffi.cast(kind .. ' *', address) end
            local con, stmt, rs, bind = at('sql_connection'), at('sql_statement'), at('sql_result'), at('sql_bind')
            assert(C.db_connection_create(at('sql_driver')) == nil and not C.db_connection_close(con))
            assert(C.db_query(con, 'x', 1) == nil and C.db_prepare(con, 'x', 1) == nil and C.db_execute(stmt) == nil)
            assert(C.db_fetch_row(rs) == nil and C.db_free_results(rs) ~= 0 and C.db_bind_param(stmt, nil, 5) ~= 0)
            assert(C.db_bulk_insert_init(con, nil, 9) ~= 0 and C.db_next_result(con) == nil and not C.db_more_results(con))
            C.db_connection_free(con) C.db_statement_free(stmt) C.db_param_free(bind) C.db_param_fill(bind, 'x', 1, true)
            C.db_close(stmt) C.sb_rand_str(nil, nil) C.plimsoll_rand_str('x', 1, nil) C.sb_rand_varstr(nil, 1, 2)
            local histogram = ffi.cast('sb_histogram_t *', address)
            C.sb_histogram_update(histogram, 1) C.sb_histogram_print(histogram) C.sb_histogram_delete(histogram)
          end
        end";
    let outcome = text(script, &["run", DRY, "--events=3"]);
    let last = outcome.out.lines().last().unwrap_or_default();
    assert_eq!((outcome.exit, outcome.snapshot.counts().completed), (0, 3), "{last}");
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
                "--time=600",
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
