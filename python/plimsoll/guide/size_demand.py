"""The demand of a log in a sizing answer: where the load comes from, until when systems sustain it, what casts doubt.

What it says, `plimsoll.analyse` finds (`horizon`, `size_doubts`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Any

from plimsoll.analyse.finding_model import Finding
from plimsoll.analyse.horizon import HORIZON_YEARS
from plimsoll.analyse.size_model import Fit, Horizon, LoadAsked, LoadDemand, SizeAnswer, SystemFit
from plimsoll.guide.numbers import NOT_KNOWN
from plimsoll.guide.tables import Column, Entry, Table
from plimsoll.prose.phrases import listed
from plimsoll.units import format_duration, format_number, format_percent, format_rate

_AT = {
    "mean": "mean rate",
    "p99-minute": "rate that 99 % of the minutes do not exceed",
    "peak-minute": "rate of the busiest minute",
    "peak-second": "rate of the busiest second",
}

_SHORT_TOLD = 3
"""Systems that lack something today, of which the answer tells; the table has all."""


def _how(seen: Mapping[str, Any]) -> str:
    return (
        f"Search for the capacity with clients = {{ burstiness = {seen['index']:g} }} (and levels = {{ capacity = … }})"
        " in a study, or let --confirm offer the load with its bursts."
    )


DOUBTS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "burstier-than-measured": lambda seen: (
        f"The load comes in bursts with an index of dispersion of {format_number(seen['index'])}, but was measured with"
        f" {format_number(seen['measured_index'])}: a system sustains less of it within an objective. {_how(seen)}"
    ),
    "bursts-not-measured": lambda seen: (
        f"The load comes in bursts with an index of dispersion of {format_number(seen['index'])}. Clients in a closed"
        f" loop wait for the server and show no bursts. {_how(seen)}"
    ),
    "burstiness-unknown": lambda _: (
        "The log does not say how bursty the load is: it is too short, a sample, or its times are too coarse."
    ),
    "long-bursts": lambda _: (
        "Bursts of the log last for tens of seconds. Neither the rate of the busiest minute nor the burstiness has all"
        " of them: size with --at peak-second, too."
    ),
    "log-shorter-than-a-day": lambda seen: (
        f"The log covers {format_duration(seen['duration_s'])}: the busiest minute of a day or a week may be busier."
    ),
    "log-doubts": lambda seen: (
        f"The log casts doubt on its own rates: {listed(seen['codes'])} (the report of plimsoll learn says what that"
        " means)."
    ),
}


def demand_sentence(asked: LoadAsked, demand: LoadDemand) -> str:
    """Where the load that was asked for comes from."""
    logged = f"{_AT[demand.at]} of the log, {format_rate(demand.logged_tps, asked.rate_unit)} on {demand.logged_on}"
    if demand.yearly_growth is None or demand.logged_on >= demand.today:
        return f"The load is the {logged}."
    growth = "without growth" if not demand.yearly_growth else f"with {_growth(demand)}"
    return f"The load is the {logged}; {growth} {format_rate(asked.tps, asked.rate_unit)} today, {demand.today}."


def _growth(demand: LoadDemand) -> str:
    return f"{format_percent(demand.yearly_growth or 0.0)} more each year"


def doubt_sentence(finding: Finding) -> str:
    """A doubt, with what to do about it."""
    return DOUBTS[finding.code](finding.known)


def horizon_sentences(answer: SizeAnswer) -> Iterator[str]:
    """Until when the first of the systems that sustain the load does so, and what the others lack."""
    demand = answer.asked.demand
    if demand is None or demand.yearly_growth is None:
        return
    if demand.yearly_growth == 0:
        yield "The load does not grow: what sustains it today goes on to."
        return
    first = next((one for one in answer.systems if one.verdict is Fit.FITS and one.horizon is not None), None)
    if first is not None and first.horizon is not None:
        yield f"With {_growth(demand)} {first.system} sustains it {_until(first.horizon, demand.today)}."
    short = [one for one in answer.systems if one.horizon is not None and one.horizon.about_years < 0]
    yield from (_short(one, answer.asked) for one in short[:_SHORT_TOLD])


def _until(horizon: Horizon, today: date) -> str:
    """Of a system that sustains the load today."""
    least = "at least" if horizon.is_at_least else "about"
    about = _month(horizon.about_on, horizon.about_years, today)
    text = f"for {about}" if horizon.about_on is None else f"until {least} {about}"
    if horizon.sure_years is None:
        return text
    sure = _month(horizon.sure_on, horizon.sure_years, today)
    return f"{text}; with 95 % confidence {'for' if horizon.sure_on is None else 'until'} {sure}"


def _short(one: SystemFit, asked: LoadAsked) -> str:
    assert one.sustains_tps is not None, "it has a horizon"
    assert one.horizon is not None, "it was chosen by it"
    unit, since = asked.rate_unit, one.horizon.about_on
    lacks = format_percent(1 - one.sustains_tps / asked.needed_tps)
    most = "was measured to sustain" if one.horizon.is_at_least else "sustains"
    grown = "" if since is None else f" With this growth it has been too small since about {_name(since)}."
    return (
        f"{one.system} {most} {format_rate(one.sustains_tps, unit)}, {lacks} less than the"
        f" {format_rate(asked.needed_tps, unit)} that are needed today.{grown}"
    )


def horizon_table(answer: SizeAnswer) -> Table | None:
    """Each system with what it sustains and until when; None where the load is not known to grow."""
    demand = answer.asked.demand
    if demand is None or not any(one.horizon is not None for one in answer.systems):
        return None
    unit = answer.asked.rate_unit
    columns = (
        Column(heading="system", numeric=False),
        Column(heading=f"sustains, {unit}"),
        Column(heading=f"with 95 % confidence, {unit}"),
        Column(heading="missing today"),
        Column(heading="until about"),
        Column(heading="until, 95 % confidence"),
    )
    rows = tuple(_row(one, answer.asked, demand.today) for one in answer.systems)
    needed = format_rate(answer.asked.needed_tps, unit)
    return Table(caption=f"Needed today: {needed}", columns=columns, rows=rows)


def _row(one: SystemFit, asked: LoadAsked, today: date) -> tuple[Entry, ...]:
    horizon = one.horizon
    scale = 60 if asked.rate_unit == "tpm" else 1
    lacks = None if one.sustains_tps is None else 1 - one.sustains_tps / asked.needed_tps
    dates = (NOT_KNOWN, NOT_KNOWN)
    if horizon is not None:
        about = _month(horizon.about_on, horizon.about_years, today)
        known = horizon.sure_years is not None
        sure = _month(horizon.sure_on, horizon.sure_years or 0.0, today) if known else NOT_KNOWN
        dates = (f">= {about}" if horizon.is_at_least and horizon.about_on else about, sure)
    return (
        Entry(one.system),
        Entry(_number(one.sustains_tps, scale, is_lower_bound=one.sustains_is_lower_bound)),
        Entry(_number(one.sure_tps, scale)),
        Entry(NOT_KNOWN if lacks is None else format_percent(lacks) if lacks > 0 else "none"),
        *map(Entry, dates),
    )


def _number(tps: float | None, scale: int, *, is_lower_bound: bool = False) -> str:
    if tps is None:
        return NOT_KNOWN
    return f">= {format_number(tps * scale)}" if is_lower_bound else format_number(tps * scale)


def _month(day: date | None, years: float, today: date) -> str:
    if day is None:
        return f"more than {HORIZON_YEARS} years" if years > 0 else "already exceeded"
    return "already exceeded" if day < today else _name(day)


def _name(day: date) -> str:
    return f"{day:%Y-%m}"
