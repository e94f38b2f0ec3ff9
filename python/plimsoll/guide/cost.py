"""Costs in words and as a section of the guide: what systems cost for what they sustain, and the Pareto front.

Deliberately not here: how that is calculated (`plimsoll.analyse.answers.cost`).
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.analyse.answers.cost import currency_of
from plimsoll.analyse.findings.finding_model import Finding
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.study.capacity_model import CapacityBasis, OnFront, SystemCost, WorkloadCost
from plimsoll.guide.drawing import alt
from plimsoll.guide.marks import (
    Chart,
    Series,
    Style,
    axis_y,
    chart_of,
    finish,
    in_lines,
    lines_of,
    name_lines,
    names,
    rate_words,
)
from plimsoll.guide.sections import Section, SectionChart
from plimsoll.guide.sources import Links, href, recordings_line
from plimsoll.guide.tables import NOT_KNOWN, Column, Entry, Table, per_unit, show_cost, show_rate, text_column
from plimsoll.guide.words import clean
from plimsoll.prose.phrases import plain_percent
from plimsoll.record.model import Price
from plimsoll.units import format_number, format_significant
from plimsoll.wording import capitalised, listed


def cost_section(analysis: Analysis) -> Section | None:
    """The whole section; None without prices."""
    if not analysis.costs:
        return None
    units = {workload.name: workload.rate_unit for workload in analysis.workloads}
    notes = ["A month is a twelfth of a year; prices are as the user stated them."]
    notes += dict.fromkeys(_BASIS_NOTES[cost.basis] for cost in analysis.costs)
    return Section(
        anchor="cost",
        title="Cost",
        sentences=tuple(sentence for cost in analysis.costs for sentence in cost_sentences(cost)),
        tables=tuple(_table(cost, units.get(cost.workload, "tps")) for cost in analysis.costs),
        charts=tuple(
            _chart(cost, currency, units.get(cost.workload, "tps"), analysis)
            for cost in analysis.costs
            for currency in cost.currencies
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


def cost_sentences(workload_cost: WorkloadCost) -> list[str]:
    """Which systems are on the front, and what cannot be compared."""
    sentences = [_of_currency(workload_cost, currency) for currency in workload_cost.currencies]
    if len(workload_cost.currencies) > 1:
        stated = listed([currency or "no stated currency" for currency in workload_cost.currencies])
        sentences.append(f"{workload_cost.workload}: prices in {stated} are not compared with each other.")
    if workload_cost.without_price:
        sentences.append(f"{workload_cost.workload}: no price is known of {listed(list(workload_cost.without_price))}.")
    if workload_cost.without_capacity:
        sentences.append(
            f"{workload_cost.workload}: {without_capacity_words(workload_cost.without_capacity, workload_cost.basis)}."
        )
    return sentences


def _of_currency(workload_cost: WorkloadCost, currency: str) -> str:
    systems = [system for system in workload_cost.systems if currency_of(system.price) == currency]
    cheapest = systems[0]
    money = money_words(cheapest.per_million.value, currency)
    share = f"{plain_percent(workload_cost.utilisation)} of {BASIS_WORDS[workload_cost.basis]}"
    if len(systems) == 1:
        return f"{workload_cost.workload}: {cheapest.system} costs {money} per million transactions at {share}."
    is_known = currency not in workload_cost.undecided
    leads = "is the cheapest" if is_known else "has the lowest figure for cost"
    text = f"{workload_cost.workload}: {cheapest.system} {leads} per transaction, {money} per million at {share}."
    if not is_known:
        is_open = any(system.may_be_higher for system in systems)
        why = "a throughput may be higher than was measured" if is_open else "the confidence intervals overlap"
        return f"{text} Which system is the cheapest is not resolved: {why}."
    front = [system.system for system in systems if system.on_front is OnFront.YES]
    return f"{text} No other system sustains as much for less, or more for the same price: {listed(front)}."


def _beaten_words(system_cost: SystemCost, of: WorkloadCost) -> str | None:
    """By which system it is beaten, and in what; None where by none."""
    other = next((system for system in of.systems if system.system == system_cost.beaten_by), None)
    if other is None:
        return None
    verb = "sustains" if system_cost.on_front is OnFront.NO else "may sustain"
    is_same = other.price.per_month == system_cost.price.per_month
    return f"{other.system} {verb} {'more for the same price' if is_same else 'as much for less'}"


_FRONT = {OnFront.YES: "yes", OnFront.NO: "no", OnFront.UNDECIDED: "undecided"}


_HEADINGS = {
    CapacityBasis.SEARCHED: "capacity",
    CapacityBasis.WITHIN_OBJECTIVE: "within the objective",
    CapacityBasis.SUSTAINED_RATE: "sustained",
    CapacityBasis.SATURATION: "highest throughput",
}


def _table(workload_cost: WorkloadCost, unit: str) -> Table:
    columns = (
        text_column("system"),
        Column(heading="per month"),
        text_column("term"),
        text_column("as of"),
        Column(heading=f"{_HEADINGS[workload_cost.basis]}, {unit}"),
        Column(heading=f"per million at {workload_cost.utilisation * 100:.3g} %"),
        text_column("on the Pareto front"),
    )
    rows = tuple(_row(system, unit, workload_cost) for system in workload_cost.systems)
    return Table(caption=f"{workload_cost.workload}: cost", columns=columns, rows=rows)


def _row(system_cost: SystemCost, unit: str, of: WorkloadCost) -> tuple[Entry, ...]:
    capacity, million = show_rate(system_cost.capacity_tps, unit), show_cost(system_cost.per_million)
    at_least = "≥ " if system_cost.may_be_higher else ""
    return (
        Entry(system_cost.system),
        Entry(price_words(system_cost.price)),
        Entry(system_cost.price.term or NOT_KNOWN),
        Entry(system_cost.price.date.isoformat() if system_cost.price.date else NOT_KNOWN),
        Entry(f"{at_least}{capacity.text}", capacity.detail, sources=system_cost.trials),
        Entry(with_currency(million.text, currency_of(system_cost.price)), million.detail, sources=system_cost.trials),
        Entry(_FRONT[system_cost.on_front], _beaten_words(system_cost, of)),
    )


def _chart(workload_cost: WorkloadCost, currency: str, unit: str, analysis: Analysis) -> SectionChart:
    return SectionChart(
        title=f"{workload_cost.workload}: cost and capacity{f', {currency}' if currency else ''}",
        draw=lambda style: pareto_chart(workload_cost, currency, unit, analysis, style),
    )


def pareto_chart(workload_cost: WorkloadCost, currency: str, unit: str, analysis: Analysis, style: Style) -> Chart:
    """Capacity over cost per month; a line joins the systems on the front."""
    systems = [system for system in workload_cost.systems if currency_of(system.price) == currency]
    links, lines = Links(analysis), name_lines(names(analysis))
    rows = [
        {
            "system": clean(system.system),
            **lines_of(lines[clean(system.system)]),
            "cost": system.price.per_month,
            "rate": per_unit(system.capacity_tps.value, unit),
            "front": system.on_front is OnFront.YES,
            "low": per_unit(system.capacity_tps.bounds.low, unit) if system.capacity_tps.bounds else None,
            "high": per_unit(system.capacity_tps.bounds.high, unit) if system.capacity_tps.bounds else None,
            **links.of(system.trials),
        }
        for system in systems
    ]
    marks = Series(names(analysis), style)
    base = chart_of(rows)
    most = max(system.price.per_month for system in systems) * 1.08 or 1.0
    title = f"Cost per month{f', {currency}' if currency else ''}"
    x = alt.X("cost:Q", scale=alt.Scale(domain=[0, most], nice=False), axis=alt.Axis(title=title, format=",~r"))
    y = axis_y("rate:Q", f"{capitalised(_HEADINGS[workload_cost.basis], ())}, {rate_words(unit)}", alt.Scale(zero=True))
    tooltip = [
        alt.Tooltip("system:N"),
        alt.Tooltip("cost:Q"),
        alt.Tooltip("rate:Q", title=_HEADINGS[workload_cost.basis]),
        recordings_line(),
    ]
    front = base.mark_line(color=style.palette.quiet, interpolate="step-after", strokeDash=[4, 3]).encode(x=x, y=y)
    spread = base.mark_rule(strokeWidth=2).encode(x=x, y=alt.Y("low:Q"), y2=alt.Y2("high:Q"), color=marks.colour)
    points = base.mark_point(filled=True, size=80, opacity=1).encode(
        x=x, y=y, color=marks.colour, shape=marks.shape, tooltip=tooltip, href=href()
    )
    labels = base.mark_text(align="right", dx=-8, fontSize=11, color=style.palette.ink, **in_lines(-8)).encode(
        x=x, y=y, text=alt.Text("label:N")
    )
    layers = [
        front.transform_filter("datum.front"),
        spread.transform_filter("isValid(datum.low)"),
        points,
        labels.transform_filter("datum.front"),
    ]
    return finish(alt.layer(*layers), style)


BASIS_WORDS = {
    CapacityBasis.SEARCHED: "the capacity",
    CapacityBasis.WITHIN_OBJECTIVE: "the throughput within the objective",
    CapacityBasis.SUSTAINED_RATE: "the highest sustained rate",
    CapacityBasis.SATURATION: "the highest throughput",
}


def price_words(price: Price) -> str:
    """A stated price with its currency.

    >>> price_words(Price(per_month=310, currency="EUR")), price_words(Price(per_month=0.5))
    ('310 EUR', '0.50')
    """
    return with_currency(format_number(price.per_month), price.currency)


def money_words(amount: float, currency: str | None) -> str:
    """A calculated amount with its currency.

    >>> money_words(0.06912, "EUR"), money_words(310.4, None)
    ('0.0691 EUR', '310')
    """
    return with_currency(format_significant(amount), currency)


def with_currency(amount: str, currency: str | None) -> str:
    """An amount that is text already, with its currency where there is one."""
    return f"{amount} {currency}" if currency else amount


def without_capacity_words(systems: Sequence[str], basis: CapacityBasis) -> str:
    """That systems have no cost, because they lack what the others are judged by."""
    lacks = {
        CapacityBasis.SEARCHED: "a searched capacity",
        CapacityBasis.WITHIN_OBJECTIVE: "a level that is known to keep the objective",
        CapacityBasis.SUSTAINED_RATE: "a sustained rate",
        CapacityBasis.SATURATION: "any throughput",
    }
    return f"no cost is known of {listed(systems)}, without {lacks[basis]}"


def costs_sentence(finding: Finding) -> str:
    """What systems cost for what they sustain, the cheapest first; of many systems the cheapest alone."""
    seen = finding.known
    basis, currency = CapacityBasis(seen["basis"]), seen["currency"]
    pairs = zip(seen["systems"], seen["costs_per_million"], strict=True)
    costs = listed([f"{system} {money_words(cost, currency)}" for system, cost in pairs])
    at = f"per million transactions at {plain_percent(seen['utilisation'])} of {BASIS_WORDS[basis]}"
    what = "the lowest cost" if finding.code == "cheapest" else "cost"
    order = ", cheapest first" if seen["is_decided"] and len(seen["systems"]) > 1 else ""
    parts = [f"{finding.workload}: {what} {at}{order}: {costs}."]
    if not seen["is_decided"]:
        parts.append("Which system is the cheapest is not resolved.")
    if seen["without_price"]:
        parts.append(f"No price is known of {listed(seen['without_price'])}.")
    if seen["without_capacity"]:
        words = without_capacity_words(seen["without_capacity"], basis)
        parts.append(f"{words[0].upper()}{words[1:]}.")
    return " ".join(parts)
