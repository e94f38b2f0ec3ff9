"""The runs found in logs: which of them something can be made of, and where each belongs.

Deliberately not here: reading logs (`sysbench_log`, `kits`), and what becomes of a run (`sysbench`, `tpcc`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from plimsoll.importers.csv_table import raise_faults
from plimsoll.importers.log_places import Place, Placing
from plimsoll.importers.skipped_logs import SkippedLog
from plimsoll.units import printable


class LogRun(Protocol):
    """One run, as its log tells it.

    Attributes:
        lines: First and last line in the file, counted from 1.
        digest: Of all its bytes.
    """

    lines: tuple[int, int]
    digest: str

    @property
    def stated(self) -> Mapping[str, str | int | None]:
        """What the log says about where the run belongs."""


R = TypeVar("R", bound=LogRun)


@dataclass(frozen=True, slots=True)
class FoundRun(Generic[R]):
    """A run in its file."""

    path: Path
    run: R

    @property
    def name(self) -> str:
        """For people: file and lines."""
        first, last = self.run.lines
        return printable(f"{self.path.name}, lines {first} to {last}")

    @property
    def where(self) -> str:
        """Its place, for messages."""
        return f"{self.path}: line {self.run.lines[0]}"


def split_refused(
    found: Iterable[FoundRun[R]], refusals: Callable[[R], Iterable[str]]
) -> tuple[list[FoundRun[R]], list[SkippedLog]]:
    """The runs of which something can be made, and why nothing can be made of the others.

    Args:
        found: All runs.
        refusals: Why nothing can be made of a run; nothing for one that can be used.
    """
    usable: list[FoundRun[R]] = []
    refused: list[SkippedLog] = []
    for one in found:
        reasons = [SkippedLog.of(one.path, why, one.run.lines[0]) for why in refusals(one.run)]
        refused += reasons
        if not reasons:
            usable.append(one)
    return usable, refused


def place_runs(
    found: Sequence[FoundRun[R]], placing: Placing, workload: Callable[[R], str | None], faults: Sequence[str]
) -> list[Place]:
    """Where each run belongs, in their order.

    Args:
        found: The runs.
        placing: What the user says about them.
        workload: Name of a run's workload where nobody says another.
        faults: What is wrong already: one line each.

    Raises:
        SpecError: There are such faults, two runs are the same, or a run's place is unknown or contradictory.
    """
    placed = (placing.place(one.path, one.run.lines[0], one.run.stated, workload=workload(one.run)) for one in found)
    places = [place for place in placed if place is not None]
    raise_faults([*faults, *placing.faults, *_equal_runs(found)])
    return places


def trial_id(origin: str, place: Place, run: LogRun) -> str:
    """Hash of the log's bytes and the cell, so that the same log always is the same trial, whatever its name."""
    inputs = (origin, place.system, place.workload, place.connections, run.digest)
    return hashlib.sha256(repr(inputs).encode("utf-8", errors="surrogatepass")).hexdigest()[:32]


def _equal_runs(found: Sequence[FoundRun[R]]) -> list[str]:
    seen: dict[str, FoundRun[R]] = {}
    return [
        f"{one.where}: is the same run as {seen[one.run.digest].name}. Leave one out"
        for one in found
        if seen.setdefault(one.run.digest, one) is not one
    ]
