"""The section "Where the time goes": the client's processor time in words, in the table and in the stack."""

from __future__ import annotations

from plimsoll.analyse.model import Analysis
from plimsoll.analyse.study import analyse
from plimsoll.analyse.where_model import WherePart
from plimsoll.guide.chart_links import Links
from plimsoll.guide.look import PAPER, Look
from plimsoll.guide.sections import Section
from plimsoll.guide.where_time import where_chart, where_section
from unit.analyse.test_server_summaries import trial


def analysis(server_s: float, client_s: float) -> Analysis:
    """One level at 100 tps and 40 ms; processor time in each second."""
    rates = {
        ("process", "one", "server_cpu_user_s_per_s"): server_s,
        ("process", "", "client_cpu_user_s_per_s"): client_s,
    }
    return analyse("made", [trial(rates)])


def section(server_s: float, client_s: float) -> Section:
    found = where_section(analysis(server_s, client_s))
    assert found is not None
    return found


def row(found: Section) -> dict[str, str]:
    table = found.tables[0]
    return {column.heading: entry.text for column, entry in zip(table.columns, table.rows[0], strict=True)}


def test_the_table_has_the_client_as_a_part() -> None:
    found = section(0.8, 0.5)
    assert row(found) == {
        "connections": "4",
        "response ms": "40.0",
        "server CPU ms": "8.00",
        "client CPU ms": "5.00",
        "unexplained ms": "27.0",
    }
    assert not any("Outside" in note for note in found.notes)


def test_what_finds_no_room_has_a_column_and_a_note() -> None:
    found = section(3.0, 2.5)
    assert (row(found)["client CPU ms"], row(found)["outside ms"]) == ("10.0", "15.0")
    assert any("Outside" in note for note in found.notes)


def test_the_stack_is_as_high_as_the_response_time() -> None:
    made = analysis(3.0, 2.5)
    chart = where_chart(made.where_time[0], 40.0, Look(width_px=400, height_px=200, palette=PAPER), Links(made))
    rows = chart.to_dict()["data"]["values"]
    assert sum(one["ms"] for one in rows) == made.where_time[0].levels[0].response_ms
    assert len({one["order"] for one in rows}) == len(WherePart)


def test_charts_of_a_workload_end_at_the_same_time() -> None:
    made = analysis(3.0, 2.5)
    (one,) = made.where_time
    slower = one.levels[0].model_copy(update={"parts_ms": {WherePart.SERVER_CPU: 500.0}})
    other = one.model_copy(update={"system": "other", "levels": (slower,)})
    found = where_section(made.model_copy(update={"where_time": (one, other)}))
    assert found is not None
    drawn = (chart.draw(Look(width_px=400, height_px=200, palette=PAPER)).to_dict() for chart in found.charts)
    domains = [spec["encoding"]["y"]["scale"]["domain"] for spec in drawn]
    assert domains == [[0, 515.0], [0, 515.0]]


def test_a_growing_client_is_named_as_such() -> None:
    made = analysis(0.8, 0.5).where_time[0]
    grown = made.model_copy(update={"verdict": "wait-grows", "part": WherePart.CLIENT_CPU, "growth_ms": 2.0})
    found = where_section(analysis(0.8, 0.5).model_copy(update={"where_time": (grown,)}))
    assert found is not None
    assert "the client's own processor time: by 2.00 ms per transaction" in found.sentences[0]
