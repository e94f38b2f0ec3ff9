"""A study file as users write it, parsed whole: all faults at once, each with path, value and cure.

Deliberately not here: which trials follow from it (`plan`), and any look at a server or a machine.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from pydantic import Field, ValidationError, field_validator

from plimsoll.errors import SpecError
from plimsoll.regular_file import text_regular
from plimsoll.spec.clients import Clients, Reconnect, RetryRule
from plimsoll.spec.distribution import DistributionSpec
from plimsoll.spec.fields import Count, DurationS, Name, WarmUp, Written, faults_of
from plimsoll.spec.later import later_faults, without_later
from plimsoll.spec.levels import Levels, level_faults
from plimsoll.spec.shares import share_faults
from plimsoll.spec.statements import ReadFile, StatementsSpec, reader
from plimsoll.spec.system import Reset, ServerSpec, SystemSpec, system_faults
from plimsoll.spec.terminals import background_connections, study_faults
from plimsoll.spec.tpcc import Mix, TpccSpec
from plimsoll.spec.workload import UserDelay, WorkloadSpec
from plimsoll.spec.workloads import (
    WrittenWorkload,
    definition_faults,
    different_rows,
    is_sound,
    kept_files,
    read_workloads,
    shared_table_faults,
)

STUDY_FILE = "study.toml"
"""Its name within a study's folder."""

STUDY_FILE_BYTES_MAX = 1_000_000

TRIALS_MAX = 100_000
"""More trials than anybody waits for; a plan is kept in memory."""


class Objective(Written):
    """What must hold for a load to count as carried."""

    response_p99: DurationS | None = None


class StudySection(Written):
    """`[study]`.

    Attributes:
        warm_up: None finds out when throughput is flat; a duration is waited for.
        warm_up_limit: At most so long, when it is found out.
        settle_limit: How long to wait at most for a quiet server before load begins.
        reset: When data is put back as prepared. None: not said.
        budget: The plan may take so long at most.
        clients: How clients connect, how long they think, and what they do about errors.
        seed: Order of trials and all randomness follow from it.
    """

    name: Name
    levels: Levels
    warm_up: WarmUp = None
    warm_up_limit: DurationS = 120.0
    settle_limit: DurationS = 60.0
    duration: DurationS = 60.0
    repetitions: Count = 3
    reset: Reset | None = None
    budget: DurationS | None = None
    objective: Objective = Objective()
    clients: Clients = Clients()
    seed: int = 1

    @field_validator("duration", mode="after")
    @classmethod
    def _long_enough(cls, value: float) -> float:
        if value < 1:
            raise ValueError(f'must be at least "1s", is {value} s: an interval is one second')
        return value


class StudySpec(Written):
    """A whole study file."""

    study: StudySection
    workload: tuple[WrittenWorkload, ...] = Field(min_length=1)
    system: tuple[SystemSpec, ...] = Field(min_length=1)

    @field_validator("workload", "system", mode="before")
    @classmethod
    def _a_list(cls, value: object) -> object:
        return tuple(value) if isinstance(value, list) else value

    @property
    def sessions_max(self) -> int:
        """The most connections that a trial opens."""
        return max(self.study.levels.connections) + max(background_connections(one) for one in self.workload)

    def reset_of(self, system: SystemSpec) -> Reset:
        """When the data of a system is put back as prepared."""
        return system.reset or self.study.reset or "per_trial"


_KNOWN = {
    "": tuple(StudySpec.model_fields),
    "study": tuple(StudySection.model_fields),
    "study.levels": tuple(Levels.model_fields),
    "study.objective": tuple(Objective.model_fields),
    "study.clients": tuple(Clients.model_fields),
    "study.clients.retry": tuple(RetryRule.model_fields),
    "study.clients.reconnect": tuple(Reconnect.model_fields),
    "workload": (*{**WorkloadSpec.model_fields, **TpccSpec.model_fields}, "file", "rows", "parameters"),
    "workload.mix": tuple(Mix.model_fields),
    "workload.distribution": tuple(DistributionSpec.model_fields),
    "workload.k_distribution": tuple(DistributionSpec.model_fields),
    "workload.user_delay": tuple(UserDelay.model_fields),
    "system": tuple(SystemSpec.model_fields),
    "system.server": tuple(ServerSpec.model_fields),
}


def read_study(path: Path) -> StudySpec:
    """Reads and checks a study file.

    Raises:
        SpecError: The file cannot be read or is wrong; all faults at once.
    """
    try:
        text = text_regular(path, STUDY_FILE_BYTES_MAX)
    except OSError as error:
        raise SpecError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SpecError(f"{path}: is not UTF-8 text") from None
    try:
        return parse_study(text, reader(path.parent, kept_files(path.parent)))
    except SpecError as error:
        raise SpecError(*(f"{path.name}: {fault}" for fault in error.faults)) from None


def parse_study(text: str, read_file: ReadFile | None = None) -> StudySpec:
    """Checks the text of a study file.

    Args:
        text: All of it.
        read_file: Gives the text of a workload file; those that are shipped, and those below the current folder, when
            not given.

    Raises:
        SpecError: All faults at once, one line each.
    """
    try:
        written = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f"is not TOML: {error}") from None
    except ValueError as error:  # a number of thousands of digits
        raise SpecError(f"holds a value that cannot be read: {error}") from None
    except RecursionError:
        raise SpecError("is nested too deeply; this is no study file") from None
    later = (*later_faults(written), *read_workloads(written, read_file or reader(Path())))
    try:
        spec = StudySpec.model_validate(written)
    except ValidationError as error:
        raise SpecError(*later, *(without_later(faults_of(error, known=_KNOWN), later))) from None
    faults = (*later, *_contradictions(spec))
    if faults:
        raise SpecError(*faults)
    return spec


def _contradictions(spec: StudySpec) -> Iterable[str]:
    for kind, names in (("workload", [w.name for w in spec.workload]), ("system", [s.name for s in spec.system])):
        for name, count in Counter(names).items():
            if count > 1:
                yield f"{kind}: the name {name!r} is used {count} times; give each its own"
    yield from level_faults(spec.study.levels, spec.study.clients)
    yield from _too_many_trials(spec)
    for index, workload in enumerate(spec.workload):
        if isinstance(workload, StatementsSpec):
            yield from definition_faults(f"workload[{index}]", workload)
    yield from different_rows(spec.workload)
    yield from shared_table_faults(spec.workload)
    yield from study_faults(spec)
    writes = any(workload.writes for workload in spec.workload if is_sound(workload))
    for index, system in enumerate(spec.system):
        yield from system_faults(f"system[{index}]", system, needs_reset=writes and spec.study.reset is None)
        if system.server is not None:
            yield from share_faults(
                f"system[{index}].server",
                system.server.instances,
                spec.workload,
                connections=spec.study.levels.connections,
                buffer_pool=system.server.buffer_pool,
            )


def _too_many_trials(spec: StudySpec) -> Iterable[str]:
    cells = len(spec.study.levels.loads) * len(spec.workload) * len(spec.system)
    if (count := cells * spec.study.repetitions) > TRIALS_MAX:
        yield (
            f"study.repetitions: {count} trials follow from it, at most {TRIALS_MAX} can be planned; take fewer"
            " repetitions or levels"
        )
