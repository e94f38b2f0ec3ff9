"""What this client can drive at most: the load engine against a fake server that answers every statement at once.

The fake server is a process of its own, on the same machine and reached the same way as the real one, with the same
statements and as many rows in its answers. It takes processor time too, so on a machine that the client shares with it
the figure is rather too low than too high.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from plimsoll.analyse.durations import durations
from plimsoll.analyse.trial_summary import TrialSummary
from plimsoll.drive.engine import Driver
from plimsoll.drive.plans import SimColumn, SimShape, sim_line
from plimsoll.drive.protocol import Interval, Listening
from plimsoll.errors import HostError, SpecError, TargetError
from plimsoll.run.answers import answers
from plimsoll.run.client_limits import ClientLimit
from plimsoll.run.single import run_single
from plimsoll.run.single_run import SingleRun
from plimsoll.spec.statements import StatementsSpec, Workload
from plimsoll.spec.target import Target
from plimsoll.spec.tpcc import TpccSpec

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
    by_socket: bool,
    duration_s: float,
    seen: Callable[[Interval], None] = lambda _: None,
) -> ClientLimit:
    """Measures what this client reaches with so many connections that never rest.

    Raises:
        HostError, EngineBugError: The engine or the fake server cannot be run, or ended before the other.
        InvalidTrialError, TargetError: Nothing completed, or nothing any more at the end.
    """
    with fake_server(driver, workload, by_socket=by_socket) as target:
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
def fake_server(driver: Driver, workload: Workload, *, by_socket: bool) -> Iterator[Target]:
    """A fake server for a workload; it ends with the context.

    Raises:
        HostError, EngineBugError: It cannot be had.
    """
    with tempfile.TemporaryDirectory(prefix="plimsoll-sim-") as folder:
        socket = Path(folder) / "socket" if by_socket else None
        with driver.launch("sim", sim_line(socket, shapes_of(workload))) as server:
            port = server.expect(Listening).port
            if socket is None:
                yield Target(user="sim", database="sim", host="127.0.0.1", port=port)
            else:
                yield Target(user="sim", database="sim", socket=socket)


def shapes_of(workload: Workload) -> tuple[SimShape, ...]:
    """Result sets as large as the workload's statements get from a real server.

    Raises:
        SpecError: The workload goes on with what it reads, which no fake server can answer.
    """
    if isinstance(workload, StatementsSpec):
        return tuple(answer.shape for answer in answers(workload))
    if isinstance(workload, TpccSpec):
        raise SpecError("the fake server has no rows that tpcc could work on; take another workload")
    sum_, c, row = ((SimColumn("c", size),) for size in (_SUM_BYTES, _C_BYTES, _ROW_BYTES))
    return (
        SimShape("SUM(", 1, sum_),
        SimShape("count(", 1, sum_),
        SimShape(" IN (", workload.random_points, row),
        SimShape("BETWEEN", workload.range_size, c),
        SimShape("between", workload.range_size, c),
        SimShape("SELECT", 1, c),
    )
