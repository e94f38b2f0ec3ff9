"""What of this machine matters before anything is measured, each with what to do where it is not as it should be."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from plimsoll.analyse.trial_checks import FLUSH_MS_OF_A_DEVICE
from plimsoll.drive.executable import engine_version
from plimsoll.errors import HostError
from plimsoll.record.model import HostFacts
from plimsoll.servers.command import find_server
from plimsoll.servers.directory import default_base_dir, nearest_existing
from plimsoll.servers.facts import host_facts
from plimsoll.servers.storage import measure_flush, storage_facts
from plimsoll.units import format_bytes, format_ms

_FILES_WANTED = 4096 + 256
"""A connection is an open file; the largest levels that people measure have some thousands of them."""

_FREE_BYTES_WANTED = 5 * 2**30
_STEADY_CLOCKS = ("tsc", "arch_sys_counter", "kvm-clock", "hyperv_clocksource_tsc_page")


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at.

    Attributes:
        found: What it is.
        advice: What to do about it; None when it is as it should be.
    """

    name: str
    found: str
    advice: str | None = None


def checks() -> Iterator[Check]:
    """Looks at everything; nothing is changed but a small file that is written and removed to time the flush."""
    host = host_facts()
    yield _engine()
    yield from _servers()
    yield _processors(host)
    yield _clock(host)
    yield _pressure(host)
    yield _open_files()
    yield from _storage()


def _engine() -> Check:
    try:
        return Check("load engine", engine_version())
    except HostError as error:
        return Check("load engine", "not found", str(error))


def _servers() -> Iterator[Check]:
    for name in ("mariadb", "mysql"):
        try:
            yield Check(f"{name} server", find_server(name).version_text)
        except HostError as error:
            yield Check(f"{name} server", "not found", f"Needed only for managed servers of that kind: {error}")


def _processors(host: HostFacts) -> Check:
    found = f"{host.cpu_model or 'unknown model'}, {host.cpu_threads or 'unknown'} hardware threads"
    if host.cpu_governor not in (None, "performance"):
        advice = (
            "Set the governor to performance while you measure: processors that slow down when idle blur low levels."
        )
        return Check("processors", f"{found}, governor {host.cpu_governor}", advice)
    return Check("processors", found)


def _clock(host: HostFacts) -> Check:
    source = host.clock_source or "unknown"
    if source in _STEADY_CLOCKS or source == "unknown":
        return Check("clock source", source)
    return Check("clock source", source, "Each look at this clock is slow; use tsc where the machine offers it.")


def _pressure(host: HostFacts) -> Check:
    if host.pressure_stall_information:
        return Check("pressure stall information", "there")
    return Check("pressure stall information", "missing", "Boot with psi=1 to see what waits for CPU, memory and disk.")


def _open_files() -> Check:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    found = "unlimited" if hard == resource.RLIM_INFINITY else f"{hard:,}"
    if hard != resource.RLIM_INFINITY and hard < _FILES_WANTED:
        return Check(
            "open files", found, f"Raise the hard limit (`ulimit -Hn`) above {_FILES_WANTED:,} for many connections."
        )
    return Check("open files", found)


def _storage() -> Iterator[Check]:
    folder = nearest_existing(default_base_dir())
    facts = storage_facts(folder)
    free = facts.free_bytes or 0
    place = f"{folder} on {facts.device or facts.file_system or 'an unknown device'}"
    little = f"Free space, or set PLIMSOLL_DATA_DIR: servers and their copies need more than {format_bytes(free)}."
    yield Check(
        "space for servers", f"{format_bytes(free)} free in {place}", little if free < _FREE_BYTES_WANTED else None
    )
    yield _flush(folder)


def _flush(folder: Path) -> Check:
    try:
        times = measure_flush(folder)
    except HostError as error:
        return Check("flush", "cannot be timed", str(error))
    found = f"{format_ms(times.ms_median)} for a small write that must be durable, in {folder}"
    if times.ms_median < FLUSH_MS_OF_A_DEVICE:
        return Check(
            "flush", found, "No device is so fast: durability means nothing here, so use a data_dir elsewhere."
        )
    return Check("flush", found)
