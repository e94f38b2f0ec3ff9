//! What becomes of the values of options, beside sysbench 1.0.20: nothing, text that is no number, old names, files.

mod beside;

use beside::{Folder, exactly, our_command, ours, output, their_command, theirs};

/// Options of each type and with each kind of default, shown by a command.
const TYPES: &str = r#"
local C = sysbench.cmdline
C.options = {
  i = {"int", 3, C.ARG_INT}, s = {"size", "16K", C.ARG_SIZE}, d = {"double", 1.5}, b = {"bool", true}, f = {"bool", false},
  t = {"text", "x"}, l = {"list", {"a", "b"}}, ["dash-opt"] = {"dash", "q"},
  i0 = {"int", nil, C.ARG_INT}, s0 = {"size", nil, C.ARG_SIZE}, d0 = {"double", nil, C.ARG_DOUBLE},
  b0 = {"bool", nil, C.ARG_BOOL}, t0 = {"text"}, l0 = {"list", nil, C.ARG_LIST}, f0 = {"file", nil, C.ARG_FILE},
}
local function show()
  local names = {}
  for name in pairs(C.options) do names[#names + 1] = (name:gsub("-", "_")) end
  table.sort(names)
  for _, name in ipairs(names) do
    local value = sysbench.opt[name]
    if type(value) == "table" then value = "{" .. table.concat(value, "|") .. "}" end
    print(name, type(sysbench.opt[name]), tostring(value))
  end
end
C.commands = { show = { show }, print = { C.print_test_options } }
"#;

/// Standard output without our first line, standard error without what we say of values that are read in part, and how it
/// ended.
fn shown(program: fn() -> std::process::Command, words: &[&str]) -> (String, String, Option<i32>) {
    let (out, err, code) = exactly(&output(program(), words, ""));
    let err = err.lines().filter(|line| !line.contains(" is read as ")).collect();
    (out, err, code)
}

#[test]
fn a_scripts_options_have_the_values_that_sysbench_reads() {
    let folder = Folder::new();
    let script = folder.script(TYPES);
    for word in ["show", "help", "print"] {
        let words = [script.as_str(), word];
        assert_eq!(shown(our_command, &words), shown(their_command, &words), "{word}");
    }
    let texts = [
        "",
        "5",
        " 5",
        "5 ",
        "5x",
        "x",
        "1k",
        "1K",
        "16kb",
        "1P",
        "-1",
        "+1",
        "0x10",
        "010",
        "1e3",
        "2147483648",
        ".5",
        "nan",
        "1e400",
        "-",
        "on",
        "off",
        "true",
        "false",
        "0",
        "1",
        "yes",
        "a,b",
        " a , b",
        ",a,,b,",
        "a=b",
    ];
    for name in ["i", "s", "d", "b", "t", "l", "b0", "d0", "dash_opt"] {
        for text in texts {
            let word = format!("--{name}={text}");
            let words = [script.as_str(), &word, "show"];
            assert_eq!(shown(our_command, &words), shown(their_command, &words), "{word}");
        }
        let word = format!("--{name}");
        let words = [script.as_str(), &word, "show"];
        assert_eq!(shown(our_command, &words), shown(their_command, &words), "{word}");
    }
}

#[test]
fn definitions_that_make_no_sense_are_refused_where_sysbench_refuses_them() {
    let folder = Folder::new();
    for definition in [
        "{'x', 'abc', 2}",
        "{'x', 1.5, 2}",
        "{'x', 'maybe', 1}",
        "{'x', 'abc', 3}",
        "{'x', '1k', 4}",
        "{'x', 1, 1}",
        "{'x', 5, 9}",
        "{'x', 5, 0}",
        "{'x', 5, 'INT'}",
        "{'x', print}",
        "{'x', 'a,b', 6}",
        "{'x', {1, 2}}",
        "{nil, 5}",
        "{}",
        "5",
    ] {
        let script = folder.script(&format!(
            "sysbench.cmdline.options = {{a = {definition}}} function prepare() print(tostring(sysbench.opt.a):sub(1, 5)) end"
        ));
        let told = [our_command, their_command].map(|program| exactly(&output(program(), &[&script, "prepare"], "")));
        assert_eq!(told[0].2, told[1].2, "{definition}: {told:?}");
        if told[0].2 == Some(0) {
            assert_eq!(told[0], told[1], "{definition}");
        }
    }
}

#[test]
fn what_is_read_in_part_is_said_on_standard_error() {
    let folder = Folder::new();
    let script = folder.script(TYPES);
    let said = |word: &str| ours(&[&script, word, "show"]).err.join("\n");
    assert_eq!(said("--d=1k"), "WARNING: --d=#k is read as #, as sysbench reads it");
    assert_eq!(said("--s=12"), "");
    assert_eq!(said("--d="), "");
}

#[test]
fn general_options_without_a_value_are_0_as_in_sysbench() {
    let folder = Folder::new();
    let script = folder.script(
        "function init() local o = sysbench.opt print(o.events, o.time, o.rate, o.report_interval, o.rand_seed, o.percentile,
           o.rand_pareto_h, o.rand_spec_pct, o.max_time, o.num_threads, o.pgsql_port, #o.mysql_port, #o.mysql_host,
           tostring(o.mysql_ssl), o.mysql_user, o.forced_shutdown) end
         function event() return 1 end",
    );
    for name in [
        "events",
        "time",
        "rate",
        "report-interval",
        "rand-seed",
        "percentile",
        "max-time",
        "max-requests",
        "num-threads",
        "tx-rate",
        "thread-stack-size",
        "threads",
        "verbosity",
        "debug",
        "histogram",
        "forced-shutdown",
        "report-checkpoints",
        "mysql-port",
        "mysql-host",
        "mysql-user",
        "mysql-ssl",
        "pgsql-port",
        "config-file",
        "db-driver",
        "db-ps-mode",
    ] {
        for word in [format!("--{name}="), format!("--{name}")] {
            if word == "--debug" {
                continue; // it says more in sysbench
            }
            let words = [script.as_str(), "--time=2", "--events=1", &word, "run"];
            assert_eq!(ours(&words), theirs(&words), "{word}");
        }
    }
}

#[test]
fn values_below_0_and_old_names_do_what_they_do_in_sysbench() {
    let folder = Folder::new();
    let script = folder.script(
        "function init() local o = sysbench.opt
           print(o.num_threads, o.threads, o.max_time, o.time, o.max_requests, o.events, o.tx_rate, o.rate) end
         function event() return 1 end",
    );
    for line in [
        "--events=-1",
        "--rand-seed=-7",
        "--time=-1 --events=3",
        "--num-threads=2 --threads=1",
        "--num-threads=1 --threads=1",
        "--num-threads=0",
        "--max-time=5",
        "--max-time=0 --time=3",
        "--max-time=-1",
        "--max-requests=7 --events=5",
        "--tx-rate=700 --rate=500",
        "--max-time=3 --max_time=4",
        "--num-threads=x",
        "--events=x --events=3",
        "--events=3 --events=x",
        "--report_checkpoints=0",
    ] {
        let words: Vec<&str> = [script.as_str(), "--time=2"]
            .into_iter()
            .chain(line.split(' '))
            .chain(["run"])
            .collect();
        assert_eq!(ours(&words), theirs(&words), "{line}");
    }
}

#[test]
fn globals_of_0_5_are_those_that_sysbench_gives() {
    let folder = Folder::new();
    let script = folder.script(
        "local function show(what) io.write(what .. ' ' .. tostring(num_threads) .. tostring(threads) .. tostring(max_time) ..
           tostring(max_requests) .. tostring(tx_rate) .. tostring(oltp_table_size) .. tostring(foo) .. '\\n') end
         show('body')
         function init() show('init') end
         function event() show('event') end
         function prepare() show('prepare') end",
    );
    for line in [
        "--threads=1 --events=1 --time=7 run",
        "--max-requests=1 --max-time=9 --tx-rate=1000 run",
        "--threads=3 --oltp-table-size=7 --foo prepare",
        "--num-threads=3 --max-time=4 --foo=bar prepare",
    ] {
        let words: Vec<&str> = [script.as_str()].into_iter().chain(line.split(' ')).collect();
        let [ours, theirs] = [our_command, their_command].map(|program| {
            let (out, _, code) = exactly(&output(program(), &words, ""));
            let globals = |line: &&str| {
                ["body ", "init ", "event ", "prepare "]
                    .iter()
                    .any(|what| line.starts_with(what))
            };
            (out.lines().filter(globals).map(str::to_owned).collect::<Vec<_>>(), code)
        });
        assert!(ours.0.len() >= 2, "{ours:?}");
        assert_eq!(ours, theirs, "{line}");
    }
}

#[test]
fn a_file_of_options_is_read_as_sysbench_reads_it() {
    let folder = Folder::new();
    let script = folder.script(
        "function prepare() print('[' .. sysbench.opt.mysql_db .. ']', sysbench.opt.threads, tostring(sysbench.opt.debug)) end",
    );
    for text in [
        "threads=3\nmysql-db=x",
        "[sysbench]\nthreads=3 # remark\n\n[threads]\n",
        "mysql_db=a#b\nmysql-user=a # b\n",
        "mysql-db=a b\n",
        "mysql-db=\"x y\"\n",
        "mysql-db='q'\nmysql-db=last\n",
        "mysql-db= x \r\n",
        "mysql-db=x=y\n",
        "mysql-db=\n",
        "threads=x\n",
        "debug=on\n",
    ] {
        let file = format!("--config-file={}", folder.file("options", text));
        for words in [
            [script.as_str(), "--threads=5", &file, "prepare"],
            [script.as_str(), &file, "--threads=5", "prepare"],
        ] {
            assert_eq!(
                shown(our_command, &words),
                shown(their_command, &words),
                "{text:?} {words:?}"
            );
        }
    }
}

#[test]
fn the_test_of_old_versions_is_found_as_sysbench_finds_it() {
    for line in [
        "--test=cpu --events=1 run",
        "--test= cpu --events=1 run",
        "--test cpu --events=1 run",
        "memory --test=cpu --events=1 run",
        "memory run --test=cpu --events=1",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(ours(&words), theirs(&words), "{line}");
    }
}
