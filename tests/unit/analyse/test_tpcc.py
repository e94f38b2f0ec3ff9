"""The TPC-C-derived workload against the specification: figures, demands and the deviation sheet, up to the guide."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.trial.tpcc_clauses import FIXED, Measured, TpccFigures, deviations
from plimsoll.guide.html import render_html
from plimsoll.guide.terminal import render_terminal
from plimsoll.record.environment import Environment, InstanceFacts
from plimsoll.spec.tpcc import TpccSpec, quirks_of
from support.made import Made, measured
from support.markdown import unlinked_markdown
from support.printed import printed
from support.told import limits_of

FAITHFUL = {"warehouses": 2, "times": 1.0, "delivery_connections": 1, "isolation": "serializable"}
"""Options that depart from nothing that can be chosen, but that the queue of deliveries is in memory."""

EACH_SECOND = {"new_order": 45, "payment": 43, "order_status": 4, "delivery": 4, "stock_level": 4}


def test_quirks_are_among_the_departures() -> None:
    def found(**more: Any) -> set[str]:
        options = TpccSpec.model_validate({**FAITHFUL, **more}).options()
        return {deviation.chosen for deviation in deviations(options, connections=(20,))}

    added = found(quirks="dbt2") - found()
    assert {quirk.chosen for quirk in quirks_of("dbt2")} <= added
    assert "nothing is remote" in added


def trial(
    options: dict[str, Any] | None = None,
    *,
    each_second: dict[str, int] | None = None,
    response_s: dict[str, float] | None = None,
    **of_trial: Any,
) -> Made:
    """Ten seconds of so many transactions of each type, all equally long."""
    spec = TpccSpec.model_validate(options or FAITHFUL)
    of_trial = {"workload": "tpcc", "kind": "tpcc", "connections": 20, "options": spec.options(), **of_trial}
    parts = {
        name: measured([float(count)] * 10, response_ns=times_ns((response_s or {}).get(name, 0.01)), **of_trial)
        for name, count in (each_second or EACH_SECOND).items()
    }
    tables = {
        table: pl.concat(made.tables[table].with_columns(transaction=pl.lit(name)) for name, made in parts.items())
        for table in ("intervals", "histograms")
    }
    return replace(next(iter(parts.values())), tables=tables)


def times_ns(most_s: float) -> np.ndarray:
    return np.full(1000, int(most_s * 1e9))


def figures(analysis: Analysis) -> TpccFigures:
    ((cell,),) = (curve.cells for curve in analysis.curves)
    assert cell.tpcc is not None
    return cell.tpcc


def clauses(found: tuple[Any, ...]) -> list[str]:
    return [one.clause for one in found if one not in FIXED]


def test_notpm_is_that_of_new_orders_and_efficiency_needs_the_times() -> None:
    found = figures(analyse("s", [trial(each_second={"new_order": 1, "payment": 1})]))
    assert (found.notpm, found.warehouses_count, found.notpm_per_warehouse) == (60, 2, 30)
    assert found.is_above_maximum
    assert found.efficiency_ratio == pytest.approx(30 / 12.86)
    assert figures(analyse("s", [trial({"warehouses": 6})])).efficiency_ratio is None
    assert not figures(analyse("s", [trial({"warehouses": 1000})])).is_above_maximum


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (FAITHFUL, "Each terminal sent its next transaction a pause after the last was done"),
        ({"terminals": 200}, "Each terminal sent its next transaction when the last was done"),
        ({"warehouses": 2}, "Each connection sent its next transaction when the last was done"),
    ],
)
def test_whose_pace_it_was_is_said(options: dict[str, Any], words: str) -> None:
    assert any(limit.startswith(words) for limit in limits_of(analyse("s", [trial(options)])))


def test_only_homes_are_in_use() -> None:
    options = {"warehouses": 50, "all_warehouses": False}
    assert figures(analyse("s", [trial(options)])).warehouses_count == 20
    assert figures(analyse("s", [trial({**options, "terminals": 30})])).warehouses_count == 30
    assert figures(analyse("s", [trial({"warehouses": 50})])).warehouses_count == 50


def test_shares_and_response_times_are_held_against_their_clauses() -> None:
    slow = {"payment": 5.1, "stock_level": 5.1, "delivery_deferred": 81}
    counts = {**EACH_SECOND, "delivery": 3, "delivery_deferred": 3}
    analysis = analyse("s", [trial(each_second=counts, response_s=slow)])
    found = {one.name: one for one in figures(analysis).types}
    assert [name for name, one in found.items() if one.is_in_time is False] == ["payment", "delivery_deferred"]
    assert [name for name, one in found.items() if one.has_share is False] == ["delivery"]
    assert found["delivery"].share_ratio == pytest.approx(3 / 99)
    assert found["delivery_deferred"].share_ratio is None
    ((cell,),) = (curve.cells for curve in analysis.curves)
    assert {one.name: one.completed_ratio for one in cell.types}["new_order"] == pytest.approx(45 / 99)
    assert list(analysis.workloads[0].types) == ["new_order", "payment", "order_status", "stock_level", "delivery"]


def test_few_transactions_are_in_time_when_the_longest_is() -> None:
    made = trial(each_second={"new_order": 1}, response_s={"new_order": 4.9})
    short = made.tables["histograms"].with_columns(counts=pl.lit([3], pl.List(pl.UInt64)))
    (one,) = figures(analyse("s", [replace(made, tables={**made.tables, "histograms": short})])).types
    assert one.is_in_time is True


def test_what_departs_from_nothing_that_can_be_chosen_still_departs_in_what_always_does() -> None:
    planned = deviations(TpccSpec.model_validate(FAITHFUL).options(), connections=(20,))
    assert [one for one in planned if one in FIXED] == list(FIXED)
    assert clauses(planned) == ["2.7.2"]


@pytest.mark.parametrize(
    ("options", "connections", "clause", "words"),
    [
        ({}, (16,), "4.2.2", "16 terminals for 2 warehouses"),
        ({}, (1, 20), "4.2.2", "1 to 20 terminals for 2 warehouses"),
        ({"terminals": 30}, (20,), "4.2.2", "30 terminals for 2 warehouses"),
        ({}, (1, 20), "2.4.1.1, 2.5.1.1, 2.6.1.1, 2.7.1.1, 2.8.1.1", "go around"),
        ({"times": 0.1}, (20,), "5.2.5.2, 5.2.5.4", "0.10 of the keying and think times"),
        ({"times": 0}, (20,), "5.2.5.2, 5.2.5.4", "no keying or think times"),
        ({"isolation": "read_committed"}, (20,), "3.4.1", "READ COMMITTED"),
        ({"isolation": "server_default"}, (20,), "3.4.1", "that of the server"),
        ({"storage_engine": "MyISAM"}, (20,), "3.2", "MyISAM"),
        ({"delivery_connections": 0}, (20,), "2.7.2", "while the terminal waits"),
        ({"mix": {"new_order": 97, "payment": 1, "order_status": 1, "delivery": 1, "stock_level": 0},
          "choice": "weighted"}, (20,), "5.2.3", "0.00 % stock_level"),
    ],
)  # fmt: skip
def test_options_that_depart_are_named(
    options: dict[str, Any], connections: tuple[int, ...], clause: str, words: str
) -> None:
    spec = TpccSpec.model_validate({**FAITHFUL, **options})
    found = {deviation.clause: deviation.chosen for deviation in deviations(spec.options(), connections=connections)}
    assert words in found[clause]


def test_longer_times_and_homes_that_stay_depart_from_nothing() -> None:
    options = TpccSpec.model_validate({**FAITHFUL, "times": 2.0, "all_warehouses": False}).options()
    assert clauses(deviations(options, connections=(1,))) == ["2.7.2", "4.2.2"]


def test_what_was_measured_departs_where_limits_are_broken() -> None:
    options = TpccSpec.model_validate(FAITHFUL).options()
    long = Measured(duration_s=7200, shares={"payment": 0.43}, response_ms_p90={"payment": 5000.0})
    assert clauses(deviations(options, connections=(20,), measured=long)) == ["2.7.2"]
    slow = {"response_ms_p90": {"payment": 5001.0, "stock_level": 20_001.0}, "shares": {"payment": 0.4299}}
    found = deviations(options, connections=(20,), measured=replace(long, duration_s=60, **slow))
    assert clauses(found) == ["2.7.2", "5.2.3", "5.2.5.3", "5.2.5.3", "5.5.2.1"]


def test_the_servers_own_isolation_counts_where_none_is_asked_for() -> None:
    def chosen(variable: str, value: str) -> list[str]:
        instance = InstanceFacts(name="one", variables={variable: value})
        options = {**FAITHFUL, "isolation": "server_default"}
        (workload,) = analyse("s", [trial(options, environment=Environment(instances=(instance,)))]).workloads
        return [deviation.chosen for deviation in workload.deviations if deviation.clause == "3.4.1"]

    assert chosen("transaction_isolation", "REPEATABLE-READ") == ["isolation is REPEATABLE READ"]
    assert chosen("tx_isolation", "SERIALIZABLE") == []


def test_instances_that_share_the_warehouses_keep_remote_ones_to_themselves() -> None:
    (workload,) = analyse("s", [trial(), trial(system="b", instances=4)]).workloads
    assert [deviation.chosen for deviation in workload.deviations if deviation.clause == "2.4.1.5, 2.5.1.2"] == [
        "4 instances share the warehouses: remote lines and payments stay within one"
    ]
    (workload,) = analyse("s", [trial()]).workloads
    assert "2.4.1.5, 2.5.1.2" not in clauses(workload.deviations)


def test_other_workloads_have_no_sheet() -> None:
    (workload,) = analyse("s", [measured([90.0] * 10)]).workloads
    assert workload.deviations == ()


def shown(analysis: Analysis) -> list[str]:
    return [render_html(analysis), unlinked_markdown(analysis), printed(render_terminal(analysis))]


def test_every_guide_has_notpm_limits_and_the_sheet_once() -> None:
    made = [trial({"warehouses": 2}, response_s={"payment": 6}, connections=count) for count in (20, 40)]
    html, markdown, terminal = shown(analyse("s", made))
    assert "| 20 | 2,700 | 2 | **1,350** over 12.86 |" in markdown
    assert "| payment | 20 | 6,000 | **6,000** too slow | 5,000 |" in markdown
    for text in (html, markdown, terminal):
        assert " ".join(text.split()).count("are not TPC-C results") == 1
        assert "tpmC" not in text
    assert "| 5.2.5.3 | 90 % of payment within 6.00 s | within 5 s |" in markdown


def test_results_come_first_and_the_sheet_behind_them() -> None:
    html, markdown, terminal = shown(analyse("s", [trial({"warehouses": 2}), trial(system="b")]))
    clause = next(deviation.clause for deviation in FIXED)
    for text, results in (
        (html, ("no TPC-C results", 'id="differences"', 'id="systems"')),
        (markdown, ("no TPC-C results", "## Differences between systems", "## Systems one by one")),
        (terminal, ("new orders per minute",)),
    ):
        places = [text.index(place) for place in (*results, clause)]
        assert places == sorted(places)
    assert '<a href="#deviations">' in html


def test_guides_of_other_workloads_do_not_speak_of_it() -> None:
    assert not any("TPC-C" in text for text in shown(analyse("s", [measured([90.0] * 10)])))
