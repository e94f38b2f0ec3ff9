"""The section "Cost": what systems cost for what they sustain, and the Pareto front.

Deliberately not here: how that is calculated (`plimsoll.analyse.answers.cost`).
"""

from __future__ import annotations

from plimsoll.analyse.answers.cost import currency_of
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.study.capacity_model import CapacityBasis, OnFront, SystemCost, WorkloadCost
from plimsoll.guide.drawing import alt
from plimsoll.guide.marks import Chart, Look, Series, axis_y, chart_of, finish, names, rate_words
from plimsoll.guide.sections import Section, SectionChart
from plimsoll.guide.sources import Links, href, recordings_line
from plimsoll.guide.tables import NOT_KNOWN, Column, Entry, Table, per_unit, show_cost, show_rate
from plimsoll.guide.words import clean
from plimsoll.prose.cost import BASIS_WORDS, money_words, price_words, with_currency, without_capacity_words
from plimsoll.prose.phrases import plain_percent
from plimsoll.wording import capitalised, listed


def cost_section(analysis: Analysis) -> Section | None:
    """The whole section; None without prices."""
    if not analysis.costs:
        return None
    units = {one.name: one.rate_unit for one in analysis.workloads}
    notes = ["A month is a twelfth of a year; prices are as the user stated them."]
    notes += dict.fromkeys(_BASIS_NOTES[one.basis] for one in analysis.costs)
    return Section(
        anchor="cost",
        title="Cost",
        sentences=tuple(sentence for one in analysis.costs for sentence in cost_sentences(one)),
        tables=tuple(_table(one, units.get(one.workload, "tps")) for one in analysis.costs),
        charts=tuple(
            _chart(one, currency, units.get(one.workload, "tps"), analysis)
            for one in analysis.costs
            for currency in one.currencies
        ),
        notes=tuple(notes),
    )


_BASIS_NOTES = {
    CapacityBasis.SEARCHED: "Capacity is what searches confirmed at their objective.",
    CapacityBasis.WITHIN_OBJECTIVE: "Capacity is the best measured level within the study's objective.",
    CapacityBasis.SUSTAINED_RATE: "Capacity is the highest target rate that was sustained.",
    CapacityBasis.SATURATION: "Without an objective or target rates, cost rests on the highest throughput. It is no"
    " capacity: response times do not limit it.",
}


def cost_sentences(one: WorkloadCost) -> list[str]:
    """Which systems are on the front, and what cannot be compared."""
    sentences = [_of_currency(one, currency) for currency in one.currencies]
    if len(one.currencies) > 1:
        stated = listed([currency or "no stated currency" for currency in one.currencies])
        sentences.append(f"{one.workload}: prices in {stated} are not compared with each other.")
    if one.without_price:
        sentences.append(f"{one.workload}: no price is known of {listed(list(one.without_price))}.")
    if one.without_capacity:
        sentences.append(f"{one.workload}: {without_capacity_words(one.without_capacity, one.basis)}.")
    return sentences


def _of_currency(one: WorkloadCost, currency: str) -> str:
    own = [system for system in one.systems if currency_of(system.price) == currency]
    cheapest = own[0]
    money = money_words(cheapest.per_million.value, currency)
    share = f"{plain_percent(one.utilisation)} of {BASIS_WORDS[one.basis]}"
    if len(own) == 1:
        return f"{one.workload}: {cheapest.system} costs {money} per million transactions at {share}."
    is_known = currency not in one.undecided
    leads = "is the cheapest" if is_known else "has the lowest figure for cost"
    text = f"{one.workload}: {cheapest.system} {leads} per transaction, {money} per million at {share}."
    if not is_known:
        is_open = any(system.may_be_higher for system in own)
        why = "a throughput may be higher than was measured" if is_open else "the confidence intervals overlap"
        return f"{text} Which system is the cheapest is not resolved: {why}."
    front = [system.system for system in own if system.on_front is OnFront.YES]
    return f"{text} No other system sustains as much for less, or more for the same price: {listed(front)}."


def _beaten_words(one: SystemCost, of: WorkloadCost) -> str | None:
    """By which system it is beaten, and in what; None where by none."""
    other = next((system for system in of.systems if system.system == one.beaten_by), None)
    if other is None:
        return None
    verb = "sustains" if one.on_front is OnFront.NO else "may sustain"
    is_same = other.price.per_month == one.price.per_month
    return f"{other.system} {verb} {'more for the same price' if is_same else 'as much for less'}"


_FRONT = {OnFront.YES: "yes", OnFront.NO: "no", OnFront.UNDECIDED: "undecided"}


_HEADINGS = {
    CapacityBasis.SEARCHED: "capacity",
    CapacityBasis.WITHIN_OBJECTIVE: "within the objective",
    CapacityBasis.SUSTAINED_RATE: "sustained",
    CapacityBasis.SATURATION: "highest throughput",
}


def _table(one: WorkloadCost, unit: str) -> Table:
    columns = (
        Column(heading="system", numeric=False),
        Column(heading="per month"),
        Column(heading="term", numeric=False),
        Column(heading="as of", numeric=False),
        Column(heading=f"{_HEADINGS[one.basis]}, {unit}"),
        Column(heading=f"per million at {one.utilisation * 100:.3g} %"),
        Column(heading="on the Pareto front", numeric=False),
    )
    rows = tuple(_row(system, unit, one) for system in one.systems)
    return Table(caption=f"{one.workload}: cost", columns=columns, rows=rows)


def _row(one: SystemCost, unit: str, of: WorkloadCost) -> tuple[Entry, ...]:
    capacity, million = show_rate(one.capacity_tps, unit), show_cost(one.per_million)
    at_least = "≥ " if one.may_be_higher else ""
    return (
        Entry(one.system),
        Entry(price_words(one.price)),
        Entry(one.price.term or NOT_KNOWN),
        Entry(one.price.date.isoformat() if one.price.date else NOT_KNOWN),
        Entry(f"{at_least}{capacity.value}", capacity.bounds, sources=one.trials),
        Entry(with_currency(million.value, currency_of(one.price)), million.bounds, sources=one.trials),
        Entry(_FRONT[one.on_front], _beaten_words(one, of)),
    )


def _chart(one: WorkloadCost, currency: str, unit: str, analysis: Analysis) -> SectionChart:
    return SectionChart(
        title=f"{one.workload}: cost and capacity{f', {currency}' if currency else ''}",
        draw=lambda look: pareto_chart(one, currency, unit, analysis, look),
    )


def pareto_chart(one: WorkloadCost, currency: str, unit: str, analysis: Analysis, look: Look) -> Chart:
    """Capacity over cost per month; a line joins the systems on the front."""
    own = [system for system in one.systems if currency_of(system.price) == currency]
    links = Links(analysis)
    rows = [
        {
            "system": clean(system.system),
            "cost": system.price.per_month,
            "rate": per_unit(system.capacity_tps.value, unit),
            "front": system.on_front is OnFront.YES,
            "low": per_unit(system.capacity_tps.bounds.low, unit) if system.capacity_tps.bounds else None,
            "high": per_unit(system.capacity_tps.bounds.high, unit) if system.capacity_tps.bounds else None,
            **links.of(system.trials),
        }
        for system in own
    ]
    marks = Series(names(analysis), look)
    base = chart_of(rows)
    most = max(system.price.per_month for system in own) * 1.08 or 1.0
    title = f"Cost per month{f', {currency}' if currency else ''}"
    x = alt.X("cost:Q", scale=alt.Scale(domain=[0, most], nice=False), axis=alt.Axis(title=title, format=",~r"))
    y = axis_y("rate:Q", f"{capitalised(_HEADINGS[one.basis], ())}, {rate_words(unit)}", alt.Scale(zero=True))
    tooltip = [
        alt.Tooltip("system:N"),
        alt.Tooltip("cost:Q"),
        alt.Tooltip("rate:Q", title=_HEADINGS[one.basis]),
        recordings_line(),
    ]
    front = base.mark_line(color=look.palette.quiet, interpolate="step-after", strokeDash=[4, 3]).encode(x=x, y=y)
    spread = base.mark_rule(strokeWidth=2).encode(x=x, y=alt.Y("low:Q"), y2=alt.Y2("high:Q"), color=marks.colour)
    points = base.mark_point(filled=True, size=80, opacity=1).encode(
        x=x, y=y, color=marks.colour, shape=marks.shape, tooltip=tooltip, href=href()
    )
    labels = base.mark_text(align="right", dx=-8, dy=-8, fontSize=11, color=look.palette.ink).encode(
        x=x, y=y, text=alt.Text("system:N")
    )
    layers = [
        front.transform_filter("datum.front"),
        spread.transform_filter("isValid(datum.low)"),
        points,
        labels.transform_filter("datum.front"),
    ]
    return finish(alt.layer(*layers), look)
