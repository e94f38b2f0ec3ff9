"""What charts show, as Vega-Lite and as pictures."""

from __future__ import annotations

import itertools
import json
from typing import Any
from xml.etree import ElementTree

import pytest

from plimsoll.analyse.model import Analysis
from plimsoll.analyse.study.cell_model import CpuShares
from plimsoll.guide.charts import (
    cpu_chart,
    cpu_part_names,
    cpu_parts,
    peaks_chart,
    response_charts,
    throughput_chart,
)
from plimsoll.guide.figures import InlineSvg, chart_spec, render_svg
from plimsoll.guide.marks import (
    LABEL_CHARACTERS,
    PAPER,
    SHARES_COUNT,
    Chart,
    Style,
    labels_fit,
    name_lines,
    ratio_axis,
    short_names,
    spread,
)
from plimsoll.guide.sources import Links
from plimsoll.record.level import LevelKind
from support.analyses import hostile_analysis, measured_analysis
from support.published import HP_LEVELS, imported_analysis, per_minute_analysis
from support.stalled import stalled_analysis

LINKS = Links(measured_analysis())
PAGE_LOOK = Style(width_px=None, height_px=300, labelled=True)
PAPER_LOOK = Style(width_px=700, height_px=300, palette=PAPER, labelled=True, legend=True)


def _throughput(analysis: Analysis, style: Style = PAGE_LOOK) -> Chart:
    chart = throughput_chart(analysis, analysis.workloads[-1], LevelKind.CLOSED, style)
    assert chart is not None
    return chart


def _axes(spec: dict[str, Any], channel: str) -> list[dict[str, Any]]:
    return [layer["encoding"][channel] for layer in spec["layer"] if layer["encoding"].get(channel, {}).get("axis")]


def test_connections_are_on_a_base_two_scale_with_the_measured_levels_as_ticks() -> None:
    for axis in _axes(chart_spec(_throughput(imported_analysis())), "x"):
        assert axis["scale"]["type"] == "log"
        assert axis["scale"]["base"] == 2
        assert axis["axis"]["values"] == list(HP_LEVELS)
        assert axis["axis"]["title"] == "Connections"


@pytest.mark.parametrize(
    ("make", "title"),
    [
        (measured_analysis, "Throughput, transactions per second (tps)"),
        (per_minute_analysis, "Throughput, transactions per minute (tpm)"),
    ],
)
def test_axes_state_their_units(make: Any, title: str) -> None:
    spec = chart_spec(_throughput(make()))
    assert {axis["axis"]["title"] for axis in _axes(spec, "y")} == {title}


def test_rates_and_bounds_are_in_the_unit_of_the_axis() -> None:
    rows = next(iter(chart_spec(_throughput(per_minute_analysis()))["layer"]))["data"]["values"]
    assert rows[2]["rate"] == pytest.approx(22215.11)
    assert rows[2]["low"] is None
    measured = next(iter(chart_spec(_throughput(measured_analysis()))["layer"]))["data"]["values"]
    assert all(row["low"] < row["rate"] < row["high"] for row in measured)


def test_systems_differ_in_colour_shape_and_dash() -> None:
    names = [system.name for system in imported_analysis().systems]
    spec = chart_spec(_throughput(imported_analysis()))
    for channel in ("color", "shape", "strokeDash"):
        scales = [layer["encoding"][channel]["scale"] for layer in spec["layer"] if channel in layer["encoding"]]
        assert scales
        assert all(scale["domain"] == names for scale in scales)
    colours = next(layer["encoding"]["color"]["scale"]["range"] for layer in spec["layer"])
    assert len(set(colours)) == 8


def test_a_chart_without_data_is_none() -> None:
    analysis = imported_analysis()
    assert list(response_charts(analysis, analysis.workloads[0], LevelKind.CLOSED, PAGE_LOOK)) == []
    assert cpu_chart(analysis.curves[0], "tps", PAGE_LOOK, Links(analysis)) is None
    empty = analysis.model_copy(update={"curves": ()})
    assert throughput_chart(empty, analysis.workloads[0], LevelKind.CLOSED, PAGE_LOOK) is None


def test_a_zero_response_time_has_no_place_on_a_logarithmic_scale() -> None:
    analysis = measured_analysis()
    curve = analysis.curves[0]
    none = curve.cells[0].response_ms.model_copy(update={"p50": 0.0, "p95": 0.0, "p99": 0.0, "mean": 0.0})
    cells = (curve.cells[0].model_copy(update={"response_ms": none}),)
    only = analysis.model_copy(update={"curves": (curve.model_copy(update={"cells": cells}),)})
    assert list(response_charts(only, analysis.workloads[0], LevelKind.CLOSED, PAGE_LOOK)) == []


def test_processor_time_adds_up_and_names_what_is_known() -> None:
    parts = cpu_parts(CpuShares(user=0.5, system=0.2, iowait=0.1, idle=0.2, server=0.4, client=0.2))
    assert list(parts) == ["server", "client", "other", "waiting for storage", "idle"]
    assert sum(parts.values()) == pytest.approx(1.0)
    assert cpu_parts(CpuShares(user=0.18, system=0.05, idle=0.77)) == {"user": 0.18, "system": 0.05, "idle": 0.77}
    assert cpu_parts(CpuShares(server=0.5)) == {}


@pytest.mark.parametrize(
    "cpu",
    [
        CpuShares(user=0.6, system=0.38, iowait=0.0, idle=0.02, server=0.70, client=0.32),
        CpuShares(user=0.5, system=0.3, iowait=0.05, idle=0.15, steal=0.1, server=0.9),
        CpuShares(user=0.55, system=0.45, iowait=0.02, idle=0.03),
        CpuShares(iowait=0.6, idle=0.5, server=0.1, client=0.1),
        CpuShares(idle=1.04, server=0.0, client=0.0),
    ],
    ids=["processes took more than the host", "server alone", "rounded in a table", "idle too long", "all idle"],
)
def test_a_bar_ends_at_all_of_the_host(cpu: CpuShares) -> None:
    """Bars once reached 104 %: the clocks of processes and of the host do not agree to the last per cent."""
    parts = cpu_parts(cpu)
    assert sum(parts.values()) == pytest.approx(1.0, abs=0.001)
    assert min(parts.values()) >= 0
    if parts.get("client"):
        assert parts["server"] / parts["client"] == pytest.approx(cpu.server / cpu.client)  # type: ignore[operator]
    cell = measured_analysis().curves[0].cells[0].model_copy(update={"cpu": cpu})
    chart = cpu_chart(measured_analysis().curves[0].model_copy(update={"cells": (cell,)}), "tps", PAGE_LOOK, LINKS)
    assert chart is not None
    assert chart_spec(chart)["encoding"]["y"]["scale"]["domain"] == [0, 1]


def test_each_use_of_the_processors_has_a_colour_of_its_own() -> None:
    base = measured_analysis().curves[0]
    kinds = (CpuShares(idle=0.1, server=0.5, client=0.2, iowait=0.1), CpuShares(idle=0.1, user=0.5, system=0.2))
    curves = [base.model_copy(update={"cells": (base.cells[0].model_copy(update={"cpu": kind}),)}) for kind in kinds]
    names = cpu_part_names(curves)
    assert list(names) == ["server", "client", "user", "system", "other", "waiting for storage", "idle"]
    assert sorted(names.values()) == list(range(SHARES_COUNT))
    chart = cpu_chart(curves[1], "tps", PAGE_LOOK, LINKS)
    assert chart is not None
    scale = chart_spec(chart)["encoding"]["color"]["scale"]
    assert dict(zip(scale["domain"], scale["range"], strict=True))["user"] == "var(--share-2)"


def test_names_stand_only_in_data_and_in_domains() -> None:
    spec = chart_spec(_throughput(hostile_analysis()))
    for layer in spec["layer"]:
        layer.pop("data")
        for channel in layer["encoding"].values():
            if isinstance(channel, dict):
                channel.get("scale", {}).pop("domain", None)
    assert "alert" not in json.dumps(spec)


@pytest.mark.parametrize("make", [measured_analysis, imported_analysis, hostile_analysis])
def test_pictures_are_whole_and_hold_no_scripts(make: Any) -> None:
    root = ElementTree.fromstring(render_svg(_throughput(make(), PAPER_LOOK)))
    kinds = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert kinds <= {"svg", "g", "path", "text", "rect", "line", "defs", "clipPath", "a", "tspan"}
    assert not any(name.startswith("on") for element in root.iter() for name in element.attrib)
    links = [value for element in root.iter() for name, value in element.attrib.items() if name.endswith("href")]
    assert all(link.startswith("#recording") for link in links)


def test_pictures_within_a_page_follow_its_width_and_keep_their_ids_apart() -> None:
    svg = InlineSvg({**chart_spec(_throughput(measured_analysis())), "width": 700}, "w1-").text
    head = svg[: svg.index(">")]
    assert "viewBox" in head
    assert ' width="' not in head
    assert 'id="clip' not in svg
    assert "var(--series-0)" in svg


def test_labels_keep_their_distance_and_order() -> None:
    places = spread([10.0, 10.5, 11.0, 57.0, 60.0], step=5.0, top=60.0)
    assert places == sorted(places)
    assert all(high - low >= 5.0 for low, high in itertools.pairwise(places))
    assert places[-1] <= 60.0
    assert spread([], step=5.0, top=60.0) == []
    few, many = ({str(number): [str(number)] for number in range(count)} for count in (8, 40))
    assert labels_fit(few, 340)
    assert not labels_fit(many, 340)
    assert not labels_fit({**few, "long": ["a", "name", "in", "lines"]}, 340)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["durable", "relaxed, of one host"], ["durable", "relaxed, of one host"]),
        (
            ["a host with a long name, durable", "a host with a long name, relaxed (twice)"],
            ["durable", "relaxed (twice)"],
        ),
        (
            ["BL460c, internal SAS, battery-backed write cache", "BL480c, SAN (MSA1500, 7 x 36 GB), RAID 0"],
            ["BL460c, internal SAS", "BL480c, SAN"],
        ),
        (["the same beginning of two names, a", "the same beginning of two names, b"], ["a", "b"]),
        (
            ["a server, with storage of its own kind", "a server, with storage of its own kind, tuned"],
            ["a server, with storage of its own kind", "a server, with storage of its own kind, tuned"],
        ),
        (["one system alone, with a name that is long"], ["one system alone, with a name that is long"]),
    ],
)
def test_short_names_leave_out_what_parts_no_two(names: list[str], expected: list[str]) -> None:
    assert list(short_names(names).values()) == expected


def test_names_are_never_cut() -> None:
    hostile = ["x" * 99, "a name that begins like others of its kind and goes on", "a name that begins like others"]
    for name, lines in name_lines(hostile).items():
        assert "".join(lines).replace(" ", "") == name.replace(" ", "")
        assert max(map(len, lines)) <= LABEL_CHARACTERS
    shown = name_lines([system.name for system in imported_analysis().systems])
    assert len({" ".join(lines) for lines in shown.values()}) == 8
    assert shown["BL460c, internal SAS, battery-backed write cache"] == ["BL460c, internal SAS"]


def test_the_99th_percentile_has_a_faint_point_for_each_repetition() -> None:
    analysis = measured_analysis()
    trials = {trial.trial_id: trial.response_ms_p99 for trial in analysis.trials}
    assert all(trials.values())
    for name, _, chart in response_charts(analysis, analysis.workloads[0], LevelKind.CLOSED, PAGE_LOOK):
        layers = [layer for layer in chart_spec(chart)["layer"] if layer["mark"].get("filled") is False]
        assert len(layers) == (name == "p99")
        for row in (row for layer in layers for row in layer["data"]["values"]):
            assert row["response"] == trials[row["recordings"]]
            assert row["rate"] <= layers[0]["encoding"]["x"]["scale"]["domain"][1], "within the plot"


def test_bars_carry_their_intervals_and_one_that_goes_beyond_the_axis_ends_in_an_arrow() -> None:
    analysis = measured_analysis()
    workload, first = analysis.workloads[0], analysis.curves[0]
    assert first.peak is not None
    rate = first.peak.throughput_tps
    assert rate.bounds is not None
    wide = rate.bounds.model_copy(update={"low": rate.value / 3, "high": rate.value * 9})
    peak = first.peak.model_copy(update={"throughput_tps": rate.model_copy(update={"bounds": wide})})
    curves = (first.model_copy(update={"peak": peak}), *analysis.curves[1:])
    chart = peaks_chart(analysis.model_copy(update={"curves": curves}), workload, PAGE_LOOK)
    assert chart is not None
    spec = chart_spec(chart)
    vague, known = spec["data"]["values"][:2]
    top = spec["layer"][0]["encoding"]["x"]["scale"]["domain"][1]
    assert (vague["low"], vague["end"], vague["is_beyond"]) == (wide.low, top, True)
    assert not known["is_beyond"]
    assert known["low"] < known["rate"] < known["high"] == known["end"] < top < 2 * known["high"]
    assert [layer["mark"].get("text") for layer in spec["layer"]].count("▶") == 1


def test_lower_bounds_have_a_sign_beside_their_point_and_in_their_tooltip() -> None:
    for analysis, signs in ((stalled_analysis(), 1), (measured_analysis(), 0)):
        charts = response_charts(analysis, analysis.workloads[0], LevelKind.CLOSED, PAGE_LOOK)
        chart = next(chart for name, _, chart in charts if name == "p99")
        layers = chart_spec(chart)["layer"]
        texts = [layer for layer in layers if layer["mark"].get("text") == "≥"]
        assert len(texts) == signs
        rows = next(layer["data"]["values"] for layer in layers if "strokeDash" in layer["encoding"])
        assert sum(row["is_lower_bound"] for row in rows) == signs
        assert sum("p99 ≥ " in row["shown_response"] for row in rows) == signs
        assert render_svg(chart).count("≥") >= signs


@pytest.mark.parametrize(
    ("domain", "is_wide", "ticks"),
    [
        ((0.924, 1.082), False, [0.95, 1.0, 1.05]),
        ((0.96, 1.03), False, [0.96, 0.98, 1.0, 1.02]),
        ((0.985, 1.012), False, [0.99, 1.0, 1.01]),
        ((0.92, 1.3), False, [1.0, 1.1, 1.2, 1.3]),
        ((0.72, 1.1), False, [0.8, 0.9, 1.0, 1.1]),
        ((0.93, 1.08), True, [0.95, 1.0, 1.05]),
        ((0.89, 1.12), True, [0.9, 1.0, 1.1]),
        ((0.79, 1.3), False, [0.8, 1.0, 1.25]),
    ],
)
def test_an_axis_of_ratios_has_numbers_however_short_it_is(
    domain: tuple[float, float], is_wide: bool, ticks: list[float]
) -> None:
    assert ratio_axis(domain, is_wide=is_wide)["values"] == ticks
