"""What an earlier study found, as a study file or a file beside an imported table states it: does it show here too?

Deliberately not here: how a claim is held against what was measured (`analyse.study.claims`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import BeforeValidator, Field

from plimsoll.errors import Fault, within
from plimsoll.spec.fields import Name, Written

if TYPE_CHECKING:
    from plimsoll.spec.study import StudySpec

LimitedBy = Literal["hardware", "no hardware"]


def _range(value: object) -> object:
    match value:
        case [int() | float() as low, int() | float() as high] if 0 <= low <= high and high > 0 and math.isfinite(low):
            return (float(low), float(high))
    raise ValueError(
        f"must be two numbers, the lower one first, such as [0.5, 1], [0, 0.9] or [1.1, inf], is {value!r}"
    )


Range = Annotated[tuple[float, float], BeforeValidator(_range)]
"""Lowest and highest value that agree with a claim; the highest may be infinite."""

_CHECKS = ("peak_connections", "peak_per_cpu", "ratio", "scale_factor", "limited_by")


class ClaimSpec(Written):
    """One `[[claim]]`: an earlier finding, which the guide compares with this study.

    Exactly one of `peak_connections`, `peak_per_cpu`, `ratio`, `scale_factor` and `limited_by` is given.

    Attributes:
        says: The finding, as a sentence.
        source: Who found it.
        workload: Name of the workload.
        system: Name of the system. Default: the claim is checked for each system.
        base: With `ratio`: name of the system that `system` is compared with.
        base_workload: With `ratio`: name of the workload that `workload` is compared with, on the same system.
        connections: With `ratio` and `scale_factor`: the level. Without it, a ratio is that of the peaks.
        from_connections: With `scale_factor`: the level to divide by. Default: the lowest.
        peak_connections: Number of connections at the peak, `[low, high]`.
        peak_per_cpu: Number of connections at the peak for each CPU of the system, `[low, high]`; for each core where
            only cores are known, as in imported tables.
        ratio: Throughput divided by that of `base` or `base_workload`, `[low, high]`.
        scale_factor: Throughput at `connections` divided by that at `from_connections`, `[low, high]`.
        limited_by: `hardware` if processors, a quota or a network link limit throughput, `no hardware` if none does.
    """

    says: Annotated[str, Field(min_length=1, max_length=500)]
    source: Annotated[str, Field(max_length=200)] = ""
    workload: Name
    system: Name | None = None
    base: Name | None = None
    base_workload: Name | None = None
    connections: Annotated[int, Field(gt=0)] | None = None
    from_connections: Annotated[int, Field(gt=0)] | None = None
    peak_connections: Range | None = None
    peak_per_cpu: Range | None = None
    ratio: Range | None = None
    scale_factor: Range | None = None
    limited_by: LimitedBy | None = None

    @property
    def check(self) -> str | None:
        """Which of the five is given; None where not exactly one is."""
        given = [name for name in _CHECKS if getattr(self, name) is not None]
        return given[0] if len(given) == 1 else None

    def of_system(self, system: str) -> Self:
        """The same claim about one system."""
        return self.model_copy(update={"system": system})

    def renamed(self, systems: Mapping[str, str], workloads: Mapping[str, str]) -> Self:
        """The same claim where systems and workloads have other names, by the names that it has."""
        names = {key: getattr(self, key) for key in ("system", "base", "workload", "base_workload")}
        known = {"system": systems, "base": systems, "workload": workloads, "base_workload": workloads}
        return self.model_copy(update={key: known[key].get(name, name) for key, name in names.items() if name})


def faults_of_claims(spec: StudySpec) -> Iterator[Fault]:
    """What is wrong with the claims of a study, one line each."""
    for index, claim in enumerate(spec.claim):
        faults = claim_faults(
            claim,
            systems=[system.name for system in spec.system],
            workloads=[workload.name for workload in spec.workload],
            connections=spec.study.levels.connections,
        )
        yield from within(("claim", index), faults)


def claim_faults(
    claim: ClaimSpec, *, systems: Collection[str], workloads: Collection[str], connections: Collection[int]
) -> Iterator[Fault]:
    """What is wrong with a claim.

    Args:
        claim: As written.
        systems: The names of all of the study.
        workloads: Their names.
        connections: Those of all levels.
    """
    yield from _unknown_names(claim, systems, workloads)
    for key in ("connections", "from_connections"):
        level = getattr(claim, key)
        if level is not None and level not in connections:
            yield Fault((key,), f"no level of the study has {level} connections; add it to study.levels")
    yield from form_faults(claim)
    if claim.check == "peak_connections" and claim.peak_connections is not None:
        low, high = claim.peak_connections
        if connections and not any(low <= count <= high for count in connections):
            measured = ", ".join(map(str, sorted(connections)))
            yield Fault(
                ("peak_connections",),
                f"no level of the study lies within [{low:g}, {high:g}], so none can agree"
                f" ({measured}); add one to study.levels",
            )


def form_faults(claim: ClaimSpec) -> Iterator[Fault]:
    """What is wrong with a claim whatever the study has."""
    if claim.check is None:
        yield Fault((), f"give exactly one of {', '.join(_CHECKS)}")
    elif claim.check == "ratio":
        if (claim.base is None) == (claim.base_workload is None):
            yield Fault(("ratio",), "give either base (another system) or base_workload (another workload)")
        if claim.base is not None and claim.system is None:
            yield Fault(("system",), f"say which system is compared with {claim.base!r}")
    elif claim.check == "scale_factor" and claim.connections is None:
        yield Fault(("connections",), "say at which level throughput is compared with that of the lowest")


def _unknown_names(claim: ClaimSpec, systems: Collection[str], workloads: Collection[str]) -> Iterator[Fault]:
    for kind, known, keys in (
        ("system", systems, ("system", "base")),
        ("workload", workloads, ("workload", "base_workload")),
    ):
        for key in keys:
            name = getattr(claim, key)
            if name is not None and name not in known:
                yield Fault((key,), f"there is no {kind} {name!r}; take one of {', '.join(known)}")
