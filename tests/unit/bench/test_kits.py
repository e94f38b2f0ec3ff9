"""Kits as the bench calls them and reads what they say. They are stood in for by scripts that print what kits print."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.children import ChildError
from bench.kits import GoTpc, Kit, SysbenchTpcc, installed

from plimsoll.spec.target import parse_target

TARGET = parse_target("mysql://bench_kit@127.0.0.1:3307/bench_kit")
BUSY = "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done\n"

GO_TPC = """echo 'Finished'
echo '[Current] NEW_ORDER - Takes(s): 1.0, Count: 900, TPM: 54000.0, Sum(ms): 1.0, Avg(ms): 1.0'
echo '[Summary] DELIVERY - Takes(s): 9.9, Count: 40, TPM: 242.4, Sum(ms): 1.0, Avg(ms): 1.0'
echo '[Summary] NEW_ORDER - Takes(s): 9.9, Count: 450, TPM: 2727.2, Sum(ms): 1.0, Avg(ms): 1.0'
echo '[Summary] NEW_ORDER_ERR - Takes(s): 9.9, Count: 7, TPM: 42.4, Sum(ms): 1.0, Avg(ms): 1.0'
echo '[Summary] PAYMENT - Takes(s): 9.9, Count: 10, TPM: 60.6, Sum(ms): 1.0, Avg(ms): 1.0'
echo 'tpmC: 2727.2, tpmTotal: 3030.2, efficiency: 2650.5%'
"""
SYSBENCH = "printf 'SQL statistics:\\n    transactions:                        500    (50.00 per sec.)\\n'\n"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    return tmp_path


def stand_in(path: Path, name: str, says: str) -> None:
    script = path / name
    script.write_text(f'#!/bin/sh\necho "$@" >> {path}/said\n{BUSY}{says}', encoding="utf-8")
    script.chmod(0o755)


def test_kits_are_those_on_the_path(path: Path) -> None:
    assert installed() == []
    stand_in(path, "tpcc.lua", SYSBENCH)
    assert installed() == [SysbenchTpcc]


@pytest.mark.parametrize(("kind", "says"), [(GoTpc, GO_TPC), (SysbenchTpcc, SYSBENCH)])
def test_processor_time_is_that_of_the_kit_over_what_it_says_it_did(path: Path, kind: type, says: str) -> None:
    stand_in(path, kind.name, says)  # type: ignore[attr-defined]
    kit: Kit = kind(TARGET)
    assert kit.prepare(4).wall_s > 0
    each_us = kit.drive(4, 8, 5.0)
    assert 1e6 * 0.002 < each_us * 500 < 1e6 * 5  # the loop of the script takes some milliseconds
    prepared, driven = (path / "said").read_text(encoding="utf-8").splitlines()
    assert "prepare" in prepared.split()
    assert {"run", "3307"} <= set(driven.replace("=", " ").split())
    assert "8" in driven.replace("=", " ").split()


def test_a_kit_that_did_nothing_is_no_figure(path: Path) -> None:
    stand_in(path, "go-tpc", "echo 'tpmC: 0.0'\n")
    with pytest.raises(ChildError, match="go-tpc tells of no transaction"):
        GoTpc(TARGET).drive(1, 1, 1.0)
