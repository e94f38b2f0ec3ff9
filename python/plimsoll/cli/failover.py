"""`plimsoll failover`: how long clients stand still when the source dies, and what is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli import option_values
from plimsoll.cli.durability import (
    DataDirOption,
    FolderOption,
    LedgerDirOption,
    ManagedOption,
    SeedOption,
    WorkersOption,
    load_seconds,
    run_and_show,
    say,
)
from plimsoll.cli.help import FAULTS, LOAD, REPLICATION
from plimsoll.cli.options import JsonOption, ServerOption
from plimsoll.cli.streams import say_starting

if TYPE_CHECKING:
    from plimsoll.spec.hooks import HookSpec

ReplicasOption = Annotated[
    int,
    typer.Option("--replicas", min=1, max=16, help="How many replicas the source has.", rich_help_panel=REPLICATION),
]
ReplicationOption = Annotated[
    str,
    typer.Option(
        "--replication",
        help="async, or semisync: a commit waits until replicas have received it.",
        rich_help_panel=REPLICATION,
    ),
]
SemisyncReplicasOption = Annotated[
    int,
    typer.Option(
        "--semisync-replicas",
        min=1,
        max=16,
        help="With semisync: how many replicas a commit waits for. MariaDB: 1.",
        rich_help_panel=REPLICATION,
    ),
]
DelayOption = Annotated[
    str,
    typer.Option(
        "--replication-delay",
        help="One-way delay between source and replicas, such as 2ms.",
        rich_help_panel=REPLICATION,
    ),
]
FaultOption = Annotated[
    str,
    typer.Option(
        "--fault",
        help="kill (SIGKILL of the source) or cut-off (replicas receive nothing for the last half second before it).",
        rich_help_panel=FAULTS,
    ),
]
FaultsOption = Annotated[
    int, typer.Option("--faults", min=1, max=1000, help="Number of faults.", rich_help_panel=FAULTS)
]
LoadOption = Annotated[
    str, typer.Option("--load", help="Maximum length of the load before a fault.", rich_help_panel=LOAD)
]
PromoteOption = Annotated[
    str | None,
    typer.Option(
        "--promote",
        metavar="COMMAND",
        help="Chooses the next source: the last line that it writes is the name of a replica. Default: the replica that"
        " has received most.",
        rich_help_panel=FAULTS,
    ),
]
PromoteLimitOption = Annotated[
    str,
    typer.Option(
        "--promote-limit", help="How long the command may take. Its time is part of the outage.", rich_help_panel=FAULTS
    ),
]
ServerOptionsOption = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="KEY=VALUE", help="A server option, such as sync_binlog=1. Repeatable."),
]


def failover(
    target: ManagedOption = "managed",
    replicas: ReplicasOption = 2,
    replication: ReplicationOption = "async",
    semisync_replicas: SemisyncReplicasOption = 1,
    replication_delay: DelayOption = "0s",
    fault: FaultOption = "kill",
    faults: FaultsOption = 3,
    promote: PromoteOption = None,
    promote_limit: PromoteLimitOption = "60s",
    connections: WorkersOption = 8,
    load: LoadOption = "3s",
    seed: SeedOption = 1,
    server: ServerOption = "mariadb",
    option: ServerOptionsOption = None,
    data_dir: DataDirOption = None,
    ledger_dir: LedgerDirOption = None,
    folder: FolderOption = None,
    as_json: JsonOption = False,
) -> None:
    """Time failovers from a source to a replica, and find what is lost.

    Workers write numbered transactions on a throwaway source with replicas, and note which were acknowledged. The
    source is killed; a replica applies what it received and is promoted; the workers go on there. The outage is shown
    by its parts, and every acknowledged transaction is looked for. docs/failover.md says how to read the result.

    Ctrl-C prints the faults that were tested. The exit code is 1 if semisync lost an acknowledged transaction, or if
    data was corrupt.

    Examples:

      plimsoll failover

      plimsoll failover --server mysql --replication semisync --replication-delay 2ms --faults 20

      plimsoll failover --promote ./choose-replica -o failover-report
    """
    say_starting(server, is_quiet=as_json)
    from plimsoll.errors import SpecError
    from plimsoll.guide.fault_tests import failover_page
    from plimsoll.run.failover import FailoverTest, duration_s
    from plimsoll.spec.fault_tests import FailoverFault, FailoverSpec, Replication
    from plimsoll.units import format_duration
    from plimsoll.wording import counted

    load_s = load_seconds(target, load)
    delay_s = option_values.duration_s(replication_delay, "--replication-delay")
    if not 0 <= delay_s <= 10:
        raise SpecError(f"--replication-delay: must be from 0s to 10s, is {replication_delay}")
    spec = FailoverSpec(
        fault=option_values.choice(fault, FailoverFault, "--fault"),
        replicas=replicas,
        replication=option_values.choice(replication, Replication, "--replication"),
        semisync_replicas=semisync_replicas,
        replication_delay_s=delay_s,
        options=option_values.server_options(option or ()),
        faults=faults,
        connections=connections,
        load_s=load_s,
        seed=seed,
        promote=_hook(promote, promote_limit),
    )
    test = FailoverTest(spec, server=server, data_dir=data_dir, ledger_dir=ledger_dir, say=say)
    say(f"{counted(spec.faults, 'fault')}: about {format_duration(duration_s(spec))}")
    raise typer.Exit(
        run_and_show(test.run, failover_page, lambda record: record.is_kept, folder=folder, as_json=as_json)
    )


def _hook(command: str | None, limit: str) -> HookSpec | None:
    """The command that chooses.

    Raises:
        SpecError: It cannot be split into words, or the limit is none.
    """
    from pydantic import ValidationError

    from plimsoll.errors import SpecError
    from plimsoll.spec.hooks import HookSpec

    limit_s = option_values.duration_s(limit, "--promote-limit")
    if limit_s <= 0:
        raise SpecError(f"--promote-limit: must be above 0s, is {limit}")
    if command is None:
        return None
    try:
        return HookSpec.model_validate({"command": command, "limit": limit})
    except ValidationError as error:
        why = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise SpecError(f"--promote: {why}, is {command!r}") from None
