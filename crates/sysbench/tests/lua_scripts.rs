//! Scripts without a server: their life, their errors, what they find in `sysbench`.

mod lua_support;

use lua_support::{Folder, named, text};

const DRY: &str = "--mysql-dry-run";

#[test]
fn events_are_counted_and_statements_with_them() {
    let script = "
        function thread_init() con = sysbench.sql.driver():connect(); con:query('SET x') end
        function event() con:query('SELECT 1') end";
    let outcome = text(script, &["run", DRY, "--events=3"]);
    let counts = outcome.snapshot.counts();
    assert_eq!(
        (outcome.exit, counts.completed, counts.others),
        (0, 3, 4),
        "{}",
        outcome.out
    );
}

#[test]
fn the_built_in_workload_runs_dry() {
    let outcome = named("oltp_read_write", &["run", DRY, "--events=10", "--threads=2"]);
    let counts = outcome.snapshot.counts();
    assert_eq!(
        (outcome.exit, counts.completed, counts.others),
        (0, 10, 200),
        "{}",
        outcome.out
    );
}

#[track_caller]
fn fails(script: &str, words: &[&str], expected: &str) {
    let outcome = text(script, &[words, &[DRY]].concat());
    assert_eq!((outcome.exit, outcome.out.as_str()), (1, expected), "{}", outcome.err);
}

#[test]
fn what_goes_wrong_in_a_script_is_said_and_ends_with_1() {
    fails("syntax error", &["run"], "FATAL: stdin:1: '=' expected near 'error'\n");
    fails("error('in body')", &["run"], "FATAL: stdin:1: in body\n");
    fails("error({})", &["run"], "FATAL: (not a string)\n");
    fails("print(1)", &["run"], "FATAL: cannot find the event() function in \n");
    fails(
        "function event() error('boom') end",
        &["run"],
        "FATAL: `thread_run' function failed: stdin:1: boom\n",
    );
    fails(
        "function event() error({x = 1}) end",
        &["run"],
        "FATAL: `thread_run' function failed: (not a string)\n",
    );
    fails(
        "function event() error() end",
        &["run"],
        "FATAL: `thread_run' function failed: (not a string)\n",
    );
    let thread_init = "function event() end function thread_init() error('ti') end";
    fails(
        thread_init,
        &["run"],
        "FATAL: `thread_init' function failed: stdin:1: ti\nFATAL: Thread initialization failed!\n",
    );
    fails(
        "function prepare() error('p') end",
        &["prepare"],
        "FATAL: `prepare' function failed: stdin:1: p\n",
    );
    fails(
        "function event() end function init() error('i') end",
        &["run"],
        "FATAL: `init' function failed: stdin:1: i\n",
    );
    let done = text(
        "function event() return true end function done() error('d') end",
        &["run"],
    );
    assert!(
        done.out.ends_with("FATAL: `done' function failed: stdin:1: d\n"),
        "{}",
        done.out
    );
    assert_eq!(done.exit, 1);
}

#[test]
fn scripts_are_files_first_and_modules_then() {
    let folder = Folder::new();
    let path = folder.file(
        "a.lua",
        "#!/usr/bin/env sysbench\nfunction event() error('in file') end",
    );
    let outcome = named(&path, &["run", DRY]);
    assert_eq!(
        outcome.out,
        format!("FATAL: `thread_run' function failed: {path}:2: in file\n")
    );
    let missing = named("no_such_script", &["run"]);
    let expected = "FATAL: Cannot find benchmark 'no_such_script': no such built-in test, file or module\n";
    assert_eq!((missing.exit, missing.out.as_str()), (1, expected));
    let broken = folder.file("b.lua", "require('no_such_module')");
    let outcome = named(&broken, &["run"]);
    assert!(
        outcome.out.contains("module 'no_such_module' not found"),
        "{}",
        outcome.out
    );
    assert!(named("/", &["run"]).out.starts_with("FATAL: Cannot find benchmark '/'"));
}

#[test]
fn events_stop_their_thread_by_what_they_return() {
    for result in ["0", "{}", "true", "''"] {
        let script = format!("n = 0 function event() n = n + 1 if n == 3 then return {result} end end");
        let outcome = text(&script, &["run", DRY, "--threads=2"]);
        assert_eq!(
            (outcome.exit, outcome.snapshot.counts().completed),
            (0, 4),
            "{result}: {}",
            outcome.out
        );
    }
    let goes_on = text("function event() return false end", &["run", "--events=5"]);
    assert_eq!(goes_on.snapshot.counts().completed, 5);
}

#[test]
fn events_are_tried_again_after_errors_that_say_so() {
    let script = "
        local tries = 0
        function sysbench.hooks.before_restart_event(failure) assert(failure.mark == 7) tries = tries + 1 end
        function event()
          if tries < 3 then error({errcode = sysbench.error.RESTART_EVENT, mark = 7}) end
          tries = 0
        end";
    let counts = text(script, &["run", "--events=2"]).snapshot.counts();
    assert_eq!((counts.completed, counts.retries), (2, 6));
    let hook_fails = "
        function sysbench.hooks.before_restart_event() error('hook') end
        function event() error({errcode = 1}) end";
    fails(
        hook_fails,
        &["run"],
        "FATAL: `thread_run' function failed: stdin:2: hook\n",
    );
    let for_ever = text("function event() error({errcode = 1}) end", &["run", "--time=1"]);
    assert_eq!(
        (for_ever.exit, for_ever.snapshot.counts().completed),
        (0, 0),
        "{}",
        for_ever.out
    );
}

#[test]
fn a_script_may_have_its_own_loop() {
    let script = "
        function event() error('not called') end
        function thread_run(thread_id)
          while ffi.C.sb_more_events(thread_id) do
            ffi.C.sb_event_start(thread_id)
            ffi.C.sb_counter_inc(thread_id, ffi.C.SB_CNT_READ)
            ffi.C.sb_counter_inc(thread_id, 'SB_CNT_ERROR')
            ffi.C.sb_event_stop(thread_id)
          end
        end";
    let outcome = text(script, &["run", "--events=4"]);
    let counts = outcome.snapshot.counts();
    assert_eq!((counts.completed, counts.reads), (4, 4), "{}", outcome.out);
    assert_eq!(outcome.snapshot.errors[0].count, 4);
    let disorder = "
        function event() end
        function thread_run(id)
          ffi.C.sb_event_stop(id) ffi.C.sb_event_start(id)
          ffi.C.sb_more_events(id) ffi.C.sb_more_events(id) ffi.C.sb_event_stop(id) ffi.C.sb_event_stop(id)
        end";
    assert_eq!(text(disorder, &["run"]).snapshot.counts().completed, 1);
}

#[test]
fn the_body_runs_in_each_state_and_options_are_there_after_it() {
    let script = "
        assert(sysbench.opt == nil and sysbench.version == '1.1.0')
        assert(sysbench.cmdline.command == 'run' and sysbench.cmdline.argv[0] == 'sysbench')
        assert(test == nil and sysbench.cmdline.script_path == nil and thread_id == sysbench.tid and sysbench.opt == nil)
        sysbench.cmdline.options = {
          size = {'Size', 5}, ['dash-name'] = {'Dash', 'x'}, on = {'On', true}, list = {'List', {'a', 'b'}}, none = {'None'},
        }
        function init() assert(sysbench.tid == 0) end
        function thread_init(tid)
          assert(tid == sysbench.tid and tid < 2)
          local opt = sysbench.opt
          assert(opt.size == 7 and opt.dash_name == 'y' and opt.on == false and opt.none == '')
          assert(#opt.list == 2 and opt.list[2] == 'b' and opt.threads == 2 and #opt.report_checkpoints == 0)
          assert(opt.config_file == nil and opt.thread_stack_size == 65536 and opt.mysql_db == 'sbtest')
        end
        function event() return true end";
    let words = ["run", "--threads=2", "--size=7", "--dash_name=y", "--on=off"];
    let outcome = text(script, &words);
    assert_eq!(outcome.exit, 0, "{}", outcome.out);
}

#[test]
fn commands_of_a_script_come_first() {
    let script = "
        function prepare() error('not called') end
        sysbench.cmdline.commands = {
          prepare = {function() end},
          no = {function() return false end},
          fails = {function() if sysbench.tid == 1 then error('one of them') end end, sysbench.cmdline.PARALLEL_COMMAND},
          alone = {function() assert(sysbench.tid == 0) end, sysbench.cmdline.PARALLEL_COMMAND},
        }";
    assert_eq!(text(script, &["prepare"]).exit, 0);
    assert_eq!(text(script, &["no"]).exit, 1);
    assert_eq!(text(script, &["alone"]).exit, 0);
    let parallel = text(script, &["fails", "--threads=3"]);
    let expected = "Initializing worker threads...\n\nFATAL: `sysbench.cmdline.call_command' function failed: stdin:6: one of \
                    them\n";
    assert_eq!((parallel.exit, parallel.out.as_str()), (1, expected));
}

#[test]
fn help_shows_options_sorted_with_their_types() {
    let script =
        "sysbench.cmdline.options = {foo = {'desc', 5}, ['a-b'] = {'l', {'x', 'y'}}, bb = {'bool', true}, s = {'str'}}";
    let folder = Folder::new();
    let path = folder.file("e.lua", script);
    let expected = "e.lua options:\n  --a-b=[LIST,...] l [x,y]\n  --bb[=on|off]    bool [on]\n  --foo=N          desc [5]\n  \
                    --s=STRING       str\n\n";
    assert_eq!(named(&path, &["help"]).out, expected);
    let none = folder.file("h.lua", "print(1)");
    let outcome = named(&none, &["help"]);
    assert_eq!(
        (outcome.exit, outcome.err.as_str()),
        (1, "'h.lua' test does not implement the 'help' command.\n")
    );
    let wrong = text("sysbench.cmdline.options = {foo = 5}", &["help"]);
    assert!(
        wrong.out.contains("wrong table structure in sysbench.cmdline.options"),
        "{}",
        wrong.out
    );
    assert_eq!(wrong.exit, 1);
}

#[test]
fn hooks_write_reports_in_place_of_ours() {
    let script = "
        function sysbench.hooks.report_intermediate(stat)
          assert(sysbench.tid == sysbench.opt.threads and stat.threads_running == 1)
          assert(stat.queue_length == 0 and stat.time_interval == 2)
          ffi.C.plimsoll_log(3, 'mine', 4)
        end
        function sysbench.hooks.report_cumulative(stat)
          assert(sysbench.tid == 0 and stat.threads_running == 0)
          ffi.C.plimsoll_log(3, 'last', 4)
        end
        function event() end";
    let outcome = text(script, &["run", "--events=6", "--report-interval=2"]);
    assert_eq!((outcome.exit, outcome.out.as_str()), (0, "mine\nlast\n"));
}

#[test]
fn a_report_that_fails_is_said_and_changes_nothing_else() {
    let broken = text(
        "function sysbench.hooks.report_cumulative() error('r') end function event() end",
        &["run", "--events=1"],
    );
    assert_eq!(
        (broken.exit, broken.out.as_str()),
        (
            0,
            "[ 2s ] thds: 1 eps: 0.50 lat (ms,95%): 0.00\nFATAL: `report_cumulative' function failed: stdin:1: r\n"
        )
    );
}

#[test]
fn a_thread_that_fails_at_its_end_has_done_its_events() {
    let script = "function event() end function thread_done() error('td') end";
    let outcome = text(script, &["run", "--events=3"]);
    assert_eq!((outcome.exit, outcome.snapshot.counts().completed), (0, 3));
    assert!(
        outcome
            .out
            .starts_with("FATAL: `thread_done' function failed: stdin:1: td\n"),
        "{}",
        outcome.out
    );
}

#[test]
fn statements_outside_of_events_count_too() {
    let script = "
        local con = sysbench.sql.driver():connect()
        con:query('1 in the body of the leading state, and of each of two threads')
        function init() for i = 1, 10 do con:query('10') end end
        function thread_init() for i = 1, 100 do con:query('200 of both threads') end end
        function event() con:query('one of each of two events') end
        function thread_done() for i = 1, 1000 do con:query('2000 of both threads') end end
        function done() con:query('after the report') end";
    let outcome = text(script, &["run", DRY, "--threads=2", "--events=2"]);
    assert_eq!(
        (outcome.exit, outcome.snapshot.counts().others),
        (0, 1 + 2 + 10 + 200 + 2 + 2000),
        "{}",
        outcome.out
    );
}

#[test]
fn scripts_of_old_find_options_and_functions_as_globals() {
    let script = "
        function event(id)
          assert(oltp_table_size == '1000' and num_threads == 1 and thread_id == 0 and DB_ERROR_FAILED == 2)
          assert(type(debug) == 'table' and mysql_table_engine == 'innodb' and mysql_user == 'sbtest')
          db_connect()
          assert(db_driver == 'mysql')
          db_query('SELECT 1')
          local values = {5, 'text'}
          local stmt = db_prepare('SELECT ?, ?')
          db_bind_param(stmt, values)
          assert(db_execute(stmt) == nil)
          db_close(stmt)
          db_bulk_insert_init('INSERT INTO t VALUES') db_bulk_insert_next('(1)') db_bulk_insert_done()
          assert(sb_rand(1, 1) == 1 and #sb_rand_str('##@') == 3 and sb_rand_uniq(5, 4000000000) >= 5 and sb_rnd() >= 0)
          db_disconnect()
        end";
    let outcome = text(script, &["run", DRY, "--events=2", "--oltp-table-size=1000"]);
    assert_eq!(
        (outcome.exit, outcome.snapshot.counts().others),
        (0, 6),
        "{}",
        outcome.out
    );
}

#[test]
fn the_compiler_can_be_told_what_to_do() {
    let off = "function event() error(tostring(jit.status())) end";
    assert!(text(off, &["run", "--luajit-cmd=off"]).out.contains("stdin:1: false"));
    let body = "error(tostring(jit.status()))";
    assert!(text(body, &["run", "--luajit-cmd=off"]).out.contains("stdin:1: false"));
    assert!(text(off, &["run"]).out.contains("stdin:1: true"));
    let options = text(off, &["run", "--luajit-cmd=opt=3,hotloop=5"]);
    assert!(options.out.contains("stdin:1: true"), "{}", options.out);
}

#[test]
fn a_thousand_threads_have_a_state_each() {
    let script = "function event() sysbench.sql.driver():connect():query('SELECT 1') end";
    let outcome = text(script, &["run", DRY, "--threads=1024", "--events=3000"]);
    assert_eq!(
        (outcome.exit, outcome.snapshot.counts().completed),
        (0, 3000),
        "{}",
        outcome.out
    );
}

/// Modules in C find Lua's functions in the program.
#[test]
fn modules_in_c_can_be_loaded() {
    let folder = Folder::new();
    let source = "
        typedef struct lua_State lua_State;
        void lua_pushnumber(lua_State *, double);
        int luaopen_plimsoll_test(lua_State *state) { lua_pushnumber(state, 42); return 1; }";
    let (c, so) = (folder.file("m.c", source), folder.0.join("plimsoll_test.so"));
    let built = std::process::Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(&so)
        .arg(&c)
        .status();
    assert!(built.unwrap().success());
    let script = format!(
        "package.cpath = '{}/?.so' local m = require('plimsoll_test') function event() assert(m == 42) end",
        folder.0.display()
    );
    let outcome = text(&script, &["run", "--events=1"]);
    assert_eq!(outcome.exit, 0, "{}", outcome.out);
}
