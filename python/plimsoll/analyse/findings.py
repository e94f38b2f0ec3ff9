"""Doubts as they are found, one place at a time, and how equal ones become one warning that lists where.

Deliberately not here: when there is a doubt (`trial_checks`, `curve_checks`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from plimsoll.analyse.model import PlacedWarning
from plimsoll.record.model import TrialWarning


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One doubt in one place.

    Attributes:
        system: None when it is about the whole study; so are workload, connections and rate.
        rate_tps: For load at a rate, instead of connections.
        weight: How strong the evidence is: of equal codes the weightiest evidence is shown. Comparable within a code.
    """

    warning: TrialWarning
    system: str | None = None
    workload: str | None = None
    connections: int | None = None
    rate_tps: float | None = None
    weight: float = 0.0


def place(findings: Iterable[Finding], order: Sequence[str]) -> tuple[PlacedWarning, ...]:
    """Merges findings with the same code.

    Args:
        findings: In any order.
        order: Codes by importance; codes that are not in it come last.
    """
    by_code: dict[str, list[Finding]] = {}
    for finding in findings:
        by_code.setdefault(finding.warning.code, []).append(finding)
    rank = {code: index for index, code in enumerate(order)}
    return tuple(_merge(by_code[code]) for code in sorted(by_code, key=lambda code: (rank.get(code, len(rank)), code)))


def _merge(same: Sequence[Finding]) -> PlacedWarning:
    weightiest = max(same, key=lambda finding: finding.weight).warning
    others = len({finding.warning.evidence for finding in same}) - 1
    evidence = weightiest.evidence
    if others:
        evidence = f"{evidence.rstrip('.')}; the like in {others} other {'place' if others == 1 else 'places'}"
    return PlacedWarning(
        warning=weightiest.model_copy(update={"evidence": evidence}),
        systems=_seen(finding.system for finding in same),
        workloads=_seen(finding.workload for finding in same),
        connections=tuple(sorted({finding.connections for finding in same if finding.connections is not None})),
        rates_tps=tuple(sorted({finding.rate_tps for finding in same if finding.rate_tps is not None})),
    )


def _seen(names: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name is not None))
