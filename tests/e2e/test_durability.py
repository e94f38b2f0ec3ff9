"""What real servers lose: planted losses are found, promises are kept, and what cannot be tested is refused."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from plimsoll.drive.executable import find_engine
from plimsoll.record.fault_tests import DurabilityRecord
from plimsoll.run.durability import device_fault
from plimsoll.servers.directory import default_base_dir
from support.command import COMMAND, plimsoll, start_forked
from support.loop_mount import leave_little, mounted
from support.servers import MYSQL_IN_ENDURE, needs_own_mounts, server_base, server_command

__all__ = ["server_base"]
pytestmark = pytest.mark.e2e

FAULTS = os.environ.get("PLIMSOLL_TEST_FAULTS", "1")
"""Under each setting; tools/endure has more."""

SOME_LOSE = str(max(3, int(FAULTS)))
"""At flush 0 a server writes once a second: a fault just after that loses nothing, three in a row hardly ever."""

QUICK = ("durability", "--target", "managed", "--load", "1s", "--connections", "8", "--doublewrite", "on")


def needs_device() -> None:
    """A right of the machine, as loop devices are: nothing that could be installed."""
    if fault := device_fault(default_base_dir()):
        pytest.skip(fault)


def outcome_of(*words: str | Path, base: Path, code: int) -> DurabilityRecord:
    ran = plimsoll(*QUICK, *words, "--data-dir", base, "--json")
    assert ran.returncode == code, ran.stderr
    return DurabilityRecord.model_validate_json(ran.stdout)


@pytest.mark.parametrize(("options", "flushed"), [((), "flushed"), (("--lies",), "")])
def test_a_device_keeps_what_was_flushed_and_forgets_the_rest(
    options: tuple[str, ...], flushed: str, server_base: Path
) -> None:
    needs_device()
    device = server_base / "device"
    device.mkdir()
    (device / "before").write_text("before")
    script = (
        "printf flushed > flushed && sync flushed && printf forgotten > forgotten && printf gone > gone && rm gone &&"
        " printf -- + >> before && cat before flushed forgotten && kill -9 $PPID"
    )
    words = [find_engine(), "forgetful", *options, device, "sh", "-c", f"cd {device} && {script}"]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert (ran.stdout, ran.returncode) == ("before+flushedforgotten", -signal.SIGKILL)
    left = {entry.name: entry.read_text() for entry in device.iterdir()}
    assert left == {"before": "before", "flushed": flushed, "forgotten": ""}
    shutil.rmtree(device)


def test_a_device_stores_all_when_its_program_ends(server_base: Path) -> None:
    needs_device()
    words = [find_engine(), "forgetful", server_base, "sh", "-c", f"cd {server_base} && printf kept > kept; exit 7"]
    assert subprocess.run(words, timeout=300, check=False).returncode == 7
    assert (server_base / "kept").read_text() == "kept"
    (server_base / "kept").unlink()


@pytest.mark.parametrize("flavour", MYSQL_IN_ENDURE)
def test_power_loss_loses_at_flush_0_and_nothing_at_flush_1(flavour: str, server_base: Path) -> None:
    needs_device()
    words = ("--server", server_command(flavour), "--sync-binlog", "1", "--flush")
    (relaxed,) = outcome_of(*words, "0", "--faults", SOME_LOSE, base=server_base, code=0).settings
    assert relaxed.lost > 0
    assert relaxed.lost_ms is not None
    assert 0 < relaxed.lost_ms < 30_000
    assert relaxed.corrupt == 0
    record = outcome_of(*words, "1", "--faults", FAULTS, base=server_base, code=0)
    (durable,) = record.settings
    assert (durable.lost, durable.lost_ms, durable.corrupt) == (0, None, 0)
    assert durable.acknowledged > 0
    assert durable.throughput_tps > 0
    assert durable.recovery_s is not None
    assert durable.is_kept
    assert record.is_complete


def test_a_device_that_lies_is_found(server_base: Path) -> None:
    needs_device()
    words = ("--fault", "lying-device", "--flush", "1", "--sync-binlog", "1", "--faults", "1")
    (found,) = outcome_of(*words, base=server_base, code=1).settings
    assert found.lost == found.acknowledged > 0
    assert not found.is_kept


def test_kill_loses_nothing_at_flush_2_and_the_report_says_why(server_base: Path) -> None:
    words = ("--fault", "kill", "--flush", "2", "--sync-binlog", "0", "--faults", FAULTS, "--data-dir", server_base)
    ran = plimsoll(*QUICK, *words)
    assert ran.returncode == 0, ran.stderr
    assert "flush 2, sync_binlog 0, doublewrite on" in ran.stdout
    assert f"0 of {FAULTS}" in ran.stdout
    assert "page cache" in ran.stdout
    assert ran.stderr.splitlines()[0] == "starting mariadb ..."
    assert "about" in ran.stderr.splitlines()[1]


def test_a_full_disk_below_the_ledger_ends_the_test_and_is_no_loss(server_base: Path, tmp_path: Path) -> None:
    with mounted(tmp_path / "small", "ext4", 16) as place:
        leave_little(place)
        ran = plimsoll(
            *QUICK, "--fault", "kill", "--flush", "0", "--sync-binlog", "0", "--faults", "1",
            "--data-dir", server_base, "--ledger-dir", place, "--load", "30s",
        )  # fmt: skip
        assert ran.returncode == 3
        assert "ledger cannot be written: No space left on device" in ran.stderr
        assert "lost" not in ran.stdout
        assert {entry.name for entry in place.iterdir()} == {"lost+found", "rest"}


def test_without_dev_fuse_power_loss_is_refused_before_anything_starts(server_base: Path) -> None:
    if not Path("/dev/fuse").exists():
        pytest.skip("there is no /dev/fuse to hide")
    needs_own_mounts()
    hidden = 'mount --bind /dev/null /dev/fuse && exec "$@"'
    words = [str(COMMAND), *QUICK, "--fault", "power-loss", "--data-dir", str(server_base)]
    ran = subprocess.run(
        ["unshare", "--mount", "sh", "-c", hidden, "sh", *words],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 2, ran.stderr
    assert "--device /dev/fuse" in ran.stderr
    assert "--fault kill" in ran.stderr
    assert list(server_base.iterdir()) == []


def test_ctrl_c_shows_what_is_done_and_leaves_nothing(server_base: Path) -> None:
    running = start_forked(
        *QUICK, "--fault", "kill", "--flush", "0,2,1", "--sync-binlog", "0", "--faults", "1",
        "--data-dir", server_base, "--json",
    )  # fmt: skip
    assert running.stderr is not None
    for line in running.stderr:
        if "fault 1 of 1" in line:
            break
    for line in running.stderr:
        if "without faults" in line:  # of the second setting
            running.send_signal(signal.SIGINT)
            break
    said, _ = running.communicate(timeout=300)
    assert running.returncode == 130
    record = DurabilityRecord.model_validate(json.loads(said))
    assert 1 <= len(record.settings) < 3
    assert not record.is_complete


@pytest.mark.parametrize(
    ("words", "cure"),
    [
        (("--target", "mysql://root@127.0.0.1/x"), "must be managed"),
        (("--target", "managed", "--fault", "fire"), "one of kill, power-loss, lying-device"),
        (("--target", "managed", "--flush", "5"), "--flush: must be a list of 0, 1, 2"),
        (("--target", "managed", "--load", "0s"), "from 1s to 10min"),
        (("--target", "managed", "--fault", "kill", "--ledger-dir", "/nonexistent"), "not a folder"),
    ],
)
def test_bad_input_is_refused_by_name(words: tuple[str, ...], cure: str) -> None:
    ran = plimsoll("durability", *words)
    assert ran.returncode == 2, ran.stderr
    assert cure in ran.stderr
