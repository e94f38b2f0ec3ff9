"""Whoever else uses the processors before the load begins: processes here, and the hypervisor's other guests."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.analyse.doubts import Code, Doubt
from plimsoll.analyse.readiness.model import Readiness

_BUSY_RATIO = 0.1
_STEAL_RATIO = 0.02
"""The same share of stolen time that is a doubt during a trial (`curve_checks`)."""


def other_load(facts: Readiness) -> Iterator[Doubt]:
    """Something else runs."""
    if facts.moment is not None and facts.moment.busy_ratio > _BUSY_RATIO:
        busy = facts.moment.busy_ratio
        yield facts.place.doubt(
            Code.HOST_BUSY_ELSEWHERE, "busy-before", busy, busy_cpu_ratio=busy, sample_s=facts.moment.sample_s
        )


def steal(facts: Readiness) -> Iterator[Doubt]:
    """The hypervisor gives processor time to others: there are more virtual than physical CPUs."""
    if facts.moment is not None and facts.moment.steal_ratio > _STEAL_RATIO:
        stolen = facts.moment.steal_ratio
        yield facts.place.doubt(Code.HOST_BUSY_ELSEWHERE, "stolen-before", stolen, steal_cpu_ratio=stolen)


def shared_cpus(facts: Readiness) -> Iterator[Doubt]:
    """Client and server may run on the same CPUs and so take time from each other."""
    for one in facts.placements:
        if one.shared_cpus:
            yield facts.place.doubt(
                Code.CLIENT_ON_SERVER_HOST,
                "client-shares-cpus",
                float(len(one.shared_cpus)),
                instance=one.instance,
                shared_count=len(one.shared_cpus),
                cpus=one.shared_cpus,
            )
