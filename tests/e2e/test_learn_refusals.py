"""Misuse of `plimsoll learn` has one clear message that says what to do."""

from __future__ import annotations

import gzip
import json
import stat
from pathlib import Path

import pytest

from support.command import assert_one_clear_message, plimsoll
from support.shop_log import SCHEMA, Shop
from support.slow_logs import Ran, mysql_slow_log

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a log and a schema."""
    folder: Path = tmp_path_factory.mktemp("given")
    (folder / "slow.log").write_text(mysql_slow_log(Shop().transactions(60)))
    (folder / "schema.sql").write_text(SCHEMA)
    (folder / "empty.log").write_text("")
    (folder / "other.sql").write_text("CREATE TABLE elsewhere (id int NOT NULL PRIMARY KEY);")
    (folder / "none.sql").write_text("SELECT 1;")
    (folder / "newer.json").write_text('{"schema_format": 99, "tables": []}')
    (folder / "binary").write_bytes(bytes(range(256)))
    return folder


SCHEMA_OPTION = ("--schema", "schema.sql")


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ((), ("--from: name the log to learn from",)),
        (("-o", "prod"), ("--from: name the log",)),
        (("--from", "slow.log", *SCHEMA_OPTION), ("-o: name the folder to write to",)),
        (("--from", "slow.log", "-o", "prod"), ("--target or --schema: give one of them",)),
        (
            ("--from", "slow.log", *SCHEMA_OPTION, "--target", "mysql://reader@127.0.0.1:1/shop", "-o", "prod"),
            ("--target or --schema: give one of them",),
        ),
        (("--from", "none.log", *SCHEMA_OPTION, "-o", "prod"), ("none.log: cannot be read: No such file",)),
        (("--from", "slow.log", "--schema", "none", "-o", "prod"), ("none: cannot be read: No such file",)),
        (("--from", "slow.log", "--schema", "none.sql", "-o", "prod"), ("none.sql: has no tables", "mysqldump")),
        (("--from", "slow.log", "--schema", "newer.json", "-o", "prod"), ("newer.json",)),
        (("--from", "slow.log", "--schema", "binary", "-o", "prod"), ("binary: is no text in UTF-8",)),
        (("--from", "slow.log", *SCHEMA_OPTION, "-o", "prod", "--scale", "0"), ("--scale: must be above 0", "is 0")),
        (("--from", "slow.log", *SCHEMA_OPTION, "-o", "prod", "--scale", "-1"), ("--scale: must be above 0", "is -1")),
        (("--from", "slow.log", *SCHEMA_OPTION, "-o", "prod", "--scale", "nan"), ("--scale: must be above 0", "nan")),
        (("--from", "slow.log", *SCHEMA_OPTION, "-o", "prod", "--scale", "1e9"), ("--scale: must be above 0", "1e+09")),
        (
            ("--from", "slow.log", *SCHEMA_OPTION, "-o", "prod", "--format", "csv"),
            ("--format: must be auto, slow, general",),
        ),
        (
            ("--from", "slow.log", *SCHEMA_OPTION, "-o", "prod", "--time-zone", "CET"),
            ("--time-zone: must be an offset",),
        ),
        (("--from", "slow.log", *SCHEMA_OPTION, "-o", "prod", "--work-dir", "/proc/none"), ("--work-dir",)),
        (("--from", "slow.log", "--schema", "other.sql", "-o", "prod"), ("no transaction of the log can be run",)),
        (("--from", "slow.log", *SCHEMA_OPTION, "-o", "slow.log/prod"), ("slow.log",)),
    ],
)
def test_misuse(given: Path, words: tuple[str, ...], parts: tuple[str, ...]) -> None:
    ran = plimsoll("learn", *words, cwd=given)
    assert_one_clear_message(ran, ran.returncode, *parts)
    assert ran.returncode in (2, 3, 4), ran.stderr
    assert len(ran.stderr.strip().splitlines()) <= 3, ran.stderr
    assert not (given / "prod").exists()
    assert ran.stdout == ""


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("slow", "holds only the slow part of the load"),
        ("writes", "hold no SELECT"),
        ("empty", "no statement that reads or writes data"),
    ],
)
def test_a_log_that_is_not_of_the_whole_load_is_refused_with_its_report(
    given: Path, tmp_path: Path, kind: str, why: str
) -> None:
    logs = {
        "slow": mysql_slow_log([[Ran(one.text, 1, 2_000_000) for one in each] for each in Shop().transactions(60)]),
        "writes": mysql_slow_log([[Ran(f"UPDATE customers SET `rank` = {at} WHERE id = {at}")] for at in range(60)]),
        "empty": "",
    }
    (tmp_path / "some.log").write_text(logs[kind])
    words = ("--from", tmp_path / "some.log", "--schema", given / "schema.sql", "-o", tmp_path / "prod")
    ran = plimsoll("learn", *words)
    assert_one_clear_message(ran, 2, why, f"is in {tmp_path / 'prod'}")
    assert {path.name for path in (tmp_path / "prod").iterdir()} == {"report.html", "report.md", "report.json"}


def test_a_damaged_log_is_said_with_its_place_and_accepted_only_if_asked(given: Path, tmp_path: Path) -> None:
    packed = bytearray(gzip.compress((given / "slow.log").read_bytes()))
    packed[len(packed) // 2] ^= 16
    log = tmp_path / "slow.log.gz"
    log.write_bytes(packed)
    ran = plimsoll("learn", "report", log, given / "slow.log", "--json")
    assert ran.returncode == 4
    assert "slow.log.gz: is damaged or cut, noticed at line" in ran.stderr
    assert "--keep-going" in ran.stderr
    report = json.loads(ran.stdout)
    fault, none = (one["fault"] for one in report["sources"])
    assert none is None
    assert report["damaged_lines"][0] == ["log 1", fault["line"], fault["reason"]]
    (doubt,) = (one["figures"] for one in report["doubts"] if one["code"] == "files-damaged")
    assert (doubt["damaged_count"], doubt["files_count"], doubt["first"]) == (1, 2, "log 1")
    assert plimsoll("learn", "report", log, "--keep-going").returncode == 0

    to = tmp_path / "prod"
    words = ("learn", "--from", log, "--schema", given / "schema.sql", "-o", to)
    ran = plimsoll(*words)
    assert (ran.returncode, ran.stdout) == (4, ""), ran.stderr
    assert {path.name for path in to.iterdir()} == {"report.html", "report.md", "report.json"}
    assert plimsoll(*words, "--keep-going").returncode == 0
    assert (to / "workload.toml").exists()
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (to, *to.iterdir())}
    assert modes.pop("prod") == 0o700
    assert set(modes.values()) == {0o600}, modes


def test_learning_twice_replaces_the_files(given: Path, tmp_path: Path) -> None:
    words = ("learn", "--from", given / "slow.log", "--schema", given / "schema.sql", "-o", tmp_path / "prod")
    first, second = plimsoll(*words), plimsoll(*words, "--text")
    assert (first.returncode, second.returncode) == (0, 0), second.stderr
    assert (tmp_path / "prod" / "workload.toml").read_text().count("[[transaction]]") >= 1
