"""`plimsoll doctor`: what of this machine matters before measuring, and what its client can drive at most."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plimsoll.cli import options
from plimsoll.cli.option_values import counts_of
from plimsoll.cli.options import (
    DistributionOption,
    JsonOption,
    OptionsOption,
    TableSizeOption,
    TablesOption,
    WorkloadOption,
)

if TYPE_CHECKING:
    from plimsoll.run.checkup import Check
    from plimsoll.run.client_limits import ClientLimit
    from plimsoll.spec.statements import Workload


def doctor(
    client: Annotated[
        bool, typer.Option("--client", help="Find out what this client drives at most, and keep it for later trials.")
    ] = False,
    workload: WorkloadOption = "oltp_read_write",
    connections: Annotated[
        str, typer.Option("--connections", metavar="LIST", help="With --client: numbers of connections.")
    ] = "1,8,64,256",
    duration: Annotated[str, typer.Option("--duration", help="With --client: how long each is measured.")] = "3s",
    tables: TablesOption = None,
    table_size: TableSizeOption = None,
    distribution: DistributionOption = None,
    option: OptionsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Look at this machine before it measures others.

    With --client the load engine runs against a fake server that answers at once, over TCP and over a socket. Trials of
    the same workload on this machine are then compared with it: one that reaches 80 % of what the client can do is
    warned about, since the client may be what limits it. For a workload file the fake server answers with as many rows
    and columns as its statements get from a real one, as far as their text and the tables of the file tell.

    Examples:

      plimsoll doctor

      plimsoll doctor --client --workload oltp_point_select --connections 16,64,256

      plimsoll doctor --client --workload my-shop.toml --connections 32
    """
    if not client:
        _show_checks(as_json=as_json)
        return
    spec = options.workload_of(workload, option, tables=tables, table_size=table_size, distribution=distribution)
    levels = counts_of(connections, "--connections")
    limits = _calibrated(spec, levels, options.duration_s(duration, "--duration"))
    typer.echo(json.dumps([one.model_dump() for one in limits], indent=2) if as_json else _limits_text(spec, limits))


def _show_checks(*, as_json: bool) -> None:
    from dataclasses import asdict

    from plimsoll.run.checkup import checks

    found = list(checks())
    typer.echo(json.dumps([asdict(one) for one in found], indent=2) if as_json else _checks_text(found))


def _checks_text(found: list[Check]) -> str:
    from plimsoll.units import printable

    lines = []
    for one in found:
        lines.append(f"{'ok  ' if one.advice is None else 'look'}  {one.name:<28}{printable(one.found)}")
        if one.advice is not None:
            lines.append(f"{'':34}{printable(one.advice)}")
    return "\n".join(lines)


def _calibrated(spec: Workload, levels: tuple[int, ...], duration_s: float) -> tuple[ClientLimit, ...]:
    from plimsoll.drive.engine import LocalDriver
    from plimsoll.drive.executable import engine_version
    from plimsoll.run.calibrate import calibrate
    from plimsoll.run.client_limits import CalibratedWorkload, keep_limits, limits_file, machine_of
    from plimsoll.servers.facts import host_facts

    _tell_assumed(spec)
    found = []
    for by_socket in (False, True):
        for count in levels:
            shown = f"{spec.name}, {count} connections over {'a socket' if by_socket else 'TCP'} ..."
            print(shown, file=sys.stderr)
            found.append(calibrate(LocalDriver(), spec, count, by_socket=by_socket, duration_s=duration_s))
    entry = CalibratedWorkload(
        machine=machine_of(host_facts()),
        engine_version=engine_version(),
        kind=spec.kind,
        options=spec.options(),
        limits=tuple(found),
    )
    keep_limits(limits_file(), entry)
    return entry.limits


def _tell_assumed(spec: Workload) -> None:
    """Says which statements get a number of rows that could not be told."""
    from plimsoll.run.answers import ROWS_ASSUMED, answers
    from plimsoll.spec.statements import StatementsSpec

    if not isinstance(spec, StatementsSpec):
        return
    for place in sorted(answer.place for answer in answers(spec) if answer.is_assumed):
        print(f"{place}: how many rows it gets is not known; {ROWS_ASSUMED} are assumed", file=sys.stderr)


def _limits_text(spec: Workload, limits: tuple[ClientLimit, ...]) -> str:
    from plimsoll.run.client_limits import limits_file
    from plimsoll.units import format_ms, format_number, format_rate

    rows: list[Any] = [("connections", "over", "at most", "statements/s", "client us/statement", "response p99")]
    for one in limits:
        p99 = "unknown" if one.response_ms_p99 is None else format_ms(one.response_ms_p99)
        rows.append(
            (
                str(one.connections),
                "socket" if one.by_socket else "TCP",
                format_rate(one.throughput_tps),
                format_number(one.statements_per_s),
                format_number(one.cpu_us_per_statement),
                p99,
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(
        [
            f"What this client reaches with {spec.name} against a fake server beside it that answers at once:",
            *lines,
            f"Kept in {limits_file()}: trials of this workload on this machine are compared with it.",
        ]
    )
