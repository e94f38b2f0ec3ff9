"""Command lines of sysbench: what a recording needs of them, and which workload of ours they mean."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plimsoll.errors import SpecError
from plimsoll.spec.sysbench import SysbenchLine, given_options, read_line, workload_of


def line(text: str) -> SysbenchLine:
    return read_line(text.split())


def test_options_stand_anywhere_and_the_last_one_counts() -> None:
    read = line("--threads=2 ./x/mine.lua --mysql_host=a --threads=4 run --skip-trx")
    assert (read.test, read.command, read.test_name) == ("./x/mine.lua", "run", "mine")
    assert (read.whole("threads", 1), read.text("mysql-host"), read.is_on("skip-trx")) == (4, "a", True)
    assert (read.whole("rate", 7), read.is_on("debug")) == (7, False)


def test_old_names_are_those_of_today() -> None:
    read = line("--test=oltp --num-threads=3 --max-time=60 --seed-rng=7 --max-requests=0 run")
    assert (read.test, read.command) == ("oltp", "run")
    assert (read.whole("threads", 1), read.whole("time", 10), read.whole("rand-seed", 0)) == (3, 60, 7)
    assert read.whole("events", 10_000) == 0


def test_old_names_count_where_they_say_something() -> None:
    read = line("cpu --threads=4 --num-threads=1 --time=5 --max-time=0 --max_requests=7 --events=3 --tx-rate= run")
    found = [read.whole(name, -1) for name in ("threads", "time", "events", "rate")]
    assert found == [4, 5, 7, -1]
    assert line("cpu --num-threads=8 --threads=2 run").whole("threads", 1) == 8


@pytest.mark.parametrize(
    ("text", "test", "command"),
    [
        ("--test=cpu run", "cpu", "run"),
        ("run --test=cpu", "cpu", "run"),
        ("memory --test=cpu run", "cpu", "run"),
        ("--test= cpu run", "cpu", "run"),
    ],
)
def test_a_test_may_be_an_option(text: str, test: str, command: str) -> None:
    read = line(text)
    assert (read.test, read.command) == (test, command)


def test_nothing_behind_the_sign_is_0() -> None:
    read = line("mine.lua --time= --rate --threads=x run")
    assert [read.whole(name, 9) for name in ("time", "rate", "threads", "events")] == [0, 0, 9, 9]


@pytest.mark.parametrize(("text", "number"), [("", 0), ("1k", 1), ("x", 0), ("-2.5e1z", -25), (".5", 0.5)])
def test_scripts_get_the_number_that_an_option_begins_with(text: str, number: float) -> None:
    assert line(f"mine.lua --n={text} run").number("n") == number


def test_a_file_of_options_stands_in_its_place(tmp_path: Path) -> None:
    file = tmp_path / "options"
    file.write_text(
        "# remark\n[section]\nthreads = 8 # more\nmysql-password=secret\n\ntime=5\nmysql-db='a b' c\nbare\n"
    )
    read = line(f"cpu --threads=2 --config-file={file} --time=6 run")
    assert (read.whole("threads", 1), read.whole("time", 10), read.text("mysql-db")) == (8, 6, "a b")
    assert "bare" not in read.options
    assert "secret" not in repr(read)
    assert line("cpu --config-file= run").command == "run"
    with pytest.raises(SpecError, match="--config-file"):
        line(f"cpu --config-file={tmp_path / 'none'} run")


def endpoints(text: str) -> list[str]:
    return [target.endpoint for target in line(text).targets()]


def test_connections_go_to_every_port_of_every_host_or_to_sockets() -> None:
    assert endpoints("--mysql-host=a,b --mysql-port=1,2") == ["a:1", "a:2", "b:1", "b:2"]
    assert endpoints("--mysql-host=a --mysql-socket=/x,/y") == ["/x", "/y"]
    assert endpoints("--mysql-port=3307") == ["localhost:3307"]
    assert endpoints(f"--mysql-port={'9' * 5000}") == ["localhost:0"]
    target = line("--mysql-user=me --mysql-password=pw --mysql-db=d --mysql-host=h").targets()[0]
    assert (target.user, target.password.get_secret_value(), target.database) == ("me", "pw", "d")


def test_no_user_is_whoever_runs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USER", "somebody")
    target = line("--mysql-user= --mysql-db= --mysql-host=h").targets()[0]
    assert (target.user, target.database) == ("root" if os.geteuid() == 0 else "somebody", "")


@pytest.mark.parametrize(
    ("option", "mode"),
    [
        ("", "disabled"),
        ("--mysql-ssl=off", "disabled"),
        ("--mysql-ssl", "required"),
        ("--mysql-ssl=on", "required"),
        ("--mysql-ssl=PREFERRED", "preferred"),
        ("--mysql-ssl=on --mysql-ssl-ca=ca.pem", "verify-ca"),
        ("--mysql-ssl=VERIFY_IDENTITY --mysql-ssl-ca=ca.pem", "verify-identity"),
    ],
)
def test_encryption_is_that_of_the_engine(option: str, mode: str) -> None:
    assert line(option).targets()[0].tls.mode == mode


def test_a_module_is_a_workload_of_ours() -> None:
    read = line("oltp_read_only --tables=2 --table_size=77 --skip-trx --rand-type=zipfian --db-ps-mode=disable run")
    workload = workload_of(read, compat="1.1")
    assert workload is not None
    options = workload.options()
    assert (options["tables"], options["table_size"], options["prepared"]) == (2, 77, False)
    assert (options["skip_transaction"], options["distribution"]) == (True, {"kind": "zipfian", "exponent": 0.8})


def test_defaults_of_old_versions_are_theirs() -> None:
    kinds = []
    for compat in ("1.0", "1.1"):
        workload = workload_of(line("oltp_read_only run"), compat=compat)
        assert workload is not None
        kinds.append(workload.distribution.kind)
    assert kinds == ["special-1.0", "uniform"]


def test_counts_are_read_as_scripts_read_them() -> None:
    workload = workload_of(line("oltp_read_only --table_size=5k --tables=2x run"), compat="1.1")
    assert workload is not None
    assert (workload.options()["table_size"], workload.options()["tables"]) == (5, 2)
    assert workload_of(line("oltp_read_only --table_size=1.5 run"), compat="1.1") is None


def test_options_that_mean_nothing_to_a_module_are_left_out() -> None:
    workload = workload_of(line("oltp_point_select --range-size=5 --auto-inc=off run"), compat="1.1")
    assert workload is not None
    assert not workload.auto_increment
    assert "range_size" not in workload.options()


@pytest.mark.parametrize("text", ["mine.lua run", "bulk_insert run", "oltp_read_only --tables=0 run", "oltp run"])
def test_what_is_no_workload_of_ours_is_kept_as_it_was_given(text: str) -> None:
    assert workload_of(line(text), compat="1.1") is None


def test_a_file_takes_the_place_of_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "oltp_read_only").touch()
    assert workload_of(line("oltp_read_only run"), compat="1.1") is None


def test_options_of_a_script_are_kept_without_passwords_and_those_of_the_run() -> None:
    own = "--scale=3 --trx --other_password=pw --report_json=yes --compat=x"
    read = line(
        f"mine.lua {own} --threads=4 --max-time=9 --plimsoll-compat=1.0 --mysql-password=pw --rand-type=pareto run"
    )
    given = {"compat": "x", "rand_type": "pareto", "report_json": "yes", "scale": "3", "trx": "on"}
    for compat in ("1.0", "1.1"):
        assert given_options(read, compat=compat) == {"plimsoll_compat": compat, **given}


def test_the_environments_password_counts_where_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYSQL_PWD", "geheim")
    passwords = [line(text).targets()[0].password for text in ("cpu run", "cpu --mysql-password=other run")]
    assert [password and password.get_secret_value() for password in passwords] == ["geheim", "other"]
