"""Which systems of a study are alike but for some factors: those that are compared as one family.

Replicas are counted where they ran, since a study may vary them in whatever way; the other keys are read from what the
study states of a system. Deliberately not here: what is compared (`scaling`, `commits`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from plimsoll.analyse.cells import MeasuredCell
from plimsoll.analyse.replication.roles import REPLICA
from plimsoll.record.model import SystemRecord

REPLICAS, REPLICATION, ACKNOWLEDGING = "replicas", "replication", "semisync_replicas"
DELAY, DELAY_S = "replication_delay", "replication_delay_s"
"""As a factor of the study, with its unit, and as what tells systems apart, in seconds."""

_FOLLOWS = ("replica.", "replica_", "target")
"""Begin the names of factors that only systems with replicas can state, or that are the address of a server."""

_USUAL = {REPLICATION: "async", DELAY: "none"}
"""What a system has that does not state it: systems without replicas may not."""

_UNITS_MS = {"us": 0.001, "µs": 0.001, "ms": 1.0, "s": 1000.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One system of a family.

    Attributes:
        replicas: How many it has.
        acknowledging: Replicas that must have acknowledged a commit; 0 for asynchronous replication, or none.
        delay_ms: One-way delay of its replication network, as the study states it.
    """

    cell: MeasuredCell
    replicas: int
    acknowledging: int
    delay_ms: float


def families(cells: Iterable[MeasuredCell], varied: Collection[str]) -> list[tuple[dict[str, str], list[Member]]]:
    """Cells of one workload and level, by what they have in common beside the factors that are varied.

    Args:
        cells: Any.
        varied: Names of factors in which members of a family may differ.

    Returns:
        What tells each family from the others of the study, with its members.
    """
    found: dict[tuple[object, ...], list[Member]] = {}
    labels: dict[tuple[object, ...], dict[str, str]] = {}
    for cell in cells:
        stated = {
            name: value
            for name, value in stated_of(cell).items()
            if _last(name) not in varied and not name.startswith(_FOLLOWS) and _USUAL.get(_last(name)) != value
        }
        key = (cell.workload, tuple(sorted(stated.items())))
        found.setdefault(key, []).append(member(cell))
        labels[key] = stated
    common = _common(list(labels.values()))
    return [
        ({name: value for name, value in labels[key].items() if name not in common}, members)
        for key, members in found.items()
    ]


def member(cell: MeasuredCell) -> Member:
    """A cell with what its system is as far as replicas are concerned."""
    record = cell.trials[0].trial.system
    stated = {_last(name): value for name, value in (*record.factors.items(), *record.factor_values.items())}
    replicas = max((sum(one.role == REPLICA for one in trial.servers) for trial in cell.trials), default=0)
    is_semisync = stated.get(REPLICATION) == "semisync" and replicas > 0
    return Member(
        cell=cell,
        replicas=replicas,
        acknowledging=int(stated.get(ACKNOWLEDGING, "1")) if is_semisync else 0,
        delay_ms=delay_ms(stated.get(DELAY) or stated.get(DELAY_S, "")),
    )


def stated_of(cell: MeasuredCell) -> Mapping[str, str]:
    """What the study states of a system: the factors that it varies, else all that tells it from others."""
    record: SystemRecord = cell.trials[0].trial.system
    return record.factor_values or {name: value for name, value in record.factors.items() if name != "reads"}


def delay_ms(text: str) -> float:
    """A stated delay, milliseconds; 0 for none.

    >>> delay_ms("2ms"), delay_ms("0.5 s"), delay_ms("none"), delay_ms("250us")
    (2.0, 500.0, 0.0, 0.25)
    """
    match = re.fullmatch(r"([0-9.]+) ?(us|µs|ms|s)?", text.strip())
    return float(match[1]) * _UNITS_MS[match[2] or "s"] if match else 0.0


def _last(name: str) -> str:
    return name.rsplit(".", 1)[-1]


def _common(labels: Sequence[Mapping[str, str]]) -> set[str]:
    """Names that all families state alike."""
    names = {name for one in labels for name in one}
    return {name for name in names if len({one.get(name) for one in labels}) == 1}
