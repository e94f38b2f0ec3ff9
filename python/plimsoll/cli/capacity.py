"""`plimsoll capacity`: the highest rate at which an objective holds on one server."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli import option_values
from plimsoll.cli.help import with_groups
from plimsoll.cli.options import (
    ANY_DATA,
    NO_LOGIN,
    NO_RECORD,
    DataOptions,
    DriversOption,
    JsonOption,
    Login,
    RecordOptions,
    ServerOption,
    TargetOrManagedOption,
    drivers_of,
)
from plimsoll.cli.streams import say_reaching
from plimsoll.cli.watching import UNWATCHED, WatchOptions

if TYPE_CHECKING:
    from plimsoll.analyse.study.capacity_model import CapacityAnswer
    from plimsoll.metrics.totals import Totals
    from plimsoll.plan.capacity import SearchSettings
    from plimsoll.run.capacity_search import Searched
    from plimsoll.run.capacity_target import SearchListeners, TargetSearch
    from plimsoll.run.single import RecordingWanted, SingleRun

NO_RATE = 1
_OF_ONE_SEARCH = " (one search does not say how searches differ)"
DurationOption = Annotated[
    str,
    typer.Option("--duration", help="Length of each of the 12 steady runs. Runs that look for the rate take half."),
]
ResponseOption = Annotated[
    str,
    typer.Option(
        "--response-p99", metavar="TIME", help="99 % of transactions must be answered within this time, such as 20ms."
    ),
]


@with_groups
def capacity(
    target: TargetOrManagedOption,
    response_p99: ResponseOption,
    errors: Annotated[
        str | None,
        typer.Option(
            "--errors",
            metavar="SHARE",
            help="At most this share may fail, such as 0.1%. Default: failed transactions just count as too slow.",
        ),
    ] = None,
    connections: Annotated[
        int | None,
        typer.Option(
            "--connections", min=1, max=100_000, help="Connections that serve the load. Default: the best of 4, 16, 64."
        ),
    ] = None,
    duration: DurationOption = "20s",
    warm_up: Annotated[str, typer.Option("--warm-up", help="Load before each measurement.")] = "2s",
    data: DataOptions = ANY_DATA,
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**62, help="Seed of all randomness.")] = 1,
    drivers: DriversOption = None,
    server: ServerOption = "mariadb",
    login: Login = NO_LOGIN,
    record: RecordOptions = NO_RECORD,
    watch: WatchOptions = UNWATCHED,
    as_json: JsonOption = False,
) -> None:
    """Find the highest rate at which response times stay within an objective.

    It overloads the server on purpose, again and again: do not point it at a server that others use. A short
    closed-loop sweep shows about how much the server can do; open-loop runs then find the rate at which the objective
    is crossed, and twelve longer ones around it give its interval. Failed and dropped transactions count as too slow.

    Prints the answer, warnings and every run; after Ctrl-C what is known. Exit code: 0 if a rate holds, undisturbed.

    Examples:

      plimsoll capacity --target managed --workload oltp_read_only --response-p99 20ms

      plimsoll capacity --target mysql://bench@127.0.0.1/sbtest --response-p99 50ms --errors '0.1%' --record runs --json
    """
    say_reaching(target, server, is_quiet=as_json)
    from plimsoll.run.single import RecordingWanted, SingleRun

    settings = _settings(response_p99, errors, connections, duration)
    spec = data.spec
    warm_up_s = option_values.duration_s(warm_up, "--warm-up")
    shared = drivers_of(drivers, min(settings.connections), is_managed=target == "managed")
    kept = asked = record.wanted()
    with watch.metrics_out(is_quiet=as_json) as totals, ExitStack() as stack:
        if kept is None:
            from plimsoll.private_folder import PrivateFolder

            kept = RecordingWanted(study=stack.enter_context(PrivateFolder("capacity")) / "r")
        managed = None
        if target == "managed":
            from plimsoll.cli.trial import throwaway

            most = max(settings.connections)
            managed = throwaway(stack, server, spec, login, most, asked)[0]
        resolved = managed.target if managed else login.target(target)
        run = SingleRun(workload=spec, target=resolved, managed=managed, connections=1, warm_up_s=warm_up_s,
            duration_s=settings.probe_s, seed=seed, drivers=shared)  # fmt: skip
        stack.enter_context(watch.page_of(kept.study))
        raise typer.Exit(_search_and_show(run, kept, settings, totals, as_json=as_json, plain=watch.no_progress))


def _settings(response_p99: str, errors: str | None, connections: int | None, duration: str) -> SearchSettings:
    from plimsoll.errors import SpecError
    from plimsoll.plan.capacity import LEAST_S, settings_of
    from plimsoll.record.capacity import CapacityObjective
    from plimsoll.spec.levels import SWEEP_CONNECTIONS, parse_share

    try:
        errors_ratio = None if errors is None else parse_share(errors)
    except SpecError as error:
        raise SpecError(f"--errors: {error}") from None
    objective = CapacityObjective(
        response_ms_p99=option_values.duration_s(response_p99, "--response-p99") * 1e3, errors_ratio=errors_ratio
    )
    steady_s = option_values.duration_s(duration, "--duration")
    if steady_s < LEAST_S:
        raise SpecError(f'--duration: must be at least "{LEAST_S:g}s", is {duration}')
    return settings_of(objective, SWEEP_CONNECTIONS if connections is None else (connections,), steady_s=steady_s)


def _search_and_show(
    run: SingleRun,
    kept: RecordingWanted,
    settings: SearchSettings,
    totals: Totals | None = None,
    *,
    as_json: bool,
    plain: bool,
) -> int:
    """Searches, shows what was found, also when somebody ended it; returns the exit code."""
    from plimsoll.cli.failures import INTERRUPTED
    from plimsoll.cli.running import searching

    with searching(plain=plain) as display:
        from plimsoll.run.capacity_target import TargetSearch

        search = TargetSearch(run, kept, settings, _listeners(display.listeners, totals))
        try:
            search.run()
            is_cut = False
        except KeyboardInterrupt:
            if not search.so_far.runs:
                raise
            is_cut = True
            display.say("interrupted: what is known so far")
    answer = _answer(search)
    _show(answer, as_json=as_json)
    if is_cut:
        return INTERRUPTED
    return 0 if answer.capacity_tps is not None and not answer.is_disturbed else NO_RATE


def _listeners(shown: SearchListeners, totals: Totals | None) -> SearchListeners:
    """Those of the display, and the metrics besides, where somebody reads them."""
    if totals is None:
        return shown

    def searched(stands: Searched) -> None:
        totals.searched(stands)
        shown.searched(stands)

    return replace(shown, searched=searched)


def _answer(search: TargetSearch) -> CapacityAnswer:
    """What the search found, with what makes it doubtful."""
    from plimsoll.analyse.findings.finding_model import Grade
    from plimsoll.analyse.study.capacity_model import CapacityAnswer
    from plimsoll.guide.warnings import search_doubts

    so_far = search.so_far
    doubts = search_doubts(search.recordings, search.record)
    facts = {name: getattr(so_far, name) for name in type(so_far).model_fields}
    if doubts.is_disturbed:
        facts["high"] = None  # a disturbance lowers what is found
    return CapacityAnswer(
        **facts,
        connections=so_far.rate_connections,
        warnings=doubts.warnings,
        disturbance=doubts.disturbance,
        is_disturbed=doubts.is_disturbed,
        grade=Grade.UNKNOWN if so_far.capacity_tps is None or doubts.is_disturbed else Grade.INDICATED,
    )


def _show(capacity_answer: CapacityAnswer, *, as_json: bool) -> None:
    from plimsoll.analyse.findings.finding_model import Grade
    from plimsoll.cli.streams import echo_fitted, show
    from plimsoll.guide.capacity import runs_table
    from plimsoll.guide.terminal_blocks import show_table
    from plimsoll.guide.warnings import warning_line
    from plimsoll.prose.capacity import capacity_sentences

    if as_json:
        typer.echo(capacity_answer.model_dump_json(indent=2))
        return
    disturbance = capacity_answer.disturbance if capacity_answer.is_disturbed else None
    sentences = capacity_sentences(capacity_answer, capacity_answer.warnings, disturbance)
    grade = f"Grade: {capacity_answer.grade.value}{_OF_ONE_SEARCH if capacity_answer.grade is Grade.INDICATED else ''}."
    for line in (*sentences, grade, *map(warning_line, capacity_answer.warnings)):
        echo_fitted(line)
    show(show_table(runs_table(capacity_answer)))
