"""`plimsoll trial`: one measured run, shown as text or JSON."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli import options, trial_result
from plimsoll.cli.clients import (
    AllConnectionsOption,
    ConnectRateOption,
    GiveUpOption,
    RetryOption,
    ThinkTimeOption,
    clients_of,
)
from plimsoll.cli.fitted import echo_fitted
from plimsoll.cli.options import (
    ArrivalsOption,
    AskPasswordOption,
    BacklogOption,
    CaOption,
    CertOption,
    ConnectionsOption,
    DefaultsFileOption,
    DistributionOption,
    JsonOption,
    KeyOption,
    OptionsOption,
    PasswordEnvOption,
    RateOption,
    ServerOption,
    TableSizeOption,
    TablesOption,
    TargetOrManagedOption,
    TlsOption,
    WarehousesOption,
    WorkloadOption,
)
from plimsoll.cli.tpcc import warm_up_of

if TYPE_CHECKING:
    from plimsoll.analyse.trial_summary import TrialSummary
    from plimsoll.drive.protocol import Interval
    from plimsoll.run.single import SingleRun
    from plimsoll.spec.statements import Workload
    from plimsoll.spec.target import Target

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
    sheet: SheetOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run one workload at one level and print what was measured.

    The tables must be there (plimsoll prepare makes them; those that sysbench made fit as well), except with
    --target managed, which starts a throwaway server and loads them.

    Examples:

      plimsoll trial --target mysql://bench@127.0.0.1/sbtest --password-env PW --connections 16 --duration 60s

      plimsoll trial --target mysql://bench@127.0.0.1/sbtest --connections 10000 --think-time 10s --connect-rate 500

      plimsoll trial --target mysql://bench@127.0.0.1/tpcc --workload tpcc --warehouses 100 --connections 32

      plimsoll trial --target managed --workload tpcc -o terminals=10 -o times=1 --connections 4 --duration 10m

      plimsoll trial --target managed --rate "2000 for 60s, 500" --connections 32 --duration 120s --json
    """
    from plimsoll.run.single import SingleRun

    keys = {"tables": tables, "table_size": table_size, "distribution": distribution, "warehouses": warehouses}
    spec = options.workload_of(workload, option, prepared=False if text else None, **keys)
    wanted = options.arrivals_of(rate, process=arrivals, backlog_max=backlog)
    clients = clients_of(
        think_time=think_time, connect_rate=connect_rate, all_connections=all_connections, retry=retry, give_up=give_up,
        is_open=wanted is not None)  # fmt: skip
    warm_up_s = warm_up_of(spec, warm_up, connections, clients, is_open=wanted is not None)
    duration_s = options.duration_s(duration, "--duration")
    encryption = {"tls": tls, "ca": ca, "cert": cert, "key": key}
    with ExitStack() as stack:
        if target == "managed":
            resolved = _throwaway(stack, server, spec, encryption, connections=connections)
        else:
            resolved = options.resolve_target(target, password_env=password_env, defaults_file=defaults_file,
                ask_password=ask_password, encryption=encryption)  # fmt: skip
        run = SingleRun(workload=spec, target=resolved, connections=connections, warm_up_s=warm_up_s,
            duration_s=duration_s, seed=seed, arrivals=wanted, clients=clients)  # fmt: skip
        result = trial_result.result_of(_measured(run), wanted)
    echo_fitted(trial_result.shown(result, as_json=as_json, whole_sheet=sheet), is_text=not as_json)


def _throwaway(
    stack: ExitStack, server: str, workload: Workload, encryption: dict[str, str | None], *, connections: int
) -> Target:
    """A server with the workload's rows that ends with the stack. It has no use for encryption."""
    from plimsoll.cli.progress import load_progress
    from plimsoll.drive.engine import LocalDriver
    from plimsoll.run.keeper import DataKeeper
    from plimsoll.run.single import throwaway_target
    from plimsoll.spec.terminals import background_connections

    connections += background_connections(workload)
    options.refuse_for_managed(encryption)
    progress = stack.enter_context(load_progress())
    keeper = DataKeeper(driver=LocalDriver(), data_sets=(workload,), progress=progress.show, warn=progress.warn)
    return stack.enter_context(throwaway_target(server, keeper, connections=connections))


def _measured(run: SingleRun) -> TrialSummary:
    """What was measured between two looks at the consistency of the rows, where the workload asks for them."""
    from plimsoll.run.single import run_single

    _look_at_consistency(run, "before the load")
    measured = run_single(run, partial(_show_interval, connections=run.connections))
    _look_at_consistency(run, "after the load")
    return measured


def _look_at_consistency(run: SingleRun, when: str) -> None:
    from plimsoll.cli.progress import load_progress
    from plimsoll.run.single import refuse_inconsistent

    with load_progress() as progress:
        refuse_inconsistent(run, when, progress.show)


def _show_interval(interval: Interval, *, connections: int) -> None:
    from plimsoll.run.rows import response_ms_p99
    from plimsoll.units import format_ms, format_rate

    p99 = response_ms_p99([interval])
    shown = "nothing completed" if p99 is None else f"response p99 {format_ms(p99)}"
    waiting = sum(group.backlog_count for group in interval.groups)
    shown += f", {waiting:,} waiting" if waiting else ""
    connected = sum(group.connected_count for group in interval.groups)
    shown += f", {connected:,} of {connections:,} connections" if connected < connections else ""
    print(f"{interval.to_ns / 1e9:6.1f} s  {format_rate(interval.throughput_tps):>12}  {shown}", file=sys.stderr)
