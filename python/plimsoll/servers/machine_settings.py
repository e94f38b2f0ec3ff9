"""Settings of this machine's kernel and firmware that change what is measured on it.

Deliberately not here: what follows from them (`plimsoll.analyse.readiness`).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any


def machine_settings(proc: Path, sys: Path) -> dict[str, Any]:
    """Fields of `HostFacts` that are settings; None where the kernel does not show one.

    Args:
        proc: Where the kernel shows processes; another folder in tests.
        sys: Where the kernel shows devices; another folder in tests.
    """
    cpu, firmware = sys / "devices/system/cpu", sys / "class/dmi/id"
    swappiness = _read(proc / "sys/vm/swappiness")
    return {
        "product_name": _read(firmware / "product_name"),
        "cpu_turbo": _turbo(cpu),
        "cpu_smt": _flag(_read(cpu / "smt/active")),
        "swap_bytes": _swap_bytes(proc),
        "swappiness": int(swappiness) if swappiness and swappiness.isdigit() else None,
        "transparent_huge_pages": _chosen(_read(sys / "kernel/mm/transparent_hugepage/enabled")),
    }


def _turbo(cpu: Path) -> bool | None:
    """`intel_pstate/no_turbo` says that it is off, `cpufreq/boost` of other drivers that it is on."""
    is_off = _flag(_read(cpu / "intel_pstate/no_turbo"))
    return _flag(_read(cpu / "cpufreq/boost")) if is_off is None else not is_off


def _swap_bytes(proc: Path) -> int | None:
    """Sizes in /proc/swaps are in KiB, below a line of headings."""
    try:
        lines = (proc / "swaps").read_text(encoding="utf-8", errors="replace").splitlines()[1:]
    except OSError:
        return None
    sizes = [line.split()[-3] for line in lines if len(line.split()) >= 5]
    return sum(int(size) * 1024 for size in sizes if size.isdigit())


def _chosen(text: str | None) -> str | None:
    """`always [madvise] never` says that madvise is in force."""
    match = re.search(r"\[([^\]]+)\]", text or "")
    return match[1] if match else None


def _flag(text: str | None) -> bool | None:
    return {"0": False, "1": True}.get(text or "")


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None
