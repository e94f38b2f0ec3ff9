"""Measure the measurer: planted bottlenecks in made-up telemetry are named, and waits where nothing is busy."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from plimsoll.analyse.study import analyse
from plimsoll.analyse.where_model import WherePart, WhereTime, WhereVerdict
from plimsoll.record.environment import ClientFacts, Environment, HostFacts
from plimsoll.record.frames import TELEMETRY
from unit.analyse.made import STARTED_UNIX_S, Made, measured

LEVELS = (1, 4, 16)
CPUS = 4
SECONDS = 14


def world(random: np.random.Generator, *, block: float, noise: float = 0.03, **planted: float) -> list[Made]:
    """Trials at three levels and in three repetitions; throughput falls short of linear by what is planted.

    `cpu_ms`, `device_ms`: demands; `row_lock_ms`, `hidden_ms`, `client_ms`: waits per transaction, and processor time
    of the client, at the highest level, growing.
    """
    recordings = []
    for repetition in range(3):
        start = random.standard_normal() * noise * block
        for connections in LEVELS:
            grown = (connections - 1) / (LEVELS[-1] - 1)
            wait_ms = grown * sum(planted.get(f"{name}_ms", 0.0) for name in ("row_lock", "hidden", "client"))
            own_ms = planted["cpu_ms"] + planted.get("device_ms", 0.0)
            limits = (
                connections / (own_ms + wait_ms) * 1000,
                CPUS / planted["cpu_ms"] * 970,
                1 / planted["device_ms"] * 970 if planted.get("device_ms") else np.inf,
            )
            tps = min(limits) * float(np.exp(random.standard_normal() * noise + start))
            recordings.append(_trial(tps, connections, repetition, grown, planted))
    return recordings


def _trial(tps: float, connections: int, repetition: int, grown: float, planted: dict[str, float]) -> Made:
    cpu = min(tps * planted["cpu_ms"] / 1000 / CPUS, 1.0)
    device = min(tps * planted.get("device_ms", 0.001) / 1000, 1.0)
    lock_ms = planted.get("row_lock_ms", 0.0) * grown
    response_ns = np.full(200, int(connections / tps * 1e9))
    rows = []
    for second in range(SECONDS + 1):
        values = {
            ("host", "", "cpu_idle_ratio"): 1 - cpu,
            ("host", "", "cpu_iowait_ratio"): 0.0,
            **{("host", "", f"cpu{index}_busy_ratio"): cpu for index in range(CPUS)},
            ("process", "one", "server_cpu_user_s_per_s"): cpu * CPUS,
            ("process", "one", "server_cpu_ratio"): cpu,
            ("process", "one", "client_cpu_ratio"): 0.0,
            ("process", "", "client_cpu_user_s_per_s"): planted.get("client_ms", 0.0) * grown * tps / 1000,
            ("device", "one", "busy_ratio"): device,
            ("server", "one", "questions"): 20 * tps * second,
            ("server", "one", "innodb_row_lock_time"): lock_ms * tps * second,
            ("waits", "one", "row_lock_waiters_shop.stock"): 3.0 if lock_ms else 0.0,
        }
        rows += [
            {
                "driver": "here",
                "host": "here",
                "instance": instance,
                "unix_s": STARTED_UNIX_S + second,
                "source": source,
                "metric": metric,
                "value": value,
            }
            for (source, instance, metric), value in values.items()
        ]
    return measured(
        np.full(SECONDS - 2, tps),
        environment=Environment(
            host=HostFacts(name="here", cpu_cores=CPUS, cpu_threads=CPUS), client=ClientFacts(on_server_host=True)
        ),
        telemetry=pl.DataFrame(rows, schema=TELEMETRY),
        response_ns=response_ns,
        connections=connections,
        repetition=repetition,
    )


def where(block: float, seed: int, **planted: float) -> WhereTime:
    (found,) = analyse("made", world(np.random.default_rng(seed), block=block, **planted)).where_time
    return found


@pytest.mark.parametrize("block", [0.0, 1.0, 3.0])
def test_planted_bottlenecks_are_named(block: float) -> None:
    for seed in range(8):
        cpu = where(block, seed, cpu_ms=4.0, device_ms=0.2)
        device = where(block, seed, cpu_ms=1.0, device_ms=2.0)
        assert cpu.resource == "cpu", seed
        assert device.resource == "data device of one", seed
        assert {cpu.verdict, device.verdict} <= {WhereVerdict.SATURATED, WhereVerdict.FIRST_TO_SATURATE}
        assert device.what_if is None
        assert cpu.what_if is not None
        assert cpu.what_if.limited_by == "cpu"


@pytest.mark.parametrize("block", [0.0, 1.0, 3.0])
def test_saturation_lies_within_its_interval(block: float) -> None:
    """A transaction takes 4 ms of one of 4 CPUs: 1,000 a second."""
    hits = 0
    for seed in range(20):
        cpu = next(one for one in where(block, seed, cpu_ms=4.0).demands if one.resource == "cpu")
        estimate = cpu.saturation_tps
        hits += 990 <= estimate.value <= 1010 or (
            estimate.bounds is not None and estimate.bounds.low <= 1000 <= estimate.bounds.high
        )
    assert hits >= 18


@pytest.mark.parametrize("block", [0.0, 1.0, 3.0])
def test_waits_are_named_where_nothing_is_busy(block: float) -> None:
    for seed in range(8):
        locks = where(block, seed, cpu_ms=1.0, row_lock_ms=40.0)
        hidden = where(block, seed, cpu_ms=1.0, hidden_ms=40.0)
        assert (locks.verdict, locks.part, locks.table) == (
            WhereVerdict.WAIT_GROWS,
            WherePart.ROW_LOCKS,
            "shop.stock",
        ), seed
        assert hidden.verdict is WhereVerdict.UNEXPLAINED_WAIT_GROWS, seed
        assert hidden.resource is locks.resource is None
        assert (hidden.levels[-1].unexplained_ratio or 0.0) > 0.9


def test_what_if_stops_at_the_next_resource() -> None:
    """The processors saturate at 1,000 tps, the device at 1,250: twice the processors do not give 2,000."""
    found = where(0.0, 1, cpu_ms=4.0, device_ms=0.8)
    assert found.what_if is not None
    assert found.what_if.limited_by == "data device of one"
    assert found.what_if.bound_tps.value == pytest.approx(1250, rel=0.05)


@pytest.mark.parametrize("block", [0.0, 1.0, 3.0])
def test_the_clients_processor_time_is_named_and_parts_add_up(block: float) -> None:
    for seed in range(8):
        client = where(block, seed, cpu_ms=1.0, client_ms=40.0, row_lock_ms=10.0)
        assert (client.verdict, client.part, client.table) == (WhereVerdict.WAIT_GROWS, WherePart.CLIENT_CPU, None), (
            seed
        )
        last = client.levels[-1]
        outside_ms = last.outside_ms.get(WherePart.CLIENT_CPU, 0.0)  # noise may leave too little room
        assert last.parts_ms[WherePart.CLIENT_CPU] + outside_ms == pytest.approx(40.0, rel=0.05)
        assert client.levels[-1].parts_ms[WherePart.ROW_LOCKS] == pytest.approx(10.0, rel=0.05)
        for one in client.levels:
            assert one.response_ms is not None
            assert sum(one.parts_ms.values()) == pytest.approx(one.response_ms)
