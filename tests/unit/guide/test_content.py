"""What a guide says before it takes a shape."""

from __future__ import annotations

import pytest

from plimsoll.analyse.model import Analysis, SystemSummary
from plimsoll.analyse.study.curve_model import PoolReason
from plimsoll.guide.content import describe
from plimsoll.guide.facts import instance_parts, shared_facts, system_facts
from plimsoll.guide.headline import glance_table
from plimsoll.guide.html import render_html
from plimsoll.guide.marks import logarithmic_ticks
from plimsoll.record.environment import ClientFacts, Environment, HostFacts, InstanceFacts, StorageFacts
from support.analyses import measured_analysis
from support.published import imported_analysis


def _systems(*environments: Environment) -> list[SystemSummary]:
    return [SystemSummary(name=f"s{index}", environment=environment) for index, environment in enumerate(environments)]


def _with_factors(analysis: Analysis, *factors: dict[str, str]) -> Analysis:
    systems = [
        system.model_copy(update={"factors": factor}) for system, factor in zip(analysis.systems, factors, strict=True)
    ]
    return analysis.model_copy(update={"systems": tuple(systems)})


def test_what_all_systems_share_is_told_once_and_the_rest_apart() -> None:
    one = Environment(host=HostFacts(name="a", memory_bytes=2**34))
    other = Environment(host=HostFacts(name="b", memory_bytes=2**34))
    systems = _systems(one, other, other)
    shared = shared_facts(systems)
    assert shared == (("Memory", "16.0 GiB"),)
    assert [system_facts(system, shared) for system in systems] == [
        (("Host", "a"),),
        (("Host", "b"),),
        (("Host", "b"),),
    ]


def test_what_tells_systems_apart_is_not_repeated_as_environment() -> None:
    assert [system_facts(system, ()) for system in imported_analysis().systems] == [()] * 8


def test_the_engine_is_named_once() -> None:
    client = ClientFacts(engine_version="plimsoll-engine 0.1.0", on_server_host=False)
    assert shared_facts(_systems(Environment(client=client))) == (
        ("Client", "plimsoll-engine 0.1.0, on a host of its own"),
    )


def test_only_factors_that_differ_tell_systems_apart() -> None:
    first = {"server": "mariadb", "buffer_pool_bytes": "268435456", "flush": "1"}
    content = describe(_with_factors(measured_analysis(), first, {**first, "flush": "2"}))
    assert content.factors is not None
    assert [column.heading for column in content.factors.columns] == ["system", "flush"]
    effective = "2.00 GiB"  # what the servers say of themselves
    assert content.factors.notes == (f"The same for all: server mariadb, buffer_pool {effective}.",)


def test_a_factor_that_one_system_lacks_is_no_difference() -> None:
    content = describe(_with_factors(measured_analysis(), {"flush": "1", "size": "1"}, {"size": "2"}))
    assert content.factors is not None
    assert [column.heading for column in content.factors.columns] == ["system", "size"]
    assert content.factors.notes == ("Stated for some only: flush 1 (durable).",)


def test_a_pool_that_is_not_resolved_is_a_range() -> None:
    analysis = measured_analysis()
    curve = analysis.curves[0]
    pool = curve.pool.model_copy(update={"reason": PoolReason.UNRESOLVED, "between": (4, 16)})
    changed = analysis.model_copy(update={"curves": (curve.model_copy(update={"pool": pool}), *analysis.curves[1:])})
    assert glance_table(changed).rows[0][4].text == "4 to 16"


def test_figures_stay_with_their_units_in_prose() -> None:
    text = render_html(measured_analysis())
    assert "1,712\u00a0tps (95\u00a0% CI 1,661 to 1,768) at 16\u00a0connections" in text
    assert "The longest window was 6\u00a0s" in text


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (2.0, 60.0, [2, 5, 10, 20, 50]),
        (0.5, 80.0, [1, 3, 10, 30, 100]),
        (0.01, 5000.0, [0.01, 0.1, 1, 10, 100, 1000]),
        (5.0, 5.0, [5]),
    ],
)
def test_a_logarithmic_axis_has_few_round_ticks(low: float, high: float, ticks: list[float]) -> None:
    assert logarithmic_ticks(low, high) == pytest.approx(ticks)


def test_what_instances_share_is_told_once() -> None:
    one, other = (
        InstanceFacts(
            name=f"s/{number}",
            version="10.11.6",
            data_bytes=100,
            variables={"port": str(number), "sync_binlog": "1"},
            tables={"t": "CREATE TABLE t"},
            storage=StorageFacts(path=f"/data/{number}"),
        )
        for number in range(2)
    )
    (system,) = _systems(Environment(instances=(one, other)))
    parts = list(instance_parts(system, ()))
    assert shared_facts([system]) == (
        ("Server", "10.11.6"),
        ("Data set", "100 B"),
        ("s/0: Data directory", "/data/0"),
        ("s/1: Data directory", "/data/1"),
    )
    assert [part.variables for part in parts] == [
        (("port", "0"), ("sync_binlog", "1")),
        (("port", "1"),),
    ]
    assert [part.tables for part in parts] == [(("t", "CREATE TABLE t"),), ()]
    assert parts[1].title.endswith("s/1, other than s/0")
