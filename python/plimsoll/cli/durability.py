"""`plimsoll durability`: what a server loses of acknowledged transactions when it is killed or loses power.

`plimsoll failover` (`failover`) runs its test and shows the result in the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from plimsoll.cli import option_values
from plimsoll.cli.help import FAULTS, FOLDERS, LOAD, SETTINGS
from plimsoll.cli.options import JsonOption, ServerOption
from plimsoll.cli.streams import say_starting

if TYPE_CHECKING:
    from plimsoll.guide.fault_tests import TestPage
    from plimsoll.record.document import Document
    from plimsoll.record.fault_tests import DurabilityRecord

ManagedOption = Annotated[
    str,
    typer.Option("--target", metavar="managed", help="The only value: no other server is killed."),
]
FaultOption = Annotated[
    str,
    typer.Option(
        "--fault",
        help="kill (SIGKILL of the server), power-loss (its device forgets what was not flushed; needs /dev/fuse"
        " and root) or lying-device (it also only says that it flushes: shows that a loss is noticed).",
        rich_help_panel=FAULTS,
    ),
]
FaultsOption = Annotated[
    int, typer.Option("--faults", min=1, max=1000, help="How many under each setting.", rich_help_panel=FAULTS)
]
FlushOption = Annotated[
    str,
    typer.Option("--flush", metavar="LIST", help="Values of innodb_flush_log_at_trx_commit.", rich_help_panel=SETTINGS),
]
SyncOption = Annotated[
    str, typer.Option("--sync-binlog", metavar="LIST", help="Values of sync_binlog.", rich_help_panel=SETTINGS)
]
DoublewriteOption = Annotated[
    str, typer.Option("--doublewrite", metavar="LIST", help="Values of innodb_doublewrite.", rich_help_panel=SETTINGS)
]
WorkersOption = Annotated[
    int, typer.Option("--connections", min=1, max=1024, help="Workers that write at once.", rich_help_panel=LOAD)
]
LoadOption = Annotated[
    str,
    typer.Option(
        "--load",
        help="Length of the throughput measurement, and maximum length of the load before a fault.",
        rich_help_panel=LOAD,
    ),
]
SeedOption = Annotated[
    int, typer.Option("--seed", min=0, max=2**31, help="Seed of all randomness.", rich_help_panel=LOAD)
]
FolderOption = Annotated[
    Path | None,
    typer.Option(
        "-o", "--to", metavar="FOLDER", help="Also write the result there: as JSON, Markdown and one HTML file."
    ),
]
DataDirOption = Annotated[
    Path | None,
    typer.Option(
        "--data-dir", metavar="FOLDER", help="Below which the server's directory is made.", rich_help_panel=FOLDERS
    ),
]
LedgerDirOption = Annotated[
    Path | None,
    typer.Option(
        "--ledger-dir",
        metavar="FOLDER",
        help="Where acknowledged transactions are noted. Default: the system's temporary folder.",
        rich_help_panel=FOLDERS,
    ),
]


def durability(
    target: ManagedOption = "managed",
    fault: FaultOption = "power-loss",
    faults: FaultsOption = 3,
    flush: FlushOption = "0,1,2",
    sync_binlog: SyncOption = "0,1",
    doublewrite: DoublewriteOption = "on,off",
    connections: WorkersOption = 8,
    load: LoadOption = "3s",
    seed: SeedOption = 1,
    server: ServerOption = "mariadb",
    data_dir: DataDirOption = None,
    ledger_dir: LedgerDirOption = None,
    folder: FolderOption = None,
    as_json: JsonOption = False,
) -> None:
    """Test which acknowledged transactions a server loses.

    Workers write numbered transactions on a throwaway server and note, outside of it, which were acknowledged. Then a
    fault comes; recovery is timed, and every acknowledged transaction is looked for. Each setting's throughput stands
    beside what it lost. docs/durability.md says how to read the result, and what it cannot show.

    Ctrl-C prints the settings that were tested. The exit code is 1 if a setting lost what it promises to keep.

    Examples:

      plimsoll durability

      plimsoll durability --server mysql --flush 1 --sync-binlog 1 --faults 50 --json

      plimsoll durability --fault kill --flush 0,2
    """
    say_starting(server, is_quiet=as_json)
    from plimsoll.guide.fault_tests import durability_page
    from plimsoll.run.durability import DurabilityTest, duration_s
    from plimsoll.spec.fault_tests import DurabilitySpec, FaultKind, settings_of
    from plimsoll.units import format_duration
    from plimsoll.wording import counted

    load_s = load_seconds(target, load)
    spec = DurabilitySpec(
        fault=option_values.choice(fault, FaultKind, "--fault"),
        settings=settings_of(flush, sync_binlog, doublewrite),
        faults=faults,
        connections=connections,
        load_s=load_s,
        seed=seed,
    )
    test = DurabilityTest(spec, server=server, data_dir=data_dir, ledger_dir=ledger_dir, say=say)
    settings, each = counted(len(spec.settings), "setting"), counted(spec.faults, "fault")
    say(f"{settings}, {each} each: about {format_duration(duration_s(spec))}")
    raise typer.Exit(run_and_show(test.run, durability_page, _is_kept, folder=folder, as_json=as_json))


def _is_kept(record: DurabilityRecord) -> bool:
    return all(setting.is_kept for setting in record.settings)


_Record = TypeVar("_Record", bound="Document")


def load_seconds(target: str, load: str) -> float:
    """The value of `--load`, seconds, of a test on a throwaway server.

    Raises:
        SpecError: It is out of range, or the target is a server that others use.
    """
    from plimsoll.errors import SpecError

    if target != "managed":
        raise SpecError("--target: must be managed: a server that others use is not killed")
    load_s = option_values.duration_s(load, "--load")
    if not 1 <= load_s <= 600:
        raise SpecError(f"--load: must be from 1s to 10min, is {load}")
    return load_s


def run_and_show(
    run: Callable[[Callable[[_Record], None]], object],
    page_of: Callable[[_Record], TestPage],
    is_kept: Callable[[_Record], bool],
    *,
    folder: Path | None,
    as_json: bool,
) -> int:
    """Tests, and shows what was found, also when somebody ended it; returns the exit code.

    Args:
        run: Runs the test, and hands over what is known so far, again and again.
        page_of: What is shown of it.
        is_kept: Whether the servers kept what they promise.
        folder: Where files are written; None for none.
        as_json: The result is printed as JSON.
    """
    from plimsoll.cli.failures import INTERRUPTED

    known: list[_Record] = []
    try:
        run(known.append)
    except KeyboardInterrupt:
        if known:
            _show(known[-1], page_of(known[-1]), folder=folder, as_json=as_json)
        return INTERRUPTED
    _show(known[-1], page_of(known[-1]), folder=folder, as_json=as_json)
    return 0 if is_kept(known[-1]) else 1


def say(line: str) -> None:
    """A step of the test, on standard error."""
    typer.echo(line, err=True)


def _show(record: Document, page: TestPage, *, folder: Path | None, as_json: bool) -> None:
    from plimsoll.cli.streams import echo_fitted, show
    from plimsoll.guide.fault_tests import write_page
    from plimsoll.guide.terminal_blocks import show_table

    if folder is not None:
        for path in write_page(page, record, folder):
            say(f"wrote {path}")
    if as_json:
        typer.echo(record.model_dump_json(indent=2))
        return
    for table in page.tables:
        show(show_table(table))
    echo_fitted("\n" + "\n".join(page.sentences))
