"""What a shell offers when it completes a value. Where nothing is offered it completes the names of files.

Deliberately not here: what the values mean. Nothing is imported before it is asked for.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

import typer

_STUDIES_MAX = 200


def workloads(incomplete: str) -> list[str]:
    """Kinds, shipped workload files, and files of the user's own."""
    from plimsoll.spec.oltp import KINDS
    from plimsoll.spec.tpcc import TPCC
    from plimsoll.spec.workloads import shipped

    return _beginning(incomplete, (*KINDS, TPCC, *shipped(), *_files(incomplete, ".toml")))


def shipped_workloads(incomplete: str) -> list[str]:
    """Workload files that come with Plimsoll."""
    from plimsoll.spec.workloads import shipped

    return _beginning(incomplete, shipped())


def workloads_of_study(ctx: typer.Context, incomplete: str) -> list[str]:
    """Workloads that the study named before has recordings of."""
    folder = Path(ctx.args[0] if ctx.args else ".")
    names = (_workload(path) for path in sorted(folder.glob("recordings/*/trial.json"))[:_STUDIES_MAX])
    return _beginning(incomplete, dict.fromkeys(name for name in names if name))


def studies(incomplete: str) -> list[str]:
    """Folders of studies: those that begin with what was typed, and those in such a folder."""
    places = [path for path in _paths(incomplete) if path.is_dir()]
    below = [child for place in places if not _is_study(place) for child in sorted(place.glob("*")) if _is_study(child)]
    return [str(path) for path in (*filter(_is_study, places), *below)][:_STUDIES_MAX]


def study_files(incomplete: str) -> list[str]:
    """Study files and folders of studies."""
    return [*_files(incomplete, ".toml"), *studies(incomplete)]


def servers(incomplete: str) -> list[str]:
    """Servers that Plimsoll starts."""
    return _beginning(incomplete, ("mariadb", "mysql"))


def questions(incomplete: str) -> list[str]:
    """What a new study can ask."""
    from plimsoll.spec.new_study import Question

    return _beginning(incomplete, Question)


def targets(incomplete: str) -> list[str]:
    """What is no URL."""
    return _beginning(incomplete, ("managed",))


def tls_modes(incomplete: str) -> list[str]:
    """How connections are encrypted."""
    from plimsoll.spec.target import MODES

    return _beginning(incomplete, MODES)


def distributions(incomplete: str) -> list[str]:
    """How rows are chosen."""
    from plimsoll.spec.generators import OF_TABLES

    return _beginning(incomplete, OF_TABLES)


def arrivals(incomplete: str) -> list[str]:
    """When transactions are due at a target rate."""
    from plimsoll.spec.clients import PROCESSES

    return _beginning(incomplete, PROCESSES)


def measures(incomplete: str) -> list[str]:
    """What there are histograms of."""
    return _beginning(incomplete, ("response", "service", "pool_wait", "dispatch_delay"))


def tables(incomplete: str) -> list[str]:
    """Tables of a study."""
    return _beginning(
        incomplete, ("trials", "intervals", "percentiles", "telemetry", "cells", "comparisons", "capacities")
    )


def _beginning(incomplete: str, words: Iterable[str]) -> list[str]:
    return [word for word in words if word.startswith(incomplete)]


def _files(incomplete: str, suffix: str) -> list[str]:
    return [str(path) for path in _paths(incomplete) if path.suffix == suffix and path.is_file()]


def _paths(incomplete: str) -> list[Path]:
    folder, begun = os.path.split(incomplete)
    try:
        paths = sorted(Path(folder or ".").iterdir())
    except OSError:
        return []
    return [
        Path(folder) / path.name for path in paths if path.name.startswith(begun) and (begun or path.name[0] != ".")
    ]


def _is_study(path: Path) -> bool:
    return (path / "recordings").is_dir()


def _workload(trial: Path) -> str | None:
    from plimsoll.regular_file import read_regular

    try:
        name = json.loads(read_regular(trial))["workload"]["name"]
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return name if isinstance(name, str) and name.isprintable() else None
