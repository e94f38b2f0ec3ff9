"""The section "Cost": what systems cost for what they sustain, and the Pareto front.

Deliberately not here: how that is calculated (`plimsoll.analyse.cost`).
"""

from __future__ import annotations

import altair as alt

from plimsoll.analyse.cost_model import OnFront, SystemCost, WorkloadCost
from plimsoll.analyse.model import Analysis
from plimsoll.guide.chart_links import HREF, RECORDINGS, Links
from plimsoll.guide.labels import chart_of
from plimsoll.guide.look import Look
from plimsoll.guide.marks import Chart, Series, axis_y, finish, names, rate_words
from plimsoll.guide.numbers import NOT_KNOWN, per_unit, show_rate, show_ratio
from plimsoll.guide.sections import Section, SectionChart
from plimsoll.guide.tables import Column, Entry, Table
from plimsoll.guide.words import clean
from plimsoll.prose.phrases import listed
from plimsoll.record.price import Price
from plimsoll.units import format_number, format_percent


def cost_section(analysis: Analysis) -> Section | None:
    """The whole section; None without prices."""
    if not analysis.costs:
        return None
    units = {one.name: one.rate_unit for one in analysis.workloads}
    is_saturation = any(system.is_saturation for one in analysis.costs for system in one.systems)
    notes = ["A month is a twelfth of a year; prices are as the user stated them."]
    if is_saturation:
        notes.append("Without load at a target rate the capacity is the highest throughput, which no objective limits.")
    return Section(
        anchor="cost",
        title="Cost",
        sentences=tuple(sentence for one in analysis.costs for sentence in cost_sentences(one)),
        tables=tuple(_table(one, units.get(one.workload, "tps"), analysis) for one in analysis.costs),
        charts=tuple(
            _chart(one, currency, units.get(one.workload, "tps"), analysis)
            for one in analysis.costs
            for currency in one.currencies
        ),
        notes=tuple(notes),
    )


def cost_sentences(one: WorkloadCost) -> list[str]:
    """Which systems are on the front, and what cannot be compared."""
    sentences = []
    for currency in one.currencies:
        own = [system for system in one.systems if (system.price.currency or "") == currency]
        cheapest = own[0]
        money = price_words(Price(per_month=cheapest.per_million.value, currency=currency or None))
        front = [system.system for system in own if system.on_front is OnFront.YES]
        is_known = currency not in one.undecided
        leads = "is the cheapest" if is_known else "has the lowest figure for cost"
        text = f"{one.workload}: {cheapest.system} {leads} per transaction"
        text = text if len(own) > 1 else f"{one.workload}: {cheapest.system} costs"
        text += (
            f"{',' if len(own) > 1 else ''} {money} per million transactions at {format_percent(one.utilisation)} of"
        )
        text += " its capacity."
        if not is_known:
            text += " Which system is the cheapest is not resolved: "
            is_open = any(system.is_at_last_level for system in own)
            text += "a peak lies outside the measured range." if is_open else "the confidence intervals overlap."
        elif len(own) > 1:
            text += f" No other system sustains as much for less: {listed(front)}."
        sentences.append(text)
    if len(one.currencies) > 1:
        stated = listed([currency or "no stated currency" for currency in one.currencies])
        sentences.append(f"{one.workload}: prices in {stated} are not compared with each other.")
    if one.without_price:
        sentences.append(f"{one.workload}: no price is known of {listed(list(one.without_price))}.")
    return sentences


def price_words(price: Price) -> str:
    """An amount with its currency.

    >>> price_words(Price(per_month=310, currency="EUR")), price_words(Price(per_month=0.5))
    ('310 EUR', '0.50')
    """
    return f"{format_number(price.per_month)}{f' {price.currency}' if price.currency else ''}"


_FRONT = {OnFront.YES: "yes", OnFront.NO: "no", OnFront.UNDECIDED: "undecided"}


def _table(one: WorkloadCost, unit: str, analysis: Analysis) -> Table:
    columns = (
        Column(heading="system", numeric=False),
        Column(heading="per month"),
        Column(heading="term", numeric=False),
        Column(heading="as of", numeric=False),
        Column(heading=f"capacity, {unit}"),
        Column(heading=f"per million at {one.utilisation * 100:.3g} %"),
        Column(heading="on the Pareto front", numeric=False),
    )
    rows = tuple(_row(system, unit, _trials(system.system, one.workload, analysis)) for system in one.systems)
    return Table(caption=f"{one.workload}: cost", columns=columns, rows=rows)


def _row(one: SystemCost, unit: str, trials: tuple[str, ...]) -> tuple[Entry, ...]:
    capacity, million = show_rate(one.capacity_tps, unit), show_ratio(one.per_million)
    currency = f" {one.price.currency}" if one.price.currency else ""
    return (
        Entry(one.system),
        Entry(price_words(one.price)),
        Entry(one.price.term or NOT_KNOWN),
        Entry(one.price.date.isoformat() if one.price.date else NOT_KNOWN),
        Entry(capacity.value, capacity.bounds, sources=trials),
        Entry(f"{million.value}{currency}", million.bounds, sources=trials),
        Entry(_FRONT[one.on_front], f"{one.beaten_by} sustains as much for less" if one.beaten_by else None),
    )


def _chart(one: WorkloadCost, currency: str, unit: str, analysis: Analysis) -> SectionChart:
    return SectionChart(
        title=f"{one.workload}: cost and capacity{f', {currency}' if currency else ''}",
        draw=lambda look: pareto_chart(one, currency, unit, analysis, look),
    )


def _trials(system: str, workload: str, analysis: Analysis) -> tuple[str, ...]:
    """The recordings of a system's peak; at rates of the highest that it sustained."""
    own = [one for one in analysis.curves if (one.system, one.workload) == (system, workload) and one.peak_cell]
    best = next((one for one in own if one.kind.is_at_rate), own[0] if own else None)
    return () if best is None or best.peak_cell is None else best.peak_cell.trials


def pareto_chart(one: WorkloadCost, currency: str, unit: str, analysis: Analysis, look: Look) -> Chart:
    """Capacity over cost per month; a line joins the systems on the front."""
    own = [system for system in one.systems if (system.price.currency or "") == currency]
    links = Links(analysis)
    rows = [
        {
            "system": clean(system.system),
            "cost": system.price.per_month,
            "rate": per_unit(system.capacity_tps.value, unit),
            "front": system.on_front is OnFront.YES,
            "low": per_unit(system.capacity_tps.bounds.low, unit) if system.capacity_tps.bounds else None,
            "high": per_unit(system.capacity_tps.bounds.high, unit) if system.capacity_tps.bounds else None,
            **links.of(_trials(system.system, one.workload, analysis)),
        }
        for system in own
    ]
    marks = Series(names(analysis), look)
    base = chart_of(rows)
    most = max(system.price.per_month for system in own) * 1.08 or 1.0
    title = f"Cost per month{f', {currency}' if currency else ''}"
    x = alt.X("cost:Q", scale=alt.Scale(domain=[0, most], nice=False), axis=alt.Axis(title=title, format=",~r"))
    y = axis_y("rate:Q", f"Capacity, {rate_words(unit)}", alt.Scale(zero=True))
    tooltip = [alt.Tooltip("system:N"), alt.Tooltip("cost:Q"), alt.Tooltip("rate:Q", title="capacity"), RECORDINGS]
    front = base.mark_line(color=look.palette.quiet, interpolate="step-after", strokeDash=[4, 3]).encode(x=x, y=y)
    spread = base.mark_rule(strokeWidth=2).encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=marks.colour)
    points = base.mark_point(filled=True, size=80, opacity=1).encode(
        x=x, y=y, color=marks.colour, shape=marks.shape, tooltip=tooltip, href=HREF
    )
    layers = [front.transform_filter("datum.front"), spread.transform_filter("isValid(datum.low)"), points]
    return finish(alt.layer(*layers), look)
