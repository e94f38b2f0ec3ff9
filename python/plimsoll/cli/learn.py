"""`plimsoll learn` and its subcommands: a production load as a report, and as a workload that can be run and shared.

Before it, `plimsoll capture` prints how to make a server log everything for a while.

Without a subcommand it learns the workload; `report` shows what a log shows, `digests` what a server counts of its
statements itself, `schema` writes the tables of a server as a file, for learning where the server cannot be reached,
and `check` runs a learned workload and compares it with the log that it was learned from. What is found goes to
standard output as a page, and to a folder as files. The files quote the log of a production server, so they are as
private as it is until their owner shares them. Deliberately not here: what stands on pages (`plimsoll.guide`).
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plimsoll.cli import complete
from plimsoll.cli.help import Command, Group, with_groups
from plimsoll.cli.options import NO_LOGIN, JsonOption, Login, TargetOption
from plimsoll.cli.streams import say_connecting, say_first

if TYPE_CHECKING:
    from plimsoll.guide.html import Page
    from plimsoll.learn.fidelity_model import Fidelity
    from plimsoll.learn.learned_load import LearnedLoad
    from plimsoll.learn.report_model import DigestReport, LogReport, SourceFacts
    from plimsoll.run.fidelity import Check
    from plimsoll.run.learned_folder import LearnedFolder
    from plimsoll.spec.target import Target


def capture(
    kind: Annotated[
        str, typer.Option("--print", metavar="KIND", help="The server: mysql, percona, mariadb, rds or aurora.")
    ],
) -> None:
    """Print how to switch logging of every statement on, and off again.

    Nothing is run: read the statements, run them yourself, and switch the log off again. Comments say what it costs
    and what the log reveals. plimsoll learn reads the log.

    Examples:

      plimsoll capture --print mariadb
    """
    from plimsoll.errors import SpecError
    from plimsoll.servers.capture import CAPTURES, COST, REVEALS

    if (instructions := CAPTURES.get(kind)) is None:
        raise SpecError(f"--print: must be one of {', '.join(CAPTURES)}, is {kind!r}")
    mark = "--" if instructions.commands is None else "#"
    lines = [f"{mark} {instructions.title}: log every statement."]
    lines += [f"{mark} {line}" for line in (*instructions.note, *COST, *REVEALS)]
    if instructions.commands is not None:
        on, off = instructions.commands
        lines += ["", "# Switch it on:", *on, "", "# Switch it off again:", *(f"# {command}" for command in off)]
        lines += ["", "# Fetch the log:", instructions.fetch]
    else:
        lines += ["", "-- 1. Note these values, to put them back:", instructions.shown]
        lines += ["", "-- 2. Switch the log on:", *instructions.on, "", "-- 3. The file:", instructions.fetch]
        lines += [
            "",
            "-- 4. Switch it off again, with the values that you noted:",
            *(f"-- {statement}" for statement in instructions.off),
        ]
    typer.echo("\n".join(lines))


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a command found, for its user and for those to whom its files are given.

    Attributes:
        shown: The page on the terminal; it may have names that files do not.
        page: The page in files.
        document: The same as JSON.
        name: Of the files, without their endings.
        what: What messages call it.
        more: Texts of further files, by name.
    """

    shown: Page
    page: Page
    document: str
    name: str = "report"
    what: str = "report"
    more: Mapping[str, str] = field(default_factory=dict)


def show_and_write(report: Report, folder: Path | None, *, as_json: bool) -> None:
    """Shows a report, then writes its files, which only their owner can read.

    Args:
        report: What was found.
        folder: Where files are written; None for none.
        as_json: Standard output has the document and nothing else.

    Raises:
        HostError: The folder cannot be written to.
    """
    from plimsoll.cli.streams import show
    from plimsoll.guide.files import write_texts
    from plimsoll.guide.html import page_files, page_terminal

    if as_json:
        typer.echo(report.document)
    else:
        show(page_terminal(report.shown))
    if folder is not None:
        texts = {**page_files(report.page, report.document, report.name), **report.more}
        write_texts(folder, texts, f"the {report.what}", is_private=True)
        typer.echo(f"{report.what.capitalize()}: {folder / f'{report.name}.html'}", err=as_json)


ReportFolderOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FOLDER", help="Also write report.html, report.md and report.json there."),
]
KeepNamesOption = Annotated[
    bool,
    typer.Option("--keep-names", help="Files have the names of tables and columns. Without it they have t1, c3."),
]
FormatOption = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="auto, slow (slow query log), general (general log), binlog (binary log), an audit log that is known"
        " (mariadb-audit, aurora, alibaba-rds, polardb, tdsql-c, huawei-rds, taurusdb), or a TOML file that says where"
        " its values stand.",
    ),
]
TimeZoneOption = Annotated[
    str,
    typer.Option(
        "--time-zone",
        metavar="OFFSET",
        help="Of a server that logs local time, as MariaDB does: +02:00 for two hours ahead of UTC.",
    ),
]
WorkDirOption = Annotated[
    Path | None,
    typer.Option(
        "--work-dir",
        metavar="FOLDER",
        help="Where the private tables are made while this runs; they take about as much space as the logs.",
    ),
]
KeepOption = Annotated[bool, typer.Option("--keep", help="Keep the private tables. They hold literals.")]
KeepGoingOption = Annotated[
    bool,
    typer.Option("--keep-going", help="Accept compressed logs that are damaged or cut: what could be read counts."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How logs are read."""

    form: FormatOption = "auto"
    time_zone: TimeZoneOption = "+00:00"
    work_dir: WorkDirOption = None
    keep: KeepOption = False
    keep_going: KeepGoingOption = False

    def of(self, logs: Sequence[str]) -> dict[str, Any]:
        """What `read_logs` takes.

        Raises:
            SpecError: The format or the time zone is none.
        """
        from plimsoll.run.logs import log_format

        offset_s = time_zone_offset_s(self.time_zone)
        return {
            "names": logs,
            "form": log_format(self.form),
            "time_zone_offset_s": offset_s,
            "work_dir": self.work_dir,
            "keep": self.keep,
        }

    def refuse_damage(self, sources: Sequence[SourceFacts]) -> None:
        """Ends the command where logs are damaged or cut and nobody accepted that.

        Raises:
            DamagedInputError: They are. Where was said when they were read.
        """
        from plimsoll.errors import DamagedInputError

        damaged = [source.name for source in sources if source.fault is not None]
        if damaged and not self.keep_going:
            raise DamagedInputError(
                f"{', '.join(damaged)}: damaged or cut, so figures are of a part of the load; read a sound copy, or add"
                " --keep-going to accept what could be read"
            )


def time_zone_offset_s(time_zone: str) -> int:
    """Reads the value of `--time-zone`, seconds ahead of UTC.

    Raises:
        SpecError: It is none.
    """
    from plimsoll.errors import SpecError

    match = re.fullmatch(r"([+-])(\d{2}):?([0-5]\d)", time_zone)
    if match is None or int(match[2]) > 14:
        raise SpecError(f"--time-zone: must be an offset such as +02:00 or -05:30, is {time_zone[:20]!r}")
    seconds = int(match[2]) * 3600 + int(match[3]) * 60
    return -seconds if match[1] == "-" else seconds


USUAL_READING = Reading()

FromOption = Annotated[
    list[str] | None,
    typer.Option(
        "--from", metavar="LOG", help="A log of the server; repeat it in the order of time. - is standard input."
    ),
]
TablesTargetOption = Annotated[
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
    target: TablesTargetOption = None,
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
    learned = _learned(
        wanted,
        url,
        schema,
        to,
        scale=scale,
        keep_names=keep_names,
        prepared=prepared,
        refuse_damage=reading.refuse_damage,
    )
    _write(learned, to)


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
) -> LearnedLoad:
    from plimsoll.cli.progress import read_with_progress
    from plimsoll.errors import DamagedInputError, SpecError
    from plimsoll.guide.files import write_texts
    from plimsoll.learn.learned_load import learned, summary_of
    from plimsoll.learn.names import without_names
    from plimsoll.run.schema import schema_of

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
    from plimsoll.guide.log_report import doubt_sentence

    if refused := [doubt for doubt in report.doubts if doubt.is_refusal]:
        raise SpecError(*map(doubt_sentence, refused))
    refuse_damage(report.sources)


def _write(learned: LearnedLoad, to: Path) -> None:
    from plimsoll.cli.streams import show
    from plimsoll.guide.files import write_texts
    from plimsoll.guide.html import page_terminal
    from plimsoll.guide.learned_load import learned_page
    from plimsoll.run.learned_folder import files_of

    write_texts(to, files_of(learned) | _report_files(learned.report), "what was learned", is_private=True)
    show(page_terminal(learned_page(learned.profile, learned.demand)))
    typer.echo(f"Workload: {to / 'workload.toml'}")
    typer.echo(f"Compare it with the log: plimsoll learn check {shlex.quote(str(to))}")


def _report_files(shared: LogReport) -> dict[str, str]:
    from plimsoll.guide.html import page_files
    from plimsoll.guide.log_report import log_page

    return page_files(log_page(shared), shared.model_dump_json(indent=2), "report")


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
    from plimsoll.cli.progress import read_with_progress
    from plimsoll.learn.report import report_of

    with read_with_progress(reading.of(logs)) as (log, _):
        log_report = report_of(log)
    show_and_write(_log_report(log_report, keep_names=keep_names), to, as_json=as_json)
    reading.refuse_damage(log_report.sources)


def _log_report(log_report: LogReport, *, keep_names: bool) -> Report:
    from plimsoll.guide.log_report import log_page
    from plimsoll.learn.names import without_names

    shared = log_report if keep_names else without_names(log_report)
    return Report(shown=log_page(log_report), page=log_page(shared), document=shared.model_dump_json(indent=2))


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
    from plimsoll.servers.digests import read_snapshot, snapshots_apart, take_snapshot, write_snapshot
    from plimsoll.wording import counted

    given = {"--for": length, "--snapshot": snapshot, "--since": since}
    if len(names := [name for name, value in given.items() if value is not None]) > 1:
        raise SpecError(f"{' and '.join(names)}: give one of them")
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
    show_and_write(_digest_report(digest_report(before, after), keep_names=keep_names), to, as_json=as_json)


def _digest_report(digest_report: DigestReport, *, keep_names: bool) -> Report:
    from plimsoll.guide.log_report import digest_page
    from plimsoll.learn.digests import digests_without_names

    shared = digest_report if keep_names else digests_without_names(digest_report)
    return Report(shown=digest_page(digest_report), page=digest_page(shared), document=shared.model_dump_json(indent=2))


@with_groups
def schema(
    target: Annotated[
        str, typer.Option("--target", metavar="URL", help="The server. Its database is read unless you name others.")
    ],
    to: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where the schema is written, mode 0600.")],
    databases: Annotated[
        list[str] | None, typer.Option("--database", metavar="NAME", help="A database to read. Repeatable.")
    ] = None,
    login: Login = NO_LOGIN,
) -> None:
    """Write definitions and figures of a server's tables into a file, for plimsoll learn --schema.

    Reads definitions, row counts, and figures of a sample of rows: lengths, shares of NULL, numbers of different
    values, smallest and largest numbers and dates. No text of a row is kept. The file has names: keep it as private as
    the schema itself. Each statement is given up after 2 seconds.

    Examples:

      plimsoll learn schema --target mysql://reader@db1/shop --ask-password -o schema.json

      plimsoll learn --from slow.log --schema schema.json -o prod
    """
    say_connecting(target)
    from plimsoll.errors import SpecError
    from plimsoll.run.schema import read_schema, tables_of, write_schema
    from plimsoll.servers.control import connect
    from plimsoll.wording import counted

    url = login.target(target)
    names = databases or [url.database]
    with connect(url) as control:
        tables = {table for name in names for table in tables_of(control, name)}
        if not tables:
            raise SpecError(f"--database: there are no tables in {', '.join(names)} that this account can see")
        schema_facts = read_schema(control, tables, progress=lambda name: typer.echo(f"reading {name}", err=True))
    write_schema(to, schema_facts)
    typer.echo(f"Schema: {to} ({counted(len(schema_facts.tables), 'table')})")


def check(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="What plimsoll learn wrote.")],
    server: Annotated[
        str | None,
        typer.Option(
            "--server",
            autocompletion=complete.servers,
            help="mariadb, mysql, or a full command. Default: the kind of server that wrote the log.",
        ),
    ] = None,
    connections: Annotated[
        int | None,
        typer.Option(
            "--connections",
            min=1,
            max=100_000,
            help="Number of connections. Default: transactions that were open at a time in the log, on average.",
        ),
    ] = None,
    duration: Annotated[str, typer.Option("--duration", help="Length of the run that counts, such as 60s.")] = "60s",
    warm_up: Annotated[str, typer.Option("--warm-up", help="Load before that.")] = "5s",
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**63 - 1, help="Seed of all randomness.")] = 1,
    work_dir: WorkDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run a learned workload on a throwaway server and compare the server's log with the one it was learned from.

    Compares the mix, statements per transaction, rows, pages, handler reads, deadlocks and the shape of response times.
    Writes fidelity.json, fidelity.html and fidelity.md into the folder, and a summary into its workload.toml. The
    server, its data and its log are removed. Deviations are shown; they are no errors.

    Examples:

      plimsoll learn check prod

      plimsoll learn check prod --server mysql --connections 16 --duration 5m
    """
    say_first(f"reading {folder}", is_quiet=as_json)
    from plimsoll.cli.option_values import duration_s
    from plimsoll.run.fidelity import Check, usual_connections, usual_server
    from plimsoll.run.learned_folder import read_learned

    learned = read_learned(folder)
    count, source = usual_connections(learned.demand) if connections is None else (connections, "given")
    wanted = Check(
        server=server or usual_server(learned),
        connections=count,
        connections_from=source,
        warm_up_s=duration_s(warm_up, "--warm-up"),
        duration_s=duration_s(duration, "--duration"),
        seed=seed,
        work_dir=work_dir,
    )
    show_and_write(_fidelity_report(_checked(learned, wanted), folder), folder, as_json=as_json)


def _checked(learned: LearnedFolder, wanted: Check) -> Fidelity:
    from plimsoll.cli.failures import INTERRUPTED
    from plimsoll.cli.progress import load_progress
    from plimsoll.cli.trial import show_interval
    from plimsoll.run.fidelity import Watcher, check_learned
    from plimsoll.run.single import Interrupted

    with load_progress() as progress:
        watcher = Watcher(
            loads=progress.show,
            warns=progress.warn,
            seen=lambda interval: show_interval(interval, connections=wanted.connections),
            reads=progress.show,
        )
        try:
            return check_learned(learned, wanted, watcher)
        except Interrupted as interrupted:
            print(f"nothing was compared: interrupted after {interrupted.load_s:.1f} s of load", file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from None


def _fidelity_report(fidelity: Fidelity, folder: Path) -> Report:
    from plimsoll.guide.learned_load import fidelity_page
    from plimsoll.run.learned_folder import WORKLOAD, checked_workload

    return Report(
        name="fidelity",
        what="comparison",
        shown=fidelity_page(fidelity, is_brief=True),
        page=fidelity_page(fidelity),
        document=fidelity.model_dump_json(indent=1),
        more={WORKLOAD: checked_workload(folder, fidelity)},
    )


app = typer.Typer(cls=Group, rich_markup_mode=None)
app.callback(invoke_without_command=True)(learn)
app.command("digests", cls=Command)(digests)
app.command("report", cls=Command)(report)
app.command("schema", cls=Command)(schema)
app.command("check", cls=Command)(check)
