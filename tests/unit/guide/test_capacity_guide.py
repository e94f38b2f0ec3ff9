"""A guide of a study that only searched for capacities."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plimsoll.analyse.model import Analysis
from plimsoll.analyse.study import analyse
from plimsoll.guide.content import describe
from plimsoll.guide.html import render_html
from plimsoll.guide.sources import sources_of
from plimsoll.record.capacity import Capacity, CapacityObjective, CapacityRun, RunRole, RunVerdict, SearchRecord
from plimsoll.record.level import Level
from unit.analyse.made import Made, measured

OBJECTIVE = CapacityObjective(response_ms_p99=20.0, errors_ratio=0.001)


def run_of(system: str, repetition: int, rate_tps: float, number: int, *, holds: bool) -> tuple[Made, CapacityRun]:
    """One confirmation with its recording."""
    made = measured([rate_tps] * 12, system=system, repetition=repetition, search_id=f"{system}-{repetition}")
    trial_id = f"{system}-{rate_tps:g}-{repetition}-{number}"
    level = Level(connections=8, rate_tps=rate_tps)
    made = replace(made, trial=made.trial.model_copy(update={"trial_id": trial_id, "level": level}))
    run = CapacityRun(
        trial_id=trial_id,
        role=RunRole.CONFIRM,
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
    assert [one.text.split(" (95 %")[0] for one in first.headlines] == [
        "read-write: b has a capacity of 1,500 tps",
        "read-write: the capacity of b is 50.0 % higher than that of a",
    ]


def test_every_run_and_every_capacity_leads_to_its_recording(analysis: Analysis) -> None:
    content = describe(analysis)
    listed = {one.trial_id for one in content.recordings}
    assert len(listed) == 18
    best = analysis.answer[0]
    assert [one.trial_id for one in sources_of(best, analysis)] == ["b-1500-0-0", "b-1500-1-0", "b-1500-2-0"]
    assert content.capacity is not None
    for table in content.capacity.runs:
        assert {entry.source for row in table.rows for entry in row[1:6]} <= listed
    glance = {row[0].text: row[2] for row in content.glance.rows}
    assert (glance["a"].text, glance["a"].source) == ("1,000", "a-1000-0-0")
    page = render_html(analysis)
    assert all(f'href="#recording-{one}"' in page for one in listed)


def test_what_no_system_reaches_is_said_once() -> None:
    content = describe(searched({"a": (100.0, 110.0), "b": (90.0, 95.0)}, holds=False))
    assert [one.text for one in content.first.headlines] == [
        "read-write: neither system has a confirmed capacity with p99 response time within 20.0 ms and errors within"
        " 0.1 %; the lowest rate that was tried is 90.0 tps."
    ]
    assert not [text for text in content.answer if "not every search" in text]


def test_two_searches_each_leave_a_small_difference_open() -> None:
    answer = describe(searched({"a": (1000.0, 1200.0), "b": (1150.0, 1100.0)})).answer
    assert any("it is not resolved whether the capacities of b and a differ" in text for text in answer)
