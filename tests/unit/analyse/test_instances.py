"""What each of several instances carried, and which one lags."""

from __future__ import annotations

import polars as pl
import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.explain.variables import variable_differences
from plimsoll.analyse.model import Analysis, SystemSummary
from plimsoll.analyse.trial.instances import instances_tps, lag_of, mean_tps
from plimsoll.guide.headline import glance_table
from plimsoll.guide.level_tables import instance_table
from plimsoll.record.environment import Environment, InstanceFacts
from plimsoll.record.level import Level
from support.made import Made, measured
from support.told import evidence_of

NAMES = ("s/0", "s/1", "s/2")
ENVIRONMENT = Environment(instances=tuple(InstanceFacts(name=name) for name in NAMES))


def on_instances(*counts: int, seconds: int = 12, **trial: object) -> Made:
    """A trial in which each instance completed so many transactions in each second."""
    of_each = [measured([float(count)] * seconds, environment=ENVIRONMENT, instances=3, **trial) for count in counts]
    tables = [
        made.tables["intervals"].with_columns(instance=pl.lit(name)) for made, name in zip(of_each, NAMES, strict=False)
    ]
    return Made(of_each[0].trial, ENVIRONMENT, of_each[0].outcome, {"intervals": pl.concat(tables)})


def analysis_of(*recordings: Made) -> Analysis:
    return analyse("made", recordings)


def test_throughput_of_a_system_is_that_of_its_instances_together() -> None:
    analysis = analysis_of(on_instances(100, 50, 150), on_instances(100, 70, 130, repetition=1))
    (cell,) = analysis.curves[0].cells
    assert cell.throughput_tps.value == pytest.approx(300)
    assert cell.instances_tps == pytest.approx({"s/0": 100, "s/1": 60, "s/2": 140})


def test_an_instance_that_completed_nothing_is_told() -> None:
    rows = on_instances(100, 100).tables["intervals"]
    assert instances_tps(rows.filter(pl.col("interval") >= 2), ENVIRONMENT, 12.0)["s/2"] == 0


def test_one_instance_and_rows_of_others_have_no_figures() -> None:
    rows = on_instances(100, 100, 100).tables["intervals"]
    assert instances_tps(rows, Environment(instances=ENVIRONMENT.instances[:1]), 12.0) == {}
    assert instances_tps(rows, Environment(instances=ENVIRONMENT.instances[:2]), 12.0) == {}


@pytest.mark.parametrize(
    ("found", "connections", "lags"),
    [
        ((100, 100, 100), 12, None),
        ((100, 100, 60), 12, "s/2"),
        ((100, 60, 0), 12, "s/2"),
        ((100, 100, 78), 12, None),  # 84 % of its share
        ((200, 100, 100), 4, None),  # the first has two of the four connections
        ((110, 100, 100), 4, None),  # and need not make twice as much of them
        ((200, 100, 70), 4, "s/2"),
        ((2, 2, 0), 12, None),  # 13 transactions in 10 s may come by chance
    ],
)
def test_an_instance_lags_behind_its_share(found: tuple[int, ...], connections: int, lags: str | None) -> None:
    lag = lag_of(dict(zip(NAMES, found, strict=True)), Level(connections=connections), 10.0)
    assert (None if lag is None else lag.instance) == lags


def test_at_a_rate_all_shares_are_equal() -> None:
    found = {"s/0": 200.0, "s/1": 100.0, "s/2": 100.0}
    lag = lag_of(found, Level(connections=4, rate_tps=400), 10.0)
    assert lag is not None
    assert (lag.instance, lag.expected_tps) == ("s/1", pytest.approx(400 / 3))


def test_a_lagging_instance_is_a_warning_with_its_figures() -> None:
    (warning,) = [
        warning
        for warning in analysis_of(on_instances(100, 100, 40, connections=6)).warnings
        if warning.code == "instance-lags"
    ]
    assert "s/2 completed 40.0 tps" in evidence_of(warning)
    assert "80.0 tps" in evidence_of(warning)
    even = analysis_of(on_instances(100, 100, 100))
    assert "instance-lags" not in {warning.code for warning in even.warnings}


def test_trials_with_other_instances_have_no_mean() -> None:
    assert mean_tps([{"a": 1.0, "b": 2.0}, {"a": 1.0}]) == {}
    assert mean_tps([]) == {}


def test_the_guide_says_how_many_there_are_and_who_is_slowest() -> None:
    analysis = analysis_of(on_instances(100, 50, 150), on_instances(90, 90, 90, connections=8))
    table = instance_table(analysis, analysis.systems[0], analysis.workloads[0])
    assert table is not None
    assert [column.heading for column in table.columns] == [
        "connections", "all tps", "mean tps", "slowest tps", "which", "fastest tps", "which", "skew",
    ]  # fmt: skip
    assert [entry.text for entry in table.rows[0]] == ["4", "300", "100", "50.0", "s/1", "150", "s/2", "3.00"]
    glance = glance_table(analysis)
    assert [column.heading for column in glance.columns][:3] == ["system", "instances", "cores"]
    assert glance.rows[0][1].text == "3"


def test_systems_of_one_instance_have_neither() -> None:
    analysis = analysis_of(measured([100.0] * 12))
    assert instance_table(analysis, analysis.systems[0], analysis.workloads[0]) is None
    assert "instances" not in [column.heading for column in glance_table(analysis).columns]


def test_what_is_divided_among_instances_is_meant_to_differ() -> None:
    def system(name: str, instances: int, pool: str) -> SystemSummary:
        variables = {"innodb_buffer_pool_size": pool, "innodb_io_capacity": pool}
        environment = Environment(instances=(InstanceFacts(name=f"{name}/0", variables=variables),))
        return SystemSummary(name=name, instances=instances, environment=environment)

    assert all(
        difference.expected for difference in variable_differences([system("a", 1, "400"), system("b", 4, "100")])
    )
    assert not any(
        difference.expected for difference in variable_differences([system("a", 4, "400"), system("b", 4, "100")])
    )
