"""What must be the same for repetitions to vary alike: the host, its storage, the client, the way of measuring.

How much repetitions differ belongs to a machine and to a way of measuring as much as to a workload: short windows vary
more than long ones, a shared disk more than one of its own, and a table that somebody published says nothing about how
repetitions vary here. So the spread of one cell may be used for another one only where all of this is the same.

Windows of similar length count as equally long: the classes are a factor of about three wide, and their edges lie away
from the lengths that people choose. A host of which not even the name is known may be any host, so systems on unknown
hosts share nothing. Deliberately not here: what is done with the spread (`throughput`), and what tells systems apart
(`factors`): settings of the server are what a study varies.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable
from dataclasses import dataclass

from plimsoll.analyse.replication.roles import sources_of
from plimsoll.analyse.trial_summary import TrialSummary
from plimsoll.record.environment import HostFacts, StorageFacts
from plimsoll.record.origin import Origin

_LENGTH_EDGES_S = (2.5, 8.0, 25.0, 80.0, 250.0, 800.0, 2500.0, 8000.0)

Storage = tuple[str | None, str | None, str | None, bool | None]
"""File system, device, its model, whether it rotates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementSetting:
    """Under what one trial was measured; trials with equal settings vary alike.

    Attributes:
        host: The servers' machine: hardware, kernel, frequency governor.
        environment: Of the study, where environments are measured in turn: repetitions share its blocks.
        system: Of a host without a name, the system that ran on it; None where the host is known.
        storage: Of each instance's data; a replica only repeats its source, and a study may vary how many there are.
        reported: What the source of an import says about its machines and its load generator.
        client_here: Whether client and server shared a machine; None when unknown.
        drivers: How many shared the load.
        engine: Version of what drove the load; None for imports.
        origin: Measured or imported, and from which table.
        interval_s: Length of an interval, seconds.
        length_class: Class of the length of the measured window; None when it is not known.
    """

    host: HostFacts
    environment: str | None
    system: str | None
    storage: tuple[Storage, ...]
    reported: tuple[tuple[str, str], ...]
    client_here: bool | None
    drivers: int
    engine: str | None
    origin: tuple[str, str | None]
    interval_s: float
    length_class: int | None


def setting_of(one: TrialSummary) -> MeasurementSetting:
    """Under what a trial was measured."""
    environment, trial = one.environment, one.trial
    return MeasurementSetting(
        host=environment.host,
        environment=trial.system.environment,
        system=None if environment.host.name else trial.system.name,
        storage=tuple(_storage(instance.storage) for instance in sources_of(environment)),
        reported=tuple(sorted(environment.reported.items())),
        client_here=environment.client.on_server_host,
        drivers=max(len(environment.client.drivers), 1),
        engine=environment.client.engine_version,
        origin=_source(trial.origin),
        interval_s=trial.interval_s,
        length_class=_length_class(one),
    )


def common_setting(trials: Iterable[TrialSummary]) -> MeasurementSetting | None:
    """The setting of all trials; None where they do not share one."""
    settings = {setting_of(one) for one in trials}
    return settings.pop() if len(settings) == 1 else None


def _storage(storage: StorageFacts | None) -> Storage:
    facts = storage or StorageFacts()
    return facts.file_system, facts.device, facts.device_model, facts.rotational


def _source(origin: Origin) -> tuple[str, str | None]:
    """Kind and table. Each log is a file of its own, so the file's name tells nothing there."""
    if origin.kind in ("imported-sysbench", "imported-tpcc"):
        return origin.kind, None
    return origin.kind, re.sub(r", lines? \d.*$", "", origin.detail) if origin.detail else None


def _length_class(one: TrialSummary) -> int | None:
    planned_s = one.trial.duration_s
    length_s = one.counts.duration_s if planned_s is None and one.counts is not None else planned_s
    return None if length_s is None else bisect.bisect(_LENGTH_EDGES_S, length_s)
