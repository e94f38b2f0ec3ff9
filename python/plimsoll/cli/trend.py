"""`plimsoll trend`: what changed over studies that ask the same question, and the gate of a nightly pipeline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli import complete
from plimsoll.cli.gates import JunitOption, PassIfOption, gates_of
from plimsoll.cli.option_values import share
from plimsoll.cli.options import JsonOption

if TYPE_CHECKING:
    from plimsoll.analyse.answers.trend_model import TrendAnswer

StudiesArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="STUDY...",
        autocompletion=complete.studies,
        help="Folders of studies that ask the same question, two or more; STUDY:SYSTEM for one of several systems.",
    ),
]
FailIfOption = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-if",
        metavar="RULE",
        help="End with exit code 1 if it is established that the newest studies are worse than those before them by"
        " more than a limit: slower:5% (throughput and capacity), p99:10% (99th percentile of response time)."
        " undecided: also if neither that nor its opposite is established, which is exit code 7 otherwise. Repeatable.",
    ),
]
OrderOption = Annotated[
    str | None,
    typer.Option(
        "--order-by",
        metavar="LABEL",
        help="Order the studies by this label, such as version; numbers in it count as numbers. Default: by time.",
    ),
]
NewestOption = Annotated[
    int,
    typer.Option(
        "--newest", metavar="COUNT", min=1, max=100, help="A change that is at most so many studies old is new."
    ),
]
HtmlOption = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", help="Also write a page with a chart of each place.")
]


def trend(
    studies: StudiesArgument,
    fail_if: FailIfOption = None,
    pass_if: PassIfOption = None,
    newest: NewestOption = 5,
    order_by: OrderOption = None,
    equal_within: Annotated[
        str, typer.Option("--equal-within", metavar="SHARE", help="Share within which two levels count as equal.")
    ] = "5%",
    html: HtmlOption = None,
    junit: JunitOption = None,
    as_json: JsonOption = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown, fit for a pull request.")] = False,
) -> None:
    """Say what changed over many studies, since which one, and by how much.

    Each study is one value of each workload and level, so a machine that moves between sessions is told from a change
    of the server. Studies whose machine was disturbed are shown and not tested. Where nothing changed, the answer is
    which step would have been found. The exit code is 0, 1 if a rule of --fail-if fails, or 7 if one is undecided.

    Examples:

      plimsoll trend nights/2026-*

      plimsoll trend nights/2026-* --fail-if slower:5% --junit trend.xml --html trend.html

      plimsoll trend releases/* --order-by version --json
    """
    from plimsoll.errors import SpecError

    if as_json and as_markdown:
        raise SpecError("--json and --markdown: choose one")
    gates, margin = gates_of(fail_if, pass_if, junit), share(equal_within, "--equal-within")
    from plimsoll.analyse.answers.trend import trend as trend_of
    from plimsoll.guide.sides import read_past
    from plimsoll.guide.trend import trend_gate_words
    from plimsoll.record.files import replace_file

    answer = trend_of(read_past(studies), order_by=order_by, rules=gates.rules, newest=newest, equal_within=margin)
    if junit is not None:
        from plimsoll.guide.junit import trend_junit

        replace_file(junit, trend_junit(answer, gates.if_undecided), "choose another --junit")
    if html is not None:
        from plimsoll.guide.trend import trend_html

        replace_file(html, trend_html(answer), "choose another --html")
    _show(answer, as_json=as_json, as_markdown=as_markdown)
    raise typer.Exit(gates.exit_code(answer.gates, trend_gate_words))


def _show(answer: TrendAnswer, *, as_json: bool, as_markdown: bool) -> None:
    from plimsoll.cli.streams import show
    from plimsoll.guide.trend import trend_markdown, trend_terminal, worded_trend

    if as_json:
        typer.echo(worded_trend(answer).model_dump_json(indent=2))
    elif as_markdown:
        typer.echo(trend_markdown(answer).rstrip())
    else:
        show(trend_terminal(answer))
