"""`plimsoll size`: which systems sustain a load, and whether one holds it for minutes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli import complete
from plimsoll.cli.confirming import Confirming, confirm_and_show
from plimsoll.cli.first_line import say_first
from plimsoll.cli.groups import with_groups
from plimsoll.cli.login import NO_LOGIN, Login
from plimsoll.cli.option_values import duration_s
from plimsoll.cli.options import JsonOption, PriceFileOption, StudyFolderArgument
from plimsoll.cli.size_answer import show_answer

if TYPE_CHECKING:
    from plimsoll.analyse.grade import Grade
    from plimsoll.analyse.model import Analysis
    from plimsoll.analyse.size_model import LoadDemand

ConfirmOption = Annotated[
    bool,
    typer.Option(
        "--confirm",
        help="Run the load with its headroom, TPS / (1 - HEADROOM), at that rate, and say whether it held: on --target,"
        " or on a system of the study.",
    ),
]
TargetOption = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="URL",
        help="With --confirm: the server. Its tables must exist. Default: a system of the study.",
    ),
]


RequireOption = Annotated[
    str | None,
    typer.Option(
        "--require",
        metavar="measured",
        help="End with exit code 1 unless it is measured, by repetitions, that a system fits. Single and published"
        " figures indicate it.",
    ),
]


@dataclass(frozen=True, slots=True)
class Load:
    """The load to sustain: a rate, or the demand of a log."""

    tps: Annotated[
        float | None,
        typer.Option("--tps", help="The load to sustain, in transactions per second. Or use --tpm or --demand."),
    ] = None
    tpm: Annotated[
        float | None,
        typer.Option("--tpm", help="The load to sustain, in transactions per minute. The answer is in tpm, too."),
    ] = None
    demand: Annotated[
        Path | None,
        typer.Option(
            "--demand", metavar="FILE", help="The load of a production log: demand.json, which plimsoll learn writes."
        ),
    ] = None
    at: Annotated[
        str | None,
        typer.Option(
            "--at",
            metavar="MOMENT",
            help="With --demand: peak-minute (default), p99-minute, peak-second or mean.",
        ),
    ] = None
    growth: Annotated[
        str | None,
        typer.Option(
            "--growth",
            metavar="SHARE",
            help="With --demand: how fast the load grows, such as 30%/y or 2%/mo. Says until when systems sustain it.",
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
        from plimsoll.cli.option_values import choice
        from plimsoll.errors import SpecError
        from plimsoll.learn.demand_model import Moments
        from plimsoll.learn.sized import sized_demand
        from plimsoll.run.demand_file import read_demand
        from plimsoll.units import parse_growth

        if sum(one is not None for one in (self.tps, self.tpm, self.demand)) != 1:
            raise SpecError("--tps, --tpm, --demand: give the load to sustain by one of them")
        if self.tpm is not None and not (math.isfinite(self.tpm) and self.tpm > 0):
            raise SpecError(f"--tpm: must be a number above 0, is {self.tpm:g}")
        if self.demand is None:
            for name, value in (("at", self.at), ("growth", self.growth)):
                if value is not None:
                    raise SpecError(f"--{name}: is for --demand; add it, or leave it out")
            return None
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
    duration: Annotated[str, typer.Option("--duration", help="With --confirm: how long the load runs.")] = "3m",
    target: TargetOption = None,
    system: Annotated[
        str | None, typer.Option("--system", metavar="NAME", help="With --confirm: which system of the study.")
    ] = None,
    require: RequireOption = None,
    login: Login = NO_LOGIN,
    as_json: JsonOption = False,
) -> None:
    """Say which systems can sustain a load, which cannot, and why.

    Rests on capacities at an objective and on load at target rates where the study has them, and on closed-loop figures
    only where there is nothing else. A system is measured to fit if the next run will sustain the load with 95 %
    confidence. Single and published figures indicate it.

    Lists the cheapest system first if costs are known. --confirm runs the load on the first one, or on another one that
    is named. The exit code is 0 if a system fits and 1 if none does; with --confirm, 0 if the load held, and 1 if it
    did not or the run was too short to tell.

    Examples:

      plimsoll size results/flush --tps 1200 --connections 16 --workload read-write

      plimsoll size results/flush --tps 1200 --workload read-write --response-p99 20ms --confirm --system durable

      plimsoll size results/capacity --demand demand.json --growth 30%/y
    """
    _begin(study, {"target": target, "system": system}, confirm=confirm, as_json=as_json)
    from plimsoll.analyse.confirmed import objective_to_confirm
    from plimsoll.analyse.size import size as answer_size
    from plimsoll.guide.build import analyse_folder

    required, demand = _required(require, confirm=confirm), load.asked()
    analysis = analyse_folder(study, price_file)
    limit_ms = _objective_ms(analysis) if response_p99 is None else duration_s(response_p99, "--response-p99") * 1000
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
    from plimsoll.analyse.grade import Grade
    from plimsoll.errors import SpecError

    if written is None:
        return None
    if written != Grade.MEASURED.value:
        raise SpecError(f"--require: must be measured, is {written[:60]!r}")
    if confirm:
        raise SpecError("--require: is about an answer that is not confirmed; leave it out, or --confirm")
    return Grade.MEASURED


def _objective_ms(analysis: Analysis) -> float | None:
    """The study's objective, or that of its searches where they have one."""
    searched = {one.objective.response_ms_p99 for one in analysis.capacities}
    return analysis.objective_ms_p99 or (searched.pop() if len(searched) == 1 else None)
