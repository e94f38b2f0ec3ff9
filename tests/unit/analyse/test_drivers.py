"""Trials that several drivers shared: merged for what is said of the trial, apart for what is doubtful about one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.trial.drivers import expected_ratios
from plimsoll.analyse.trial.trial_summary import summarise
from plimsoll.record import frames
from plimsoll.record.environment import ClientFacts, Environment, HostFacts
from plimsoll.record.level import Level
from plimsoll.record.model import DriverRecord, Outcome
from support.made import STARTED_UNIX_S, Made, histogram_table, interval_table, measured, trial_record
from support.told import evidence_of

MS = 1_000_000
SECONDS = 12
FIRST = 2


@dataclass(frozen=True)
class Driver:
    """What one driver did in each second."""

    tps: float = 500.0
    service_ms: float = 2.0
    dispatch_ms: float = 0.01
    waits_s_per_s: float = 0.0
    late_s: float = 0.0
    error_s: float = 0.0001


def made(*drivers: Driver, connections: int = 4, is_here: bool = False) -> Made:
    """A trial of twelve seconds that these drivers shared."""
    whole = measured(np.full(SECONDS, sum(driver.tps for driver in drivers)), connections=connections)
    names = [f"load{index}" for index in range(len(drivers))]
    named = list(zip(names, drivers, strict=True))
    records = tuple(
        DriverRecord(name=name, is_here=is_here, start_late_s=one.late_s, clock_error_s=one.error_s)
        for name, one in named
    )
    tables = {
        "intervals": of_each([(name, interval_table(np.full(SECONDS + FIRST, one.tps))) for name, one in named]),
        "histograms": of_each([(name, durations(one)) for name, one in named]),
        "telemetry": of_each([(name, waits(one)) for name, one in named]),
    }
    outcome = whole.outcome.model_copy(update={"drivers": records})
    return replace(whole, outcome=outcome, tables=tables)


def of_each(tables: Sequence[tuple[str, pl.DataFrame]]) -> pl.DataFrame:
    return pl.concat([table.with_columns(pl.lit(name).alias("driver")) for name, table in tables])


def durations(driver: Driver) -> pl.DataFrame:
    count = int(driver.tps * SECONDS)
    service = np.full(count, round(driver.service_ms * MS))
    dispatch = np.full(count, round(driver.dispatch_ms * MS))
    of_measures = {"response": service + dispatch, "service": service, "dispatch_delay": dispatch}
    return pl.concat([histogram_table(ns, interval=FIRST, measure=name) for name, ns in of_measures.items()])


def waits(driver: Driver) -> pl.DataFrame:
    rows = [
        {
            "driver": "", "host": "", "instance": "", "unix_s": STARTED_UNIX_S + second + 1.0, "source": "engine",
            "metric": "run_delay_s_per_s", "value": driver.waits_s_per_s,
        }
        for second in range(SECONDS + FIRST)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=frames.TELEMETRY)


def doubts(*drivers: Driver, connections: int = 4) -> list[tuple[str, str]]:
    """Codes about drivers, with their words."""
    analysis = analyse("made", [made(*drivers, connections=connections)])
    about = {"driver-differs", "drivers-started-apart", "client-saturated"}
    return [
        (warning.code, seen.text) for warning in analysis.warnings if warning.code in about for seen in warning.evidence
    ]


ALIKE = Driver()


def test_drivers_that_are_alike_give_no_doubt_and_their_sum() -> None:
    assert doubts(ALIKE, ALIKE, ALIKE, connections=6) == []
    summary = summarise(made(ALIKE, ALIKE))
    assert summary is not None
    assert summary.throughput_tps == 1000
    assert summary.histograms["response"].total == 2 * 500 * SECONDS
    assert [(driver.name, driver.throughput_tps, driver.completed_ratio) for driver in summary.drivers] == [
        ("load0", 500.0, 0.5),
        ("load1", 500.0, 0.5),
    ]


def test_one_engine_has_no_drivers() -> None:
    summary = summarise(measured([100.0] * SECONDS))
    assert summary is not None
    assert summary.drivers == ()


@pytest.mark.parametrize(
    ("odd", "code", "evidence"),
    [
        (Driver(tps=300), "driver-differs", "driver load1 completed 23.1 % of all transactions; its share is 33.3 %"),
        (
            Driver(service_ms=4),
            "driver-differs",
            "the fastest tenth of the transactions of driver load1 took up to 4.00 ms of service time; of the others"
            " the median is 2.00 ms",
        ),
        (
            Driver(dispatch_ms=5),
            "client-saturated",
            "driver load1 sent 1 % of its transactions 5.00 ms or more after a connection was free",
        ),
        (
            Driver(dispatch_ms=5),
            "driver-differs",
            "driver load1 sent 1 % of its transactions 5.00 ms or more after a connection was free; of the others the"
            " median is 0.01 ms",
        ),
        (
            Driver(waits_s_per_s=0.5),
            "client-saturated",
            "threads of driver load1 waited 1.00 ms for a processor in each of its transactions, 49.8 % of the mean"
            " response time",
        ),
        (
            Driver(late_s=0.02),
            "drivers-started-apart",
            "driver load1 began 20.0 ms after the first one (known to 0.20 ms)",
        ),
    ],
)
def test_one_that_differs_is_named(odd: Driver, code: str, evidence: str) -> None:
    found = doubts(ALIKE, odd, ALIKE, connections=6)
    assert (code, evidence) in found
    assert not any("load0" in text or "load2" in text for _, text in found)


def test_starts_are_doubted_by_their_error_too() -> None:
    unsure = Driver(error_s=0.006)
    assert [code for code, _ in doubts(unsure, unsure)] == ["drivers-started-apart"]
    assert doubts(Driver(late_s=0.009), ALIKE) == []


def test_an_uneven_number_of_connections_is_no_difference() -> None:
    assert doubts(Driver(tps=600), Driver(tps=400), connections=5) == []
    assert [code for code, _ in doubts(Driver(tps=600), Driver(tps=400), connections=4)] == ["driver-differs"]


def test_the_part_of_each_driver_follows_from_connections_or_arrivals() -> None:
    trial = trial_record(connections=5)
    assert expected_ratios(trial, 2) == [0.6, 0.4]
    at_rate = trial.model_copy(update={"level": Level(connections=5, rate_tps=100.0)})
    assert expected_ratios(at_rate, 2) == [0.5, 0.5]
    two_servers = trial_record(connections=5, instances=2)  # 3 and 2 connections
    assert expected_ratios(two_servers, 2) == [0.6, 0.4]


def test_processor_time_of_the_client_is_that_of_all_engines_of_its_machine() -> None:
    two = made(ALIKE, ALIKE, is_here=True)
    seconds = range(SECONDS + FIRST)
    sampled = [("here", "here", "process", "client_cpu_ratio", 0.1)]
    of_engines = [(f"load{n}", f"load{n}", "engine", "cpu_user_s_per_s", 0.2 * (n + 1)) for n in range(2)]
    rows = [
        {"driver": d, "host": h, "instance": "", "unix_s": STARTED_UNIX_S + s + 1.0, "source": source, "metric": m,
         "value": value}
        for d, h, source, m, value in sampled + of_engines for s in seconds
    ]  # fmt: skip
    environment = Environment(host=HostFacts(name="made", cpu_threads=4), client=ClientFacts(on_server_host=True))
    summary = summarise(
        replace(two, environment=environment, tables={**two.tables, "telemetry": pl.DataFrame(rows, frames.TELEMETRY)})
    )
    assert summary is not None
    assert summary.cpu.client == pytest.approx(0.3)


def test_a_trial_of_other_drivers_is_another_environment() -> None:
    def environment(*names: str) -> Environment:
        return Environment(client=ClientFacts(engine_version="plimsoll-engine 0.1.0", drivers=names))

    runs = [
        replace(measured([100.0] * SECONDS, repetition=number), environment=environment(*names))
        for number, names in enumerate([("load1", "load2"), ("load1", "load3")])
    ]
    (warning,) = [warning for warning in analyse("made", runs).warnings if warning.code == "environment-changed"]
    assert "drivers from load1, load2 to load1, load3" in evidence_of(warning)


def test_older_outcomes_have_no_drivers() -> None:
    assert Outcome.model_validate({"verdict": "complete"}).drivers == ()
