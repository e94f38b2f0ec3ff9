//! A script that takes all memory. The limit is the process's, so this test is alone in its own.

mod lua_support;

use lua_support::text;
use plimsoll_sysbench::lua::memory;

#[test]
fn a_script_that_runs_away_ends_in_good_order() {
    memory::set_limit(200 << 20);
    for (body, expected) in [
        (
            "local all = {} while true do all[#all + 1] = {#all} end",
            "FATAL: `thread_run' function failed: not enough memory\n",
        ),
        (
            "local all = {} for i = 1, 1e9 do all[i] = ('x'):rep(1e6) .. i end",
            "FATAL: `thread_run' function failed: not enough memory\n",
        ),
        (
            "local con = sysbench.sql.driver():connect() local s = con:prepare('?') p = {} while true do p[#p + 1] = \
             s:bind_create(12, 1e8) end",
            "FATAL: `thread_run' function failed: stdin:1: Unsupported argument type: 12",
        ),
        (
            "h = {} while true do h[#h + 1] = sysbench.histogram.new(1e7, 1, 2) end",
            "FATAL: `thread_run' function failed: stdin:1: histogram: the size must be 2 or more, and 0 < minimum < maximum",
        ),
        ("return true", ""),
    ] {
        let outcome = text(
            &format!("function event() {body} end"),
            &["run", "--threads=2", "--mysql-dry-run"],
        );
        let said = outcome.out.lines().next().unwrap_or_default();
        assert!(
            said == expected.trim_end() || expected.is_empty(),
            "{body}: {}",
            outcome.out
        );
        assert_eq!(outcome.exit, u8::from(!expected.is_empty()), "{body}: {}", outcome.out);
    }
    let outcome = text("x = ('x'):rep(150e6) y = x .. 'y'", &["run"]);
    assert_eq!((outcome.exit, outcome.out.as_str()), (1, "FATAL: not enough memory\n"));
    memory::set_limit(1 << 20);
    let outcome = text("", &["run"]);
    assert_eq!((outcome.exit, outcome.out.as_str()), (1, "FATAL: not enough memory\n"));
}
