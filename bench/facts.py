"""What a run was made on and with: a number without its machine says nothing."""

from __future__ import annotations

import datetime
import platform
from pathlib import Path

from bench.clients import Sysbench
from bench.ground import BASE
from bench.options import Options
from bench.release import ROOT
from plimsoll.drive.executable import engine_version, find_engine
from plimsoll.servers.facts import host_facts
from plimsoll.servers.storage import storage_facts
from plimsoll.units import format_bytes


def facts(options: Options, *, server_version: str | None) -> dict[str, str]:
    """Machine, versions, date and lengths, by name.

    Args:
        options: Of the run.
        server_version: None when no server was needed.
    """
    host = host_facts()
    memory = "unknown memory" if host.memory_bytes is None else format_bytes(host.memory_bytes)
    return {
        "Date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        "Machine": f"{host.cpu_model or 'unknown processor'}, {host.cpu_threads} CPUs, {memory}, "
        f"{host.virtualisation or 'no virtualisation known'}",
        "System": f"{host.operating_system or 'unknown system'}, Linux {host.kernel}, "
        f"{storage_facts(BASE.parent).file_system or 'unknown file system'}",
        "Engine": f"{engine_version()}, {_where(find_engine())}",
        "Python": platform.python_version(),
        "Server": server_version or "not needed",
        "sysbench": Sysbench.version() or "not installed",
        "Pairs": f"{options.pairs} of {options.seconds:g} s each, {options.table_size:,} rows",
    }


def _where(engine: Path) -> str:
    """Which of the engines that can be built here: a wheel's has been arranged for load, one from source has not."""
    return str(engine.relative_to(ROOT)) if engine.is_relative_to(ROOT) else engine.name
