"""What this client can drive at most: the load engine against a fake server that answers every statement at once.

The fake server is a process of its own, on the same machine and reached the same way as the real one, with the same
statements and answers as large: those of the OLTP workloads are known, those of a workload file are recorded from a
real server. It takes processor time too, so on a machine that the client shares with it the figure is rather too low
than too high.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from plimsoll.analyse.trial.histograms import durations
from plimsoll.analyse.trial.trial_summary import TrialSummary
from plimsoll.drive.engine import Driver
from plimsoll.drive.plans import SimColumn, SimShape, sim_line
from plimsoll.drive.protocol import Interval, Listening
from plimsoll.errors import HostError, SpecError, TargetError
from plimsoll.private_folder import PrivateFolder
from plimsoll.run.server_answers import recorded_answers
from plimsoll.run.single import SingleRun, run_single
from plimsoll.run.survey import ClientLimit
from plimsoll.servers.control import connect
from plimsoll.spec.oltp import WorkloadSpec
from plimsoll.spec.target import Target
from plimsoll.spec.tpcc import TpccSpec
from plimsoll.spec.workloads import StatementsSpec, Workload

_C_BYTES = 119
"""Length of column c of the OLTP tables."""

_SUM_BYTES = 12

_ROW_BYTES = 200
"""A whole row of them."""


def calibrate(
    driver: Driver,
    workload: Workload,
    connections: int,
    *,
    shapes: Sequence[SimShape],
    by_socket: bool,
    duration_s: float,
    seen: Callable[[Interval], None] = lambda _: None,
) -> ClientLimit:
    """Measures what this client reaches with so many connections that never rest.

    Raises:
        HostError, EngineBugError: The engine or the fake server cannot be run, or ended before the other.
        InvalidTrialError, TargetError: Nothing completed, or nothing any more at the end.
    """
    with fake_server(driver, shapes, by_socket=by_socket) as target:
        run = SingleRun(
            workload=workload.without_pauses() if isinstance(workload, StatementsSpec) else workload,
            target=target,
            connections=connections,
            warm_up_s=1.0,
            duration_s=duration_s,
            seed=1,
            look_first=False,
        )
        summary = run_single(run, seen)
    if summary.outcome.reason is not None:
        raise TargetError(f"the fake server: {summary.outcome.reason}")
    _refuse_errors(summary)
    counts = summary.counts
    assert counts is not None, "a measured run has counts"
    response = durations(summary.histograms.get("response"))
    return ClientLimit(
        connections=connections,
        by_socket=by_socket,
        throughput_tps=summary.throughput_tps,
        statements_per_s=counts.statements / counts.duration_s,
        cpu_us_per_statement=summary.client_us_per_statement or 0.0,
        response_ms_p99=response.p99,
    )


def _refuse_errors(summary: TrialSummary) -> None:
    """A fake server that answers everything gives no errors: any means that it was not there all the time."""
    if summary.outcome.outages_count or summary.errors:
        raise HostError(
            "the fake server was gone for a part of the measurement, so its figures say nothing of the client and are"
            " not kept; run the same command again"
        )


@contextmanager
def fake_server(
    driver: Driver, shapes: Sequence[SimShape], *, by_socket: bool, delay_s: float = 0.0
) -> Iterator[Target]:
    """A fake server that answers with these result sets, so long after each statement; it ends with the context.

    Raises:
        HostError, EngineBugError: It cannot be had.
    """
    with PrivateFolder("sim") as folder:
        socket = folder / "socket" if by_socket else None
        with driver.launch("sim", sim_line(socket, shapes, delay_s=delay_s)) as server:
            port = server.expect(Listening).port
            if socket is None:
                yield Target(user="sim", database="sim", host="127.0.0.1", port=port)
            else:
                yield Target(user="sim", database="sim", socket=socket)


def refuse_wrong_server(workload: Workload, *, is_given: bool) -> None:
    """Refuses a workload for which no answers can be had, one that needs a real server, and a server that it needs not.

    Args:
        workload: What the client is to drive.
        is_given: There is a real server.

    Raises:
        SpecError: One of these, with the cure.
    """
    if isinstance(workload, TpccSpec):
        raise SpecError("the fake server cannot serve tpcc; choose another workload")
    if isinstance(workload, StatementsSpec) and not is_given:
        raise SpecError(
            f"--target: is missing; what a server answers to the statements of {workload.name} is recorded from one"
            " that has their tables: give its URL (plimsoll prepare makes the tables), or --target managed, which"
            " starts a throwaway server"
        )
    if isinstance(workload, WorkloadSpec) and is_given:
        raise SpecError(f"--target: is of no use to {workload.name}, whose answers are known; leave it out")


def shapes_of(workload: Workload, target: Target | None = None) -> tuple[SimShape, ...]:
    """Result sets as large as the workload's statements get from a real server.

    Args:
        workload: One that `refuse_wrong_server` takes.
        target: For a workload file: a server that has its tables.

    Raises:
        TargetError: It cannot be reached, or refuses a statement.
    """
    if isinstance(workload, StatementsSpec) and target is not None:
        with connect(target) as control:
            return recorded_answers(workload, control)
    assert isinstance(workload, WorkloadSpec), "others were refused before"
    sum_, c, row = ((SimColumn("c", size),) for size in (_SUM_BYTES, _C_BYTES, _ROW_BYTES))
    return (
        SimShape("SUM(", 1, sum_),
        SimShape("count(", 1, sum_),
        SimShape(" IN (", workload.random_points, row),
        SimShape("BETWEEN", workload.range_size, c),
        SimShape("between", workload.range_size, c),
        SimShape("SELECT", 1, c),
    )
