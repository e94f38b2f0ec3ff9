//! Scripts that go wrong, under our command line and under sysbench: the same words, the same exit codes.

mod beside;

use beside::{Folder, ours, theirs};

#[test]
fn they_fail_in_the_same_words() {
    let folder = Folder::new();
    for (text, command) in [
        ("function event( \nend end", "run"),
        ("function event() error('boom') end", "run"),
        ("function event() error({a=1}) end", "run"),
        ("function event() error({a=1}) end", "prepare"),
        (
            "function thread_init() local x = nil; x.y = 1 end function event() end",
            "run",
        ),
        ("function evnt() end", "run"),
        ("function evnt() end", "prepare"),
        ("function init() error('in init') end function event() end", "run"),
        ("function prepare() error('prep') end", "prepare"),
        ("sysbench.cmdline.options = {foo = 3} function event() end", "run"),
        ("sysbench.cmdline.options = {foo = 3} function event() end", "help"),
        (
            "sysbench.cmdline.options = {foo = {'bar'}} function event() end",
            "help",
        ),
        ("function event() return 1 end", "run"),
        ("function event() sysbench.opt.threads = nil; return nil end", "run"),
        ("error('at once')", "run"),
    ] {
        let script = folder.script(text);
        let words = [script.as_str(), "--events=3", command];
        assert_eq!(ours(&words), theirs(&words), "{text} {command}");
    }
}

#[test]
fn a_script_that_never_ends_is_ended_by_force() {
    let folder = Folder::new();
    let script = folder.script("function event() while true do end end");
    for verbosity in ["--verbosity=0", "--verbosity=3"] {
        let words = [
            &script,
            "--time=1",
            "--forced-shutdown=1",
            "--threads=2",
            verbosity,
            "run",
        ];
        let (ours, theirs) = (ours(&words), theirs(&words));
        assert_eq!(ours.code, Some(2));
        assert_eq!(ours, theirs, "{verbosity}");
    }
}

#[test]
fn a_missing_module_is_named_with_the_places_where_it_was_looked_for() {
    let folder = Folder::new();
    let script = folder.script("require('no_such_module')");
    let words = [script.as_str(), "run"];
    let (ours, theirs) = (ours(&words), theirs(&words));
    assert_eq!((ours.code, ours.out.first()), (theirs.code, theirs.out.first()));
    for told in [&ours, &theirs] {
        assert!(
            told.out
                .iter()
                .any(|line| line.contains("module 'no_such_module' not found")),
            "{told:?}"
        );
        assert!(
            told.out
                .iter()
                .any(|line| line.contains("no file './no_such_module.lua'")),
            "{told:?}"
        );
    }
}
