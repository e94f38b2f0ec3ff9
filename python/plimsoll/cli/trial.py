"""`plimsoll trial`: one measured run, shown as text or JSON, and options about how its clients behave.

These are think time, connecting and errors. Deliberately not here: what is printed of the result (`trial_result`).
"""

from __future__ import annotations

import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli import option_values, options
from plimsoll.cli.help import ARRIVALS, CLIENTS, with_groups
from plimsoll.cli.options import (
    NO_LOGIN,
    NO_RECORD,
    ArrivalsOption,
    BacklogOption,
    ConnectionsOption,
    DistributionOption,
    DriversOption,
    JsonOption,
    Login,
    OptionsOption,
    RateOption,
    RecordOptions,
    ReplicasOption,
    ServerOption,
    TableSizeOption,
    TablesOption,
    TargetOrManagedOption,
    WarehousesOption,
    WorkloadOption,
    warm_up_of,
)
from plimsoll.cli.streams import echo_fitted, say_reaching
from plimsoll.cli.watching import UNWATCHED, WatchOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from plimsoll.analyse.trial.trial_summary import TrialSummary
    from plimsoll.drive.protocol import Interval
    from plimsoll.errors import Fault
    from plimsoll.run.instance import Instance
    from plimsoll.run.single import RecordingWanted, SingleRun
    from plimsoll.spec.clients import Clients, OpenArrivals
    from plimsoll.spec.target import Target
    from plimsoll.spec.workloads import Workload

ThinkTimeOption = Annotated[
    str | None,
    typer.Option(
        "--think-time",
        metavar="TIME",
        help="Think time: pause between two transactions of a connection. A mean such as 5s draws exponentially"
        " distributed pauses; a range such as 1s..5s draws them uniformly.",
        rich_help_panel=CLIENTS,
    ),
]
ConnectRateOption = Annotated[
    float | None,
    typer.Option(
        "--connect-rate",
        metavar="N",
        help="Open at most N connections per second. Default: as fast as possible.",
        rich_help_panel=CLIENTS,
    ),
]
AllConnectionsOption = Annotated[
    bool,
    typer.Option(
        "--all-connections",
        help="Fail if any connection cannot be opened. Default: run with those that opened.",
        rich_help_panel=CLIENTS,
    ),
]
RetryOption = Annotated[
    list[str] | None,
    typer.Option(
        "--retry",
        metavar="RULE",
        help="Retry transactions after these errors: CODES[:TIMES[:PAUSE]], such as 1213,1205:10:5ms; or none."
        " Repeatable. Default: 1213,1205,1020:99.",
        rich_help_panel=CLIENTS,
    ),
]
BurstinessOption = Annotated[
    float,
    typer.Option(
        "--burstiness",
        metavar="N",
        help="With --rate: index of dispersion of arrivals over long windows. 1: independent arrivals. plimsoll learn"
        " report shows that of a log.",
        rich_help_panel=ARRIVALS,
    ),
]
GiveUpOption = Annotated[
    str,
    typer.Option(
        "--give-up",
        metavar="TIME",
        help="End the load after this long without any connection.",
        rich_help_panel=CLIENTS,
    ),
]


NetworkTimeoutOption = Annotated[
    str,
    typer.Option(
        "--network-timeout",
        metavar="TIME",
        help="A connection counts as lost after this long without a packet from the server's machine. Does not limit"
        " how long a statement may take.",
        rich_help_panel=CLIENTS,
    ),
]
ReadTimeoutOption = Annotated[
    str,
    typer.Option(
        "--read-timeout",
        metavar="TIME",
        help="A connection counts as lost after a statement has gone unanswered for this long. none: wait for ever.",
        rich_help_panel=CLIENTS,
    ),
]

WarmUpOption = Annotated[
    str | None,
    typer.Option("--warm-up", help="Load before the measurement. Default: 1s, or until all terminals have started."),
]

SheetOption = Annotated[
    bool, typer.Option("--sheet", help="With tpcc: list every deviation from the TPC-C specification.")
]


@with_groups
def trial(
    target: TargetOrManagedOption,
    workload: WorkloadOption = "oltp_read_write",
    connections: ConnectionsOption = 1,
    duration: Annotated[str, typer.Option("--duration", help="Length of the measurement, such as 60s.")] = "10s",
    warm_up: WarmUpOption = None,
    rate: RateOption = None,
    arrivals: ArrivalsOption = "poisson",
    backlog: BacklogOption = 10_000,
    burstiness: BurstinessOption = 1.0,
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
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**63 - 1, help="Seed of all randomness.")] = 1,
    drivers: DriversOption = None,
    server: ServerOption = "mariadb",
    replicas: ReplicasOption = 0,
    login: Login = NO_LOGIN,
    record: RecordOptions = NO_RECORD,
    sheet: SheetOption = False,
    watch: WatchOptions = UNWATCHED,
    as_json: JsonOption = False,
) -> None:
    """Run one workload at one level and print the result.

    The tables must exist: plimsoll prepare or sysbench creates them. --target managed starts a server and loads them.

    Ctrl-C ends the load and prints what was measured so far. With --record the run is added to a folder. Another run
    of the same system, workload and level is a repetition; anything else is compared with it in the guide.

    Examples:

      plimsoll trial --target mysql://bench@127.0.0.1/sbtest --password-env PW --connections 16 --record runs

      plimsoll trial --target managed --workload tpcc -o terminals=10 -o times=1 --connections 4 --duration 10m

      plimsoll trial --target managed --rate "2000 for 60s, 500" --connections 32 --duration 2m --metrics 127.0.0.1:9464
    """
    say_reaching(target, server, is_quiet=as_json)
    from plimsoll.run.single import SingleRun

    load = load_of(workload=workload, connections=connections, duration=duration, warm_up=warm_up, rate=rate,
        arrivals=arrivals, backlog=backlog, burstiness=burstiness, think_time=think_time, connect_rate=connect_rate,
        all_connections=all_connections, retry=retry, give_up=give_up, network_timeout=network_timeout,
        read_timeout=read_timeout, tables=tables, table_size=table_size, distribution=distribution,
        warehouses=warehouses, option=option, text=text)  # fmt: skip
    shared = options.drivers_of(drivers, connections, is_managed=target == "managed")
    kept = record.wanted(load.arrivals)
    with watch.metrics_out(is_quiet=as_json), ExitStack() as stack:
        resolved, started = _servers(target, login, replicas,
            lambda: throwaway(stack, server, load.workload, login, connections, kept, replicas))  # fmt: skip
        run = SingleRun(workload=load.workload, target=resolved, managed=next(iter(started), None),
            connections=connections, warm_up_s=load.warm_up_s, duration_s=load.duration_s, seed=seed,
            arrivals=load.arrivals, clients=load.clients, drivers=shared, replicas=tuple(started[1:]))  # fmt: skip
        wanted = _shown_folder(stack, kept, watch) if watch.web else kept
        show = Shown(is_recorded=kept is not None, plain=watch.no_progress, as_json=as_json, whole_sheet=sheet)
        raise typer.Exit(_measure_and_show(run, wanted, show))


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedLoad:
    """What load is asked for, whatever server it is for.

    Attributes:
        workload: With its tables.
        arrivals: At a target rate; None for a closed loop.
        clients: How they behave.
        warm_up_s: Load before the measurement, seconds.
        duration_s: Length of the measurement, seconds.
    """

    workload: Workload
    arrivals: OpenArrivals | None
    clients: Clients
    warm_up_s: float
    duration_s: float


def load_of(
    *, workload: str, connections: int, duration: str, warm_up: str | None, rate: str | None, arrivals: str,
    backlog: int, burstiness: float, think_time: str | None, connect_rate: float | None, all_connections: bool,
    retry: list[str] | None, give_up: str, network_timeout: str, read_timeout: str, tables: int | None,
    table_size: int | None, distribution: str | None, warehouses: int | None, option: list[str] | None, text: bool,
) -> AskedLoad:  # fmt: skip
    """The load that the options of `plimsoll trial` ask for, each by its name.

    Raises:
        SpecError: An option's value is wrong, or some do not go together.
    """
    keys = {"tables": tables, "table_size": table_size, "distribution": distribution, "warehouses": warehouses}
    spec = options.workload_of(workload, option, prepared=False if text else None, **keys)
    wanted = options.arrivals_of(rate, process=arrivals, backlog_max=backlog)
    is_open = wanted is not None
    clients = clients_of(think_time=think_time, connect_rate=connect_rate, all_connections=all_connections, retry=retry,
        give_up=give_up, network_timeout=network_timeout, read_timeout=read_timeout, burstiness=burstiness,
        is_open=is_open)  # fmt: skip
    return AskedLoad(
        workload=spec,
        arrivals=wanted,
        clients=clients,
        warm_up_s=warm_up_of(spec, warm_up, connections, clients, is_open=is_open),
        duration_s=option_values.duration_s(duration, "--duration"),
    )


def _servers(
    target: str, login: Login, replicas: int, start: Callable[[], Sequence[Instance]]
) -> tuple[Target, Sequence[Instance]]:
    """The server that is reached, and those that were started for it: none where it runs already."""
    from plimsoll.errors import SpecError

    if target == "managed":
        started = start()
        return started[0].target, started
    if replicas:
        raise SpecError("--replicas: start with --target managed only; in a study file, targets name running ones")
    return login.target(target), ()


def _shown_folder(stack: ExitStack, kept: RecordingWanted | None, watch: WatchOptions) -> RecordingWanted:
    """Where a run is recorded that a page shows until the stack ends: for that time only, where it is kept nowhere."""
    from plimsoll.private_folder import PrivateFolder
    from plimsoll.run.single import RecordingWanted

    wanted = kept or RecordingWanted(study=stack.enter_context(PrivateFolder("trial")) / "r")
    stack.enter_context(watch.page_of(wanted.study))
    return wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What is printed of a run.

    Attributes:
        is_recorded: The user asked for the recording, so its place is printed. Without it a recording may still be
            made, for the page that shows the run.
        plain: Lines while load runs, on a terminal too.
        as_json: The result as JSON.
        whole_sheet: Every deviation from the TPC-C specification.
    """

    is_recorded: bool
    plain: bool
    as_json: bool
    whole_sheet: bool


def _measure_and_show(run: SingleRun, wanted: RecordingWanted | None, show: Shown) -> int:
    """Measures, shows what was measured and what was kept; returns the exit code."""
    from plimsoll.analyse.answers.trial_result import trial_result
    from plimsoll.cli.failures import INTERRUPTED
    from plimsoll.cli.trial_result import result_text
    from plimsoll.errors import TargetError
    from plimsoll.record.model import Verdict
    from plimsoll.run.single import Interrupted
    from plimsoll.units import printable

    code, measured, notes = 0, None, tuple[str, ...]()
    try:
        measured, notes = _measured(run, wanted, show)
    except Interrupted as interrupted:
        code, measured, notes = INTERRUPTED, interrupted.measured, interrupted.notes if show.is_recorded else ()
        if measured is None:
            print(f"nothing was measured: interrupted after {interrupted.load_s:.1f} s of load", file=sys.stderr)
    if measured is not None:
        result = trial_result(measured, run.arrivals)
        text = result.model_dump_json(indent=2) if show.as_json else result_text(result, whole_sheet=show.whole_sheet)
        echo_fitted(text, is_text=not show.as_json)
    for note in notes:
        typer.echo(f"plimsoll: {printable(note)}", err=True)
    if measured is not None and measured.outcome.verdict is Verdict.FAILED:  # the figures are evidence, and no result
        raise TargetError(measured.outcome.reason or "")
    return code


def throwaway(
    stack: ExitStack,
    server: str,
    workload: Workload,
    login: Login,
    connections: int,
    kept: RecordingWanted | None,
    replicas: int = 0,
) -> tuple[Instance, ...]:
    """A server with the workload's rows, and its replicas, that end with the stack. They have no use for encryption."""
    from plimsoll.cli.progress import load_progress
    from plimsoll.drive.engine import LocalDriver
    from plimsoll.run.system_data import DataKeeper
    from plimsoll.run.systems import machines_of, throwaway_server
    from plimsoll.spec.levels import background_connections

    connections += background_connections(workload)
    login.refuse_for_managed()
    with load_progress() as progress:
        keeper = DataKeeper(driver=LocalDriver(), data_sets=(workload,), progress=progress.show, warn=progress.warn)
        machines = None if kept is None else machines_of(kept.study, progress.measured_again)
        made = throwaway_server(server, keeper, connections=connections, machines=machines, replicas=replicas)
        return stack.enter_context(made)


def _measured(run: SingleRun, wanted: RecordingWanted | None, show: Shown) -> tuple[TrialSummary, tuple[str, ...]]:
    """What was measured between two looks at the consistency of the rows, where the workload asks for them."""
    from plimsoll.record.model import Verdict
    from plimsoll.run.replicas import refuse_different_replicas
    from plimsoll.run.single import named_instances, record_single, run_single

    _look_at_consistency(run, "before the load")
    with _seconds_shown(run, plain=show.plain) as seen:
        measured, notes = (run_single(run, seen), ()) if wanted is None else record_single(run, wanted, seen)
    notes = notes if show.is_recorded else ()
    if measured.outcome.verdict is not Verdict.FAILED:  # a server that does not answer says nothing about its rows
        _look_at_consistency(run, "after the load")
        if run.managed is not None and run.replicas:
            servers = named_instances(run, "managed", run.managed)
            notes = (*notes, refuse_different_replicas(servers, run.workload.table_names).removeprefix("; "))
    return measured, notes


def _look_at_consistency(run: SingleRun, when: str) -> None:
    from plimsoll.cli.progress import load_progress
    from plimsoll.run.single import refuse_inconsistent

    with load_progress() as progress:
        refuse_inconsistent(run, when, progress.show)


@contextmanager
def _seconds_shown(run: SingleRun, *, plain: bool) -> Iterator[Callable[[Interval], None]]:
    """What shows each interval of the load: a panel on a terminal, a line for each elsewhere."""
    from rich.console import Group

    from plimsoll.cli.panel import Bar, LastMinute, left_words, line_of, panel_on, stderr_console
    from plimsoll.run.rows import response_ms_p99
    from plimsoll.units import format_duration

    minute, total_s = LastMinute(), run.warm_up_s + run.duration_s
    with panel_on(stderr_console(), is_wanted=not plain) as panel:
        if panel is None:
            yield partial(show_interval, connections=run.connections)
            return

        def show(interval: Interval) -> None:
            at_s = interval.to_ns / 1e9
            minute.add(interval.throughput_tps, response_ms_p99([interval]))
            done = f"{format_duration(at_s)} of {format_duration(total_s)}, {left_words(total_s - at_s)}"
            state = "warm" if at_s <= run.warm_up_s else "measure"
            words = line_of(f"  {state}: {_interval_words(interval, run.connections)}", style="bold")
            panel.update(Group(Bar(at_s / total_s, done), words, minute), is_rare=False)

        yield show


def show_interval(interval: Interval, *, connections: int) -> None:
    """Prints a line on one interval of the load to standard error."""
    from plimsoll.units import format_rate

    rate = f"{interval.to_ns / 1e9:6.1f} s  {format_rate(interval.throughput_tps):>12}"
    print(f"{rate}  {_interval_words(interval, connections)}", file=sys.stderr)


def _interval_words(interval: Interval, connections: int) -> str:
    """What an interval saw besides its throughput."""
    from plimsoll.run.rows import oldest_in_flight_ms, response_ms_p99, responses
    from plimsoll.units import format_ms

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
    return shown + (f", {connected:,} of {connections:,} connections" if connected < connections else "")


def clients_of(
    *,
    think_time: str | None,
    connect_rate: float | None,
    all_connections: bool,
    retry: list[str] | None,
    give_up: str,
    network_timeout: str,
    read_timeout: str,
    burstiness: float,
    is_open: bool,
) -> Clients:
    """How clients behave, from options of the command line.

    Args:
        think_time: `--think-time`; each of the others is the option of its name.
        connect_rate: Connections per second.
        all_connections: Whether all are needed.
        retry: Rules, as typed.
        give_up: A time.
        network_timeout: A time.
        read_timeout: A time, or none.
        burstiness: A number from 1.
        is_open: Transactions are due at a target rate.

    Raises:
        SpecError: An option's value is wrong.
    """
    from pydantic import ValidationError

    from plimsoll.errors import SpecError
    from plimsoll.spec.clients import Clients
    from plimsoll.spec.fields import faults_of

    if is_open and think_time is not None:
        raise SpecError("--think-time: belongs to a closed loop; with --rate nobody waits for the last transaction")
    if not is_open and burstiness != 1:
        raise SpecError("--burstiness: belongs to load at a rate; add --rate, or leave it out")
    written: dict[str, object] = {
        "think_time": _think_time(think_time),
        "connect_per_s": connect_rate,
        "all_connections": all_connections,
        "burstiness": burstiness,
        "reconnect": {"give_up": give_up, "network_timeout": network_timeout, "read_timeout": read_timeout},
    }
    if retry:
        written["retry"] = _rules(retry)
    try:
        return Clients.model_validate(written)
    except ValidationError as error:
        raise SpecError(*(_as_option(fault) for fault in faults_of(error))) from None


def _think_time(text: str | None) -> object:
    if text is None or ".." not in text:
        return text
    least, _, most = text.partition("..")
    return {"min": least, "max": most}


def _rules(texts: list[str]) -> list[object]:
    from plimsoll.errors import SpecError
    from plimsoll.spec.clients import parse_retry

    if texts == ["none"]:
        return []
    try:
        return [parse_retry(text) for text in texts]
    except SpecError as error:
        raise SpecError(*(f"--retry: {fault}" for fault in error.faults)) from None


_OPTIONS = {
    "think_time": "--think-time",
    "connect_per_s": "--connect-rate",
    "retry": "--retry",
    "burstiness": "--burstiness",
    "give_up": "--give-up",
    "network_timeout": "--network-timeout",
    "read_timeout": "--read-timeout",
}


def _as_option(fault: Fault) -> str:
    """Names the option instead of the field."""
    field = next(part for part in fault.path if part != "reconnect")
    return f"{_OPTIONS[str(field)]}: {fault.reason}"
