"""Searches for capacities in a study: which there are, in which order, and the trials that their steps become.

Repetitions are the outer loop; in every other one the order of systems is reversed, so that a slow change of the
environment meets all systems alike. A trial's id follows from its inputs as that of any other trial does; the searched
rate is one of them, the objective is none: another objective finds the same recordings again.
"""

from __future__ import annotations

import hashlib
import json
import random
import re

from plimsoll.plan.capacity import Step
from plimsoll.plan.model import PlannedSearch, PlannedTrial
from plimsoll.plan.search_settings import SearchSettings, settings_of
from plimsoll.spec.study import StudySpec

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
    found: list[PlannedSearch] = []
    for repetition in range(spec.study.repetition_count):
        ordered = systems if repetition % 2 == 0 else systems[::-1]
        for place, system in enumerate(ordered):
            found += (
                PlannedSearch(
                    search_id=_id((system, workload.name), {**common[system, workload.name], "repetition": repetition}),
                    system=system,
                    workload=workload.name,
                    repetition=repetition,
                    block=repetition if spec.study.is_duet else repetition * len(systems) + place,
                )
                for workload in spec.workload
            )
    return tuple(found)


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


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:18].strip("-") or "x"
