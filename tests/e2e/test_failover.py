"""Failovers of real servers: what async loses is found, semisync keeps it, hooks choose, faults are said."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from pathlib import Path

import pytest

from plimsoll.record.fault_tests import FailoverRecord
from support.command import plimsoll, start_forked
from support.loop_mount import leave_little, mounted
from support.servers import MYSQL_IN_ENDURE, server_base, server_command

__all__ = ["server_base"]
pytestmark = pytest.mark.e2e

QUICK = ("failover", "--target", "managed", "--load", "1s", "--connections", "4", "--faults", "1")


def found(*words: str | Path, base: Path) -> FailoverRecord:
    ran = plimsoll(*QUICK, *words, "--data-dir", base, "--json")
    assert ran.returncode == 0, ran.stderr
    return FailoverRecord.model_validate_json(ran.stdout)


@pytest.mark.parametrize("flavour", MYSQL_IN_ENDURE)
def test_what_async_acknowledged_and_never_sent_is_found_missing(flavour: str, server_base: Path) -> None:
    words = ("--server", server_command(flavour), "--replicas", "1", "--fault", "cut-off")
    record = found(*words, base=server_base)
    (one,) = record.each
    assert record.lost == one.lost > 0
    assert one.lost_ms is not None
    assert one.lost_ms > 0
    assert record.is_kept, "async promises nothing"
    assert (one.torn, one.foreign, one.promoted, one.is_behind) == (0, 0, "failover/1", False)
    times = one.timeline
    steps = (times.detected_s, times.chosen_s, times.applied_s, times.followed_s, times.first_good_s)
    assert times.first_error_s > 0
    assert sorted(steps) == list(steps)
    assert times.first_good_s <= times.all_good_s
    parts = one.outage.model_dump()
    assert parts.pop("total_s") == pytest.approx(sum(parts.values()))
    assert 2013 in {error.code for error in one.errors}  # a client may come back so late that nobody refuses it (2003)
    assert one.failed >= 1


@pytest.mark.parametrize("flavour", MYSQL_IN_ENDURE)
def test_semisync_loses_nothing_and_all_replicas_follow(flavour: str, server_base: Path, tmp_path: Path) -> None:
    hook = "sh -c 'echo chooses from $PLIMSOLL_REPLICAS >&2; echo failover/2'"
    record = found(
        "--server", server_command(flavour), "--replicas", "2", "--replication", "semisync", "--fault", "cut-off",
        "--replication-delay", "2ms", "--promote", hook, "-o", tmp_path / "report", base=server_base,
    )  # fmt: skip
    (one,) = record.each
    assert one.promoted == "failover/2"
    assert one.lost == 0 or one.is_behind, "the other replica may have acknowledged what this one had not received"
    assert (record.is_kept, record.corrupt, record.is_complete) == (True, 0, True)
    assert len(one.not_following) == int(one.is_behind)
    assert one.acknowledged > 0
    written = {path.name: path.read_text() for path in (tmp_path / "report").iterdir()}
    assert set(written) == {"failover.json", "failover.md", "failover.html"}
    assert json.loads(written["failover.json"]) == json.loads(record.model_dump_json())
    assert "failover/2" in written["failover.html"]
    assert "outage s" in written["failover.md"]


def test_a_hook_that_hangs_ends_the_test_and_leaves_nothing(server_base: Path) -> None:
    words = ("--replicas", "1", "--promote", "sleep 600", "--promote-limit", "1s", "--data-dir", server_base)
    ran = plimsoll(*QUICK, *words)
    assert ran.returncode == 3, ran.stderr
    assert "hook promote: was ended at its limit of 1 s. No replica was promoted" in ran.stderr
    assert "outage" not in ran.stdout


def test_a_full_disk_below_the_ledger_ends_the_test(server_base: Path, tmp_path: Path) -> None:
    with mounted(tmp_path / "small", "ext4", 16) as place:
        leave_little(place)
        ran = plimsoll(*QUICK, "--replicas", "1", "--data-dir", server_base, "--ledger-dir", place, "--load", "30s")
        assert ran.returncode == 3
        assert "ledger cannot be written: No space left on device" in ran.stderr
        assert "missing" not in ran.stdout
        assert {entry.name for entry in place.iterdir()} == {"lost+found", "rest"}


def test_ctrl_c_under_load_leaves_no_server(server_base: Path) -> None:
    running = start_forked(*QUICK, "--replicas", "1", "--data-dir", server_base, "--load", "60s")
    try:
        assert running.stderr is not None
        for line in running.stderr:
            if "are made" in line:
                break
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=300)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(running.pid, signal.SIGKILL)
        running.wait()
    assert running.returncode == 130


@pytest.mark.parametrize(
    ("words", "cure"),
    [
        (("--target", "mysql://root@127.0.0.1/x"), "must be managed"),
        (("--target", "managed", "--replication", "sync"), "--replication: must be one of async, semisync"),
        (("--target", "managed", "--fault", "fire"), "--fault: must be one of kill, cut-off"),
        (("--target", "managed", "--replication-delay", "1min"), "from 0s to 10s"),
        (("--target", "managed", "--promote", "'"), "--promote: cannot be split into words"),
        (("--target", "managed", "--option", "server_id=7"), "--option server_id: replication needs its own value"),
        (("--target", "managed", "--option", "datadir=/x"), "--option datadir"),
        (
            ("--target", "managed", "--replication", "semisync", "--semisync-replicas", "2"),
            "MariaDB waits for one replica",
        ),
        (("--target", "managed", "--ledger-dir", "/nonexistent"), "not a folder"),
    ],
)
def test_bad_input_is_refused_by_name(words: tuple[str, ...], cure: str) -> None:
    ran = plimsoll("failover", *words)
    assert ran.returncode == 2, ran.stderr
    assert cure in ran.stderr
