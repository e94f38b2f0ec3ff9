"""Logs reach their reader whole, however they are stored, and a broken end loses only itself."""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from plimsoll.errors import SpecError
from plimsoll.run.logs import log_inputs
from support.waiting import until

LOG = b"".join(b"# Time: %d\nselect %d;\n" % (number, number) for number in range(50_000))


def plain(content: bytes) -> bytes:
    return content


@pytest.mark.parametrize("compress", [plain, gzip.compress, bz2.compress, lzma.compress])
def test_it_arrives_whole_whatever_its_name(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    log = tmp_path / "slow.log"
    log.write_bytes(compress(LOG))
    with log_inputs([str(log), str(log)], tmp_path) as inputs:
        assert [one.path.read_bytes() for one in inputs] == [LOG, LOG]
        assert [(one.name, one.fault) for one in inputs] == [(str(log), None)] * 2
    assert [path.name for path in tmp_path.iterdir()] == ["slow.log"]


@pytest.mark.parametrize("damage", [lambda packed: packed[:-1_000_000], lambda packed: packed[:-6] + b"wrong!"])
def test_a_damaged_file_gives_what_came_before_and_says_where(
    tmp_path: Path, damage: Callable[[bytes], bytes], recwarn: pytest.WarningsRecorder
) -> None:
    log = tmp_path / "slow.log.gz"
    noise = random.Random(1).randbytes(4_000_000)
    log.write_bytes(damage(gzip.compress(noise)))
    with log_inputs([str(log)], tmp_path) as (one,):
        found = one.path.read_bytes()
        assert len(found) > 2_000_000
        assert noise.startswith(found)
    assert one.fault is not None
    assert (one.fault.content_bytes, one.fault.line) == (len(found), found.count(b"\n") + 1)
    assert not recwarn.list, "a thread ended by an exception that nobody caught"


def feeders() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("log-input")]


def test_pipes_are_private_and_a_reader_that_never_comes_blocks_nobody(tmp_path: Path) -> None:
    log = tmp_path / "slow.log.gz"
    log.write_bytes(gzip.compress(LOG))
    with log_inputs([str(log)], tmp_path) as (one,):
        assert stat.filemode(one.path.stat().st_mode) == "prw-------"
        feeding = feeders()
        assert feeding
    assert until(lambda: not any(thread.is_alive() for thread in feeding))
    assert not one.path.exists()


def test_what_cannot_be_read_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught, log_inputs([str(tmp_path), str(tmp_path / "none")], tmp_path):
        pass
    assert caught.value.lines == (
        f"{tmp_path}: is a folder; name the log files in it",
        f"{tmp_path}/none: cannot be read: No such file or directory",
    )
