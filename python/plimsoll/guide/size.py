"""The sizing answer in words and tables: which systems sustain the load, and until when a log's demand fits.

What it says, `plimsoll.analyse` finds. Deliberately not here: why a system sustains it or not (`size_reasons`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from plimsoll.analyse.answers.size_model import (
    HORIZON_YEARS,
    Choice,
    Fit,
    Horizon,
    LoadAsked,
    LoadDemand,
    ScaleOut,
    SizeAnswer,
    SizedBy,
    SizeEvidence,
    SystemFit,
    WorkloadChoices,
)
from plimsoll.analyse.findings.finding_model import Finding, Grade
from plimsoll.analyse.model import Analysis, SystemSummary
from plimsoll.guide.size_reasons import at_words, reason_sentence
from plimsoll.guide.tables import NOT_KNOWN, Column, Entry, Table, show_ms, show_rate, text_column, whole
from plimsoll.record.level import Level
from plimsoll.record.model import Price
from plimsoll.units import format_duration, format_ms, format_number, format_percent, format_rate, format_rate_inwards
from plimsoll.wording import counted, listed

_SCALE_OUTS_TOLD = 2

_MARGIN_FOR_VARIATION = 0.2
"""What to keep free where nothing says how much runs differ: a rule of thumb, and no measurement."""

ASSUMPTIONS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "same-workload": lambda _: (
        "The load behaves like the workload that was measured: same statements, same data size, same access pattern."
    ),
    "transactions-alike": lambda _: "A transaction of the log asks of a server what one of the workload does.",
    "even-growth": lambda _: (
        "The load grows by the same share each year from the end of the log on, and its mix and its bursts stay as they"
        " are."
    ),
    "date-of-capacity": lambda _: (
        "Dates with 95 % confidence allow for how runs differ. They do not allow for another growth, or for busier"
        " times than those of the log."
    ),
    "saturation-and-no-capacity": lambda _: (
        "Closed-loop figures are saturation and not capacity: their clients wait for the server, users do not. Search"
        " for the capacity (plimsoll capacity, or levels = { capacity = { … } } in a study) before you rely on them."
    ),
    "lower-end-decides": lambda _: (
        "What the next run sustains with 95 % confidence decides: the lower prediction limit over repetitions."
    ),
    "figures-as-they-stand": lambda _: (
        "Figures without repetitions indicate that a system fits, and do not show it: the next run may do less. Run at"
        " least two repetitions, or plimsoll size with --confirm."
    ),
    "some-intervals-within-run": lambda _: (
        "Some confidence intervals come from within one run: repetitions may vary more."
    ),
    "straight-line": lambda _: (
        "Between two measured levels throughput and response time are assumed to lie on a straight line."
    ),
    "best-level": lambda _: "Each system runs at the measured level where it sustains most within the objective.",
    "failed-count-as-over": lambda _: "Failed, dropped and unfinished transactions count as over the objective.",
    "p99-as-measured": lambda _: (
        "A response-time objective is met where the upper 95 % prediction limit of the repetitions' own 99th"
        " percentiles is within it."
    ),
    "peak-may-lie-beyond": lambda _: (
        "Some systems were fastest at the last level measured: with more connections they may sustain more."
    ),
    "left-out": lambda seen: f"Not measured under {seen['workload']}, and so left out: {listed(seen['systems'])}.",
    "published": lambda _: "Published figures were not measured here, and cannot be checked.",
    "not-measured-yet": lambda seen: f"Planned but not measured yet, and so left out: {listed(seen['systems'])}.",
}


def worded(answer: SizeAnswer) -> SizeAnswer:
    """The answer with its sentences, for whoever reads the JSON."""
    asked = answer.asked
    return answer.model_copy(
        update={
            "text": tuple(answer_sentences(answer)),
            "systems": tuple(
                system.model_copy(update={"reason": _with_text(system.reason, reason_sentence(system, asked))})
                for system in answer.systems
            ),
            "scale_out": tuple(
                scale_out.model_copy(update={"text": _scale_out(scale_out, asked)}) for scale_out in answer.scale_out
            ),
            "doubts": tuple(_with_text(doubt, doubt_sentence(doubt)) for doubt in answer.doubts),
            "assumptions": tuple(
                _with_text(assumption, assumption_sentence(assumption)) for assumption in answer.assumptions
            ),
        }
    )


def _with_text(finding: Finding, text: str) -> Finding:
    return finding.model_copy(update={"text": text})


def assumption_sentence(finding: Finding) -> str:
    """What the answer rests on, one sentence."""
    return ASSUMPTIONS[finding.code]({"workload": finding.workload, **finding.figures})


def answer_sentences(answer: SizeAnswer) -> Iterator[str]:
    """The answer, first things first."""
    asked, systems = answer.asked, answer.systems
    fitting = [system for system in systems if system.verdict is Fit.FITS]
    surely = [system for system in fitting if system.grade is Grade.MEASURED]
    load = _load(asked)
    if asked.demand is not None:
        yield demand_sentence(asked, asked.demand)
    if not fitting:
        few = {0: "No measurement shows that any system sustains", 1: "The only system is not shown to sustain"}
        none = few.get(len(systems), f"None of the {len(systems)} systems is shown to sustain")
        yield from _disturbed(systems, asked)
        yield f"{none} {load}."
        yield from _undecided(systems, asked)
        yield from (_scale_out(scale_out, asked) for scale_out in answer.scale_out[:_SCALE_OUTS_TOLD])
        yield from horizon_sentences(answer)
        return
    if surely:
        yield f"{_how_many(surely, len(systems), load)}."
    if len(surely) < len(fitting):
        yield _indicated([system for system in fitting if system.grade is not Grade.MEASURED], systems, asked)
    yield from _disturbed(systems, asked)
    if not answer.is_cost_comparable:
        yield "Prices are in different currencies, so none is called the cheapest."
    elif fitting[0].cost_per_month is not None:
        cheapest, alike = fitting[0], [system for system in fitting if system.grade is fitting[0].grade]
        of_known = "Of those with a known cost the" if any(system.cost_per_month is None for system in alike) else "The"
        of_known = "Of those that are measured the" if len(alike) < len(fitting) else of_known
        yield f"{of_known} cheapest is {cheapest.system}, {_money(cheapest.cost_per_month, cheapest.price)} per month."
    tightest = next((system for system in fitting if system.system == answer.tightest), None)
    if tightest is not None and tightest.throughput_tps is not None and len(surely) > 1:
        rate = format_rate(tightest.throughput_tps.value, asked.rate_unit)
        spare = format_percent(tightest.margin_ratio or 0.0)
        yield f"The tightest is {tightest.system} with {rate}, {spare} to spare."
    yield from horizon_sentences(answer)


def _disturbed(systems: Sequence[SystemFit], asked: LoadAsked) -> Iterator[str]:
    """The system with the slowest machine, and for which others the same holds."""
    disturbed = [system for system in systems if system.verdict is Fit.DISTURBED]
    if not disturbed:
        return
    worst = max(disturbed, key=lambda system: system.reason.known["slowness"])
    others = [system.system for system in disturbed if system is not worst]
    rest = f" {listed(others)}: disturbed as well." if others else ""
    yield f"{worst.system}: {reason_sentence(worst, asked)}{rest}"


def _undecided(systems: Sequence[SystemFit], asked: LoadAsked) -> Iterator[str]:
    undecided = [system for system in systems if system.verdict is Fit.UNDECIDED]
    if not undecided:
        return
    is_all = len(undecided) == len(systems) > 1
    whom = "All are undecided" if is_all else f"Undecided for {listed([system.system for system in undecided])}"
    reasons = dict.fromkeys(reason_sentence(system, asked) for system in undecided)
    first = next(iter(reasons))
    yield f"{whom}: {first}" if len(reasons) == 1 else f"{whom}. {undecided[0].system}: {first}"


def _how_many(fitting: Sequence[SystemFit], all_count: int, load: str) -> str:
    """How many systems sustain a load; by closed loops alone, what so many clients get through."""
    count, is_closed = len(fitting), all(system.evidence is SizeEvidence.SATURATION for system in fitting)
    whom = f"All {all_count} systems" if count == all_count else f"{count} of {all_count} systems"
    whom, s = ("The system", "s") if all_count == 1 else (whom, "s" if count == 1 else "")
    if is_closed:
        return f"{whom} complete{s} {load}, by clients that wait for each answer: do not plan by this figure"
    return f"{whom} sustain{s} {load}"


def _indicated(fitting: Sequence[SystemFit], systems: Sequence[SystemFit], asked: LoadAsked) -> str:
    """Which systems single or published figures speak for, by how much, and what that lacks."""
    names = _together([system.system for system in fitting], [system.system for system in systems])
    spare = sorted(round(100 * (system.margin_ratio or 0.0)) for system in fitting)
    margin = f"{spare[0]} to {spare[-1]} %" if spare[0] < spare[-1] else f"{spare[0]} %"
    is_published = any(system.is_published for system in fitting)
    is_single = all(system.throughput_tps is None or system.throughput_tps.trial_count == 1 for system in fitting)
    once = f"{'published' if is_published else 'measured'}{' once' if is_single else ' without a known spread'}"
    if asked.headroom >= _MARGIN_FOR_VARIATION:
        lacks = "so variation has to fit into the headroom: measure to know"
    else:
        lacks = f"so without a margin for variation: keep {_MARGIN_FOR_VARIATION * 100:.0f} % or measure"
    closed = " These are clients that wait for each answer: do not plan by this figure."
    is_closed = all(system.evidence is SizeEvidence.SATURATION for system in fitting)
    return f"Indicated for {_load(asked)}: {names}, by {margin}; {once}, {lacks}.{closed if is_closed else ''}"


def _together(names: Sequence[str], all_names: Sequence[str]) -> str:
    """Names with `or`; what all systems of a name before its comma have in common is told once.

    >>> _together(["b, disk", "b, SAN", "c, SAN"], ["a, SAN", "b, disk", "b, SAN", "c, SAN", "c, disk"])
    'b or c, SAN'
    """
    short = []
    for name in names:
        first = name.partition(", ")[0]
        is_whole = all(other in names for other in all_names if other.partition(", ")[0] == first)
        short.append(first if is_whole else name)
    return " or ".join(dict.fromkeys(short))


def _load(asked: LoadAsked) -> str:
    text = f"{format_rate(asked.tps, asked.rate_unit)} of {asked.workload}"
    if asked.connections is not None:
        text += f" at {Level(connections=asked.connections).label()}"
    if asked.response_p99_ms is not None:
        text += f" with p99 response time within {format_ms(asked.response_p99_ms)}"
    if asked.headroom > 0:
        needed = format_rate(asked.needed_tps, asked.rate_unit)
        text += f" with {format_percent(asked.headroom)} of headroom ({needed} in all)"
    return text


def _scale_out(scale_out: ScaleOut, asked: LoadAsked) -> str:
    if scale_out.replicas is not None or scale_out.most_tps is not None:
        return _with_replicas(scale_out, asked)
    rate = f"{format_rate(scale_out.tps_each, asked.rate_unit)} at {at_words(scale_out.connections_each)}"
    unshown = "" if scale_out.is_shown else " Repetitions do not show that the next run sustains so much."
    if scale_out.count == 1:  # at a level that was not asked for: otherwise it would fit
        sustains = "sustains" if scale_out.is_shown else "may sustain"
        at = f"{rate}, which is not the {asked.connections:,} that were asked for"
        return f"One {scale_out.system} {sustains} it with {at}.{unshown}"
    total = scale_out.count * scale_out.connections_each
    is_other = asked.connections not in (None, total)
    in_all = f" ({total:,} in all; {asked.connections:,} were asked for)" if is_other else ""
    priced = (
        ""
        if scale_out.cost_per_month is None
        else f", for {whole(scale_out.cost_per_month)}{f' {scale_out.currency}' if scale_out.currency else ''}"
        " per month"
    )
    condition = (
        "if reads spread evenly over a source and its replicas and nothing is lost to coordination"
        if scale_out.is_read_only
        else "if the data can be split between them and nothing is lost to coordination (replicas repeat every write)"
    )
    would = "would" if scale_out.is_shown else "might"
    return (
        f"{scale_out.count} of {scale_out.system} {would} sustain it with {rate} on each{in_all}{priced},"
        f" {condition}.{unshown}"
    )


def _with_replicas(scale_out: ScaleOut, asked: LoadAsked) -> str:
    """By the arithmetic of a fleet whose apply cost was measured."""
    basis = "by what reads, writes and applying cost in this study (every replica applies all writes)"
    shared = "; they shared the source's processors when that was measured" if scale_out.is_shared else ""
    if scale_out.replicas is None:
        most = (
            ""
            if scale_out.most_tps is None
            else f" exceeds {format_rate(scale_out.most_tps, asked.rate_unit)}, so none"
        )
        return f"No number of replicas of {scale_out.system}{most} sustains it, {basis}{shared}."
    priced = (
        ""
        if scale_out.cost_per_month is None
        else f", for {whole(scale_out.cost_per_month)}{f' {scale_out.currency}' if scale_out.currency else ''}"
        " per month"
    )
    replicas = counted(scale_out.replicas, "replica")
    rate = format_rate(scale_out.tps_each, asked.rate_unit)
    return f"{scale_out.system} as source with {replicas} would sustain it with {rate}{priced}, {basis}{shared}."


def size_table(answer: SizeAnswer) -> Table:
    """Every system with what it sustains of the load that was asked for."""
    with_cost = any(system.cost_per_month is not None for system in answer.systems)
    columns = [
        text_column("system"),
        text_column("verdict"),
        text_column("grade"),
        text_column("rests on"),
        Column(heading="connections"),
        Column(heading=answer.asked.rate_unit),
        Column(heading="to spare"),
        Column(heading="p99 ms"),
    ]
    columns += [Column(heading="cost per month"), Column(heading="per million at the demand")] if with_cost else []
    rows = tuple(_fit_row(system, answer.asked.rate_unit, with_cost=with_cost) for system in answer.systems)
    return Table(caption="Which systems sustain it", columns=tuple(columns), rows=rows)


def _fit_row(system_fit: SystemFit, rate_unit: str, *, with_cost: bool) -> tuple[Entry, ...]:
    shown = None if system_fit.throughput_tps is None else show_rate(system_fit.throughput_tps, rate_unit)
    cost = []
    if with_cost:
        million = (
            NOT_KNOWN if system_fit.cost_per_million is None else _money(system_fit.cost_per_million, system_fit.price)
        )
        cost = [
            Entry(
                NOT_KNOWN if system_fit.cost_per_month is None else _money(system_fit.cost_per_month, system_fit.price)
            ),
            Entry(million),
        ]
    return (
        Entry(system_fit.system),
        Entry(system_fit.verdict.value.replace("_", " ")),
        Entry(system_fit.grade.value),
        Entry(system_fit.evidence.value),
        Entry(whole(system_fit.connections)),
        shown or Entry(NOT_KNOWN),
        Entry(NOT_KNOWN if system_fit.margin_ratio is None else format_percent(system_fit.margin_ratio, signed=True)),
        Entry(show_ms(system_fit.response_p99_ms, is_lower_bound=system_fit.response_is_lower_bound)),
        *cost,
    )


def choice_table(analysis: Analysis) -> Table | None:
    """Which system to choose for which load, for each workload; None where none is known to be good for any."""
    if not any(of_workload.choices for of_workload in analysis.choices):
        return None
    has_several = len(analysis.workloads) > 1
    systems = {system.name: system for system in analysis.systems}
    units = {workload.name: workload.rate_unit for workload in analysis.workloads}
    has_cost = any(system.cost_per_month is not None for system in systems.values())
    has_cores = any(of_workload.sized_by is SizedBy.CORES for of_workload in analysis.choices)
    has_p99 = any(
        choice.response_p99_ms is not None for of_workload in analysis.choices for choice in of_workload.choices
    )
    columns = (
        *([text_column("workload")] if has_several else []),
        text_column("load that you need"),
        text_column("choose"),
        *([Column(heading="cost per month")] if has_cost else []),
        *([Column(heading="cores")] if has_cores else []),
        Column(heading="connections"),
        *([Column(heading="p99 ms")] if has_p99 else []),
        text_column("grade"),
    )
    rows = []
    for of_workload in analysis.choices:
        name = (Entry(of_workload.workload),) if has_several else ()
        for load, choice in _ranges(of_workload, units[of_workload.workload]):
            besides = "; ".join(_besides(choice, units[of_workload.workload])) if choice is not None else ""
            system = None if choice is None else systems[choice.system]
            facts = (
                *([_cost_entry(system)] if has_cost else []),
                *([Entry(whole(None if system is None else system.cores))] if has_cores else []),
                *_basis_entries(choice, has_p99=has_p99),
            )
            chosen = Entry(_beyond(of_workload) if choice is None else choice.system, besides or None)
            rows.append((*name, Entry(load), chosen, *facts))
    return Table(
        caption="Which system for which load", columns=columns, rows=tuple(rows), notes=tuple(_choice_notes(analysis))
    )


def _ranges(of_workload: WorkloadChoices, unit: str) -> Iterator[tuple[str, Choice | None]]:
    """Each range of loads that differs as shown, with the choice for it; at last what is above, with None."""
    lower, most_tps = format_rate_inwards(0.0, unit), 0.0
    for choice in of_workload.choices:
        upper, most_tps = format_rate_inwards(choice.up_to_tps, unit), choice.up_to_tps
        if upper == lower:
            continue
        is_first = lower == format_rate_inwards(0.0, unit)
        reaching = (each for each in choice.alternatives if format_rate_inwards(each.up_to_tps, unit) != lower)
        shown = choice.model_copy(update={"alternatives": tuple(reaching)})
        yield f"up to {upper}" if is_first else f"{lower.removesuffix(f' {unit}')} to {upper}", shown
        lower = upper
    above = format_rate_inwards(most_tps, unit, is_lower_end=True)
    begins = "above" if above == format_rate_inwards(most_tps, unit) else "from"
    yield f"{begins} {above}" if most_tps else "any", None


def _beyond(of_workload: WorkloadChoices) -> str:
    if of_workload.is_gap_above:
        return "no system is known to be good for every such load: ask plimsoll size for yours, or measure further"
    return (
        "no system of this study is known to be good: use several servers or replicas (plimsoll size says how many),"
        " or measure further"
    )


def _besides(choice: Choice, unit: str) -> Iterator[str]:
    """What else there is to know of a choice."""
    if choice.less_durable is not None:
        yield choice.less_durable
    for alternative in choice.alternatives[:_ALTERNATIVES_SHOWN]:
        load = format_rate_inwards(alternative.up_to_tps, unit)
        limit = "" if load == format_rate_inwards(choice.up_to_tps, unit) else f" up to {load}"
        grade = "" if alternative.grade is choice.grade else f" ({alternative.grade.value})"
        yield f"or {alternative.system}{limit}{grade}"
    if (rest := len(choice.alternatives) - _ALTERNATIVES_SHOWN) > 0:
        yield f"and {rest} more"


_ALTERNATIVES_SHOWN = 2


def _cost_entry(system: SystemSummary | None) -> Entry:
    if system is None or system.cost_per_month is None:
        return Entry(NOT_KNOWN)
    return Entry(_money(system.cost_per_month, system.price))


def _basis_entries(choice: Choice | None, *, has_p99: bool) -> tuple[Entry, ...]:
    if choice is None:
        return (Entry(NOT_KNOWN),) * (3 if has_p99 else 2)
    p99_ms = show_ms(choice.response_p99_ms, is_lower_bound=choice.response_is_lower_bound)
    return (
        Entry(whole(choice.connections)),
        *([Entry(p99_ms)] if has_p99 else []),
        Entry(choice.grade.value, f"by {choice.evidence.value}"),
    )


_ORDERS = {
    SizedBy.PRICE: "The cheapest system comes first; among equals, the better grade, then the system that is good for"
    " the highest load.",
    SizedBy.CORES: "The system with the fewest cores comes first; among equals, the better grade, then the system that"
    " is good for the highest load.",
    SizedBy.NOTHING: "The system with the better grade comes first; among equals, the system that is good for the"
    " highest load. Neither comparable prices nor the cores of all systems are known.",
}
"""Which of several systems that are good for a load is chosen."""


def _choice_notes(analysis: Analysis) -> Iterator[str]:
    known = [of_workload for of_workload in analysis.choices if of_workload.choices]
    limit_ms = known[0].response_p99_ms
    objective = "" if limit_ms is None else f" and a p99 of at most {format_ms(limit_ms)}"
    yield (
        "A system is good for a load if it fits that load and every lower one by the rules of plimsoll size, with"
        f" {format_percent(known[0].headroom)} of headroom{objective}."
    )
    if len(analysis.systems) > 1:
        is_same = len({of_workload.sized_by for of_workload in known}) == 1
        orders = (
            ("" if is_same else f"{of_workload.workload}: ") + _ORDERS[of_workload.sized_by] for of_workload in known
        )
        yield from dict.fromkeys(orders)
    choices = [choice for of_workload in known for choice in of_workload.choices]
    if any(choice.less_durable is not None for choice in choices):
        yield "A system that may lose more than another one is named only where no safer one is good for the load."
    if any(choice.evidence is SizeEvidence.SATURATION for choice in choices):
        yield (
            "Saturation is what clients that wait for each answer complete: search for the capacity (plimsoll"
            " capacity) before you plan by it."
        )


def _money(amount: float | None, price: Price | None) -> str:
    currency = f" {price.currency}" if price is not None and price.currency else ""
    return f"{format_number(amount or 0.0)}{currency}"


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
    first = next(
        (system for system in answer.systems if system.verdict is Fit.FITS and system.horizon is not None), None
    )
    if first is not None and first.horizon is not None:
        yield f"With {_growth(demand)} {first.system} sustains it {_until(first.horizon, demand.today)}."
    short = [system for system in answer.systems if system.horizon is not None and system.horizon.about_years < 0]
    yield from (_short(system, answer.asked) for system in short[:_SHORT_TOLD])


def _until(horizon: Horizon, today: date) -> str:
    """Of a system that sustains the load today."""
    least = "at least" if horizon.is_at_least else "about"
    about = _month(horizon.about_on, horizon.about_years, today)
    text = f"for {about}" if horizon.about_on is None else f"until {least} {about}"
    if horizon.sure_years is None:
        return text
    sure = _month(horizon.sure_on, horizon.sure_years, today)
    return f"{text}; with 95 % confidence {'for' if horizon.sure_on is None else 'until'} {sure}"


def _short(system_fit: SystemFit, asked: LoadAsked) -> str:
    assert system_fit.sustains_tps is not None, "it has a horizon"
    assert system_fit.horizon is not None, "it was chosen by it"
    unit, since = asked.rate_unit, system_fit.horizon.about_on
    lacks = format_percent(1 - system_fit.sustains_tps / asked.needed_tps)
    most = "was measured to sustain" if system_fit.horizon.is_at_least else "sustains"
    grown = "" if since is None else f" With this growth it has been too small since about {_name(since)}."
    return (
        f"{system_fit.system} {most} {format_rate(system_fit.sustains_tps, unit)}, {lacks} less than the"
        f" {format_rate(asked.needed_tps, unit)} that are needed today.{grown}"
    )


def horizon_table(answer: SizeAnswer) -> Table | None:
    """Each system with what it sustains and until when; None where the load is not known to grow."""
    demand = answer.asked.demand
    if demand is None or not any(system.horizon is not None for system in answer.systems):
        return None
    unit = answer.asked.rate_unit
    columns = (
        text_column("system"),
        Column(heading=f"sustains, {unit}"),
        Column(heading=f"with 95 % confidence, {unit}"),
        Column(heading="missing today"),
        Column(heading="until about"),
        Column(heading="until, 95 % confidence"),
    )
    rows = tuple(_horizon_row(system, answer.asked, demand.today) for system in answer.systems)
    needed = format_rate(answer.asked.needed_tps, unit)
    return Table(caption=f"Needed today: {needed}", columns=columns, rows=rows)


def _horizon_row(system_fit: SystemFit, asked: LoadAsked, today: date) -> tuple[Entry, ...]:
    horizon = system_fit.horizon
    scale = 60 if asked.rate_unit == "tpm" else 1
    lacks = None if system_fit.sustains_tps is None else 1 - system_fit.sustains_tps / asked.needed_tps
    dates = (NOT_KNOWN, NOT_KNOWN)
    if horizon is not None:
        about = _month(horizon.about_on, horizon.about_years, today)
        known = horizon.sure_years is not None
        sure = _month(horizon.sure_on, horizon.sure_years or 0.0, today) if known else NOT_KNOWN
        dates = (f">= {about}" if horizon.is_at_least and horizon.about_on else about, sure)
    return (
        Entry(system_fit.system),
        Entry(_number(system_fit.sustains_tps, scale, is_lower_bound=system_fit.sustains_is_lower_bound)),
        Entry(_number(system_fit.sure_tps, scale)),
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
