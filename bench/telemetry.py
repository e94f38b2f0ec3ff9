"""What telemetry costs in throughput: sampling many times a second against none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import polars as pl

from bench.ground import Ground
from bench.options import Options
from bench.rows import Section
from bench.switched import DOSE, compared
from plimsoll.run.instance import Instance
from plimsoll.run.watch import Watch, watching
from plimsoll.spec.oltp import OltpKind

CASES: tuple[tuple[OltpKind, int, float], ...] = (("oltp_read_write", 16, 0.99), ("oltp_point_select", 4096, 0.98))
"""Workload, connections, and throughput with telemetry over that without as it should be.

With thousands of connections on few processors, transactions of many statements take longer than a block.
"""


def compare_telemetry(ground: Ground, options: Options) -> Section:
    """Throughput with all samplers against none."""
    server = ground.server
    instance = Instance(name="bench", target=server.target, pid=server.pid, data_dir=server.directory.data)

    @contextmanager
    def sampling(engine_pid: int, doses: list[int]) -> Iterator[None]:
        watch = Watch()
        with watching([instance], host="bench", engine_pid=engine_pid, watch=watch, interval_s=1 / DOSE):
            yield
        doses.append(watch.take().filter(pl.col("metric") == "innodb_data_reads").height)

    rows = (compared(ground, options, case, sampling, what="telemetry", dose="samplings") for case in CASES)
    return Section(title="Telemetry on against off", rows=tuple(rows))
