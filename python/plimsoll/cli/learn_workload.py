"""`plimsoll learn --from LOG`: a production load as a workload that can be run and shared."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plimsoll.cli.first_line import say_first
from plimsoll.cli.groups import with_groups
from plimsoll.cli.learn_options import USUAL_READING, KeepNamesOption, Reading
from plimsoll.cli.login import NO_LOGIN, Login

if TYPE_CHECKING:
    from plimsoll.learn.learned import Learned
    from plimsoll.learn.report_model import LogReport
    from plimsoll.learn.source_model import SourceFacts
    from plimsoll.spec.target import Target

FromOption = Annotated[
    list[str] | None,
    typer.Option(
        "--from", metavar="LOG", help="A log of the server; repeat it in the order of time. - is standard input."
    ),
]
TargetOption = Annotated[
    str | None,
    typer.Option("--target", metavar="URL", help="The server whose tables the log names. It is only read."),
]
SchemaOption = Annotated[
    Path | None,
    typer.Option(
        "--schema",
        metavar="FILE",
        help="In place of --target: what plimsoll learn schema wrote, or a dump without data (mysqldump --no-data).",
    ),
]
ScaleOption = Annotated[
    float, typer.Option("--scale", help="Rows to make, as a share of the rows that there are: 0.1 for a tenth.")
]
PreparedOption = Annotated[
    bool | None,
    typer.Option(
        "--prepared/--text",
        help="Whether clients prepare statements on the server. Default: as the log shows. MariaDB's does not show it.",
    ),
]


@with_groups
def learn(
    context: typer.Context,
    logs: FromOption = None,
    target: TargetOption = None,
    schema: SchemaOption = None,
    to: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FOLDER", help="Where the files are written.")
    ] = None,
    scale: ScaleOption = 1.0,
    keep_names: KeepNamesOption = False,
    prepared: PreparedOption = None,
    reading: Reading = USUAL_READING,
    login: Login = NO_LOGIN,
) -> None:
    """Learn a production load from its logs: a workload to run, its tables, its demand, and a report.

    Writes workload.toml, schema.sql, profile.json, demand.json and the report into a folder. None of them holds a text
    value of the log, or a name unless you ask for names. Some numbers stay: those of LIMIT, those that belong to no
    column and are the same in every execution, and a few more that docs/learn-workload.md lists. The logs must hold all
    statements: plimsoll capture prints how.

    Examples:

      plimsoll learn --from slow.log --target mysql://reader@db1/shop --ask-password -o prod

      plimsoll trial --workload prod/workload.toml --target managed --connections 32

      plimsoll learn report slow.log
    """
    from plimsoll.errors import SpecError

    if context.invoked_subcommand is not None:
        return
    if not logs:
        raise SpecError("--from: name the log to learn from, or see plimsoll learn --help")
    if to is None:
        raise SpecError("-o: name the folder to write to, such as -o prod")
    if (target is None) == (schema is None):
        raise SpecError("--target or --schema: give one of them, so that tables can be made as they are")
    if not 0 < scale <= 1000:
        raise SpecError(f"--scale: must be above 0 and at most 1000, is {scale:g}")
    say_first("reading a log" if len(logs) == 1 else f"reading {len(logs)} logs")  # a name may tell of whom they are
    wanted = reading.of(logs)
    url = None if target is None else login.target(target)
    found = _learned(
        wanted,
        url,
        schema,
        to,
        scale=scale,
        keep_names=keep_names,
        prepared=prepared,
        refuse_damage=reading.refuse_damage,
    )
    _write(found, to)


def _learned(
    reading: dict[str, Any],
    url: Target | None,
    schema: Path | None,
    to: Path,
    *,
    scale: float,
    keep_names: bool,
    prepared: bool | None,
    refuse_damage: Callable[[Sequence[SourceFacts]], None],
) -> Learned:
    from plimsoll.cli.log_progress import read_with_progress
    from plimsoll.errors import DamagedInputError, SpecError
    from plimsoll.guide.files import write_texts
    from plimsoll.learn.learned import learned, summary_of
    from plimsoll.learn.names import without_names
    from plimsoll.run.learning import schema_of

    with read_with_progress(reading) as (log, progress):
        summary = summary_of(log)
        try:
            _refuse(summary.report, refuse_damage)
        except (SpecError, DamagedInputError) as error:
            shared = summary.report if keep_names else without_names(summary.report)
            write_texts(to, _report_files(shared), "the report", is_private=True)
            raise type(error)(*error.faults, f"The report on what the log shows is in {to}.") from None
        facts = schema_of(summary.tables(), target=url, file=schema, progress=progress.asks)
        return learned(summary, facts, scale=scale, keep_names=keep_names, prepared=prepared)


def _refuse(report: LogReport, refuse_damage: Callable[[Sequence[SourceFacts]], None]) -> None:
    """Ends the command where no workload can be learned from a log, or where too little of it could be read."""
    from plimsoll.errors import SpecError
    from plimsoll.guide.log_words import doubt_sentence

    if refused := [one for one in report.doubts if one.is_refusal]:
        raise SpecError(*map(doubt_sentence, refused))
    refuse_damage(report.sources)


def _write(found: Learned, to: Path) -> None:
    from plimsoll.cli.fitted import show
    from plimsoll.guide.files import write_texts
    from plimsoll.guide.learned import learned_page
    from plimsoll.guide.pages import page_terminal
    from plimsoll.run.learning import files_of

    write_texts(to, files_of(found) | _report_files(found.report), "what was learned", is_private=True)
    show(page_terminal(learned_page(found.profile, found.demand)))
    typer.echo(f"Workload: {to / 'workload.toml'}")
    typer.echo(f"Compare it with the log: plimsoll learn check {shlex.quote(str(to))}")


def _report_files(shared: LogReport) -> dict[str, str]:
    from plimsoll.guide.log_report import log_page
    from plimsoll.guide.pages import page_files

    return page_files(log_page(shared), shared.model_dump_json(indent=2), "report")
