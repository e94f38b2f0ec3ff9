"""`plimsoll trial`: one measured run, shown as text or JSON."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli import options, trial_result
from plimsoll.cli.clients import (
    AllConnectionsOption,
    ConnectRateOption,
    GiveUpOption,
    NetworkTimeoutOption,
    ReadTimeoutOption,
    RetryOption,
    ThinkTimeOption,
    clients_of,
)
from plimsoll.cli.encryption import (
    CaOption,
    CertOption,
    Encryption,
    GetServerKeyOption,
    KeyOption,
    ServerKeyOption,
    TlsOption,
    refuse_for_managed,
)
from plimsoll.cli.fitted import echo_fitted
from plimsoll.cli.options import (
    ArrivalsOption,
    AskPasswordOption,
    BacklogOption,
    ConnectionsOption,
    DefaultsFileOption,
    DistributionOption,
    JsonOption,
    OptionsOption,
    PasswordEnvOption,
    RateOption,
    ServerOption,
    TableSizeOption,
    TablesOption,
    TargetOrManagedOption,
    WarehousesOption,
    WorkloadOption,
)
from plimsoll.cli.tpcc import warm_up_of

if TYPE_CHECKING:
    from plimsoll.analyse.trial_summary import TrialSummary
    from plimsoll.drive.protocol import Interval
    from plimsoll.run.joined import RecordingWanted
    from plimsoll.run.single_run import SingleRun
    from plimsoll.run.systems import Instance
    from plimsoll.spec.statements import Workload

RecordOption = Annotated[
    Path | None,
    typer.Option("--record", metavar="FOLDER", help="Keep the run as a recording in this folder, for its guide."),
]
RecordSystemOption = Annotated[
    str | None, typer.Option("--record-system", metavar="NAME", help="The system; the server's address if left out.")
]
RecordWorkloadOption = Annotated[
    str | None, typer.Option("--record-workload", metavar="NAME", help="The workload; its kind if left out.")
]

WarmUpOption = Annotated[
    str | None,
    typer.Option("--warm-up", help="How long load runs before it counts: 1s, or until all terminals have begun."),
]

SheetOption = Annotated[
    bool, typer.Option("--sheet", help="With tpcc: tell each departure from the TPC-C specification.")
]


def trial(
    target: TargetOrManagedOption,
    workload: WorkloadOption = "oltp_read_write",
    connections: ConnectionsOption = 1,
    duration: Annotated[str, typer.Option("--duration", help="How long load counts, such as 60s.")] = "10s",
    warm_up: WarmUpOption = None,
    rate: RateOption = None,
    arrivals: ArrivalsOption = "poisson",
    backlog: BacklogOption = 10_000,
    think_time: ThinkTimeOption = None,
    connect_rate: ConnectRateOption = None,
    all_connections: AllConnectionsOption = False,
    retry: RetryOption = None,
    give_up: GiveUpOption = "60s",
    network_timeout: NetworkTimeoutOption = "30s",
    read_timeout: ReadTimeoutOption = "10m",
    tables: TablesOption = None,
    table_size: TableSizeOption = None,
    distribution: DistributionOption = None,
    warehouses: WarehousesOption = None,
    option: OptionsOption = None,
    text: Annotated[bool, typer.Option("--text", help="Send statements as text instead of preparing them.")] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**63 - 1, help="All randomness follows from it.")] = 1,
    server: ServerOption = "mariadb",
    password_env: PasswordEnvOption = None,
    defaults_file: DefaultsFileOption = None,
    ask_password: AskPasswordOption = False,
    tls: TlsOption = None,
    ca: CaOption = None,
    cert: CertOption = None,
    key: KeyOption = None,
    server_public_key_path: ServerKeyOption = None,
    get_server_public_key: GetServerKeyOption = False,
    record: RecordOption = None,
    record_system: RecordSystemOption = None,
    record_workload: RecordWorkloadOption = None,
    sheet: SheetOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run one workload at one level and print what was measured.

    The tables must be there (plimsoll prepare makes them; those that sysbench made fit as well), except with
    --target managed, which starts a throwaway server and loads them.

    Ctrl-C ends the load and prints what was measured until then. With --record the run is added to a folder: the same
    system, workload and level again is one more repetition, others stand beside it in the folder's guide.

    Examples:

      plimsoll trial --target mysql://bench@127.0.0.1/sbtest --password-env PW --connections 16 --record runs

      plimsoll trial --target managed --workload tpcc -o terminals=10 -o times=1 --connections 4 --duration 10m

      plimsoll trial --target managed --rate "2000 for 60s, 500" --connections 32 --duration 120s --json
    """
    from plimsoll.run.joined import recording_wanted
    from plimsoll.run.single_run import SingleRun

    keys = {"tables": tables, "table_size": table_size, "distribution": distribution, "warehouses": warehouses}
    spec = options.workload_of(workload, option, prepared=False if text else None, **keys)
    wanted = options.arrivals_of(rate, process=arrivals, backlog_max=backlog)
    clients = clients_of(
        think_time=think_time, connect_rate=connect_rate, all_connections=all_connections, retry=retry, give_up=give_up,
        network_timeout=network_timeout, read_timeout=read_timeout, is_open=wanted is not None)  # fmt: skip
    warm_up_s = warm_up_of(spec, warm_up, connections, clients, is_open=wanted is not None)
    duration_s = options.duration_s(duration, "--duration")
    encryption: Encryption = {"tls": tls, "ca": ca, "cert": cert, "key": key,
        "server_public_key_path": server_public_key_path, "get_server_public_key": get_server_public_key}  # fmt: skip
    kept = recording_wanted(record, record_system, record_workload, wanted)
    with ExitStack() as stack:
        managed = _throwaway(stack, server, spec, encryption, connections, kept) if target == "managed" else None
        resolved = managed.target if managed else options.resolve_target(target, password_env=password_env,
            defaults_file=defaults_file, ask_password=ask_password, encryption=encryption)  # fmt: skip
        run = SingleRun(workload=spec, target=resolved, managed=managed, connections=connections, warm_up_s=warm_up_s,
            duration_s=duration_s, seed=seed, arrivals=wanted, clients=clients)  # fmt: skip
        raise typer.Exit(_measure_and_show(run, kept, as_json=as_json, whole_sheet=sheet))


def _measure_and_show(run: SingleRun, kept: RecordingWanted | None, *, as_json: bool, whole_sheet: bool) -> int:
    """Measures, shows what was measured and what was kept; returns the exit code."""
    from plimsoll.cli.failures import INTERRUPTED
    from plimsoll.errors import TargetError
    from plimsoll.record.model import Verdict
    from plimsoll.run.single import Interrupted
    from plimsoll.units import printable

    code, measured, notes = 0, None, tuple[str, ...]()
    try:
        measured, notes = _measured(run, kept)
    except Interrupted as interrupted:
        code, measured, notes = INTERRUPTED, interrupted.measured, interrupted.notes
        if measured is None:
            print(f"nothing was measured: interrupted after {interrupted.load_s:.1f} s of load", file=sys.stderr)
    if measured is not None:
        result = trial_result.result_of(measured, run.arrivals)
        told = trial_result.shown(result, as_json=as_json, whole_sheet=whole_sheet)
        echo_fitted(told, is_text=not as_json)
    for note in notes:
        typer.echo(f"plimsoll: {printable(note)}", err=True)
    if measured is not None and measured.outcome.verdict is Verdict.FAILED:  # the figures are evidence, and no result
        raise TargetError(measured.outcome.reason or "")
    return code


def _throwaway(
    stack: ExitStack,
    server: str,
    workload: Workload,
    encryption: Encryption,
    connections: int,
    kept: RecordingWanted | None,
) -> Instance:
    """A server with the workload's rows that ends with the stack. It has no use for encryption."""
    from plimsoll.cli.progress import load_progress
    from plimsoll.drive.engine import LocalDriver
    from plimsoll.run.keeper import DataKeeper
    from plimsoll.run.throwaway import machines_of, throwaway_server
    from plimsoll.spec.terminals import background_connections

    connections += background_connections(workload)
    refuse_for_managed(encryption)
    progress = stack.enter_context(load_progress())
    keeper = DataKeeper(driver=LocalDriver(), data_sets=(workload,), progress=progress.show, warn=progress.warn)
    machines = None if kept is None else machines_of(kept.study, progress.measured_again)
    return stack.enter_context(throwaway_server(server, keeper, connections=connections, machines=machines))


def _measured(run: SingleRun, kept: RecordingWanted | None) -> tuple[TrialSummary, tuple[str, ...]]:
    """What was measured between two looks at the consistency of the rows, where the workload asks for them."""
    from plimsoll.record.model import Verdict
    from plimsoll.run.single import record_single, run_single

    _look_at_consistency(run, "before the load")
    seen = partial(_show_interval, connections=run.connections)
    measured, notes = (run_single(run, seen), ()) if kept is None else record_single(run, kept, seen)
    if measured.outcome.verdict is not Verdict.FAILED:  # a server that does not answer says nothing about its rows
        _look_at_consistency(run, "after the load")
    return measured, notes


def _look_at_consistency(run: SingleRun, when: str) -> None:
    from plimsoll.cli.progress import load_progress
    from plimsoll.run.single import refuse_inconsistent

    with load_progress() as progress:
        refuse_inconsistent(run, when, progress.show)


def _show_interval(interval: Interval, *, connections: int) -> None:
    from plimsoll.run.rows import oldest_in_flight_ms, response_ms_p99, responses
    from plimsoll.units import format_ms, format_rate

    p99, response, oldest = response_ms_p99([interval]), responses([interval]), oldest_in_flight_ms(interval)
    if response is None:
        shown = "nothing completed" + ("" if oldest is None else f", the oldest in flight for {format_ms(oldest)}")
    elif p99 is None:  # of fewer than 100 transactions
        shown = f"response max {format_ms(response.max_ns / 1e6)}"
    else:
        shown = f"response p99 {format_ms(p99)}"
    waiting = sum(group.backlog_count for group in interval.groups)
    shown += f", {waiting:,} waiting" if waiting else ""
    connected = sum(group.connected_count for group in interval.groups)
    shown += f", {connected:,} of {connections:,} connections" if connected < connections else ""
    print(f"{interval.to_ns / 1e9:6.1f} s  {format_rate(interval.throughput_tps):>12}  {shown}", file=sys.stderr)
