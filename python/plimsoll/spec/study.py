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
from plimsoll.spec.capacity import CapacityLevels
from plimsoll.spec.claims import ClaimSpec, faults_of_claims
from plimsoll.spec.clients import Clients, Reconnect, RetryRule
from plimsoll.spec.distribution import DistributionSpec
from plimsoll.spec.drivers import RayDrivers, driver_faults
from plimsoll.spec.duet import duet_faults
from plimsoll.spec.environments import EnvironmentSpec, environment_faults
from plimsoll.spec.fields import Name, Written, faults_of
from plimsoll.spec.hooks import HookSpec, HooksSpec, StudyHooksSpec, hook_faults
from plimsoll.spec.later import later_faults, without_later
from plimsoll.spec.levels import Levels, level_faults
from plimsoll.spec.matrix import equal_systems, expand
from plimsoll.spec.placement import ClientPlacement
from plimsoll.spec.shares import share_faults
from plimsoll.spec.statements import ReadFile, StatementsSpec, reader
from plimsoll.spec.storage import StorageSpec, storage_faults
from plimsoll.spec.study_section import Objective, StudySection
from plimsoll.spec.system import SYSTEM_KEYS, Reset, SystemSpec, system_faults
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


class StudySpec(Written):
    """A whole study file.

    Attributes:
        claim: What earlier studies found; the guide says whether this study confirms it.
        environment: How to find out which environment is there, by the environment's name.
    """

    study: StudySection
    workload: tuple[WrittenWorkload, ...] = Field(min_length=1)
    system: tuple[SystemSpec, ...] = Field(min_length=1)
    claim: tuple[ClaimSpec, ...] = ()
    storage: tuple[StorageSpec, ...] = ()
    environment: dict[Name, EnvironmentSpec] = Field(default_factory=dict)

    @field_validator("workload", "system", "claim", "storage", mode="before")
    @classmethod
    def _a_list(cls, value: object) -> object:
        return tuple(value) if isinstance(value, list) else value

    @property
    def sessions_max(self) -> int:
        """The most connections that a trial opens."""
        return max(self.study.levels.connections) + max(background_connections(one) for one in self.workload)

    @property
    def environments(self) -> tuple[str, ...]:
        """Environments of its systems, in the order of the file; none where systems do not name any."""
        return tuple(dict.fromkeys(one.environment for one in self.system if one.environment is not None))

    def reset_of(self, system: SystemSpec) -> Reset:
        """When the data of a system is put back as prepared."""
        return system.reset or self.study.reset or "per_trial"


_KNOWN = {
    "": (*StudySpec.model_fields, "factors"),
    "study": tuple(StudySection.model_fields),
    "study.levels": tuple(Levels.model_fields),
    "study.levels.capacity": tuple(CapacityLevels.model_fields),
    "study.hooks": tuple(StudyHooksSpec.model_fields),
    "study.objective": tuple(Objective.model_fields),
    "study.client": tuple(ClientPlacement.model_fields),
    "study.drivers": ("ssh", *RayDrivers.model_fields),
    "study.clients": tuple(Clients.model_fields),
    "study.clients.retry": tuple(RetryRule.model_fields),
    "study.clients.reconnect": tuple(Reconnect.model_fields),
    "claim": tuple(ClaimSpec.model_fields),
    "workload": (*{**WorkloadSpec.model_fields, **TpccSpec.model_fields}, "file", "rows", "parameters"),
    "workload.mix": tuple(Mix.model_fields),
    "workload.distribution": tuple(key for key in DistributionSpec.model_fields if key not in DistributionSpec.LATER),
    "workload.k_distribution": tuple(key for key in DistributionSpec.model_fields if key not in DistributionSpec.LATER),
    "workload.user_delay": tuple(UserDelay.model_fields),
    **SYSTEM_KEYS,
    "storage": tuple(StorageSpec.model_fields),
    "environment": tuple(EnvironmentSpec.model_fields),
    **{f"study.hooks.{name}": tuple(HookSpec.model_fields) for name in StudyHooksSpec.model_fields},
    "system.hooks": tuple(HooksSpec.model_fields),
    **{f"system.hooks.{name}": tuple(HookSpec.model_fields) for name in HooksSpec.model_fields},
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
    matrix = expand(written)
    later = (*matrix.faults, *later_faults(written), *read_workloads(written, read_file or reader(Path())))
    try:
        spec = StudySpec.model_validate(written)
    except ValidationError as error:
        faults = without_later(faults_of(error, known=_KNOWN), later)
        raise SpecError(*matrix.placed((*later, *faults))) from None
    if faults := [*later, *_contradictions(spec)]:
        raise SpecError(*matrix.placed(faults))
    return spec


def _contradictions(spec: StudySpec) -> Iterable[str]:
    for kind, names in (("workload", [w.name for w in spec.workload]), ("system", [s.name for s in spec.system])):
        for name, count in Counter(names).items():
            if count > 1:
                yield f"{kind}: the name {name!r} is used {count} times; give each its own"
    yield from level_faults(spec.study.levels, spec.study.clients)
    if spec.study.levels.capacity is not None and spec.study.repetitions is None:
        yield 'study.repetitions: "auto" is for levels that are given; say how often a capacity is searched for'
    if spec.study.levels.capacity is not None and spec.study.duration is None:
        yield 'study.duration: must be a time where a capacity is searched for, such as "60s"'
    yield from _too_many_trials(spec)
    yield from (*storage_faults(spec.storage), *duet_faults(spec), *equal_systems(spec.system))
    yield from (*hook_faults(spec), *environment_faults(spec))
    for index, workload in enumerate(spec.workload):
        if isinstance(workload, StatementsSpec):
            yield from definition_faults(f"workload[{index}]", workload)
    yield from different_rows(spec.workload)
    yield from shared_table_faults(spec.workload)
    yield from study_faults(spec)
    yield from driver_faults(spec)
    yield from faults_of_claims(spec)
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
    cells = len(spec.study.levels.levels) * len(spec.workload) * len(spec.system)
    if (count := cells * spec.study.repetition_count) > TRIALS_MAX:
        yield (
            f"study.repetitions: {count} trials follow from it, at most {TRIALS_MAX} can be planned; take fewer"
            " repetitions or levels"
        )
