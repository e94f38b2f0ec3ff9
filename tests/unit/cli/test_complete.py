"""What a shell offers when a value is completed: asked for as a shell asks."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from support.command import COMMAND, plimsoll


def offered(line: str, folder: Path) -> list[str]:
    """The offers for the last word of a line, which may be empty."""
    ran = subprocess.run(
        [COMMAND],
        env={"COMP_WORDS": line, "COMP_CWORD": str(line.count(" ")), "_PLIMSOLL_COMPLETE": "complete_bash"},
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert ran.stderr == ""
    return ran.stdout.split()


@pytest.mark.parametrize(
    ("line", "offers"),
    [
        ("plimsoll trial --workload oltp_u", ["oltp_update_index", "oltp_update_non_index"]),
        ("plimsoll prepare --workload key", ["key-value"]),
        ("plimsoll trial --workload mine", ["mine.toml"]),
        ("plimsoll trial --server ", ["mariadb", "mysql"]),
        ("plimsoll trial --target m", ["managed"]),
        ("plimsoll trial --tls v", ["verify-ca", "verify-identity"]),
        ("plimsoll trial --arrivals u", ["uniform"]),
        ("plimsoll trial --distribution special", ["special-0.4", "special-1.0"]),
        ("plimsoll workload show t", ["time-series", "tpcb-like"]),
        ("plimsoll import tpcc --kit g", ["go-tpc"]),
        ("plimsoll export hdr results/a --measure p", ["pool_wait"]),
        ("plimsoll guide res", ["results/a"]),
        ("plimsoll study status results/", ["results/a"]),
        ("plimsoll study run ", ["mine.toml", "results/a"]),
        ("plimsoll study run nothing", []),
        ("plimsoll guide absent/x", []),
        ("plimsoll -v guide results/", ["results/a"]),
    ],
)
def test_values_are_offered(line: str, offers: list[str], tmp_path: Path) -> None:
    (tmp_path / "results" / "a" / "recordings").mkdir(parents=True)
    (tmp_path / "results" / "b").mkdir()
    (tmp_path / "mine.toml").touch()
    (tmp_path / "mine.txt").touch()
    assert offered(line, tmp_path) == offers


def test_workloads_of_a_study_are_offered(tmp_path: Path) -> None:
    table = Path(__file__).parents[3] / "examples" / "published" / "vmware-esx-2009.csv"
    assert plimsoll("import", "table", table, "--to", tmp_path / "v", "--workload", "orders").returncode == 0
    damaged = tmp_path / "v" / "recordings" / "0"
    damaged.mkdir()
    (damaged / "trial.json").write_text("[]")
    assert offered("plimsoll size v --workload o", tmp_path) == ["orders"]
    assert offered("plimsoll size absent --workload o", tmp_path) == []


def test_a_pipe_in_the_place_of_a_trial_keeps_no_shell_waiting(tmp_path: Path) -> None:
    trial = tmp_path / "recordings" / "t1" / "trial.json"
    trial.parent.mkdir(parents=True)
    os.mkfifo(trial)
    assert offered(f"plimsoll size {tmp_path} --workload ", tmp_path) == []
