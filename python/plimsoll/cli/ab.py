"""`plimsoll ab`: which of two or more servers or settings is faster, and by how much, in one line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli import complete, option_values
from plimsoll.cli.help import RECORDING, with_groups
from plimsoll.cli.options import ANY_DATA, NO_LOGIN, DataOptions, JsonOption, Login
from plimsoll.cli.streams import say_connecting, say_starting
from plimsoll.cli.watching import MetricsOption, metrics_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.spec.server_options import OptionValue

SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A server option of one side; once for each side. Several with commas: a=1,b=2. Put quotes around a value"
        ' that holds ",name=", such as optimizer_switch=\'"mrr=on,index_merge=off"\'. If given once, it is compared'
        " with the default; with several servers it holds for all of them.",
    ),
]
ServersOption = Annotated[
    list[str] | None,
    typer.Option(
        "--server",
        metavar="SERVER",
        autocompletion=complete.servers,
        help="The server of one side: mariadb (the default), mysql, or a full command. Once for each side, or once for"
        " all.",
    ),
]
TargetsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--target",
        metavar="URL",
        help="A running server as one side, once for each: mysql://user@host:3306/database. It is not frozen;"
        " missing tables are created and kept.",
    ),
]
ConnectionsOption = Annotated[
    int | None,
    typer.Option("--connections", min=1, max=100_000, help="Number of connections. Default: 8, or 32 with --capacity."),
]
CapacityOption = Annotated[
    str | None,
    typer.Option(
        "--capacity",
        metavar="TIME",
        help="Compare how much load each side bears with 99 % of it answered within this time, such as 50ms.",
    ),
]
LimitOption = Annotated[
    str | None,
    typer.Option(
        "--for",
        metavar="TIME",
        help="Longest time for all of it, setting up included. Default: 2m, or 6m with --capacity.",
    ),
]
SaveOption = Annotated[
    Path | None,
    typer.Option(
        "--save",
        metavar="STUDY",
        help="Keep the study, its recordings and its guide in this new folder.",
        rich_help_panel=RECORDING,
    ),
]


@with_groups
def ab(
    setting: SetOption = None,
    server: ServersOption = None,
    target: TargetsOption = None,
    connections: ConnectionsOption = None,
    capacity: CapacityOption = None,
    limit: LimitOption = None,
    equal_within: Annotated[
        str, typer.Option("--equal-within", metavar="SHARE", help="Share within which sides count as equal.")
    ] = "5%",
    data: DataOptions = ANY_DATA,
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**62, help="Seed of all randomness.")] = 1,
    login: Login = NO_LOGIN,
    save: SaveOption = None,
    metrics: MetricsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say which of two servers or settings is faster, and by how much.

    Throwaway servers take turns of a quarter of a second under the same load; exactly one runs at a time, so that the
    noise of the machine affects all of them (a duet). It ends as soon as the answer is decided, at the latest after
    --for. With more than two sides the first is the one that the others are compared with.

    With --capacity each side gets a rate that rises until most answers are late, in pairs and in random order; at the
    end a steady run of each shows a rate that it holds.

    Ctrl-C ends it with the answer so far. The exit code is 0 whether or not the answer is decided.

    Examples:

      plimsoll ab --set innodb_flush_log_at_trx_commit=1 --set innodb_flush_log_at_trx_commit=2

      plimsoll ab --server /opt/mariadb-11.4/bin/mariadbd --server /opt/mariadb-11.8/bin/mariadbd --for 5m

      plimsoll ab --capacity 50ms --set innodb_flush_log_at_trx_commit=1 --set innodb_flush_log_at_trx_commit=2

      plimsoll ab --target mysql://bench@old/sbtest --target mysql://bench@new/sbtest --password-env PW
    """
    if target and capacity is None:
        say_connecting(*target, is_quiet=as_json)
    elif setting or server:
        say_starting(*(server or ["mariadb"]), is_quiet=as_json)
    from plimsoll.cli.ab_study import compare_sides
    from plimsoll.errors import SpecError
    from plimsoll.spec.ab import Load, sides_of
    from plimsoll.spec.levels import has_own_pace

    sides = sides_of(_settings(setting or []), server or (), target or ())
    workload = data.spec  # its faults are told by the names of options
    if sides[0].target is None and has_own_pace(workload):
        raise SpecError("--workload: has pauses of its own, which go on while its server is frozen; leave them out")
    if capacity is not None and sides[0].target is not None:
        raise SpecError("--capacity: compares servers that Plimsoll starts; a --target cannot be frozen meanwhile")
    load = Load(
        workload=data.keys,
        connections=connections or (8 if capacity is None else 32),
        response_p99_s=None if capacity is None else option_values.duration_s(capacity, "--capacity"),
        limit_s=option_values.duration_s(limit or ("2m" if capacity is None else "6m"), "--for"),
        equal_within=option_values.share(equal_within, "--equal-within"),
        seed=seed,
    )
    with metrics_out(metrics, is_quiet=as_json) as totals:
        raise typer.Exit(compare_sides(sides, load, login, save, totals, as_json=as_json))


def _settings(written: Sequence[str]) -> list[dict[str, OptionValue]]:
    """The options of each side; an empty text for the defaults."""
    parts = (option_values.settings(text) if text.strip() else [] for text in written)
    return [option_values.server_options(part, "--set") for part in parts]
