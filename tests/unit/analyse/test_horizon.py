"""Until when systems sustain a load that grows: arithmetic against closed forms, what casts doubt."""

from __future__ import annotations

import math
from datetime import timedelta

import pytest

from plimsoll.analyse.answers.size import size
from plimsoll.analyse.answers.size_model import (
    YEAR_DAYS,
    Fit,
    Horizon,
    LoadDemand,
    SizeAnswer,
    SystemFit,
    load_today_tps,
    with_horizon,
    years_until,
)
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.study.cell_model import Bounds, Cell, Durations, Estimate, SpreadKind
from plimsoll.analyse.study.curve_model import Curve
from plimsoll.errors import SpecError
from plimsoll.guide.size import worded
from plimsoll.record.level import Level, LevelKind
from plimsoll.units import parse_growth
from support.searched import TODAY, demand, searched


def answer(analysis: Analysis, asked: LoadDemand, headroom: float = 0.0) -> SizeAnswer:
    return worded(size(analysis, demand=asked, headroom=headroom))


def horizon_of(found: SystemFit) -> Horizon:
    assert found.horizon is not None
    return found.horizon


@pytest.mark.parametrize(
    ("limit_tps", "growth", "years"),
    [(2000, 1.0, 1), (4000, 1.0, 2), (1000, 0.3, 0), (500, 1.0, -1), (1000 * 1.3**2.5, 0.3, 2.5)],
)
def test_growth_is_compound(limit_tps: float, growth: float, years: float) -> None:
    assert years_until(limit_tps, now_tps=1000, yearly_growth=growth) == pytest.approx(years, abs=1e-12)


def test_growth_by_the_month_and_by_the_year_agree() -> None:
    monthly = parse_growth("2%/mo")
    assert monthly == pytest.approx(1.02**12 - 1)
    assert years_until(1.02**30, now_tps=1, yearly_growth=monthly) == pytest.approx(30 / 12)
    assert parse_growth("0") == parse_growth("0%/y") == 0
    assert parse_growth(" 30 % / year ") == 0.3


@pytest.mark.parametrize("text", ["30%", "30/y", "-5%/y", "30%/w", "nan%/y", "1e9%/y", "", "9901%/y", "50%/mo", "٣%/y"])
def test_what_is_no_growth_is_refused(text: str) -> None:
    with pytest.raises(SpecError, match="must be"):
        parse_growth(text)


def test_the_load_has_grown_since_the_log() -> None:
    old = demand(logged_on=TODAY - timedelta(days=2 * 365.25), yearly_growth=0.5)
    days = (TODAY - old.logged_on).days
    assert load_today_tps(old) == pytest.approx(1000 * 1.5 ** (days / YEAR_DAYS))
    assert load_today_tps(demand(logged_on=TODAY + timedelta(days=9))) == 1000, "a clock that is ahead"
    assert load_today_tps(demand(logged_on=TODAY - timedelta(days=900), yearly_growth=None)) == 1000
    assert answer(searched(a=(9e3, 9e3)), old).asked.tps == pytest.approx(load_today_tps(old))


def test_days_are_those_of_the_capacity_and_of_its_lower_limit_with_the_headroom() -> None:
    found = answer(searched(a=(2000.0, 2040.0, 1960.0)), demand(), headroom=0.3).systems[0]
    horizon = horizon_of(found)
    needed = 1000 / 0.7
    assert found.sustains_tps is not None
    assert found.sure_tps is not None
    assert horizon.about_years == pytest.approx(math.log(found.sustains_tps / needed) / math.log(1.3))
    assert horizon.sure_years == pytest.approx(math.log(found.sure_tps / needed) / math.log(1.3))
    assert horizon.about_on == TODAY + timedelta(days=math.floor(horizon.about_years * YEAR_DAYS))
    assert (found.verdict, horizon.is_at_least) == (Fit.FITS, False)
    assert horizon.sure_on is not None
    assert horizon.about_on is not None
    assert TODAY < horizon.sure_on < horizon.about_on


def test_a_system_fits_just_as_long_as_it_is_said_to() -> None:
    """On the day before the stated one the same question is answered with `fits`, on the day after with `undecided`."""
    study = searched(a=(2000.0, 2040.0, 1960.0))
    day = horizon_of(answer(study, demand()).systems[0]).sure_on
    assert day is not None
    verdicts = [answer(study, demand(today=day + timedelta(days=days))).systems[0].verdict for days in (-1, 0, 2)]
    assert verdicts == [Fit.FITS, Fit.FITS, Fit.UNDECIDED]


def test_what_is_too_small_is_told_with_what_is_missing_and_since_when() -> None:
    found = answer(searched(small=(900.0, 901.0, 899.0)), demand())
    assert not found.fits
    assert horizon_of(found.systems[0]).about_years == pytest.approx(math.log(0.9) / math.log(1.3), rel=1e-3)
    told = "small sustains 900 tps, 10.0 % less than the 1,000 tps that are needed today."
    assert f"{told} With this growth it has been too small since about 2026-06." in found.text


def test_the_cheapest_comes_first_with_its_day() -> None:
    found = answer(searched(costs={"a": 300.0, "b": 200.0}, a=(3e3, 3e3), b=(2e3, 2e3)), demand())
    assert [system.system for system in found.systems] == ["b", "a"]
    assert any(text.startswith("With 30.0 % more each year b sustains it until about") for text in found.text)


def test_without_growth_there_is_no_day() -> None:
    still = answer(searched(a=(2e3, 2e3)), demand(yearly_growth=0.0))
    assert still.systems[0].horizon is None
    assert "The load does not grow: what sustains it today goes on to." in still.text
    assert answer(searched(a=(2e3, 2e3)), demand(yearly_growth=None)).systems[0].horizon is None


def test_no_day_is_named_that_is_far_away() -> None:
    found = answer(searched(a=(9e6, 9e6)), demand(yearly_growth=0.01))
    horizon = horizon_of(found.systems[0])
    assert (horizon.about_on, horizon.sure_on) == (None, None)
    assert horizon.about_years > 50
    assert any("for more than 50 years; with 95 % confidence for more than 50 years" in text for text in found.text)


def test_one_repetition_has_no_certain_day() -> None:
    found = answer(searched(a=(2000.0,)), demand()).systems[0]
    assert horizon_of(found).sure_on is None
    assert horizon_of(found).about_on is not None


def test_a_load_is_named_or_taken_from_a_log() -> None:
    for given in ({}, {"tps": 1.0, "demand": demand()}):
        with pytest.raises(SpecError, match="one of both"):
            size(searched(a=(1.0, 1.0)), **given)


def codes(analysis: Analysis, asked: LoadDemand) -> set[str]:
    return {doubt.code for doubt in size(analysis, demand=asked).doubts}


@pytest.mark.parametrize(
    ("options", "index", "expected"),
    [
        ({}, 40.0, {"burstier-than-measured"}),
        ({"burstiness": "20"}, 40.0, {"burstier-than-measured"}),
        ({"burstiness": "40"}, 40.0, set()),
        ({"burstiness": "1e999"}, 40.0, {"burstier-than-measured"}),
        ({"burstiness": "\x1b[31m"}, 40.0, {"burstier-than-measured"}),
        ({}, 1.1, set()),
        ({}, None, {"burstiness-unknown"}),
    ],
)
def test_bursts_that_were_not_measured_are_a_doubt(
    options: dict[str, str], index: float | None, expected: set[str]
) -> None:
    assert codes(searched(options, a=(2e3, 2e3)), demand(burstiness=index)) == expected


def test_a_doubt_says_what_to_run() -> None:
    found = answer(searched(a=(2e3, 2e3)), demand(burstiness=40.0))
    assert "clients = { burstiness = 40 }" in found.doubts[0].text
    assert "--confirm" in found.doubts[0].text


def test_the_log_is_doubted_where_it_says_so() -> None:
    short = demand(duration_s=3600, doubts=("sampled", "no-durations"))
    found = answer(searched(a=(2e3, 2e3)), short)
    assert [doubt.code for doubt in found.doubts] == ["log-shorter-than-a-day", "log-doubts"]
    assert found.doubts[1].figures["codes"] == ("sampled",)


def test_long_bursts_are_told() -> None:
    assert codes(searched(a=(2e3, 2e3)), demand(doubts=("long-bursts",))) == {"long-bursts"}


def test_a_rate_that_was_sustained_is_a_lower_bound() -> None:
    fit = SystemFit(
        system="a",
        verdict=Fit.FITS,
        sustains_tps=1300.0,
        sustains_is_lower_bound=True,
        sure_tps=1300.0,
        reason=size(searched(a=(1e3, 1e3)), tps=1).systems[0].reason,
    )
    asked = size(searched(a=(1e3, 1e3)), demand=demand(), headroom=0.0).asked
    horizon = horizon_of(with_horizon(fit, asked))
    assert horizon.is_at_least
    assert horizon.about_years == pytest.approx(1.0)
    assert horizon.sure_on == TODAY + timedelta(days=365)


def closed_loop(*levels: tuple[int, float, float]) -> Analysis:
    """One system in a closed loop: connections, throughput, response p99 in milliseconds."""
    cells = tuple(
        Cell(
            level=Level(connections=connections),
            throughput_tps=Estimate(
                value=tps,
                bounds=Bounds(low=0.95 * tps, high=1.05 * tps, basis=SpreadKind.POOLED, degrees=16, method="made up"),
                trial_count=3,
            ),
            response_ms=Durations(p99=p99_ms),
            repetitions_ms_p99=(p99_ms, p99_ms * 1.01, p99_ms * 0.99),
            completed_count=1000,
        )
        for connections, tps, p99_ms in levels
    )
    curve = Curve(system="a", workload="w", kind=LevelKind.CLOSED, cells=cells, peak=None)
    return searched(a=()).model_copy(update={"curves": (curve,), "capacities": ()})


def test_levels_count_where_they_keep_the_objective() -> None:
    study = closed_loop((4, 1500.0, 5.0), (16, 2500.0, 50.0))
    within = size(study, demand=demand(), response_p99_ms=20.0, headroom=0.0).systems[0]
    assert (within.sustains_tps, within.sustains_is_lower_bound) == (1500, False)
    anyhow = size(study, demand=demand(), headroom=0.0).systems[0]
    assert (anyhow.sustains_tps, anyhow.sustains_is_lower_bound) == (2500, True)
    never = size(study, demand=demand(), response_p99_ms=1.0, headroom=0.0).systems[0]
    assert (never.sustains_tps, never.sure_tps, never.horizon) == (None, None, None)


def test_clients_that_wait_show_no_bursts() -> None:
    assert codes(closed_loop((4, 1500.0, 5.0)), demand(burstiness=40.0)) == {"bursts-not-measured"}


@pytest.mark.parametrize("needed_tps", [1300.0, 1380.0, 1400.0, 1420.0, 1440.0, 1500.0, 1560.0])
def test_a_system_fits_where_what_it_surely_sustains_is_enough(needed_tps: float) -> None:
    found = size(closed_loop((4, 1500.0, 5.0), (16, 1490.0, 9.0)), tps=needed_tps, headroom=0.0).systems[0]
    assert found.sure_tps is not None
    assert (found.verdict is Fit.FITS) == (found.sure_tps >= needed_tps)
