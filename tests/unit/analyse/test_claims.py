"""Whether findings of an earlier study show: the verdicts, on made-up studies where the truth is known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.explain.where_model import ResourceDemand, WhereTime, WhereVerdict
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.study.cell_model import Bounds, Estimate
from plimsoll.analyse.study.claims import check_claims
from plimsoll.analyse.study.curve_model import CheckedClaim, ClaimVerdict
from plimsoll.guide.claims import claims_section
from plimsoll.record.environment import Environment, HostFacts
from plimsoll.record.level import Level, LevelKind
from plimsoll.spec.claims import ClaimSpec, LimitedBy
from support.made import Made, measured

CURVE = {1: 100.0, 2: 195.0, 4: 360.0, 8: 330.0}
FOUR_CPUS = Environment(host=HostFacts(cpu_threads=4, cpu_cores=4))


def study(factors: dict[str, float], *, workload: str = "read-write", noise: float = 0.004) -> list[Made]:
    """Five repetitions of systems whose throughput is the curve's times a factor."""
    rng = np.random.default_rng(11)
    return [
        measured(
            list(np.exp(rng.normal(0, noise)) * factor * tps + rng.normal(0, 1, 20)),
            system=system,
            workload=workload,
            connections=connections,
            repetition=repetition,
            environment=FOUR_CPUS,
        )
        for system, factor in factors.items()
        for connections, tps in CURVE.items()
        for repetition in range(5)
    ]


def checked(recordings: list[Made], **claim: object) -> tuple[CheckedClaim, ...]:
    return analysed(recordings, **claim).claims


def analysed(recordings: list[Made], **claim: object) -> Analysis:
    written = ClaimSpec.model_validate({"says": "It does.", "workload": "read-write", **claim})
    return analyse("made", recordings, claims=[written])


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (1.1, math.inf, ClaimVerdict.SHOWS),
        (1.1, 1.3, ClaimVerdict.SHOWS),
        (1.3, 2.0, ClaimVerdict.DOES_NOT_SHOW),
        (0.5, 1.0, ClaimVerdict.DOES_NOT_SHOW),
        (1.2, 1.3, ClaimVerdict.NOT_RESOLVED),
    ],
)
def test_a_ratio_of_systems_agrees_by_its_whole_interval(low: float, high: float, verdict: ClaimVerdict) -> None:
    recordings = study({"slow": 1.0, "fast": 1.2})
    (one,) = checked(recordings, system="fast", base="slow", ratio=[low, high])
    assert one.verdict is verdict
    assert one.found is not None
    assert one.found.value == pytest.approx(1.2, rel=0.02)
    (other,) = checked(recordings, system="slow", base="fast", ratio=[1 / high, 1 / low], connections=4)
    assert other.verdict is verdict
    assert other.found is not None
    assert other.found.value == pytest.approx(1 / 1.2, rel=0.02)


def test_a_ratio_of_workloads_compares_those_of_one_system() -> None:
    both = study({"a": 1.0, "b": 1.0}) + study({"a": 1.5, "b": 0.8}, workload="read-only")
    found = checked(both, workload="read-only", base_workload="read-write", ratio=[1.2, math.inf])
    assert [(one.system, one.verdict) for one in found] == [
        ("a", ClaimVerdict.SHOWS),
        ("b", ClaimVerdict.DOES_NOT_SHOW),
    ]


def test_a_scale_factor_is_held_against_its_interval() -> None:
    (one,) = checked(study({"a": 1.0}), connections=4, scale_factor=[3, 4])
    assert (one.verdict, one.found and round(one.found.value, 1)) == (ClaimVerdict.SHOWS, 3.6)
    (from_two,) = checked(study({"a": 1.0}), connections=4, from_connections=2, scale_factor=[3, 4])
    assert from_two.verdict is ClaimVerdict.DOES_NOT_SHOW


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ({"peak_connections": [4, 4]}, ClaimVerdict.SHOWS),
        ({"peak_per_cpu": [1, 1]}, ClaimVerdict.SHOWS),
        ({"peak_per_cpu": [2, 4]}, ClaimVerdict.DOES_NOT_SHOW),
        ({"peak_connections": [1, 2]}, ClaimVerdict.DOES_NOT_SHOW),
    ],
)
def test_a_peak_agrees_by_connections_and_by_those_of_each_cpu(claim: dict[str, object], verdict: ClaimVerdict) -> None:
    (one,) = checked(study({"a": 1.0}), **claim)
    assert one.verdict is verdict


def test_a_peak_at_the_last_level_may_lie_beyond_it() -> None:
    recordings = [one for one in study({"a": 1.0}) if one.trial.level.connections <= 4]
    ranges = ([4, 4], [4, math.inf], [1, 1])
    assert [checked(recordings, peak_connections=range_)[0].verdict for range_ in ranges] == [
        ClaimVerdict.NOT_RESOLVED,
        ClaimVerdict.SHOWS,
        ClaimVerdict.DOES_NOT_SHOW,
    ]


def test_what_was_not_measured_shows_nothing() -> None:
    recordings = study({"a": 1.0})
    for claim in (
        {"system": "a", "base": "gone", "ratio": [1, 2]},
        {"workload": "gone", "system": "a", "peak_connections": [1, 2]},
        {"connections": 64, "scale_factor": [1, 2]},
        {"peak_per_cpu": [0.7, 0.9]},  # 4 CPUs: no level has 3 connections
        {"limited_by": "hardware"},
    ):
        (one,) = checked(recordings, **claim)
        assert one.verdict is ClaimVerdict.NOT_MEASURED


@pytest.mark.parametrize(
    "claim",
    [
        {"system": "b", "base": "a", "ratio": [1.01, 1.02]},
        {"system": "b", "base": "a", "ratio": [1.1, math.inf]},
        {"system": "b", "base": "a", "ratio": [1.1, math.inf], "connections": 4},
        {"system": "a", "connections": 4, "scale_factor": [3, 4]},
        {"system": "a", "connections": 4, "scale_factor": [1, 2]},
        {"system": "a", "peak_connections": [1, 1]},
        {"system": "a", "peak_connections": [4, 4]},
        {"system": "a", "peak_per_cpu": [0.25, 0.5]},
    ],
)
def test_one_repetition_resolves_nothing(claim: dict[str, object]) -> None:
    once = [one for one in study({"a": 1.0, "b": 1.3}) if one.trial.repetition == 0]
    (one,) = checked(once, **claim)
    assert one.verdict is ClaimVerdict.NOT_RESOLVED
    assert one.found is not None


def test_every_level_of_one_repetition_may_be_the_peak_so_none_is_shown_to_be() -> None:
    once = [one for one in study({"a": 1.0}) if one.trial.repetition == 0]
    (one,) = checked(once, peak_connections=[1, math.inf])
    assert one.verdict is ClaimVerdict.NOT_RESOLVED


def test_two_of_many_systems_that_the_study_does_not_compare_are_held_against_their_figures() -> None:
    many = study({f"s{number}": 1.0 + number / 10 for number in range(8)})
    (one,) = checked(many, system="s2", base="s1", ratio=[1.05, 1.15])
    assert one.verdict is ClaimVerdict.SHOWS
    assert one.found is not None
    assert one.found.value == pytest.approx(1.2 / 1.1, rel=0.02)


def test_one_short_repetition_shows_no_peak_elsewhere() -> None:
    """Two seconds have no interval at all: 542 against 500 tps is no contradiction."""
    recordings = [
        measured([tps, tps + 4], connections=connections, environment=FOUR_CPUS)
        for connections, tps in ((1, 300.0), (4, 500.0), (8, 542.0))
    ]
    (one,) = checked(recordings, peak_per_cpu=[0.75, 1.5])
    assert one.verdict is ClaimVerdict.NOT_RESOLVED
    assert [level.connections for level in one.levels] == [1, 4, 8]


def test_the_guide_says_it_in_words() -> None:
    found = analysed(study({"a": 1.0, "b": 1.2}), system="b", base="a", ratio=[1.1, math.inf], source="Somebody, 2008")
    section = claims_section(found)
    assert section is not None
    (sentence,) = section.sentences
    assert sentence.startswith("“It does” (Somebody, 2008): confirmed here: 1.2")
    (row,) = section.tables[0].rows
    assert [one.text for one in row[:4]] == ["It does.", "b", "throughput over that of a, read-write", "1.1 or more"]


def demand(resource: str, busy_ratio: float, *, spread: float | None = 1.05) -> ResourceDemand:
    """A resource at 100 tps; `spread` is half of its interval as a factor, None for one repetition."""
    tps = 100 / busy_ratio
    bounds = None if spread is None else Bounds(low=tps / spread, high=tps * spread, method="made")
    return ResourceDemand(
        resource=resource,
        level=Level(connections=4),
        utilisation_ratio=busy_ratio,
        saturation_tps=Estimate(value=tps, bounds=bounds),
    )


CALM = {"is_network_known": True, "demands": (demand("cpu", 0.3),)}


@pytest.mark.parametrize(
    ("limited_by", "verdict_of_where", "changes", "verdict"),
    [
        ("hardware", "saturated", {"demands": (demand("cpu", 0.95),)}, "shows"),
        ("no hardware", "saturated", {"demands": (demand("cpu", 0.95),)}, "does-not-show"),
        ("hardware", "saturated", {"demands": (demand("cpu", 0.95, spread=None),)}, "not-resolved"),
        ("no hardware", "first-to-saturate", {"demands": (demand("cpu", 0.62, spread=1.2),)}, "not-resolved"),
        ("hardware", "saturated", {"demands": (demand("data device", 0.95),)}, "not-resolved"),
        ("no hardware", "wait-grows", CALM, "shows"),
        ("hardware", "wait-grows", CALM, "does-not-show"),
        ("no hardware", "wait-grows", CALM | {"is_network_known": False}, "not-resolved"),
        ("no hardware", "wait-grows", CALM | {"demands": (demand("cpu", 0.3, spread=None),)}, "not-resolved"),
        ("no hardware", "wait-grows", CALM | {"demands": (demand("cpu", 0.55, spread=1.2),)}, "not-resolved"),
        ("hardware", "nothing-grows", CALM, "not-resolved"),
    ],
)
def test_a_limit_agrees_by_the_interval_of_utilisation(
    limited_by: LimitedBy, verdict_of_where: str, changes: dict[str, Any], verdict: str
) -> None:
    busy = verdict_of_where in {"saturated", "first-to-saturate"}
    where = WhereTime(
        system="a",
        workload="read-write",
        kind=LevelKind.CLOSED,
        levels=(),
        verdict=WhereVerdict(verdict_of_where),
        resource=changes["demands"][0].resource if busy else None,
        **changes,
    )
    claim = ClaimSpec(says="so", workload="read-write", system="a", limited_by=limited_by)
    (one,) = check_claims([claim], (), (), (), where_time=[where], scalability=())
    assert one.verdict is ClaimVerdict(verdict)
