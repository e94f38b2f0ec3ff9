"""Nothing that `plimsoll learn` writes to be shared holds a literal or a name of the log or of the schema: canaries."""

from __future__ import annotations

import base64
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from plimsoll.run.logs import read_logs
from support.canaries import CLIENT, SCHEMA, TOKEN, traces, transactions
from support.command import plimsoll
from support.endure import in_endure
from support.slow_logs import Client, Ran, general_log, mariadb_slow_log, mysql_slow_log

pytestmark = pytest.mark.e2e

TIMES = 25
"""Often enough for values to be related and distributions to be fitted."""

Writer = Callable[[Sequence[Sequence[Ran]], Client], str]
WRITERS: dict[str, Writer] = {"mysql": mysql_slow_log, "mariadb": mariadb_slow_log, "general": general_log}
SHARED = {"workload.toml", "profile.json", "schema.sql", "demand.json", "report.html", "report.md", "report.json"}


def planted(folder: Path, kind: str) -> tuple[Path, Path]:
    """A log and a schema; names of files are canaries, too."""
    log, schema = folder / f"{TOKEN}-{kind}.log", folder / f"{TOKEN}.sql"
    text = WRITERS[kind](transactions(TIMES), CLIENT)
    log.write_text(text + f"# Time: {TOKEN}\n# User@Host: {TOKEN}\n# {TOKEN}: 1\n\x00{TOKEN}\n")
    schema.write_text(SCHEMA)
    return log, schema


def assert_no_trace(ran: subprocess.CompletedProcess[str], folder: Path, names: set[str]) -> None:
    """In no file of a folder, and not on the terminal."""
    assert ran.returncode == 0, ran.stderr
    assert {path.name for path in folder.iterdir()} == names
    assert {path.name: list(traces(path.read_bytes())) for path in folder.iterdir()} == {name: [] for name in names}
    assert TOKEN not in "".join(path.name for path in folder.rglob("*")).lower()
    assert list(traces((ran.stdout + ran.stderr).encode())) == []


@pytest.mark.parametrize("kind", sorted(WRITERS))
def test_no_canary_in_what_is_learned(kind: str, tmp_path: Path) -> None:
    log, schema = planted(tmp_path, kind)
    to, work = tmp_path / "prod", tmp_path / "work"
    work.mkdir()
    ran = plimsoll("learn", "--from", log, "--schema", schema, "-o", to, "--work-dir", work)
    assert_no_trace(ran, to, SHARED)
    assert list(work.iterdir()) == [], "private tables are gone"
    assert plimsoll("workload", "check", to / "workload.toml").returncode == 0


@pytest.mark.parametrize("kind", ["mysql", in_endure("mariadb"), in_endure("general")])
def test_no_canary_in_a_report(kind: str, tmp_path: Path) -> None:
    log, _ = planted(tmp_path, kind)
    ran = plimsoll("learn", "report", log, "-o", tmp_path / "report", "--json")
    assert_no_trace(ran, tmp_path / "report", {"report.html", "report.md", "report.json"})


def test_with_names_there_are_names_but_no_literals(tmp_path: Path) -> None:
    """What shows that the search finds what is there: with --keep-names it finds names."""
    log, schema = planted(tmp_path, "mysql")
    ran = plimsoll("learn", "--from", log, "--schema", schema, "-o", tmp_path / "prod", "--keep-names")
    assert ran.returncode == 0, ran.stderr
    named = {path.name for path in (tmp_path / "prod").iterdir() if any(traces(path.read_bytes()))}
    assert {"workload.toml", "profile.json", "schema.sql", "report.json"} <= named
    for path in (tmp_path / "prod").iterdir():
        text = path.read_text().lower()
        assert "7391846205" not in text
        assert f"'{TOKEN}'" not in text
        assert f"{TOKEN} it" not in text


def test_a_refused_log_leaves_a_report_without_canaries(tmp_path: Path) -> None:
    slow = [[Ran(one.text, one.rows_sent, 3_000_000) for one in each] for each in transactions(2)]
    log, schema = tmp_path / f"{TOKEN}.log", tmp_path / f"{TOKEN}.sql"
    log.write_text(mysql_slow_log(slow, CLIENT))
    schema.write_text(SCHEMA)
    ran = plimsoll("learn", "--from", log, "--schema", schema, "-o", tmp_path / "prod")
    assert ran.returncode == 2
    found = {path.name: list(traces(path.read_bytes())) for path in (tmp_path / "prod").iterdir()}
    assert found == {"report.html": [], "report.md": [], "report.json": []}


def test_private_tables_are_only_the_owners_when_they_are_kept(tmp_path: Path) -> None:
    """As --keep leaves them."""
    work = tmp_path / "work"
    work.mkdir()
    log, schema = planted(tmp_path, "mysql")
    words = ("--from", log, "--schema", schema, "-o", tmp_path / "prod")
    ran = plimsoll("learn", *words, "--work-dir", work, "--keep")
    assert ran.returncode == 0, ran.stderr
    (kept,) = work.iterdir()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700
    files = [path for path in kept.rglob("*") if path.is_file()]
    assert {file.name for file in files} >= {"events.parquet", "literals.parquet", "templates.csv"}
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


KILLED = """
import os, signal, sys
from pathlib import Path
from plimsoll.run.logs import read_logs
with read_logs([sys.argv[1]], work_dir=Path(sys.argv[2])) as log:
    print(log.literals().collect().height, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_run_leaves_no_literal_and_the_next_one_removes_its_folder(tmp_path: Path) -> None:
    log, _ = planted(tmp_path, "mysql")
    work = tmp_path / "work"
    work.mkdir()
    killed = subprocess.run([sys.executable, "-c", KILLED, log, work], stdout=subprocess.PIPE, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert int(killed.stdout) > 0
    (left,) = work.iterdir()
    assert [path for path in left.iterdir() if path.is_file() and list(traces(path.read_bytes()))] == []
    assert plimsoll("learn", "report", log, "-o", tmp_path / "report", "--work-dir", work).returncode == 0
    assert list(work.iterdir()) == []


def test_where_files_need_names_they_are_as_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a file system that has no others."""
    monkeypatch.setattr("os.O_TMPFILE", os.O_DIRECTORY | os.O_RDONLY)  # opening a folder for writing is refused
    log, _ = planted(tmp_path, "mysql")
    with read_logs([str(log)], work_dir=tmp_path) as read:
        modes = {path.name: path.lstat().st_mode for path in read.folder.iterdir()}
        assert {"events.parquet", "literals.parquet", "facts.json"} <= set(modes)
        assert {mode & 0o177 for mode in modes.values()} == {0}
        assert {*map(stat.S_ISREG, modes.values())} == {True}
    assert not read.folder.exists()


def test_search_finds_canaries_in_all_disguises() -> None:
    for shift in range(3):
        coded = base64.b64encode(b"?" * shift + TOKEN.encode() + b"??")
        assert list(traces(b'"data:,' + coded + b'"'))
    assert list(traces(b"x" + TOKEN.upper().encode()))
    assert list(traces(TOKEN.encode().hex().upper().encode()))
    assert list(traces(base64.b64encode(b"x" * 150 + TOKEN.upper().encode() + b"y" * 150)))
    assert list(traces(b"LIMIT 739184620517"))
    assert not list(traces(b"LIMIT 10"))
