"""Huge pages that an administrator has reserved: how many are free, and how much of a process is in them.

Transparent huge pages are another matter, which this file does not look at. Source: the kernel's
Documentation/admin-guide/mm/hugetlbpage.
"""

from __future__ import annotations

import re
from pathlib import Path

from plimsoll.units import format_bytes

OVERHEAD_RATIO = 1.1
"""A buffer pool's control structures take up to a tenth of it in addition."""

_PROC = Path("/proc")


def huge_pages_fault(wanted_bytes: int, *, proc: Path = _PROC) -> str | None:
    """Why a buffer pool cannot be in huge pages, and what to do; None when enough are free.

    Args:
        wanted_bytes: Size of all buffer pools that run at the same time.
        proc: Where the kernel shows itself; another folder in tests.
    """
    page_bytes = (_meminfo(proc, "Hugepagesize") or 0) * 1024
    if not page_bytes:
        return "huge_pages: this kernel has no huge pages; leave huge_pages out"
    needed = -(-round(wanted_bytes * OVERHEAD_RATIO) // page_bytes)
    total, free = _meminfo(proc, "HugePages_Total") or 0, _meminfo(proc, "HugePages_Free") or 0
    if needed <= free:
        return None
    return (
        f"huge_pages: {needed} huge pages of {format_bytes(page_bytes)} are needed for {format_bytes(wanted_bytes)} of"
        f" buffer pool, {free} are free; reserve them: sysctl vm.nr_hugepages={total - free + needed}"
    )


def huge_pages_bytes(pid: int, *, proc: Path = _PROC) -> int | None:
    """Memory of a process in reserved huge pages, bytes; None when the kernel does not say."""
    try:
        text = (proc / str(pid) / "status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    match = re.search(r"^HugetlbPages:\s+(\d+) kB", text, re.MULTILINE)
    return None if match is None else int(match[1]) * 1024


def _meminfo(proc: Path, name: str) -> int | None:
    try:
        text = (proc / "meminfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    match = re.search(rf"^{name}:\s+(\d+)", text, re.MULTILINE)
    return None if match is None else int(match[1])
