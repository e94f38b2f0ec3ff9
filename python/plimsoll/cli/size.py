"""`plimsoll size`: which systems sustain a load, and whether one holds it for minutes.

With `--confirm` it runs the load that was sized, and shows the answer and whether it held.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli import complete
from plimsoll.cli.help import CONFIRMATION, LOAD, with_groups
from plimsoll.cli.option_values import duration_s
from plimsoll.cli.options import NO_LOGIN, JsonOption, Login, PriceFileOption, StudyFolderArgument
from plimsoll.cli.streams import say_first

if TYPE_CHECKING:
    from plimsoll.analyse.answers.size_model import Confirmed, LoadDemand, SizeAnswer, SystemFit
    from plimsoll.analyse.findings.finding_model import Grade
    from plimsoll.record.capacity import CapacityObjective
    from plimsoll.run.instance import Instance
    from plimsoll.spec.clients import Clients
    from plimsoll.spec.study import StudySpec
    from plimsoll.spec.workloads import Workload

ConfirmOption = Annotated[
    bool,
    typer.Option(
        "--confirm",
        help="Run the load with its headroom, TPS / (1 - HEADROOM), at that rate, and say whether it held: on --target,"
        " or on a system of the study.",
        rich_help_panel=CONFIRMATION,
    ),
]
TargetOption = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="URL",
        help="With --confirm: the server. Its tables must exist. Default: a system of the study.",
        rich_help_panel=CONFIRMATION,
    ),
]
DurationOption = Annotated[
    str, typer.Option("--duration", help="With --confirm: how long the load runs.", rich_help_panel=CONFIRMATION)
]
SystemOption = Annotated[
    str | None,
    typer.Option(
        "--system", metavar="NAME", help="With --confirm: which system of the study.", rich_help_panel=CONFIRMATION
    ),
]
RequireOption = Annotated[
    str | None,
    typer.Option(
        "--require",
        metavar="measured",
        help="End with exit code 1 unless repetitions show that a system fits. Single and published figures, with"
        ' the grade "indicated", are not enough.',
    ),
]


@dataclass(frozen=True, slots=True)
class Load:
    """The load to sustain: a rate, or the demand of a log."""

    tps: Annotated[
        float | None,
        typer.Option(
            "--tps",
            help="The load to sustain, in transactions per second. Or use --tpm or --demand.",
            rich_help_panel=LOAD,
        ),
    ] = None
    tpm: Annotated[
        float | None,
        typer.Option(
            "--tpm",
            help="The load to sustain, in transactions per minute. The answer is in tpm, too.",
            rich_help_panel=LOAD,
        ),
    ] = None
    demand: Annotated[
        Path | None,
        typer.Option(
            "--demand",
            metavar="FILE",
            help="The load of a production log: demand.json, which plimsoll learn writes.",
            rich_help_panel=LOAD,
        ),
    ] = None
    at: Annotated[
        str | None,
        typer.Option(
            "--at",
            metavar="MOMENT",
            help="With --demand: peak-minute (default), p99-minute, peak-second or mean.",
            rich_help_panel=LOAD,
        ),
    ] = None
    growth: Annotated[
        str | None,
        typer.Option(
            "--growth",
            metavar="SHARE",
            help="With --demand: how fast the load grows, such as 30%/y or 2%/mo. Says until when systems sustain it.",
            rich_help_panel=LOAD,
        ),
    ] = None

    @property
    def rate_tps(self) -> float | None:
        """The rate, transactions per second; None where a demand says it."""
        return self.tps if self.tpm is None else self.tpm / 60

    @property
    def rate_unit(self) -> str | None:
        """The unit of the question, which is that of the answer; None for the study's own."""
        if self.demand is not None:
            return None
        return "tps" if self.tpm is None else "tpm"

    def asked(self) -> LoadDemand | None:
        """The demand; None where a rate is given.

        Raises:
            SpecError: Options that are wrong or contradict each other, or a file that is no demand.
        """
        from plimsoll.errors import SpecError

        if sum(load is not None for load in (self.tps, self.tpm, self.demand)) != 1:
            raise SpecError("--tps, --tpm, --demand: give the load to sustain by one of them")
        if self.tpm is not None and not (math.isfinite(self.tpm) and self.tpm > 0):
            raise SpecError(f"--tpm: must be a number above 0, is {self.tpm:g}")
        if self.demand is None:
            for name, value in (("at", self.at), ("growth", self.growth)):
                if value is not None:
                    raise SpecError(f"--{name}: is for --demand; add it, or leave it out")
            return None
        from plimsoll.cli.option_values import choice
        from plimsoll.learn.demand import Moments, sized_demand
        from plimsoll.run.learned_folder import read_demand
        from plimsoll.units import parse_growth

        moment = choice(self.at or Moments.PEAK_MINUTE, Moments, "--at")
        try:
            growth = None if self.growth is None else parse_growth(self.growth)
        except SpecError as error:
            raise SpecError(f"--growth: {error}") from None
        return sized_demand(read_demand(self.demand), moment, growth, datetime.now(UTC).date())


NO_LOAD = Load()


@with_groups
def size(
    study: StudyFolderArgument,
    load: Load = NO_LOAD,
    connections: Annotated[
        int | None, typer.Option("--connections", min=1, help="Number of connections. Default: the best level.")
    ] = None,
    workload: Annotated[
        str | None,
        typer.Option(
            "--workload",
            metavar="NAME",
            autocompletion=complete.workloads_of_study,
            help="Required if the study has several workloads.",
        ),
    ] = None,
    response_p99: Annotated[
        str | None,
        typer.Option(
            "--response-p99",
            metavar="TIME",
            help="Limit for the 99th percentile of response time, such as 20ms. Default: the study's objective.",
        ),
    ] = None,
    headroom: Annotated[
        float, typer.Option("--headroom", help="Share of throughput to keep in reserve, 0 to 1.")
    ] = 0.3,
    price_file: PriceFileOption = None,
    confirm: ConfirmOption = False,
    duration: DurationOption = "3m",
    target: TargetOption = None,
    system: SystemOption = None,
    require: RequireOption = None,
    login: Login = NO_LOGIN,
    as_json: JsonOption = False,
) -> None:
    """Say which systems can sustain a load, which cannot, and why.

    Rests on capacities at an objective and on load at target rates where the study has them, and on closed-loop figures
    only where there is nothing else. A system that fits has the grade "measured" if repetitions show that the next run
    will sustain the load with 95 % confidence, else "indicated", as by single or published figures.

    Lists the cheapest system first if costs are known. --confirm runs the load on the first one, or on another one that
    is named. The exit code is 0 if a system fits and 1 if none does; with --confirm, 0 if the load held, and 1 if it
    did not or the run was too short to tell.

    Examples:

      plimsoll size results/flush --tps 1200 --connections 16 --workload read-write

      plimsoll size results/flush --tps 1200 --workload read-write --response-p99 20ms --confirm --system durable

      plimsoll size results/capacity --demand demand.json --growth 30%/y
    """
    _begin(study, {"target": target, "system": system}, confirm=confirm, as_json=as_json)
    from plimsoll.analyse.answers.size import objective_of
    from plimsoll.analyse.answers.size import size as answer_size
    from plimsoll.analyse.answers.size_model import objective_to_confirm
    from plimsoll.guide.build import analyse_folder

    required, demand = _required(require, confirm=confirm), load.asked()
    analysis = analyse_folder(study, price_file)
    limit_ms = objective_of(analysis) if response_p99 is None else duration_s(response_p99, "--response-p99") * 1000
    answer = answer_size(analysis, tps=load.rate_tps, demand=demand, connections=connections, workload=workload,
        response_p99_ms=limit_ms, headroom=headroom, rate_unit=load.rate_unit)  # fmt: skip
    if not confirm:
        raise typer.Exit(show_answer(answer, required, as_json=as_json))
    objective = objective_to_confirm(analysis.capacities, answer.asked.workload, limit_ms)
    asked = Confirming(duration_s(duration, "--duration"), target, system, login)
    raise typer.Exit(confirm_and_show(study, answer, objective, asked, as_json=as_json))


def _begin(study: Path, for_confirming: Mapping[str, str | None], *, confirm: bool, as_json: bool) -> None:
    """Says what begins where a server is reached.

    Raises:
        SpecError: No server is, and an option is there only for that.
    """
    from plimsoll.errors import SpecError

    if confirm:
        say_first(f"reading {study}", is_quiet=as_json)
    elif given := [name for name, value in for_confirming.items() if value is not None]:
        raise SpecError(f"--{given[0]}: is for --confirm; add it, or leave it out")


def _required(written: str | None, *, confirm: bool) -> Grade | None:
    """The grade that is required of an answer that is not confirmed."""
    from plimsoll.analyse.findings.finding_model import Grade
    from plimsoll.errors import SpecError

    if written is None:
        return None
    if written != Grade.MEASURED.value:
        raise SpecError(f"--require: must be measured, is {written[:60]!r}")
    if confirm:
        raise SpecError("--require: is about an answer that is not confirmed; leave it out, or --confirm")
    return Grade.MEASURED


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
    from plimsoll.cli.streams import echo_fitted
    from plimsoll.guide.warnings import warning_line
    from plimsoll.prose.capacity import confirmed_sentence
    from plimsoll.record.capacity import RunVerdict

    spec, workload = _to_run(study, answer, asked)
    if not as_json:
        show_answer(answer, None, as_json=False)
    confirmed = _confirmed(study, answer, objective, asked, spec=spec, workload=workload)
    if as_json:
        show_answer(answer.model_copy(update={"confirmation": confirmed}), None, as_json=True)
    else:
        typer.echo()
        for text in (confirmed_sentence(confirmed, answer.asked.rate_unit), *map(warning_line, confirmed.warnings)):
            echo_fitted(text)
    return 0 if confirmed.verdict is RunVerdict.HOLDS else 1


def _to_run(study: Path, answer: SizeAnswer, asked: Confirming) -> tuple[StudySpec, Workload]:
    """The study's file, and the workload of the answer as it says it."""
    from plimsoll.errors import SpecError
    from plimsoll.run.folder import current_spec

    spec, _ = current_spec(study)
    name = answer.asked.workload
    wanted = None if spec is None else next((workload for workload in spec.workload if workload.name == name), None)
    if spec is None or wanted is None:
        raise SpecError(f"--confirm: {study} has no study file with the workload {name}, so it cannot be run")
    names = [system.name for system in spec.system]
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
    from plimsoll.cli.progress import load_progress
    from plimsoll.cli.running import say, show_interval
    from plimsoll.guide.warnings import load_warnings
    from plimsoll.prose.capacity import confirming_words
    from plimsoll.run.capacity_target import confirm, system_of_study
    from plimsoll.run.single import SingleRun
    from plimsoll.spec.clients import steady
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
        confirmed = confirm(run, objective, system=name, seen=show_interval, doubts_of=load_warnings)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return confirmed


def _fit(answer: SizeAnswer, asked: Confirming) -> SystemFit | None:
    """What sizing says of the system that runs: the one that was named, else the first."""
    return next((system for system in answer.systems if asked.system in (None, system.system)), None)


def _clients(clients: Clients, demand: LoadDemand | None) -> Clients:
    """Those of the study, with the bursts of the demand where these are known."""
    if demand is None or demand.burstiness is None:
        return clients
    return clients.model_copy(update={"burstiness": demand.burstiness})


def show_answer(answer: SizeAnswer, required: Grade | None, *, as_json: bool) -> int:
    """Shows the answer; returns the exit code: 0 where a system fits, with the grade that is required."""
    if as_json:
        from plimsoll.guide.size import worded

        typer.echo(worded(answer).model_dump_json(indent=2))
    else:
        from plimsoll.cli.streams import show
        from plimsoll.guide.size_terminal import size_terminal

        show(size_terminal(answer))
    return 0 if answer.fits and required in (None, answer.grade) else 1
