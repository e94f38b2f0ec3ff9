"""The section "Where the time goes": the client's processor time in words, in the table and in the stack."""

from __future__ import annotations

import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.explain.where_model import (
    ResourceDemand,
    StorageUse,
    WhatIf,
    WhereLevel,
    WherePart,
    WhereTime,
    WhereVerdict,
)
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.study.cell_model import Bounds, Estimate
from plimsoll.guide.marks import PAPER, Style
from plimsoll.guide.sections import Section
from plimsoll.guide.sources import Links
from plimsoll.guide.where_time import where_chart, where_section, where_sentence
from plimsoll.record.level import Level, LevelKind
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
    chart = where_chart(made.where_time[0], 40.0, Style(width_px=400, height_px=200, palette=PAPER), Links(made))
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
    drawn = (chart.draw(Style(width_px=400, height_px=200, palette=PAPER)).to_dict() for chart in found.charts)
    domains = [spec["encoding"]["y"]["scale"]["domain"] for spec in drawn]
    assert domains == [[0, 515.0], [0, 515.0]]


def test_a_growing_client_is_named_as_such() -> None:
    made = analysis(0.8, 0.5).where_time[0]
    grown = made.model_copy(update={"verdict": "wait-grows", "part": WherePart.CLIENT_CPU, "growth_ms": 2.0})
    found = where_section(analysis(0.8, 0.5).model_copy(update={"where_time": (grown,)}))
    assert found is not None
    assert "the client's own processor time: by 2.00 ms per transaction" in found.sentences[0]


def told(**changes: object) -> str:
    """The sentence of a curve whose processors were 95 % busy at 1,000 tps, with changes."""
    level = WhereLevel(level=Level(connections=4), throughput_tps=1000.0)
    base = WhereTime(
        system="a",
        workload="w",
        kind=LevelKind.CLOSED,
        verdict=WhereVerdict.SATURATED,
        resource="cpu",
        limit_level=level.level,
        demands=tuple(demand(name, busy) for name, busy in (("cpu", 0.95), ("data device", 0.97), ("cpu quota", 0.92))),
        is_network_known=True,
        levels=(level.model_copy(update=changes.pop("of_level", {})),),
    )
    uses = (use,) if (use := changes.pop("use", None)) else ()
    return where_sentence(base.model_copy(update=changes), "tps", uses).removeprefix("w, a: ")


def demand(resource: str, busy_ratio: float) -> ResourceDemand:
    return ResourceDemand(
        resource=resource,
        level=Level(connections=4),
        utilisation_ratio=busy_ratio,
        saturation_tps=Estimate(value=1000 / busy_ratio),
    )


USE = StorageUse(
    system="a",
    workload="w",
    storage="fast",
    level=Level(connections=1),
    response_ms=1.0,
    busiest_level=Level(connections=4),
    device_ratio=0.23,
    device_limit_tps=4348.0,
)


def test_a_busy_device_is_not_called_saturated() -> None:
    device = told(resource="data device", rival="cpu")
    assert "saturate" not in device
    assert "the data device is the busiest resource: 97.0 % busy at the highest throughput" in device
    assert "a device that serves requests in parallel may still have capacity" in device
    assert "What limits may therefore be the processors: 95.0 % busy." in device
    assert "fio" not in device
    assert "It did 23.0 % of the random reads and writes that fio reached on it." in told(
        resource="data device", use=USE
    )
    assert told() == "the processors are saturated: 95.0 % busy at the highest throughput."


def test_processors_that_others_keep_busy_are_not_saturated_by_the_load() -> None:
    of_others = told(others_ratio=0.78)
    assert of_others.startswith("the processors are saturated, but not by this load: 95.0 % busy")
    assert "78.0 % of the busy time went to processes other than server and client. End them" in of_others
    assert of_others.count("78.0 %") == 1
    fewer = told(others_ratio=0.3)
    assert fewer.startswith("the processors are saturated: 95.0 % busy")
    assert "Neither server nor client used 30.0 % of it" in fewer


def test_twice_the_cpus_is_a_range_where_a_device_may_limit_before() -> None:
    what_if = WhatIf(bound_tps=Estimate(value=2000), limited_by="cpu")
    assert told(what_if=what_if).endswith(
        "Twice the CPUs: at most 2,000 tps, assuming that demands stay the same and contention does not rise."
    )
    with_device = what_if.model_copy(update={"device": "data device", "device_busy_tps": Estimate(value=1030)})
    assert told(what_if=with_device, use=USE).endswith(
        " From 1,030 tps on, the data device would be busy all the time and may be the limit; a device that serves"
        " requests in parallel may still have capacity. The random reads and writes that fio reached on it are enough"
        " for about 4,348 tps."
    )


def test_a_quota_that_stopped_the_server_is_told_with_every_verdict() -> None:
    stopped = " CPUs of the server's control group were stopped for 0.30 s in each second"
    assert stopped in told(of_level={"throttled_s_per_s": 0.3}, verdict=WhereVerdict.NOTHING_GROWS, resource=None)
    quota = told(of_level={"throttled_s_per_s": 0.3}, resource="cpu quota")
    assert quota.startswith("the server's quota of processor time is saturated: 92.0 % used at the highest throughput.")
    assert stopped in quota
    assert "stopped" not in told(of_level={"throttled_s_per_s": 0.005})


def test_a_network_that_was_not_measured_is_not_ruled_out() -> None:
    grows = {"verdict": WhereVerdict.WAIT_GROWS, "resource": None, "part": WherePart.ROW_LOCKS, "growth_ms": 2.0}
    unknown = " The network was not measured at both ends, so it may be the limit."
    assert told(**grows) == (
        "no hardware resource limits throughput: row locks. That wait grew by 2.00 ms per transaction."
    )
    assert told(**grows, is_network_known=False) == (
        f"neither processors nor disks limit throughput: row locks. That wait grew by 2.00 ms per transaction.{unknown}"
    )
    for verdict in (WhereVerdict.UNEXPLAINED_WAIT_GROWS, WhereVerdict.NOTHING_GROWS):
        assert unknown in told(**{**grows, "verdict": verdict}, is_network_known=False)


def test_waits_that_may_have_grown_more_are_named() -> None:
    assert told(
        verdict=WhereVerdict.WAIT_GROWS,
        resource=None,
        part=WherePart.REDO,
        growth_ms=20.0,
        growth_bounds=Bounds(low=-1.0, high=41.0, method=""),
        rival_parts=(WherePart.ROW_LOCKS, WherePart.UNEXPLAINED),
        table="shop.stock",
    ) == (
        "no hardware resource limits throughput: redo and binary log. That wait grew by 20.0 ms (95 % CI -1.00 ms to"
        " 41.0 ms) per transaction. These trials do not resolve whether it grew more than row locks on shop.stock and"
        " time that nothing explains."
    )


@pytest.mark.parametrize(("ratio", "is_said"), [(0.21, True), (0.19, False), (None, False)])
def test_a_large_share_that_nothing_explains_is_said(ratio: float | None, is_said: bool) -> None:
    text = told(of_level={"unexplained_ratio": ratio})
    assert ("No source explains 21.0 % of the response time at 4 connections." in text) is is_said
