"""Charts of replicas: lag over time, and throughput against their number with the line of the fleet's arithmetic.

Deliberately not here: how any of it is found (`plimsoll.analyse.replication`), and words (`replication`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plimsoll.analyse.model import Analysis
from plimsoll.analyse.replication.model import ReplicaScaling, ServersOfLevel
from plimsoll.guide.chart_links import Links, href, recordings_line
from plimsoll.guide.drawing import alt
from plimsoll.guide.labels import chart_of
from plimsoll.guide.look import Look, series_colours, series_dashes
from plimsoll.guide.marks import Chart, Row, axis_y, finish, rate_words
from plimsoll.guide.numbers import per_unit
from plimsoll.guide.scale_out import place_of, unit_of
from plimsoll.guide.sections import SectionChart
from plimsoll.guide.words import clean
from plimsoll.prose.phrases import rate_with_interval

CHARTS_MAX = 6
"""So many systems under a workload have a chart of lag; those with the largest lag first."""

_ARITHMETIC = "arithmetic"


def lag_charts(analysis: Analysis) -> Iterator[SectionChart]:
    """One for each system and workload: at the level where a lag grows first, else at that with the largest lag."""
    groups: dict[tuple[str, str], list[ServersOfLevel]] = {}
    for level in analysis.replication.levels:
        if any(lag.lag_s for server in level.servers for lag in server.lag):
            groups.setdefault((level.system, level.workload), []).append(level)
    chosen = [_chosen(levels) for levels in groups.values()]
    for level in sorted(chosen, key=lambda one: -_largest_s(one))[:CHARTS_MAX]:
        label = level.level.label(unit_of(analysis, level.workload))
        yield SectionChart(title=f"{level.system}, {level.workload}, {label}: lag", draw=_LagChart(level, analysis))


def _chosen(levels: Sequence[ServersOfLevel]) -> ServersOfLevel:
    growing = [one for one in levels if any(server.lag_grows for server in one.servers)]
    return growing[0] if growing else max(levels, key=_largest_s)


def _largest_s(level: ServersOfLevel) -> float:
    return max((lag.largest_s or 0.0 for server in level.servers for lag in server.lag), default=0.0)


class _LagChart:
    """Draws the lag of each replica of a level, a line for each trial."""

    def __init__(self, level: ServersOfLevel, analysis: Analysis) -> None:
        self._level, self._links = level, Links(analysis)

    def __call__(self, look: Look) -> Chart:
        """The chart in a look."""
        rows = [
            {
                "replica": clean(server.instance),
                "trial": lag.trial_id,
                "second": lag.from_s + (index + 0.5) * lag.step_s,
                "lag": value,
                **self._links.of([lag.trial_id]),
            }
            for server in self._level.servers
            for lag in server.lag
            for index, value in enumerate(lag.lag_s)
            if value is not None
        ]
        replicas = list(dict.fromkeys(row["replica"] for row in rows))
        colour = _colour("replica:N", replicas, look)
        x = alt.X("second:Q", axis=alt.Axis(title="Seconds since the load began", tickCount=6, format=",~r"))
        top = max(row["lag"] for row in rows) * 1.06 or 1.0
        y = axis_y("lag:Q", "Lag, seconds", alt.Scale(domain=[0, top], nice=False), tickCount=4)
        tooltip = [
            alt.Tooltip("replica:N"),
            alt.Tooltip("second:Q", format=".0f"),
            alt.Tooltip("lag:Q", title="lag, s", format=".4~r"),
            recordings_line(),
        ]
        base = chart_of(rows)
        line = base.mark_line(strokeWidth=1.6).encode(x=x, y=y, color=colour, detail=alt.Detail("trial:N"))
        point = base.mark_point(filled=True, size=14, opacity=0.8)
        return finish(alt.layer(line, point.encode(x=x, y=y, color=colour, tooltip=tooltip, href=href())), look)


def _colour(field: str, names: Sequence[str], look: Look) -> alt.Color:
    scale = alt.Scale(domain=list(names), range=series_colours(look.palette, len(names)))
    return alt.Color(field, scale=scale, legend=alt.Legend())


def scaling_charts(analysis: Analysis) -> Iterator[SectionChart]:
    """One for each workload: a line for each family of systems, dashed what the arithmetic says."""
    for workload in dict.fromkeys(one.workload for one in analysis.replication.scaling):
        own = [one for one in analysis.replication.scaling if one.workload == workload]
        yield SectionChart(title=f"{workload}: throughput by number of replicas", draw=_ScalingChart(own, analysis))


class _ScalingChart:
    """Draws throughput against the number of replicas, with the band of the confidence interval."""

    def __init__(self, scalings: Sequence[ReplicaScaling], analysis: Analysis) -> None:
        self._scalings, self._links = scalings, Links(analysis)
        self._unit = unit_of(analysis, scalings[0].workload)

    def __call__(self, look: Look) -> Chart:
        """The chart in a look."""
        rows = [row for one in self._scalings for row in self._rows(one)]
        names = list(dict.fromkeys(row["system"] for row in rows))
        colour = _colour("system:N", names, look)
        kinds = ["measured", _ARITHMETIC]
        dash = alt.StrokeDash("kind:N", scale=alt.Scale(domain=kinds, range=[series_dashes(1)[0], [6, 4]]))
        counts = sorted({row["replicas"] for row in rows})
        x = alt.X("replicas:Q", axis=alt.Axis(title="Replicas", values=counts, format="d"))
        top = max(row["high"] or row["rate"] for row in rows) * 1.06 or 1.0
        y = axis_y("rate:Q", f"Throughput, {rate_words(self._unit)}", alt.Scale(domain=[0, top], nice=False))
        tooltip = [
            alt.Tooltip("system:N", title="systems"),
            alt.Tooltip("kind:N", title="is"),
            alt.Tooltip("replicas:Q"),
            alt.Tooltip("shown:N", title="throughput"),
            recordings_line(),
        ]
        base = chart_of(rows)
        band = base.mark_area(opacity=0.16).encode(x=x, y=alt.Y("low:Q"), y2=alt.Y2("high:Q"), color=colour)
        band = band.transform_filter("isValid(datum.low)")
        line = base.mark_line(strokeWidth=2).encode(x=x, y=y, color=colour, strokeDash=dash)
        point = base.mark_point(filled=True, size=48, opacity=1).transform_filter("datum.kind == 'measured'")
        return finish(alt.layer(band, line, point.encode(x=x, y=y, color=colour, tooltip=tooltip, href=href())), look)

    def _rows(self, one: ReplicaScaling) -> Iterator[Row]:
        name = clean(place_of(one.workload, one.alike))
        for point in one.points:
            bounds = point.throughput_tps.bounds
            known = bounds if bounds is not None and not bounds.is_vague else None
            yield {
                "system": name,
                "kind": "measured",
                "replicas": point.replicas,
                "rate": per_unit(point.throughput_tps.value, self._unit),
                "low": None if known is None else per_unit(known.low, self._unit),
                "high": None if known is None else per_unit(known.high, self._unit),
                "shown": rate_with_interval(point.throughput_tps, self._unit),
                **self._links.of(point.trials),
            }
            if point.expected_tps is not None:
                rate = per_unit(point.expected_tps, self._unit)
                yield {
                    "system": name,
                    "kind": _ARITHMETIC,
                    "replicas": point.replicas,
                    "rate": rate,
                    "low": None,
                    "high": None,
                    "shown": f"{rate:,.0f} {self._unit}",
                    **self._links.of(point.trials),
                }
