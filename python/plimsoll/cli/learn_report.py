"""`plimsoll learn report`: what a production server's log shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli.groups import with_groups
from plimsoll.cli.learn_options import USUAL_READING, KeepNamesOption, Reading, ReportFolderOption
from plimsoll.cli.options import JsonOption
from plimsoll.cli.reports import Report, show_and_write

if TYPE_CHECKING:
    from plimsoll.learn.report_model import LogReport

LogsArgument = Annotated[
    list[str],
    typer.Argument(metavar="LOG...", help="Logs of one server, in the order of time; - is standard input."),
]


@with_groups
def report(
    logs: LogsArgument,
    to: ReportFolderOption = None,
    keep_names: KeepNamesOption = False,
    reading: Reading = USUAL_READING,
    as_json: JsonOption = False,
) -> None:
    """Show what a log says about the load: top statements, transactions, arrivals, sessions, hot values.

    It reads slow query logs of MySQL, Percona Server and MariaDB, general logs, binary logs and audit logs, plain or
    compressed. The terminal shows statements with their names. Files and --json have no names unless you ask for them,
    and never a literal. A compressed log that is damaged or cut is reported, and the exit code is 4.

    Examples:

      plimsoll learn report /var/log/mysql/slow.log.2.gz /var/log/mysql/slow.log.1 /var/log/mysql/slow.log

      plimsoll learn report --time-zone +02:00 slow.log -o load-report
    """
    from plimsoll.cli.log_progress import read_with_progress
    from plimsoll.learn.report import report_of

    with read_with_progress(reading.of(logs)) as (log, _):
        found = report_of(log)
    show_and_write(_report(found, keep_names=keep_names), to, as_json=as_json)
    reading.refuse_damage(found.sources)


def _report(found: LogReport, *, keep_names: bool) -> Report:
    from plimsoll.guide.log_report import log_page
    from plimsoll.learn.names import without_names

    shared = found if keep_names else without_names(found)
    return Report(shown=log_page(found), page=log_page(shared), document=shared.model_dump_json(indent=2))
