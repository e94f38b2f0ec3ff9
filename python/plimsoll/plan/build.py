"""Study spec in, plan out.

Order: repetitions are the outer loop, so that a slow change of the environment meets all systems alike. Within a
repetition the systems come in seeded random order, each as one block; within a block workloads and levels are shuffled
too, so that no level always follows the same other one.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Mapping, Sequence

from plimsoll.plan.model import Estimates, Plan, PlannedTrial
from plimsoll.spec.clients import CLIENTS
from plimsoll.spec.shares import shares
from plimsoll.spec.statements import Workload, data_sets
from plimsoll.spec.study import StudySection, StudySpec
from plimsoll.spec.system import SystemSpec
from plimsoll.spec.terminals import checks_each_trial

ROW_BYTES = 250
"""Typical size of a row of the OLTP tables on disk, its indexes included."""

LOAD_ROWS_PER_S = 100_000
COPY_BYTES_PER_S = 300_000_000
START_S = 4.0
"""Typical time to stop one server and start another."""

OVERHEAD_S = 1.5
"""Typical time of a trial besides its load: connecting, checking, writing the recording."""

AUTO_WARM_UP_S = 30.0
"""Typical length of a warm-up whose end is found from the data."""

REDO_BYTES = 1_500_000_000
"""Typical size of a server's own files: redo log, undo, system tables."""

RECORDING_BYTES_PER_S = 10_000
"""Typical size of what a second of a trial leaves: 64 connections, one or two types of transactions, one server."""

RECORDING_BYTES = 100_000
"""Typical size of a recording's documents."""

CHECKED_ROWS_PER_S = 2_000_000
"""Typical speed of looking at the consistency of rows."""


def build_plan(spec: StudySpec, former_ids: Mapping[str, str] | None = None) -> Plan:
    """All trials of a study, in order, with estimates of time and disk.

    Args:
        spec: What the user wrote.
        former_ids: Ids that trials were recorded under by an earlier rule, by the ids that they would have now.
    """
    former = former_ids or {}
    trials = tuple(
        trial.model_copy(update={"trial_id": former.get(trial.trial_id, trial.trial_id)}) for trial in _trials(spec)
    )
    known = {new: old for new, old in former.items() if any(trial.trial_id == old for trial in trials)}
    return Plan(study=spec.study.name, trials=trials, estimates=_estimates(spec, trials), former_ids=known)


def former_ids(spec: StudySpec) -> dict[str, str]:
    """The ids of a study's trials by the rule of recordings of format 1, by their ids now; only those that differ.

    That rule counted options among a trial's inputs that do not change what is measured.
    """
    both = zip(_trials(spec), _trials(spec, former=True), strict=True)
    return {new.trial_id: old.trial_id for new, old in both if new.trial_id != old.trial_id}


_LOGIN = ("password_env", "defaults_file", "server_public_key_path", "get_server_public_key")


def _trials(spec: StudySpec, *, former: bool = False) -> list[PlannedTrial]:
    """All trials in order, with ids by the rule of now or the former one."""
    shuffle = random.Random(spec.study.seed)  # noqa: S311 - an order, not a secret
    trials: list[PlannedTrial] = []
    for repetition in range(spec.study.repetitions):
        systems = list(spec.system)
        shuffle.shuffle(systems)
        for system in systems:
            cells = [(workload, load) for workload in spec.workload for load in spec.study.levels.loads]
            shuffle.shuffle(cells)
            block = trials[-1].block + 1 if trials else 0
            for workload, load in cells:
                inputs = _inputs(spec, system, workload, load, repetition=repetition, former=former)
                trials.append(_trial(system, workload, load, inputs, repetition=repetition, block=block))
    return trials


def _trial(
    system: SystemSpec,
    workload: Workload,
    load: tuple[int, float | None],
    inputs: dict[str, object],
    *,
    repetition: int,
    block: int,
) -> PlannedTrial:
    connections, rate_tps = load
    digest = hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).digest()
    level = f"c{connections}" if rate_tps is None else _slug(f"{rate_tps:.12g}tps")
    name = f"{_slug(system.name)}-{_slug(workload.name)}-{level}-r{repetition}-{digest.hex()[:10]}"
    return PlannedTrial(
        trial_id=name,
        system=system.name,
        workload=workload.name,
        instances=system.instances,
        connections=connections,
        rate_tps=rate_tps,
        repetition=repetition,
        block=block,
        seed=int.from_bytes(digest[16:22], "big"),
    )


def _inputs(
    spec: StudySpec,
    system: SystemSpec,
    workload: Workload,
    load: tuple[int, float | None],
    *,
    repetition: int,
    former: bool,
) -> dict[str, object]:
    """What a trial's id follows from: whatever changes what is measured, and nothing else."""
    study = spec.study
    connections, rate_tps = load
    inputs = {
        "system": _identity(system, former=former),
        "workload": workload.identity(),
        "connections": connections,
        "repetition": repetition,
        "reset": spec.reset_of(system),
        "times": _times(study, former=former),
        "seed": study.seed,
    }
    if rate_tps is not None:
        inputs["rate_tps"] = rate_tps
    if study.clients != CLIENTS:
        inputs["clients"] = study.clients.identity()
    return inputs


def _times(study: StudySection, *, former: bool) -> list[float | None]:
    """Warm-up, its limit, that of settling, duration.

    How long to wait at most for a quiet server is no part of what is measured, nor is the limit of a warm-up whose
    length is stated. They stand with their defaults, so that ids are what they were where nobody stated others.
    """
    usual = StudySection.model_fields
    if former:
        return [study.warm_up, study.warm_up_limit, study.settle_limit, study.duration]
    limit = study.warm_up_limit if study.warm_up is None else usual["warm_up_limit"].default
    return [study.warm_up, limit, usual["settle_limit"].default, study.duration]


def _identity(system: SystemSpec, *, former: bool) -> dict[str, object]:
    """What makes it this system and no other: not where its secrets and certificates lie."""
    said = system.model_dump(mode="json", exclude={"cost_per_month", "reset", *_LOGIN})
    if system.instances == 1 and said["server"] is not None:
        del said["server"]["instances"]  # trials of one server are what they were before there could be more
    return said if former else {**said, "ca": None, "cert": None, "key": None}


def _slug(name: str) -> str:
    """The part of a name that is safe in a folder's name.

    >>> _slug("Four partitions, 8 GB")
    'four-partitions-8-gb'
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:18].strip("-") or "x"


def data_bytes(spec: StudySpec, instances: int = 1) -> int:
    """Expected size of the rows of one system, bytes; all its instances together."""
    parts = (part for workload in data_sets(spec.workload) for part in shares(workload, instances))
    return sum(part.rows_count for part in parts) * ROW_BYTES


def disk_bytes(spec: StudySpec, system: SystemSpec) -> int:
    """Space for the data of a system, with the copy that resets need, bytes; 0 where Plimsoll starts no server."""
    if system.server is None:
        return 0
    copies = 1 if spec.reset_of(system) == "never" else 2
    return copies * data_bytes(spec, system.instances) + system.instances * REDO_BYTES


def recordings_bytes(spec: StudySpec, count: int) -> int:
    """Space for the recordings of so many trials, bytes; the one that is being joined needs its own twice."""
    study = spec.study
    load_s = study.duration + (study.warm_up_limit if study.warm_up is None else study.warm_up)
    instances = max(system.instances for system in spec.system)
    each = RECORDING_BYTES + load_s * RECORDING_BYTES_PER_S * instances
    return round((count + 1) * each)


def _estimates(spec: StudySpec, trials: Sequence[PlannedTrial]) -> Estimates:
    study = spec.study
    warm_up_s = study.warm_up if study.warm_up is not None else min(study.warm_up_limit, AUTO_WARM_UP_S)
    load_s = warm_up_s + study.duration + OVERHEAD_S
    start_s = {system.name: system.instances * START_S for system in spec.system}
    size = {system.name: data_bytes(spec, system.instances) for system in spec.system}
    trial_s = {
        (system.name, workload.name): load_s
        + (start_s[system.name] + size[system.name] / COPY_BYTES_PER_S) * (spec.reset_of(system) == "per_trial")
        + _check_s(workload)
        for system in spec.system
        for workload in spec.workload
    }
    return Estimates(
        trial_s=max(trial_s.values()),
        total_s=sum(trial_s[trial.system, trial.workload] for trial in trials)
        + study.repetitions * sum(start_s.values())
        + sum(size.values()) / ROW_BYTES / LOAD_ROWS_PER_S,
        disk_bytes=sum(disk_bytes(spec, system) for system in spec.system),
        recordings_bytes=recordings_bytes(spec, len(trials)),
        settle_s_max=len(trials) * study.settle_limit,
    )


def _check_s(workload: Workload) -> float:
    """How long it takes to look at the conditions of a workload before and after a trial, seconds."""
    return 2 * workload.rows_count / CHECKED_ROWS_PER_S if checks_each_trial(workload) else 0.0
