"""`plimsoll ab` as a command: how options become a study file, and what is refused before anything is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from plimsoll.cli.ab_study import login_keys
from plimsoll.cli.main import command_line
from plimsoll.cli.option_values import server_options, settings
from plimsoll.cli.options import DataOptions, Login
from plimsoll.errors import SpecError
from plimsoll.spec.ab import Load, sides_of, study_text
from plimsoll.spec.study import parse_study
from plimsoll.spec.target import taken
from plimsoll.spec.workloads import shipped

TWO = ("--set", "sync_binlog=0", "--set", "sync_binlog=1")


@pytest.mark.parametrize(
    ("written", "options"),
    [
        ("sync_binlog=1", {"sync_binlog": 1}),
        ("a_b=1, c_d = ON,e_f=x", {"a_b": 1, "c_d": "ON", "e_f": "x"}),
        ("sql_mode=ANSI,STRICT_ALL_TABLES,c_d=2", {"sql_mode": "ANSI,STRICT_ALL_TABLES", "c_d": 2}),
        ("optimizer_switch='mrr=on,index_merge=off',c_d=2", {"optimizer_switch": "mrr=on,index_merge=off", "c_d": 2}),
        ("innodb-flush-method=O_DIRECT", {"innodb_flush_method": "O_DIRECT"}),
    ],
)
def test_several_options_of_a_side_and_commas_in_values(written: str, options: dict[str, object]) -> None:
    assert server_options(settings(written), "--set") == options


@pytest.mark.parametrize("written", ["sync_binlog", "=1", "a_b=1,a_b=2", "a_b=1,a-b=2"])
def test_what_is_no_option_of_a_server_is_refused(written: str) -> None:
    with pytest.raises(SpecError, match="--set"):
        server_options(settings(written), "--set")


@pytest.mark.parametrize(
    "data",
    [
        DataOptions(),
        DataOptions(workload="oltp_read_only", tables=2, table_size=500, option=["range_size=7"]),
        DataOptions(distribution='{ kind = "zipfian", exponent = 0.9 }'),
        DataOptions(workload="tpcc", warehouses=2, option=["foreign_keys=true"]),
        DataOptions(workload="key-value", option=["parameters.value_length=20"]),
    ],
    ids=lambda data: data.workload,
)
def test_the_workload_of_the_study_file_is_that_of_the_options(data: DataOptions) -> None:
    load = Load(workload=data.keys, connections=8, limit_s=120.0, equal_within=0.05, seed=1)
    text = study_text(sides_of([{}, {"a_b": 1}], [], []), load, {}, lambda _: "mariadb")
    (workload,) = parse_study(text).workload
    assert workload.identity() == data.spec.identity()


def test_a_workload_file_of_the_users_is_named_by_a_path_that_holds_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own.toml").write_text(shipped()["key-value"].read_text())
    monkeypatch.chdir(tmp_path)
    assert DataOptions(workload="own.toml", option=["parameters.value_length=20"]).keys == {
        "name": "own",
        "file": str(tmp_path / "own.toml"),
        "parameters": {"value_length": 20},
    }


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ((*TWO, "--for", "20s"), "--for: any answer needs 3 rounds"),
        ((*TWO, "--table-size", "100000000"), "--for: any answer needs 3 rounds"),
        ((*TWO, "--equal-within", "2"), "--equal-within: must be a share"),
        ((*TWO, "--tls", "required"), "--tls: a managed server is reached on this machine without encryption"),
        ((*TWO, "-o", "nonsense=1"), "--option nonsense: is not a known key"),
        ((*TWO, "--workload", "tpcc", "-o", "times=1"), "--workload: has pauses of its own"),
    ],
)
def test_what_cannot_be_answered_is_refused_and_leaves_nothing(
    tmp_path: Path, arguments: tuple[str, ...], fault: str
) -> None:
    save = tmp_path / "study"
    with pytest.raises(SpecError, match=fault):
        run(*arguments, "--save", str(save))
    assert not save.exists()


def test_a_password_that_is_asked_for_is_in_no_study_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getpass", lambda prompt: "hunter2")
    monkeypatch.setenv("PLIMSOLL_AB_PASSWORD", "")
    sides = sides_of([], [], ["mysql://a@old/c", "mysql://a@new/c"])
    keys = login_keys(Login(ask_password=True, ca="ca.pem"), sides)
    assert keys == {"password_env": "PLIMSOLL_AB_PASSWORD", "ca": str(Path("ca.pem").absolute())}
    assert taken("PLIMSOLL_AB_PASSWORD", key="password_env") == "hunter2"


def run(*arguments: str) -> None:
    ran = CliRunner().invoke(command_line("ab"), ["ab", *arguments])
    if ran.exception is not None:
        raise ran.exception


def test_a_folder_that_holds_something_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text("mine")
    with pytest.raises(SpecError, match=r"--save: .* exists"):
        run(*TWO, "--save", str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["study.toml"]
    assert (tmp_path / "study.toml").read_text() == "mine"
