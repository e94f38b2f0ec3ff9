"""`plimsoll capacity`: the highest rate at which an objective holds on one server."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli import option_values
from plimsoll.cli.help import with_groups
from plimsoll.cli.options import (
    ANY_DATA,
    NO_LOGIN,
    DataOptions,
    DriversOption,
    JsonOption,
    Login,
    ServerOption,
    TargetOrManagedOption,
    WebOption,
    drivers_of,
)
from plimsoll.cli.streams import page_of, say_reaching

if TYPE_CHECKING:
    from plimsoll.analyse.study.capacity_model import CapacityAnswer
    from plimsoll.plan.capacity import SearchSettings
    from plimsoll.run.capacity_target import TargetSearch
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
            help="At most this share may fail, such as 0.1%. Default: failures only count as too slow.",
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
    record: Annotated[
        Path | None,
        typer.Option("--record", metavar="FOLDER", help="Keep the runs in this folder; plimsoll guide reads it."),
    ] = None,
    web: WebOption = False,
    as_json: JsonOption = False,
) -> None:
    """Find the highest rate at which response times stay within an objective.

    It overloads the server on purpose, again and again: do not point it at a server that others use. A short
    closed-loop sweep shows about how much the server can do; runs at rates that do not wait for it find the
    rate at which the objective is crossed, and twelve longer ones around it give its interval. Failed and dropped
    transactions count as too slow.

    Prints the answer, warnings and every run; after Ctrl-C what is known. Exit code: 0 if a rate holds, undisturbed.

    Examples:

      plimsoll capacity --target managed --workload oltp_read_only --response-p99 20ms

      plimsoll capacity --target mysql://bench@127.0.0.1/sbtest --response-p99 50ms --errors '0.1%' --record runs --json
    """
    say_reaching(target, server, is_quiet=as_json)
    from plimsoll.run.single import RecordingWanted, SingleRun, recording_wanted

    settings = _settings(response_p99, errors, connections, duration)
    spec = data.spec
    warm_up_s = option_values.duration_s(warm_up, "--warm-up")
    shared = drivers_of(drivers, min(settings.connections), is_managed=target == "managed")
    kept = recording_wanted(record, None, None, None)
    with ExitStack() as stack:
        if kept is None:
            from plimsoll.private_folder import PrivateFolder

            kept = RecordingWanted(study=stack.enter_context(PrivateFolder("capacity")) / "r")
        managed = None
        if target == "managed":
            from plimsoll.cli.trial import throwaway

            most = max(settings.connections)
            managed = throwaway(stack, server, spec, login, most, kept if record else None)[0]
        resolved = managed.target if managed else login.target(target)
        run = SingleRun(workload=spec, target=resolved, managed=managed, connections=1, warm_up_s=warm_up_s,
            duration_s=settings.probe_s, seed=seed, drivers=shared)  # fmt: skip
        stack.enter_context(page_of(kept.study, is_wanted=web))
        raise typer.Exit(_search_and_show(run, kept, settings, as_json=as_json))


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


def _search_and_show(run: SingleRun, kept: RecordingWanted, settings: SearchSettings, *, as_json: bool) -> int:
    """Searches, shows what was found, also when somebody ended it; returns the exit code."""
    from plimsoll.cli.failures import INTERRUPTED
    from plimsoll.cli.running import searching

    with searching() as display:
        from plimsoll.run.capacity_target import TargetSearch

        search = TargetSearch(run, kept, settings, display.listeners)
        try:
            search.run()
            is_cut = False
        except KeyboardInterrupt:
            if not search.so_far.runs:
                raise
            is_cut = True
            display.ends("interrupted: what is known so far")
    answer = _answer(search)
    _show(answer, as_json=as_json)
    if is_cut:
        return INTERRUPTED
    return 0 if answer.capacity_tps is not None and not answer.is_disturbed else NO_RATE


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
