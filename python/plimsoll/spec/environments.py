"""Environments as users write them: what cannot be there at the same time and is measured in turn.

Examples are a machine and a virtual machine on it, or two settings of its firmware. Deliberately not here: the order in
which they are measured (`plan.order`), and switching (`plimsoll.run.environments`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal

from plimsoll.spec.fields import Written
from plimsoll.spec.hooks import Hook

if TYPE_CHECKING:
    from plimsoll.spec.study import StudySpec

Switch = Literal["hand", "hook"]


class EnvironmentSpec(Written):
    """`[environment.NAME]`: one environment.

    Attributes:
        check: A command that says by exit code 0 that this environment is there, by 1 that it is not.
    """

    check: Hook = None


def environment_faults(spec: StudySpec) -> Iterable[str]:
    """What is wrong with environments and how they are switched, one line each."""
    names, study = spec.environments, spec.study
    for name in spec.environment:
        if name not in names:
            yield f'environment.{name}: no system is measured in it; add environment = "{name}" to one, or remove it'
    if names:
        for index, system in enumerate(spec.system):
            if system.environment is None:
                yield f"system[{index}].environment: is missing; other systems name theirs ({', '.join(names)})"
    if len(names) > 1:
        yield from _faults_of_several(spec, names)
    elif study.switch is not None:
        yield "study.switch: there is nothing to switch; systems must name at least two environments"
    if (study.switch == "hook") != (study.hooks.switch is not None):
        yield 'study.hooks.switch: belongs to switch = "hook"; say both, or none of them'
    if "blocks" in study.model_fields_set and study.switch != "hand":
        yield 'study.blocks: belongs to switch = "hand"; a hook switches environments in each repetition'


def _faults_of_several(spec: StudySpec, names: tuple[str, ...]) -> Iterator[str]:
    study = spec.study
    if study.switch is None:
        yield (
            f"study.switch: is missing; the environments {', '.join(names)} are measured in turn: say"
            ' switch = "hand", or switch = "hook" with hooks.switch'
        )
    if study.is_duet:
        yield "study.design: systems of a duet are up at the same time, and environments are not; leave design out"
    elif study.repetitions is None:
        yield 'study.repetitions: "auto" compares within repetitions, and environments are not; say a number'
    elif "blocks" in study.model_fields_set and study.blocks > study.repetitions:
        yield f"study.blocks: must be at most repetitions ({study.repetitions}), is {study.blocks}"
    if study.levels.capacity is not None:
        yield "study.levels.capacity: is not compared between environments; make each environment a study of its own"
    if any(system.factor_values for system in spec.system):
        yield "factors: are not compared between environments; write the systems out, or make each a study of its own"
