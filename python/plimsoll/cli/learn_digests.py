"""`plimsoll learn digests`: what a server counts of its statements itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli.first_line import say_connecting
from plimsoll.cli.groups import with_groups
from plimsoll.cli.learn_options import KeepNamesOption, ReportFolderOption
from plimsoll.cli.login import NO_LOGIN, Login
from plimsoll.cli.options import JsonOption, TargetOption
from plimsoll.cli.reports import Report, show_and_write

if TYPE_CHECKING:
    from plimsoll.learn.digest_model import DigestReport


@with_groups
def digests(
    target: TargetOption,
    length: Annotated[
        str | None, typer.Option("--for", metavar="DURATION", help="Time between the snapshots. Default: 60s.")
    ] = None,
    snapshot: Annotated[
        Path | None,
        typer.Option("--snapshot", metavar="FILE", help="Only write what is counted up to now into FILE, mode 0600."),
    ] = None,
    since: Annotated[
        Path | None,
        typer.Option("--since", metavar="FILE", help="Compare with a snapshot that was written earlier."),
    ] = None,
    to: ReportFolderOption = None,
    keep_names: KeepNamesOption = False,
    login: Login = NO_LOGIN,
    as_json: JsonOption = False,
) -> None:
    """Show which statements a server executes, from the counters of its performance_schema.

    Two snapshots of the counters are subtracted. They need no log and change nothing on the server; they show how often
    each statement ran and what it cost, but neither parameters nor transactions. The user needs SELECT on
    performance_schema.

    Examples:

      plimsoll learn digests --target mysql://monitor@db1/information_schema --for 10min -o load-report

      plimsoll learn digests --target mysql://monitor@db1/information_schema --snapshot before.json

      plimsoll learn digests --target mysql://monitor@db1/information_schema --since before.json
    """
    say_connecting(target, is_quiet=as_json)
    from plimsoll.cli import option_values
    from plimsoll.errors import SpecError
    from plimsoll.learn.digests import digest_report
    from plimsoll.prose.phrases import counted
    from plimsoll.run.digests import read_snapshot, snapshots_apart, take_snapshot, write_snapshot

    given = {"--for": length, "--snapshot": snapshot, "--since": since}
    if len(said := [name for name, value in given.items() if value is not None]) > 1:
        raise SpecError(f"{' and '.join(said)}: give one of them")
    seconds = 60.0 if length is None else option_values.duration_s(length, "--for")
    resolved = login.target(target)
    if snapshot is not None:
        taken = take_snapshot(resolved)
        write_snapshot(snapshot, taken)
        typer.echo(f"Snapshot: {snapshot} ({counted(len(taken.digests), 'statement')})", err=True)
        return
    if since is not None:
        before, after = read_snapshot(since), take_snapshot(resolved)
    else:
        before, after = snapshots_apart(resolved, seconds)
    show_and_write(_report(digest_report(before, after), keep_names=keep_names), to, as_json=as_json)


def _report(found: DigestReport, *, keep_names: bool) -> Report:
    from plimsoll.guide.digest_report import digest_page
    from plimsoll.learn.digests import digests_without_names

    shared = found if keep_names else digests_without_names(found)
    return Report(shown=digest_page(found), page=digest_page(shared), document=shared.model_dump_json(indent=2))
