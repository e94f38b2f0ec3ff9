"""Study spec in, plan out: trials in order, searches for capacities, what they take, and their ids.

A trial's id follows from its inputs. Repetitions of searches are the outer loop; in every other one the order of
systems is reversed, so that a slow change of the environment meets all systems alike. A step of a search becomes a
trial like any other: the searched rate is one of its inputs, the objective is none, so another objective finds the same
recordings again. Deliberately not here: the order of trials (`order`), and which step comes next (`capacity`).
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Mapping, Sequence

from plimsoll.plan.capacity import USUAL_PAIRS, SearchSettings, Step, remaining_s, settings_of, usual_ramp_s
from plimsoll.plan.disk import ROW_BYTES, data_bytes, disk_bytes
from plimsoll.plan.model import Estimates, Plan, PlannedSearch, PlannedTrial
from plimsoll.plan.order import blocks_in_order, cell_order, duet_cells, duet_identity, load_s_of_duet
from plimsoll.record.level import Level
from plimsoll.spec.clients import CLIENTS
from plimsoll.spec.hooks import hooks_identity
from plimsoll.spec.levels import checks_each_trial
from plimsoll.spec.paths import NO_INPUTS
from plimsoll.spec.study import StudySection, StudySpec
from plimsoll.spec.system import ServerSpec, SystemSpec
from plimsoll.spec.workloads import Workload

LOAD_ROWS_PER_S = 100_000
COPY_BYTES_PER_S = 300_000_000
START_S = 4.0
"""Typical time to stop one server and start another."""

OVERHEAD_S = 1.5
"""Typical time of a trial besides its load: connecting, checking, writing the recording."""

AUTO_WARM_UP_S = 30.0
"""Typical length of a warm-up whose end is found from the data."""

AUTO_DURATION_S = 90.0
"""Typical length of a trial that is measured until its throughput is known well enough."""

RECORDING_BYTES_PER_S = 10_000
"""Size of what a second of a trial leaves, with telemetry: 64 connections, one server; 1,000 to 6,000 were measured."""

SEGMENTS_BYTES_PER_S = 20_000
"""What a second takes while its trial is written, in segments that lie beside the joined tables at its end."""

EVENTS_BYTES_PER_S = 400
"""What the log of events keeps of a second."""

RECORDING_BYTES = 100_000
"""Typical size of a recording's documents."""

CHECKED_ROWS_PER_S = 2_000_000
"""Typical speed of looking at the consistency of rows."""

_KEYS_OF_EVERY_SERVER = frozenset({"managed", "command", "profile", "buffer_pool", "options", "data_dir"})
"""Keys of a managed server that are inputs of its trials' ids, written or not."""

_CAME_LATER = ("host", "parameters", "environment", "targets")
"""Keys of a system that are inputs where they were written, so that ids stay as they were."""

_LOGIN = ("password_env", "defaults_file", "server_public_key_path", "get_server_public_key")


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
    searches = planned_searches(spec, _in_common(spec))
    estimates = _estimates(spec, trials, len(searches))
    return Plan(study=spec.study.name, searches=searches, trials=trials, estimates=estimates, former_ids=known)


def _in_common(spec: StudySpec) -> dict[tuple[str, str], dict[str, object]]:
    """What the trials of a search have in common, by system and workload."""
    level = Level(connections=max(spec.study.levels.connections))
    left_out = {"connections", "repetition"}
    return {
        (system.name, workload.name): {
            name: value
            for name, value in _inputs(spec, system, workload, level, repetition=0, former=False).items()
            if name not in left_out
        }
        for system in spec.system
        for workload in spec.workload
    }


def former_ids(spec: StudySpec) -> dict[str, str]:
    """The ids of a study's trials by the rule of recordings of format 1, by their ids now; only those that differ.

    That rule counted options among a trial's inputs that do not change what is measured.
    """
    both = zip(_trials(spec), _trials(spec, former=True), strict=True)
    return {new.trial_id: old.trial_id for new, old in both if new.trial_id != old.trial_id}


def _trials(spec: StudySpec, *, former: bool = False) -> list[PlannedTrial]:
    """All trials in order, with ids by the rule of now or the former one."""
    trials: list[PlannedTrial] = []
    if spec.study.is_duet:
        for block, (repetition, workload, level) in enumerate(duet_cells(spec)):
            for system in spec.system:
                inputs = _inputs(spec, system, workload, level, repetition=repetition, former=former)
                trials.append(_trial(system, workload, level, inputs, repetition=repetition, block=block))
        return trials
    levels = [(workload, level) for workload in spec.workload for level in spec.study.levels.levels]
    for block, (repetition, system) in enumerate(blocks_in_order(spec)):
        for workload, level in cell_order(levels, seed=spec.study.seed, repetition=repetition):
            inputs = _inputs(spec, system, workload, level, repetition=repetition, former=former)
            trials.append(_trial(system, workload, level, inputs, repetition=repetition, block=block))
    return trials


def _trial(
    system: SystemSpec,
    workload: Workload,
    level: Level,
    inputs: dict[str, object],
    *,
    repetition: int,
    block: int,
) -> PlannedTrial:
    digest = hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).digest()
    load = f"c{level.connections}" if level.rate_tps is None else _slug(f"{level.rate_tps:.12g}tps")
    name = f"{_slug(system.name)}-{_slug(workload.name)}-{load}-r{repetition}-{digest.hex()[:10]}"
    return PlannedTrial(
        trial_id=name,
        system=system.name,
        workload=workload.name,
        instances=system.instances,
        connections=level.connections,
        rate_tps=level.rate_tps,
        repetition=repetition,
        block=block,
        seed=int.from_bytes(digest[16:22], "big"),
    )


def _inputs(
    spec: StudySpec,
    system: SystemSpec,
    workload: Workload,
    level: Level,
    *,
    repetition: int,
    former: bool,
) -> dict[str, object]:
    """What a trial's id follows from: whatever changes what is measured, and nothing else."""
    study = spec.study
    inputs = {
        "system": _identity(system, former=former),
        "workload": workload.identity(),
        "connections": level.connections,
        "repetition": repetition,
        "reset": spec.reset_of(system),
        "times": _times(study, former=former),
        "seed": study.seed,
    }
    if level.rate_tps is not None:
        inputs["rate_tps"] = level.rate_tps
    if study.client is not None:
        inputs["client"] = study.client.model_dump(mode="json")
    if len(study.drivers) != 1:
        inputs["drivers"] = len(study.drivers)
    if study.clients != CLIENTS:
        inputs["clients"] = study.clients.identity()
    if study.is_duet:
        inputs["duet"] = duet_identity(study, [_identity(side, former=former) for side in spec.system])
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
    until = [study.duration] if study.duration is not None else [None, study.target_interval, study.duration_limit]
    return [study.warm_up, limit, usual["settle_limit"].default, *until]


def _identity(system: SystemSpec, *, former: bool) -> dict[str, object]:
    """What makes it this system and no other: not where its secrets and certificates lie."""
    identity = system.model_dump(
        mode="json", exclude={"cost_per_month", "cost", "reset", "exporters", "hooks", *_LOGIN}
    )
    identity = {name: value for name, value in identity.items() if name not in _CAME_LATER or value}
    if not system.replicas:
        del identity["reads"]
    if system.hooks is not None and (commands := hooks_identity(system.hooks)):
        identity["hooks"] = commands
    if system.server is not None:
        identity["server"] = _server_identity(system.server, identity["server"])
    return identity if former else {**identity, "ca": None, "cert": None, "key": None}


def _server_identity(server: ServerSpec, fields: dict[str, object]) -> dict[str, object]:
    """What makes it this server; keys that came later count where they were written, so that ids stay as they were."""
    usual = {name: field.default for name, field in ServerSpec.model_fields.items()}
    came_later = set(usual) - _KEYS_OF_EVERY_SERVER
    return {
        name: value
        for name, value in fields.items()
        if name not in NO_INPUTS and not (name in came_later and getattr(server, name) == usual[name])
    }


def _slug(name: str) -> str:
    """The part of a name that is safe in a folder's name.

    >>> _slug("Four partitions, 8 GB")
    'four-partitions-8-gb'
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:18].strip("-") or "x"


def recordings_bytes(spec: StudySpec, count: int) -> int:
    """Space for the recordings of so many trials, bytes, with the segments of the one that is being written."""
    study = spec.study
    load_s = study.duration_most + (study.warm_up_limit if study.warm_up is None else study.warm_up)
    instances, drivers = max(system.instances + system.replicas for system in spec.system), len(study.drivers)
    each = RECORDING_BYTES + load_s * (RECORDING_BYTES_PER_S * instances * drivers + EVENTS_BYTES_PER_S)
    return round(count * each + load_s * SEGMENTS_BYTES_PER_S * instances * drivers)


def _search_s(spec: StudySpec, warm_up_s: float) -> tuple[int, float]:
    """How many trials a search has and how long it takes besides resets, seconds; nothing where there is none."""
    if spec.study.levels.capacity is None:
        return 0, 0.0
    if spec.study.climbs:
        return _ramps_s(spec, warm_up_s)
    count, load_s = remaining_s(search_settings(spec), ())
    return count, load_s + count * (warm_up_s + OVERHEAD_S)


def _ramps_s(spec: StudySpec, warm_up_s: float) -> tuple[int, float]:
    """The same of one of the systems that are compared by ramps; for as many pairs as a clear difference takes."""
    settings, sweep = search_settings(spec), len(spec.study.levels.connections)
    load_s = sweep * (settings.sweep_s + warm_up_s) + USUAL_PAIRS * usual_ramp_s() + settings.steady_s + warm_up_s
    count = sweep + USUAL_PAIRS + 1
    return count, load_s + count * OVERHEAD_S


def _estimates(spec: StudySpec, trials: Sequence[PlannedTrial], searches_count: int = 0) -> Estimates:
    study = spec.study
    warm_up_s = study.warm_up if study.warm_up is not None else min(study.warm_up_limit, AUTO_WARM_UP_S)
    measured_s = study.duration or min(study.duration_limit, AUTO_DURATION_S)
    load_s = warm_up_s + measured_s + OVERHEAD_S
    if study.is_duet and not study.climbs:  # the turns of all systems are one run; each has its share of it
        load_s = load_s_of_duet(study, warm_up_s, len(spec.system)) / len(spec.system) + OVERHEAD_S
    start_s = {system.name: (system.instances + system.replicas) * START_S for system in spec.system}
    size = {system.name: data_bytes(spec, system.instances) for system in spec.system}
    copied = {system.name: size[system.name] * (1 + system.replicas) for system in spec.system}
    trial_s = {
        (system.name, workload.name): load_s
        + (start_s[system.name] + copied[system.name] / COPY_BYTES_PER_S) * (spec.reset_of(system) == "per_trial")
        + _check_s(workload)
        for system in spec.system
        for workload in spec.workload
    }
    in_search, search_s = _search_s(spec, warm_up_s)
    more_s = max(trial_s.values()) - load_s  # resets and checks
    return Estimates(
        trial_s=max(trial_s.values()),
        total_s=sum(trial_s[trial.system, trial.workload] for trial in trials)
        + searches_count * (search_s + in_search * more_s)
        + study.repetition_count * sum(start_s.values())
        + sum(size.values()) / ROW_BYTES / LOAD_ROWS_PER_S,
        disk_bytes=sum(disk_bytes(spec, system) for system in spec.system),
        recordings_bytes=recordings_bytes(spec, len(trials) + searches_count * in_search),
        settle_s_max=(len(trials) + searches_count * in_search) * study.settle_limit,
    )


def _check_s(workload: Workload) -> float:
    """How long it takes to look at the conditions of a workload before and after a trial, seconds."""
    return 2 * workload.rows_count / CHECKED_ROWS_PER_S if checks_each_trial(workload) else 0.0


Inputs = dict[str, object]


def planned_searches(spec: StudySpec, common: dict[tuple[str, str], Inputs]) -> tuple[PlannedSearch, ...]:
    """All searches of a study, in order; none where its levels are given.

    Args:
        spec: What the user wrote.
        common: What the trials of a system under a workload have in common, by their names.
    """
    if spec.study.levels.capacity is None:
        return ()
    systems = [system.name for system in spec.system]
    random.Random(spec.study.seed).shuffle(systems)  # noqa: S311 - an order, not a secret
    searches: list[PlannedSearch] = []
    for repetition in range(spec.study.repetition_count):
        ordered = systems if repetition % 2 == 0 else systems[::-1]
        for place, system in enumerate(ordered):
            searches += (
                PlannedSearch(
                    search_id=_id((system, workload.name), {**common[system, workload.name], "repetition": repetition}),
                    system=system,
                    workload=workload.name,
                    repetition=repetition,
                    block=repetition if spec.study.is_duet else repetition * len(systems) + place,
                )
                for workload in spec.workload
            )
    return tuple(searches)


def search_settings(spec: StudySpec) -> SearchSettings:
    """How the searches of a study go: a steady run is as long as a trial of the study."""
    levels = spec.study.levels
    assert levels.capacity is not None, "the study searches"
    return settings_of(levels.capacity.objective, levels.connections, steady_s=spec.study.duration_most)


def searched_trial(search: PlannedSearch, step: Step, *, instances: int) -> PlannedTrial:
    """The trial that a step becomes."""
    inputs: Inputs = {
        "search": search.search_id,
        "connections": step.connections,
        "rate_tps": step.rate_tps,
        "duration_s": step.duration_s,
        "ordinal": step.ordinal,
    }
    if step.ramp is not None:
        inputs["ramp"] = step.ramp.model_dump()
    digest = _digest(inputs)
    load = f"c{step.connections}" if step.rate_tps is None else _slug(f"{step.rate_tps:.12g}tps")
    if step.ramp is not None:
        load = f"ramp{step.ordinal}"
    return PlannedTrial(
        trial_id=f"{_slug(search.system)}-{_slug(search.workload)}-{load}-r{search.repetition}-{digest.hex()[:10]}",
        system=search.system,
        workload=search.workload,
        instances=instances,
        connections=step.connections,
        rate_tps=step.rate_tps,
        repetition=search.repetition,
        block=search.block,
        seed=int.from_bytes(digest[16:22], "big"),
        duration_s=step.duration_s,
        search_id=search.search_id,
        search_role=step.role,
        ramp=step.ramp,
    )


def _id(names: tuple[str, str], inputs: Inputs) -> str:
    return f"{'-'.join(map(_slug, names))}-r{inputs['repetition']}-{_digest(inputs).hex()[:10]}"


def _digest(inputs: Inputs) -> bytes:
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).digest()
