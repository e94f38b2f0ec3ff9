"""`plimsoll doctor`: what of this machine matters before measuring, and what its client can drive at most."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plimsoll.cli import complete, option_values, options
from plimsoll.cli.help import with_groups
from plimsoll.cli.option_values import counts_of
from plimsoll.cli.options import (
    NO_LOGIN,
    DistributionOption,
    JsonOption,
    Login,
    OptionsOption,
    ServerOption,
    StrictOption,
    TableSizeOption,
    TablesOption,
    WorkloadOption,
)
from plimsoll.cli.streams import say_first, say_reaching

if TYPE_CHECKING:
    from plimsoll.drive.plans import SimShape
    from plimsoll.run.checkup import Check
    from plimsoll.run.instance import Instance
    from plimsoll.run.survey import ClientLimit
    from plimsoll.spec.workloads import Workload


@with_groups
def doctor(
    client: Annotated[
        bool,
        typer.Option("--client", help="Measure the most that this client can drive, and keep it for later trials."),
    ] = False,
    workload: WorkloadOption = "oltp_read_write",
    connections: Annotated[
        str, typer.Option("--connections", metavar="LIST", help="With --client: the numbers of connections to measure.")
    ] = "1,8,64,256",
    duration: Annotated[str, typer.Option("--duration", help="With --client: how long to measure each.")] = "3s",
    tables: TablesOption = None,
    table_size: TableSizeOption = None,
    distribution: DistributionOption = None,
    option: OptionsOption = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            metavar="URL|managed",
            autocompletion=complete.targets,
            help="A server to check as well. With --client and a workload file: a server that has its tables. managed:"
            " a throwaway server.",
        ),
    ] = None,
    server: ServerOption = "mariadb",
    login: Login = NO_LOGIN,
    strict: StrictOption = False,
    as_json: JsonOption = False,
) -> None:
    """Check whether this machine, and a server, is fit to measure.

    Each finding says what was seen, what it does to figures, and what to do about it. With --strict the exit code is 3
    when figures would be wrong or uncertain.

    With --client, the load engine runs against a fake server that answers immediately, over TCP and over a socket. The
    result is the most that this client can drive. Later trials of the same workload on this machine are compared with
    it: a trial that reaches 80 % of it gets the warning client-saturated. The fake server's answers are as large as
    those of a real server. For OLTP workloads they are known, and no server is needed. For a workload file they are
    recorded from --target, which must have its tables: each transaction runs there 20 times and is rolled back.

    Examples:

      plimsoll doctor

      plimsoll doctor --strict --target mysql://bench@db1/sbtest

      plimsoll doctor --client --workload oltp_point_select --connections 16,64,256

      plimsoll doctor --client --workload my-shop.toml --target managed --connections 32
    """
    say_first("measuring this client" if client else "checking this machine", is_quiet=as_json)
    say_reaching(target, server, is_quiet=as_json)
    if not client:
        is_own = target == "managed"
        spec = options.workload_of(workload, option, tables=tables, table_size=table_size) if is_own else None
        _look(spec, target, server, login, strict=strict, as_json=as_json)
        return
    from plimsoll.cli.trial import throwaway
    from plimsoll.run.calibrate import refuse_wrong_server, shapes_of

    spec = options.workload_of(workload, option, tables=tables, table_size=table_size, distribution=distribution)
    levels = counts_of(connections, "--connections")
    duration_s = option_values.duration_s(duration, "--duration")
    refuse_wrong_server(spec, is_given=target is not None)
    with ExitStack() as stack:
        managed = throwaway(stack, server, spec, login, 1, None)[0] if target == "managed" else None
        resolved = managed.target if managed else None if target is None else login.target(target)
        shapes = shapes_of(spec, resolved)
    limits = _calibrated(spec, shapes, levels, duration_s)
    typer.echo(_as_json(limits) if as_json else _limits_text(spec, limits))


def _look(spec: Workload | None, target: str | None, server: str, login: Login, *, strict: bool, as_json: bool) -> None:
    """Looks at this machine and at a server: one of our own with a workload's tables, or one that runs already."""
    from plimsoll.cli.trial import throwaway
    from plimsoll.run.checkup import findings_of
    from plimsoll.run.readiness import refuse_strictly, target_instance

    with ExitStack() as stack:
        instance = None
        if spec is not None:
            instance = throwaway(stack, server, spec, login, 1, None)[0]
        elif target is not None:
            instance = target_instance("the server", login.target(target))
        checks = _looked_at(instance, as_json=as_json)
    if strict:
        refuse_strictly(findings_of(checks))


def _looked_at(instance: Instance | None, *, as_json: bool) -> list[Check]:
    """Everything that was looked at, told."""
    from plimsoll.run.checkup import checks

    all_checks = list(checks(instance))
    typer.echo(_as_json(all_checks) if as_json else _checks_text(all_checks))
    return all_checks


def _as_json(documents: Sequence[Check] | Sequence[ClientLimit]) -> str:
    return json.dumps([document.model_dump(mode="json") for document in documents], indent=2)


def _checks_text(checks: list[Check]) -> str:
    from plimsoll.units import printable

    lines = []
    for check in checks:
        is_noted = check.advice is not None or check.findings
        lines.append(f"{'note' if is_noted else 'ok  '}  {check.name:<28}{printable(check.found)}")
        if check.advice is not None:
            lines.append(f"{'':34}{printable(check.advice)}")
        for finding in check.findings:
            lines.append(f"{'':6}{finding.severity:>10}: {finding.code}: {printable(finding.evidence)}.")
            lines += [f"{'':18}{finding.consequence}", f"{'':18}Cure: {finding.cure}"]
    return "\n".join(lines)


def _calibrated(
    spec: Workload, shapes: Sequence[SimShape], levels: tuple[int, ...], duration_s: float
) -> tuple[ClientLimit, ...]:
    from plimsoll.drive.engine import LocalDriver
    from plimsoll.drive.executable import engine_version
    from plimsoll.run.calibrate import calibrate
    from plimsoll.run.survey import CalibratedWorkload, keep_limits, limits_file, machine_of
    from plimsoll.servers.facts import host_facts

    limits = []
    for by_socket in (False, True):
        for count in levels:
            shown = f"{spec.name}, {count} connections over {'a socket' if by_socket else 'TCP'} ..."
            print(shown, file=sys.stderr)
            driver = LocalDriver()
            limits.append(calibrate(driver, spec, count, shapes=shapes, by_socket=by_socket, duration_s=duration_s))
    entry = CalibratedWorkload(
        machine=machine_of(host_facts()),
        engine_version=engine_version(),
        kind=spec.kind,
        options=spec.options(),
        limits=tuple(limits),
    )
    keep_limits(limits_file(), entry)
    return entry.limits


def _limits_text(spec: Workload, limits: tuple[ClientLimit, ...]) -> str:
    from plimsoll.run.survey import limits_file
    from plimsoll.units import format_ms, format_number, format_rate

    rows: list[Any] = [("connections", "over", "at most", "statements/s", "client us/statement", "response p99")]
    for limit in limits:
        p99 = "unknown" if limit.response_ms_p99 is None else format_ms(limit.response_ms_p99)
        rows.append(
            (
                str(limit.connections),
                "socket" if limit.by_socket else "TCP",
                format_rate(limit.throughput_tps),
                format_number(limit.statements_per_s),
                format_number(limit.cpu_us_per_statement),
                p99,
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(
        [
            f"The most that this client drives with {spec.name}, against a local fake server that answers immediately:",
            *lines,
            f"Saved in {limits_file()}. Trials of this workload on this machine are compared with it.",
        ]
    )
