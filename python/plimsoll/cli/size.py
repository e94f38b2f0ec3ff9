"""`plimsoll size`: which systems carry a load."""

from __future__ import annotations

from typing import Annotated

import typer

from plimsoll.cli import complete
from plimsoll.cli.options import JsonOption, StudyFolderArgument, duration_s


def size(
    study: StudyFolderArgument,
    tps: Annotated[float, typer.Option("--tps", help="The load to carry, transactions per second.")],
    connections: Annotated[
        int | None, typer.Option("--connections", min=1, help="At so many connections; default: the best level.")
    ] = None,
    workload: Annotated[
        str | None,
        typer.Option(
            "--workload",
            metavar="NAME",
            autocompletion=complete.workloads_of_study,
            help="Needed when the study has several.",
        ),
    ] = None,
    response_p99: Annotated[
        str | None,
        typer.Option(
            "--response-p99",
            metavar="TIME",
            help="Objective for 99 % of transactions, such as 20ms; default: the study's.",
        ),
    ] = None,
    headroom: Annotated[
        float, typer.Option("--headroom", help="Share of the throughput to keep free, 0 up to 1.")
    ] = 0.0,
    as_json: JsonOption = False,
) -> None:
    """Say which systems carry a load, which do not, and why.

    The cheapest comes first when costs are known. Ends with 0 when a system fits, with 1 when none does.

    Examples:

      plimsoll size results/flush --tps 1200 --connections 16 --workload read-write

      plimsoll size results/flush --tps 1200 --workload read-write --response-p99 20ms --headroom 0.3
    """
    from plimsoll.analyse.size import size as answer_size
    from plimsoll.cli.fitted import show
    from plimsoll.guide.build import analyse_folder
    from plimsoll.guide.terminal import size_terminal

    objective_ms = None if response_p99 is None else duration_s(response_p99, "--response-p99") * 1000
    analysis = analyse_folder(study)
    answer = answer_size(
        analysis,
        tps=tps,
        connections=connections,
        workload=workload,
        response_p99_ms=analysis.objective_ms_p99 if objective_ms is None else objective_ms,
        headroom=headroom,
    )
    if as_json:
        typer.echo(answer.model_dump_json(indent=2))
    else:
        show(size_terminal(answer))
    raise typer.Exit(0 if answer.fits else 1)
