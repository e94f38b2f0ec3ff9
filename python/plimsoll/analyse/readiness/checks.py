"""All pre-flight checks, and those of them that recordings are held to as well."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.analyse.doubts import Doubt, place_of
from plimsoll.analyse.readiness import limits, load, memory, processors, servers
from plimsoll.analyse.readiness.model import Demand, Readiness, ReadinessCheck
from plimsoll.analyse.trial_summary import TrialSummary
from plimsoll.spec.oltp import reads_only

_OF_CONDITIONS: tuple[ReadinessCheck, ...] = (
    processors.burstable,
    servers.debug_build,
    memory.data_and_memory,
    servers.query_cache,
    servers.writable_replica,
    memory.pools_and_memory,
    processors.governor,
    memory.huge_pages,
    memory.swap,
    processors.clock,
    servers.small_redo_log,
    servers.durability,
    processors.turbo,
    processors.smt,
)
"""Of what stays as it is during a trial, so that a recording holds it."""

CHECKS: tuple[ReadinessCheck, ...] = (
    *_OF_CONDITIONS,
    load.other_load,
    load.steal,
    load.shared_cpus,
    limits.open_files,
    limits.of_servers,
    limits.free_space,
)


def readiness_doubts(facts: Readiness) -> Iterator[Doubt]:
    """Everything that pre-flight checks doubt."""
    for check in CHECKS:
        yield from check(facts)


def recorded_conditions(one: TrialSummary) -> Iterator[Doubt]:
    """What a trial was measured on, held to the same checks.

    Whether it wrote follows from its workload; limits and other load have evidence of their own by now.
    """
    trial, environment = one.trial, one.environment
    facts = Readiness(
        place=place_of(trial),
        host=environment.host,
        servers=environment.instances,
        demand=Demand(connections=0, writes=not _reads_only(one)),
    )
    for check in _OF_CONDITIONS:
        yield from check(facts)


def _reads_only(one: TrialSummary) -> bool:
    kind, options = one.trial.workload.kind, one.trial.workload.options
    nontrx = str(options.get("nontrx_mode", "select"))
    return kind is not None and reads_only(kind, read_only=bool(options.get("read_only")), nontrx_mode=nontrx)
