"""What metrics cost in throughput: intervals that are added up and read by a scraper, against none.

The reader is a thread of the same process, so its own cost is in. What is read has as many series as a TPC-C-derived
load has, which has the most types of transactions.
"""

from __future__ import annotations

import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

from bench.clients import Load
from bench.ground import Ground
from bench.options import Options
from bench.rows import Section
from bench.switched import DOSE, compared
from plimsoll.drive.protocol import Interval
from plimsoll.metrics.prometheus import SCRAPER, Address, Endpoint
from plimsoll.metrics.totals import Totals
from plimsoll.record.model import Window
from plimsoll.run.live import LiveInterval, live_interval
from plimsoll.spec.oltp import OltpKind
from plimsoll.telemetry.sampler import yield_to_others

CASES: tuple[tuple[OltpKind, int, float], ...] = (("oltp_read_write", 16, 0.99),)
"""Workload, connections, and throughput with metrics over that without as it should be."""

TYPES = ("delivery", "new_order", "order_status", "payment", "stock_level")


def compare_metrics(ground: Ground, options: Options) -> Section:
    """Throughput with a read each second against none."""
    interval = a_second(ground)

    @contextmanager
    def reading(_engine_pid: int, doses: list[int]) -> Iterator[None]:
        totals, ended = Totals(), threading.Event()
        with Endpoint(Address("127.0.0.1", 0), lambda: totals.readings) as endpoint:
            reads = [0]

            def read() -> None:
                yield_to_others()
                due_s = time.monotonic()
                while not ended.wait(max(0.0, due_s - time.monotonic())):
                    totals.observe(interval)
                    request = urllib.request.Request(endpoint.url, headers={SCRAPER: "1"})
                    with urllib.request.urlopen(request, timeout=60) as answer:
                        answer.read()
                    reads[0] += 1
                    due_s += 1 / DOSE

            reader = threading.Thread(target=read, daemon=True)
            reader.start()
            yield
            ended.set()
            reader.join()
        doses.append(reads[0])

    rows = (compared(ground, options, case, reading, what="metrics", dose="reads") for case in CASES)
    return Section(title="Metrics read each second against not at all", rows=tuple(rows))


def a_second(ground: Ground) -> LiveInterval:
    """A second of a real load, as five types of transactions."""
    load = Load(workload=ground.workload("oltp_read_write"), connections=16, duration_s=2.0)
    _, messages = ground.engine.intervals(load)
    last = [message for message in messages if isinstance(message, Interval)][-1]
    window = Window(first=0, last=10**6)  # its copies count too
    seen = live_interval(last, trial_id="t", began_unix_s=0.0, window=window, telemetry=())
    (transactions,) = seen.transactions.values()
    return seen.model_copy(update={"transactions": dict.fromkeys(TYPES, transactions)})
