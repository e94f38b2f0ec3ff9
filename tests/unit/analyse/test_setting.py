"""How repetitions vary is learned only from cells that were measured alike; a test for each part of that."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.importers.columns import TableOptions
from plimsoll.importers.log_places import LogOptions
from plimsoll.importers.sysbench import import_sysbench
from plimsoll.importers.table import import_table
from plimsoll.record.environment import ClientFacts, Environment, HostFacts, InstanceFacts, StorageFacts
from plimsoll.record.model import Origin
from support.made import Made, measured, published
from support.repository import ROOT

HOST = HostFacts(
    name="db1", kernel="6.8", cpu_model="EPYC", cpu_cores=8, memory_bytes=2**34, cpu_governor="performance"
)
STORAGE = StorageFacts(path="/a", file_system="ext4", device="sda", device_model="X", rotational=False, free_bytes=1)
CLIENT = ClientFacts(engine_version="1.0", on_server_host=False)
ENVIRONMENT = Environment(host=HOST, instances=(InstanceFacts(name="a/0", storage=STORAGE),), client=CLIENT)


def trial(tps: float, environment: Environment = ENVIRONMENT, *, seconds: int = 30, **record: Any) -> Made:
    """A trial whose seconds vary a little, so that its bounds must come from somewhere."""
    noise = np.random.default_rng(round(tps)).normal(0, 2.0, seconds)
    return measured(tps + noise, environment=environment, **{"duration_s": float(seconds), **record})


def repeated(environment: Environment = ENVIRONMENT) -> Iterator[Made]:
    """Three repetitions at each of two levels of system a."""
    for connections, base in ((1, 1000.0), (4, 2000.0)):
        for repetition, factor in enumerate((0.97, 1.0, 1.03)):
            yield trial(base * factor, environment, connections=connections, repetition=repetition)


def with_host(**changes: object) -> Environment:
    return ENVIRONMENT.model_copy(update={"host": HOST.model_copy(update=changes)})


def with_storage(**changes: object) -> Environment:
    instance = InstanceFacts(name="b/0", storage=STORAGE.model_copy(update=changes))
    return ENVIRONMENT.model_copy(update={"instances": (instance,)})


def with_client(**changes: object) -> Environment:
    return ENVIRONMENT.model_copy(update={"client": CLIENT.model_copy(update=changes)})


def method_of(analysis: Analysis, system: str) -> str:
    (cell, *_) = next(curve.cells for curve in analysis.curves if curve.system == system)
    return cell.throughput_tps.bounds.method if cell.throughput_tps.bounds else "none"


def method_of_single(environment: Environment = ENVIRONMENT, **changes: Any) -> str:
    """How the bounds of one single trial of system b come about, beside the repetitions of system a."""
    return method_of(analyse("s", [*repeated(), trial(1500.0, environment, system="b", **changes)]), "b")


@pytest.mark.parametrize(
    "environment",
    [
        ENVIRONMENT,
        with_storage(path="/b", free_bytes=7, flush_ms_median=0.4),
        with_client(limit_tps=5000.0, python_version="3.12"),
    ],
    ids=["the same", "another path on the same device", "another limit of the client"],
)
def test_a_single_trial_that_was_measured_alike_borrows_the_spread(environment: Environment) -> None:
    assert "spread of repetitions of" in method_of_single(environment)


@pytest.mark.parametrize(
    "change",
    [
        lambda: method_of_single(with_host(name="db2")),
        lambda: method_of_single(with_host(kernel="6.9")),
        lambda: method_of_single(with_host(cpu_cores=4)),
        lambda: method_of_single(with_host(memory_bytes=2**35)),
        lambda: method_of_single(with_host(cpu_governor="powersave")),
        lambda: method_of_single(with_host(virtualisation="kvm")),
        lambda: method_of_single(with_storage(device="sdb")),
        lambda: method_of_single(with_storage(file_system="xfs")),
        lambda: method_of_single(with_storage(rotational=True)),
        lambda: method_of_single(with_client(on_server_host=True)),
        lambda: method_of_single(with_client(engine_version="2.0")),
        lambda: method_of_single(seconds=300),
        lambda: method_of_single(seconds=6),
        lambda: method_of_single(interval_s=10.0),
        lambda: method_of_single(origin=Origin(kind="imported-sysbench", detail="x.log")),
        lambda: method_of_single(origin=Origin(detail="plimsoll sysbench")),
        lambda: method_of_single(ENVIRONMENT.model_copy(update={"reported": {"load generator": "sysbench 1.0.20"}})),
    ],
    ids=[
        "host", "kernel", "cores", "memory", "governor", "virtualisation", "device", "file system", "disks",
        "client's place", "engine", "longer", "shorter", "interval", "origin", "load generator", "reported",
    ],
)  # fmt: skip
def test_a_single_trial_that_was_measured_otherwise_does_not(change: Callable[[], str]) -> None:
    assert "within one run" in change()


@pytest.mark.parametrize("pair_s", [(9, 20), (26, 60), (90, 180), (300, 600), (10, 11), (60, 61)])
def test_windows_of_similar_length_are_equally_long(pair_s: tuple[int, int]) -> None:
    many, one = pair_s
    recordings = [
        trial(1000.0 + repetition * 30, seconds=many, connections=connections, repetition=repetition)
        for connections in (1, 4)
        for repetition in range(3)
    ]
    assert "spread of repetitions of" in method_of(
        analyse("s", [*recordings, trial(1500.0, system="b", seconds=one)]), "b"
    )


def test_systems_on_hosts_without_a_name_share_nothing() -> None:
    unknown = ENVIRONMENT.model_copy(update={"host": HostFacts()})
    recordings = [*repeated(unknown), trial(1500.0, unknown, system="b"), trial(1200.0, unknown, connections=16)]
    analysis = analyse("s", recordings)
    assert "within one run" in method_of(analysis, "b")
    last = analysis.curves[0].cells[-1].throughput_tps.bounds
    assert last is not None
    assert "within one run" in last.method, "another level varies by other amounts"


def test_a_cell_of_two_settings_stands_alone() -> None:
    """One repetition is much longer: what it adds to the spread is not how repetitions differ elsewhere."""
    mixed = [trial(tps, system="b", repetition=index, seconds=seconds) for index, (tps, seconds) in enumerate(
        ((1400.0, 30), (1500.0, 30), (1900.0, 300))
    )]  # fmt: skip
    analysis = analyse("s", [*repeated(), *mixed])
    assert method_of(analysis, "b").startswith("t on logarithms, 3 repetitions")
    assert method_of(analysis, "a").startswith("t on logarithms, 3 repetitions")


def test_two_tables_are_two_sources() -> None:
    def rows(table: str, system: str, values: tuple[float, ...]) -> Iterator[Made]:
        for repetition, tps in enumerate(values):
            made = published(tps, system=system, repetition=repetition)
            origin = Origin(kind="imported-table", detail=f"{table}, lines {repetition}, 9")
            named = Environment(host=HOST)
            yield replace(made, environment=named, trial=made.trial.model_copy(update={"origin": origin}))

    for table, borrows in (("hp.csv", True), ("sun.csv", False)):
        analysis = analyse("s", [*rows("hp.csv", "a", (97.0, 100.0, 103.0)), *rows(table, "b", (150.0,))])
        assert ("spread of repetitions of" in method_of(analysis, "b")) is borrows


def test_logs_beside_a_published_table_give_its_single_figures_no_bounds() -> None:
    """Ranges of 661 to 14,782 tps for single figures of a table came from two runs of a log on another machine."""
    workload = "oltp complex read/write"
    table = import_table(ROOT / "examples/published/hp-proliant-2008.csv", study_name="s", options=TableOptions())
    logs = sorted((ROOT / "examples/sysbench").glob("*.log"))
    options = LogOptions(pattern="{system}-{any}-{connections}-{any}.log", workload=workload)
    imported = [*table.trials, *import_sysbench(logs, study_name="s", options=options).trials]
    analysis = analyse("s", [_recording(position, one) for position, one in enumerate(imported)])
    published_figures = [
        cell.throughput_tps
        for curve in analysis.curves
        if curve.system != "mariadb"
        for cell in curve.cells
    ]  # fmt: skip
    assert len(published_figures) == 128
    assert {published_figure.bounds for published_figure in published_figures} == {None}
    (own,) = (curve for curve in analysis.curves if curve.system == "mariadb")
    assert all(cell.throughput_tps.bounds is not None for cell in own.cells)
    beside = [difference for difference in analysis.differences if "mariadb" in (difference.base, difference.system)]
    assert beside
    assert {one.verdict for one in beside} == {RatioVerdict.UNTESTABLE}


def _recording(position: int, one: Any) -> Made:
    tables = {"intervals": one.intervals, "histograms": one.histograms}
    trial = one.trial.model_copy(update={"position": position})
    return Made(
        trial, one.environment, one.outcome, {name: table for name, table in tables.items() if table is not None}
    )


def test_an_environment_that_was_read_back_is_the_same() -> None:
    again = Environment.model_validate_json(ENVIRONMENT.model_dump_json())
    assert "spread of repetitions of" in method_of_single(again)
