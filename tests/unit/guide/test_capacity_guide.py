"""A guide of a study that only searched for capacities."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.model import Analysis
from plimsoll.guide.charts import capacities_chart
from plimsoll.guide.content import describe
from plimsoll.guide.figures import chart_spec
from plimsoll.guide.html import render_html
from plimsoll.guide.marks import Style
from plimsoll.guide.sources import sources_of
from plimsoll.guide.trials import cell_strips
from plimsoll.record.capacity import Capacity, CapacityObjective, CapacityRun, RunRole, RunVerdict, SearchRecord
from plimsoll.record.level import Level
from support.made import Made, measured

OBJECTIVE = CapacityObjective(response_ms_p99=20.0, errors_ratio=0.001)


def run_of(system: str, repetition: int, rate_tps: float, number: int, *, holds: bool) -> tuple[Made, CapacityRun]:
    """One steady run with its recording."""
    made = measured([rate_tps] * 12, system=system, repetition=repetition, search_id=f"{system}-{repetition}")
    trial_id = f"{system}-{rate_tps:g}-{repetition}-{number}"
    level = Level(connections=8, rate_tps=rate_tps)
    update = {"trial_id": trial_id, "level": level, "search_role": RunRole.STEADY}
    made = replace(made, trial=made.trial.model_copy(update=update))
    run = CapacityRun(
        trial_id=trial_id,
        role=RunRole.STEADY,
        connections=8,
        rate_tps=rate_tps,
        throughput_tps=rate_tps,
        response_ms_p99=12.0,
        over_ratio=0.001,
        duration_s=10.0,
        verdict=RunVerdict.HOLDS if holds else RunVerdict.DOES_NOT_HOLD,
    )
    return made, run


def searched(capacities: dict[str, tuple[float, ...]], *, holds: bool = True) -> Analysis:
    """Each system with a search for each of its rates, of three runs each."""
    recordings, searches = [], []
    for system, rates in capacities.items():
        for repetition, rate in enumerate(rates):
            runs = [run_of(system, repetition, rate, number, holds=holds) for number in range(3)]
            recordings += [made for made, _ in runs]
            capacity = Capacity(
                capacity_tps=rate if holds else None, objective=OBJECTIVE, runs=tuple(run for _, run in runs)
            )
            searches.append(
                SearchRecord(
                    search_id=f"{system}-{repetition}",
                    system=system,
                    workload="read-write",
                    repetition=repetition,
                    is_finished=True,
                    capacity=capacity,
                )
            )
    return analyse("made", recordings, searches=searches)


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    """`b` has half as much again as `a`."""
    return searched({"a": (1000.0, 1010.0, 990.0), "b": (1500.0, 1500.0, 1500.0)})


def test_the_first_screen_says_when_it_was_measured_the_highest_capacity_and_how_it_compares(
    analysis: Analysis,
) -> None:
    first = describe(analysis).first
    assert ("Measured", "12 January 1970") in first.facts
    assert [headline.text.split(" (95 %")[0] for headline in first.headlines] == [
        "read-write: b has a capacity of 1,500 tps",
        "read-write: the capacity of b is 50.0 % higher than that of a",
    ]


def test_every_run_and_every_capacity_leads_to_its_recording(analysis: Analysis) -> None:
    content = describe(analysis)
    listed = {recording.trial_id for recording in content.recordings}
    assert len(listed) == 18
    best = analysis.answer[0]
    assert [source.trial_id for source in sources_of(best, analysis)] == ["b-1500-0-0", "b-1500-1-0", "b-1500-2-0"]
    assert content.capacity is not None
    for table in content.capacity.runs:
        assert {entry.source for row in table.rows for entry in row[1:6]} <= listed
    glance = {row[0].text: row[2] for row in content.glance.rows}
    assert (glance["a"].text, glance["a"].source) == ("1,000", "a-1000-0-0")
    page = render_html(analysis)
    assert all(f'href="#recording-{one}"' in page for one in listed)


def test_the_first_screen_draws_a_bar_for_each_capacity_and_names_its_system(analysis: Analysis) -> None:
    first = render_html(analysis).split("Systems at a glance")[0]
    assert 'aria-label="Capacity of each system, read-write"' in first
    chart = capacities_chart(analysis, analysis.workloads[0], Style(width_px=430, height_px=200))
    assert chart is not None
    rows = chart_spec(chart)["data"]["values"]
    assert [(row["system"], round(row["rate"])) for row in rows] == [("a", 1000), ("b", 1500)]
    assert all(row["low"] < row["rate"] < row["high"] for row in rows)
    assert [row["from"] for row in rows] == [None, None], "no run clearly failed, so there is no upper limit"


def test_limits_are_drawn_where_both_are_known(analysis: Analysis) -> None:
    capacities = [capacity.model_copy(update={"low": 900.0, "high": 1100.0}) for capacity in analysis.capacities]
    unconfirmed = capacities[1].model_copy(update={"capacity_tps": None})
    changed = analysis.model_copy(update={"capacities": (capacities[0], unconfirmed)})
    chart = capacities_chart(changed, analysis.workloads[0], Style(width_px=430, height_px=200))
    assert chart is not None
    rows = chart_spec(chart)["data"]["values"]
    assert [(row["from"], row["to"]) for row in rows] == [(900.0, 1100.0)] * 2
    assert (rows[1]["rate"], rows[1]["figure"]) == (None, "not known")


def test_a_workload_has_its_capacity_the_runs_with_a_key_and_steady_runs_over_time(analysis: Analysis) -> None:
    page = render_html(analysis)
    assert 'id="capacity"' not in page
    part = page.split('id="workload-1"')[1].split("</section>")[0]
    assert all(
        words in part for words in ("Capacity at the objective", "Capacities compared", "Every run of 6 searches")
    )
    key = part.split('<ul class="key">')[1].split("</ul>")[0]
    assert key.count("</li>") == 2
    assert "</svg>a</li>" in key
    strips = cell_strips(analysis, analysis.workloads[0])
    assert [(strip.system, strip.title, len(strip.trials)) for strip in strips] == [
        ("a", "steady runs at 1,000, 1,010 and 990 tps", 9),
        ("b", "steady runs at 1,500 tps", 9),
    ]
    assert part.count('<figure class="strips"') == 2


def test_runs_that_only_searched_are_not_kept_second_by_second() -> None:
    made, run = run_of("a", 0, 100.0, 0, holds=True)
    for role, is_kept in ((RunRole.STEADY, True), (RunRole.BRACKET, False)):
        trial = made.trial.model_copy(update={"search_role": role})
        search = SearchRecord(
            search_id="a-0",
            system="a",
            workload="read-write",
            repetition=0,
            is_finished=True,
            capacity=Capacity(objective=OBJECTIVE, runs=(run,)),
        )
        (found,) = analyse("made", [replace(made, trial=trial)], searches=[search]).trials
        assert (found.series is not None) is is_kept


def test_what_no_system_reaches_is_said_once() -> None:
    content = describe(searched({"a": (100.0, 110.0), "b": (90.0, 95.0)}, holds=False))
    assert [headline.text for headline in content.first.headlines] == [
        "read-write: neither system has a capacity with p99 response time within 20.0 ms and errors within"
        " 0.1 %; the lowest rate that was tried is 90.0 tps."
    ]
    assert not [text for text in content.answer if "not every search" in text]


def test_two_searches_each_leave_a_small_difference_open() -> None:
    answer = describe(searched({"a": (1000.0, 1200.0), "b": (1150.0, 1100.0)})).answer
    assert any("it is not resolved whether the capacities of b and a differ" in text for text in answer)
