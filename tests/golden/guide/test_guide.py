"""Whole guides as Markdown and on the terminal. Update with `pytest --snapshot-update tests/golden/guide`."""

from __future__ import annotations

from datetime import date

import pytest
from rich.console import RenderableType
from syrupy.assertion import SnapshotAssertion

from plimsoll.analyse.answers.size import size
from plimsoll.guide.markdown import render_markdown
from plimsoll.guide.size_terminal import size_terminal
from plimsoll.guide.terminal import render_terminal
from support.analyses import measured_analysis
from support.printed import printed
from support.published import imported_analysis, per_minute_analysis
from support.searched import demand, searched

MAKERS = {"measured": measured_analysis, "imported": imported_analysis, "per-minute": per_minute_analysis}


def _plain(shown: RenderableType) -> str:
    return "\n".join(line.rstrip() for line in printed(shown).splitlines())


@pytest.mark.parametrize("name", MAKERS)
def test_markdown(name: str, snapshot: SnapshotAssertion) -> None:
    assert render_markdown(MAKERS[name]()) == snapshot


@pytest.mark.parametrize("name", MAKERS)
def test_terminal(name: str, snapshot: SnapshotAssertion) -> None:
    assert _plain(render_terminal(MAKERS[name]())) == snapshot


@pytest.mark.parametrize("tps", [1200.0, 5000.0])
def test_size(tps: float, snapshot: SnapshotAssertion) -> None:
    answer = size(imported_analysis(), tps=tps, connections=16, workload="oltp complex read/write")
    assert _plain(size_terminal(answer)) == snapshot


def test_size_for_a_demand_that_grows(snapshot: SnapshotAssertion) -> None:
    studied = searched(
        costs={"large": 900.0, "medium": 450.0, "small": 200.0, "tight": 300.0},
        large=(4000.0, 4100.0, 4050.0),
        medium=(2000.0, 2040.0, 1960.0),
        tight=(1500.0, 1400.0, 1600.0),
        small=(900.0, 910.0, 905.0),
    )
    asked = demand(logged_on=date(2026, 7, 1), burstiness=40.0, duration_s=4 * 3600, doubts=("sampled",))
    answer = size(studied, demand=asked, response_p99_ms=20.0)
    assert _plain(size_terminal(answer)) == snapshot
