"""Settings of a machine and its momentary load, from made-up trees of /proc and /sys, and from this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.analyse.findings.machine import Moment
from plimsoll.servers.facts import host_facts, machine_settings
from plimsoll.servers.moment import machine_moment


def written(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_every_setting_that_a_kernel_shows(tmp_path: Path) -> None:
    proc = written(
        tmp_path / "proc",
        {
            "sys/vm/swappiness": "60\n",
            "swaps": "Filename\tType\tSize\tUsed\tPriority\n/dev/sda2 partition 1048572 0 -2\n"
            "/swap file (deleted)\tfile 4 0 -3\n",
        },
    )
    sys = written(
        tmp_path / "sys",
        {
            "class/dmi/id/product_name": "t3.medium\n",
            "devices/system/cpu/intel_pstate/no_turbo": "0\n",
            "devices/system/cpu/smt/active": "1\n",
            "kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n",
        },
    )
    assert machine_settings(proc, sys) == {
        "product_name": "t3.medium",
        "cpu_turbo": True,
        "cpu_smt": True,
        "swap_bytes": 1048576 * 1024,
        "swappiness": 60,
        "transparent_huge_pages": "always",
    }


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("intel_pstate/no_turbo", "1", False),
        ("cpufreq/boost", "1", True),
        ("cpufreq/boost", "0", False),
        ("cpufreq/boost", "?", None),
    ],
)
def test_turbo_by_driver(tmp_path: Path, file: str, text: str, expected: bool | None) -> None:
    sys = written(tmp_path, {f"devices/system/cpu/{file}": text})
    assert machine_settings(tmp_path, sys)["cpu_turbo"] is expected


def test_a_kernel_that_shows_nothing(tmp_path: Path) -> None:
    assert set(machine_settings(tmp_path, tmp_path).values()) == {None}
    assert machine_moment(proc=tmp_path, sleep=lambda _: None) is None


def test_this_machine() -> None:
    facts = host_facts()
    assert facts.swappiness is not None
    assert facts.swap_bytes is not None


def test_what_goes_on_between_two_looks(tmp_path: Path) -> None:
    """Of 200 ticks 100 are idle, 20 wait for disks, 10 are stolen and the rest is work."""
    (tmp_path / "stat").write_text("cpu  100 0 50 1000 10 0 0 5 7 0\ncpu0 1 2 3\n")

    def later(_: float) -> None:
        (tmp_path / "stat").write_text("cpu  150 5 60 1100 30 2 3 15 9 0\n")

    assert machine_moment(proc=tmp_path, sample_s=0.1, sleep=later) == Moment(
        busy_ratio=pytest.approx(0.35), steal_ratio=pytest.approx(0.05), sample_s=0.1,
        steal_ratio_since_boot=pytest.approx(5 / 1165),
    )  # fmt: skip


@pytest.mark.parametrize("text", ["", "cpu 1 2 3\n", "cpu a b c d e f g h\n", "intr 1 2 3 4 5 6 7 8 9\n"])
def test_a_strange_stat_file_is_nothing_known(tmp_path: Path, text: str) -> None:
    (tmp_path / "stat").write_text(text)
    assert machine_moment(proc=tmp_path, sleep=lambda _: None) is None
