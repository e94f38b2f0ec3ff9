"""`plimsoll size --confirm`: runs the load that was sized for minutes, and shows the answer and whether it held."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from plimsoll.cli.size_answer import show_answer

if TYPE_CHECKING:
    from plimsoll.analyse.confirmed import Confirmed
    from plimsoll.analyse.size_model import LoadDemand, SizeAnswer, SystemFit
    from plimsoll.cli.login import Login
    from plimsoll.record.capacity import CapacityObjective
    from plimsoll.run.instance import Instance
    from plimsoll.spec.clients import Clients
    from plimsoll.spec.statements import Workload
    from plimsoll.spec.study import StudySpec

_WARM_UP_S = 10.0
"""Load before the measured window, or as long as that if it is shorter."""


@dataclass(frozen=True, slots=True)
class Confirming:
    """What the user says of a confirmation.

    Attributes:
        duration_s: Length of the measured window, seconds.
        target: URL of the server; None for a system of the study.
        system: Of the study; None for the first of the answer.
    """

    duration_s: float
    target: str | None
    system: str | None
    login: Login


def confirm_and_show(
    study: Path, answer: SizeAnswer, objective: CapacityObjective | None, asked: Confirming, *, as_json: bool
) -> int:
    """Shows the answer, runs the load, and shows whether it held; as JSON both in one document.

    Args:
        study: The study's folder.
        answer: What sizing says.
        objective: What must hold besides the rate; None for the rate alone.
        asked: What the user says.
        as_json: As one document of JSON.

    Returns:
        The exit code.

    Raises:
        SpecError: The study cannot be run, or has no such system.
        TargetError, HostError: The load could not be run.
    """
    from plimsoll.cli.fitted import echo_fitted
    from plimsoll.guide.run_warnings import warning_line
    from plimsoll.prose.confirmed import confirmed_sentence
    from plimsoll.record.capacity import RunVerdict

    spec, workload = _to_run(study, answer, asked)
    if not as_json:
        show_answer(answer, None, as_json=False)
    found = _confirmed(study, answer, objective, asked, spec=spec, workload=workload)
    if as_json:
        show_answer(answer.model_copy(update={"confirmation": found}), None, as_json=True)
    else:
        typer.echo()
        for text in (confirmed_sentence(found, answer.asked.rate_unit), *map(warning_line, found.warnings)):
            echo_fitted(text)
    return 0 if found.verdict is RunVerdict.HOLDS else 1


def _to_run(study: Path, answer: SizeAnswer, asked: Confirming) -> tuple[StudySpec, Workload]:
    """The study's file, and the workload of the answer as it says it."""
    from plimsoll.errors import SpecError
    from plimsoll.run.users_file import current_spec

    spec, _ = current_spec(study)
    name = answer.asked.workload
    wanted = None if spec is None else next((one for one in spec.workload if one.name == name), None)
    if spec is None or wanted is None:
        raise SpecError(f"--confirm: {study} has no study file with the workload {name}, so it cannot be run")
    names = [one.name for one in spec.system]
    if asked.system is not None and asked.system not in names:
        raise SpecError(f"--system: there is no {asked.system!r} in the study; it has {', '.join(names)}")
    return spec, wanted


def _confirmed(
    study: Path,
    answer: SizeAnswer,
    objective: CapacityObjective | None,
    asked: Confirming,
    *,
    spec: StudySpec,
    workload: Workload,
) -> Confirmed:
    from plimsoll.cli.load_progress import load_progress
    from plimsoll.cli.search_progress import say, show_interval
    from plimsoll.guide.run_warnings import load_warnings
    from plimsoll.prose.confirmed import confirming_words
    from plimsoll.run.confirming import confirm, system_of_study
    from plimsoll.run.single_run import SingleRun
    from plimsoll.spec.arrivals import steady
    from plimsoll.units import format_rate

    fit = _fit(answer, asked)
    name = asked.system or (spec.system[0].name if fit is None else fit.system)
    connections = answer.asked.connections or (fit and fit.connections) or max(spec.study.levels.connections)
    with ExitStack() as stack:
        managed: Instance | None = None
        if asked.target is not None:
            target = asked.login.target(asked.target)
            name = target.endpoint
        else:
            say(f"--confirm: starting {name} with its data")
            progress = stack.enter_context(load_progress())
            instance = stack.enter_context(system_of_study(spec, name, study, progress.show))
            target, managed = instance.target, instance if instance.is_managed else None
        run = SingleRun(
            workload=workload,
            target=target,
            managed=managed,
            connections=connections,
            warm_up_s=min(_WARM_UP_S, asked.duration_s),
            duration_s=asked.duration_s,
            seed=spec.study.seed,
            arrivals=steady(answer.asked.needed_tps),
            clients=_clients(spec.study.clients, answer.asked.demand),
        )
        rate = format_rate(answer.asked.needed_tps, answer.asked.rate_unit)
        say(f"--confirm: {confirming_words(name, rate, run, objective)}")
        found = confirm(run, objective, system=name, seen=show_interval, doubts_of=load_warnings)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return found


def _fit(answer: SizeAnswer, asked: Confirming) -> SystemFit | None:
    """What sizing says of the system that runs: the one that was named, else the first."""
    return next((one for one in answer.systems if asked.system in (None, one.system)), None)


def _clients(clients: Clients, demand: LoadDemand | None) -> Clients:
    """Those of the study, with the bursts of the demand where these are known."""
    if demand is None or demand.burstiness is None:
        return clients
    return clients.model_copy(update={"burstiness": demand.burstiness})
