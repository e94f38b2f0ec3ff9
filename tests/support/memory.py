"""Memory of processes as the kernel counts it, for tests that it does not grow."""

from __future__ import annotations

from pathlib import Path


def resident_bytes(pid: int | str = "self") -> int:
    """Resident memory of a process now, without pages of files, which come as they are used; 0 for one that ended."""
    return _kilobytes(pid, "RssAnon") * 1024


def resident_bytes_max(pid: int | str = "self") -> int:
    """The most that its resident memory ever was, pages of files included."""
    return _kilobytes(pid, "VmHWM") * 1024


def _kilobytes(pid: int | str, name: str) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(f"{name}:")), 0)
