"""Measure the measurer: planted bottlenecks in made-up telemetry are named, and waits where nothing is busy."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.explain.where_model import WherePart, WhereTime, WhereVerdict
from plimsoll.guide.where_time import where_sentence
from plimsoll.record.environment import ClientFacts, Environment, HostFacts
from plimsoll.record.frames import TELEMETRY
from support.endure import draws, in_endure, slack
from support.made import STARTED_UNIX_S, Made, measured

LEVELS = (1, 4, 16)
CPUS = 4
SECONDS = 14
BLOCKS = (0.0, in_endure(1.0), 3.0)
"""How much repetitions differ as wholes, as multiples of the noise within them."""


def world(random: np.random.Generator, *, block: float, noise: float = 0.03, **planted: float) -> list[Made]:
    """Trials at three levels and in three repetitions; throughput falls short of linear by what is planted.

    `cpu_ms`, `device_ms`, `link_ms`: demands, the last one of a network link to a client elsewhere; `virtual_link`: to
    a client elsewhere, over a link that tells no speed; `device_parallel`: how many requests the device serves at once,
    which its busy time does not show; `row_lock_ms`, `hidden_ms`, `client_ms`: waits per transaction, and processor
    time of the client, at the highest level, growing.
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
                planted.get("device_parallel", 1) / planted["device_ms"] * 970 if planted.get("device_ms") else np.inf,
                1 / planted["link_ms"] * 970 if planted.get("link_ms") else np.inf,
            )
            tps = min(limits) * float(np.exp(random.standard_normal() * noise + start))
            lock_ms = planted.get("row_lock_ms", 0.0) * grown * float(np.exp(random.standard_normal() * noise))
            recordings.append(_trial(tps, connections, repetition, grown, planted, lock_ms))
    return recordings


def _trial(
    tps: float, connections: int, repetition: int, grown: float, planted: dict[str, float], lock_ms: float
) -> Made:
    cpu = min(tps * planted["cpu_ms"] / 1000 / CPUS, 1.0)
    device = min(tps * planted.get("device_ms", 0.001) / 1000, 1.0)
    is_elsewhere = bool(planted.get("link_ms") or planted.get("virtual_link"))
    driver = "there" if is_elsewhere else "here"
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
            ("host", "", "network_eth0_sent_bytes_per_s"): 1000 * tps,
            **({("host", "", "network_eth0_used_ratio"): _used(tps, planted)} if "link_ms" in planted else {}),
        }
        of_client = {
            ("host", "", metric.replace("eth0", "eth7")): value
            for (_, _, metric), value in values.items()
            if is_elsewhere and metric.startswith("network_")
        }
        rows += [
            {
                "driver": driver,
                "host": host,
                "instance": instance,
                "unix_s": STARTED_UNIX_S + second,
                "source": source,
                "metric": metric,
                "value": value,
            }
            for host, figures in (("here", values), ("there", of_client))
            for (source, instance, metric), value in figures.items()
        ]
    return measured(
        np.full(SECONDS - 2, tps),
        environment=Environment(
            host=HostFacts(name="here", cpu_cores=CPUS, cpu_threads=CPUS),
            client=ClientFacts(on_server_host=not is_elsewhere),
        ),
        telemetry=pl.DataFrame(rows, schema=TELEMETRY),
        response_ns=response_ns,
        connections=connections,
        repetition=repetition,
    )


def _used(tps: float, planted: dict[str, float]) -> float:
    return min(tps * planted["link_ms"] / 1000, 1.0)


SEEDS = draws(3, 8)
"""Studies of each kind of which all must be right."""
MANY_SEEDS = draws(10, 20)
"""Those of which nine of ten must be: where half are in truth, that is seen in 98 of 100."""


def where(block: float, seed: int, **planted: float) -> WhereTime:
    (found,) = analyse("made", world(np.random.default_rng(seed), block=block, **planted)).where_time
    return found


@pytest.mark.parametrize("block", BLOCKS)
def test_planted_bottlenecks_are_named(block: float) -> None:
    for seed in range(SEEDS):
        cpu = where(block, seed, cpu_ms=4.0, device_ms=0.2)
        device = where(block, seed, cpu_ms=1.0, device_ms=2.0)
        assert cpu.resource == "cpu", seed
        assert device.resource == "data device of one", seed
        assert {cpu.verdict, device.verdict} <= {WhereVerdict.SATURATED, WhereVerdict.FIRST_TO_SATURATE}
        assert device.what_if is None
        assert cpu.what_if is not None
        assert cpu.what_if.limited_by == "cpu"


@pytest.mark.parametrize("block", BLOCKS)
def test_saturation_lies_within_its_interval(block: float) -> None:
    """A transaction takes 4 ms of one of 4 CPUs: 1,000 a second."""
    hits = 0
    for seed in range(MANY_SEEDS):
        cpu = next(demand for demand in where(block, seed, cpu_ms=4.0).demands if demand.resource == "cpu")
        estimate = cpu.saturation_tps
        hits += 990 <= estimate.value <= 1010 or (
            estimate.bounds is not None and estimate.bounds.low <= 1000 <= estimate.bounds.high
        )
    assert hits >= 0.9 * MANY_SEEDS


@pytest.mark.parametrize("block", BLOCKS)
def test_waits_are_named_where_nothing_is_busy(block: float) -> None:
    for seed in range(SEEDS):
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


@pytest.mark.parametrize("block", BLOCKS)
def test_twice_the_cpus_may_give_more_than_a_busy_device_suggests(block: float) -> None:
    """The device is busy all the time from 1,053 tps on and serves 8 requests at once: 1,940 tps are possible."""
    for seed in range(SEEDS):
        found = where(block, seed, cpu_ms=4.0, device_ms=0.95, device_parallel=8)
        if found.resource != "cpu":  # nothing is promised for what limits otherwise
            assert (found.resource, found.rival, found.what_if) == ("data device of one", "cpu", None)
            continue
        what_if = found.what_if
        assert what_if is not None
        assert (what_if.limited_by, what_if.device) == ("cpu", "data device of one")
        assert what_if.bound_tps.value >= 1940
        assert what_if.device_busy_tps is not None
        assert what_if.device_busy_tps.value == pytest.approx(1053, rel=0.1)


def test_twice_the_cpus_stop_at_a_link() -> None:
    """The processors saturate at 1,000 tps, the link at 1,250: twice the processors do not give 2,000."""
    found = where(0.0, 1, cpu_ms=4.0, link_ms=0.8)
    assert found.what_if is not None
    assert found.what_if.limited_by.startswith("network eth")
    assert found.what_if.bound_tps.value == pytest.approx(1250, rel=0.05)


@pytest.mark.parametrize("block", BLOCKS)
def test_a_full_link_is_named_and_an_unknown_one_is_not_ruled_out(block: float) -> None:
    for seed in range(SEEDS):
        full = where(block, seed, cpu_ms=1.0, link_ms=2.0)
        assert full.verdict in {WhereVerdict.SATURATED, WhereVerdict.FIRST_TO_SATURATE}
        assert {full.resource, full.rival} == {"network eth0", "network eth7 of the client"}, "both ends are as full"
        assert full.is_network_known
        hidden = where(block, seed, cpu_ms=1.0, hidden_ms=40.0, virtual_link=1.0)
        assert hidden.verdict is WhereVerdict.UNEXPLAINED_WAIT_GROWS
        assert not hidden.is_network_known
        assert "neither processors nor disks limit throughput" in where_sentence(hidden, "tps")
        assert where(block, seed, cpu_ms=1.0, hidden_ms=40.0, link_ms=0.01).is_network_known


STUDIES = draws(20, 60)


def share_named_alone(block: float, count: int) -> float:
    """Of studies in which row locks and a hidden wait of 20 ms each grow alike: those that prefer one of them."""
    alone = 0
    for seed in range(count):
        found = where(block, seed, cpu_ms=1.0, row_lock_ms=20.0, hidden_ms=20.0)
        assert {found.part, *found.rival_parts} <= {WherePart.ROW_LOCKS, WherePart.UNEXPLAINED}
        alone += not found.rival_parts
        assert found.table == (None if found.part is WherePart.UNEXPLAINED and not found.rival_parts else "shop.stock")
    return alone / count


@pytest.mark.parametrize("block", BLOCKS)
def test_of_equal_waits_none_is_named_alone(block: float) -> None:
    """In at most one study in twenty, and three standard errors; where one in three is, that is seen in 94 of 100."""
    assert share_named_alone(block, STUDIES) <= 0.05 + slack(0.05, STUDIES)


@pytest.mark.parametrize("block", BLOCKS)
def test_a_wait_that_clearly_leads_is_named_alone(block: float) -> None:
    """30 ms against 10 ms, although both grew."""
    found = [where(block, seed, cpu_ms=1.0, row_lock_ms=30.0, hidden_ms=10.0) for seed in range(MANY_SEEDS)]
    assert all(one.part is WherePart.ROW_LOCKS for one in found)
    assert sum(not one.rival_parts for one in found) >= 0.9 * MANY_SEEDS
    covered = [one.growth_bounds is not None and one.growth_bounds.low <= 30 <= one.growth_bounds.high for one in found]
    assert sum(covered) >= 0.85 * MANY_SEEDS


@pytest.mark.parametrize("block", BLOCKS)
def test_the_clients_processor_time_is_named_and_parts_add_up(block: float) -> None:
    for seed in range(SEEDS):
        client = where(block, seed, cpu_ms=1.0, client_ms=40.0, row_lock_ms=10.0)
        assert (client.verdict, client.part, client.table) == (WhereVerdict.WAIT_GROWS, WherePart.CLIENT_CPU, None), (
            seed
        )
        last = client.levels[-1]
        outside_ms = last.outside_ms.get(WherePart.CLIENT_CPU, 0.0)  # noise may leave too little room
        assert last.parts_ms[WherePart.CLIENT_CPU] + outside_ms == pytest.approx(40.0, rel=0.05)
        assert client.levels[-1].parts_ms[WherePart.ROW_LOCKS] == pytest.approx(10.0, rel=0.05)
        for level in client.levels:
            assert level.response_ms is not None
            assert sum(level.parts_ms.values()) == pytest.approx(level.response_ms)
