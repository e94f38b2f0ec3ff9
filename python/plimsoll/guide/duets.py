"""Comparisons of systems that took turns: a table, what a duet cannot see, and a chart of all pairs of turns."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.analyse.duet_model import Duet, DuetBasis, DuetRound
from plimsoll.analyse.model import Analysis, Difference
from plimsoll.guide.chart_links import Links, href, recordings_line
from plimsoll.guide.drawing import alt
from plimsoll.guide.labels import chart_of
from plimsoll.guide.look import Look
from plimsoll.guide.marks import Chart, Row, axis_y, finish
from plimsoll.guide.numbers import NOT_KNOWN, show_change
from plimsoll.guide.tables import Column, Entry, Table
from plimsoll.guide.words import clean, effect_words, other_factor_words, verdict_words
from plimsoll.prose.phrases import counted

CANNOT_SEE = (
    "In a duet all servers are up, and exactly one runs at a time in short turns. What takes minutes to show, such as"
    " checkpoints and purge debt, is not in these ratios; test it with the sequential design and long trials.",
    "The servers of a duet share the memory of the machine, and each has its part of it. Timers and the kernel's"
    " writeback run on while a server is frozen.",
    "Only ratios are protected from the noise of the machine. Absolute throughput is as noisy as the machine was.",
)
"""What a duet cannot see."""

_WIDTH = 0.8
"""Of a round in the chart."""

_OTHERS = "what else differs"
_BASIS = {DuetBasis.ROUNDS: "between rounds", DuetBasis.PAIRS: "within rounds"}


def duet_differences(analysis: Analysis) -> list[Difference]:
    """Comparisons by pairs of turns, each level once."""
    return [one for one in analysis.differences if one.duet is not None and one.level is not None]


def duet_table(analysis: Analysis) -> Table | None:
    """A row for each two systems and level that took turns; None without any."""
    peaks = {_pair(one): one for one in analysis.differences if one.level is None}
    found = duet_differences(analysis)
    of_systems = [peaks.get(_pair(one), one) for one in found]
    rows = tuple(
        _row(one, one.duet, other_factor_words(of), _all_trials(one, one.duet, analysis))
        for one, of in zip(found, of_systems, strict=True)
        if one.duet is not None
    )
    if not rows:
        return None
    columns = (
        _words("compared"),
        _words("workload"),
        Column(heading="connections"),
        Column(heading="throughput"),
        _words("verdict"),
        Column(heading="minimum detectable effect (80 % power)"),
        _words(_OTHERS),
        Column(heading="p99 response time"),
        Column(heading="each round"),
        _words("interval from variation"),
    )
    levels = list(dict.fromkeys(one.level.label() for one in found if one.level is not None))
    is_one_level = len(levels) == 1
    caption = f"Systems that took turns at {levels[0]}" if is_one_level else "Systems that took turns"
    table = Table(caption=caption, columns=columns, rows=rows, notes=CANNOT_SEE)
    said = {
        _OTHERS: not any(one.other_factors or one.one_sided_factors for one in of_systems),
        "workload": len(analysis.workloads) == 1,
        "connections": is_one_level,
    }
    for heading in (heading for heading, is_said in said.items() if is_said):
        table = table.without(heading)
    return table


def _pair(one: Difference) -> tuple[str, str, str]:
    return one.workload, one.base, one.system


def _words(heading: str) -> Column:
    return Column(heading=heading, numeric=False)


def _row(one: Difference, duet: Duet, others: str, trials: tuple[str, ...]) -> tuple[Entry, ...]:
    change = show_change(one.ratio)
    p99 = None if duet.response_p99_ratio is None else show_change(duet.response_p99_ratio)
    ratios = [found.ratio for found in duet.rounds]
    rounds = " to ".join(dict.fromkeys(f"{_percent(edge):+.1f}" for edge in (min(ratios), max(ratios))))
    basis = [_BASIS[duet.basis]]
    basis += [f"neighbouring pairs correlate by {duet.correlation:+.2f}"] if duet.correlation is not None else []
    basis += ["widened for that"] if duet.is_widened else []
    return (
        Entry(f"{one.system} against {one.base}"),
        Entry(one.workload),
        Entry(NOT_KNOWN if one.level is None else one.level.figure()),
        Entry(change.value, change.bounds, sources=trials),
        Entry(verdict_words(one)),
        Entry(effect_words(one)),
        Entry(others or NOT_KNOWN),
        Entry(NOT_KNOWN) if p99 is None else Entry(p99.value, p99.bounds, sources=trials),
        Entry(
            f"{rounds} %", f"{counted(len(duet.rounds), 'round')} of {duet.pair_count:,} pairs of turns", sources=trials
        ),
        Entry("; ".join(basis)),
    )


def duet_charts(analysis: Analysis, look: Look, workload: str | None = None) -> Iterator[tuple[str, Chart]]:
    """For each comparison its title, and a chart of all pairs of turns by round with the mean of each round.

    Args:
        analysis: Of the study.
        look: How they are made.
        workload: Under which; None for all.
    """
    for one in (one for one in duet_differences(analysis) if workload in (None, one.workload)):
        if one.duet is not None and one.level is not None:
            title = f"{one.system} against {one.base}, {one.workload}, {one.level.label()}"
            yield clean(title), _chart(one, one.duet, analysis, look)


def _chart(difference: Difference, duet: Duet, analysis: Analysis, look: Look) -> Chart:
    links = Links(analysis)
    of_rounds = {one.repetition: links.of(_trials(difference, one.repetition, analysis)) for one in duet.rounds}
    pairs = [{**row, **of_rounds[one.repetition]} for one in duet.rounds for row in _points(one)]
    means = [{**_mean(one), **of_rounds[one.repetition]} for one in duet.rounds]
    numbers = [one.repetition + 1 for one in duet.rounds]
    scale = alt.Scale(domain=[min(numbers) - 0.5, max(numbers) + 0.5], nice=False)
    x = alt.X("place:Q", scale=scale, axis=alt.Axis(title="Round", values=numbers, format="d", ticks=False, grid=False))
    y = axis_y("change:Q", "Difference of throughput in each pair of turns, %", alt.Scale(zero=True), format="+,~r")
    tooltip = [alt.Tooltip("round:Q", title="round"), alt.Tooltip("shown:N", title="difference"), recordings_line()]
    points = chart_of(pairs).mark_point(filled=True, size=16, opacity=0.55, color=look.palette.quiet)
    bars = chart_of(means).mark_rule(strokeWidth=3, color=look.palette.ink)
    zero = chart_of([{"change": 0.0}]).mark_rule(strokeDash=[3, 3], color=look.palette.quiet).encode(y=y)
    shown = {"y": y, "tooltip": tooltip, "href": href()}
    layers = (points.encode(x=x, **shown), bars.encode(x=x, x2=alt.X2("to:Q"), **shown))
    return finish(alt.layer(zero, *layers), look)


def _trials(one: Difference, repetition: int, analysis: Analysis) -> list[str]:
    """The recordings of both systems in one round, that of the compared one first."""
    found = {
        trial.system: trial.trial_id
        for trial in analysis.trials
        if (trial.workload, trial.level, trial.repetition) == (one.workload, one.level, repetition)
    }
    return [found[system] for system in (one.system, one.base) if system in found]


def _all_trials(one: Difference, duet: Duet, analysis: Analysis) -> tuple[str, ...]:
    """The recordings of both systems in all rounds, round by round."""
    return tuple(trial for of in duet.rounds for trial in _trials(one, of.repetition, analysis))


def _points(one: DuetRound) -> Iterator[Row]:
    """Pairs in the order of time, spread over the width of their round."""
    number, last = one.repetition + 1, max(len(one.pair_ratios) - 1, 1)
    for index, ratio in enumerate(one.pair_ratios):
        yield {**_change(ratio, number), "place": number + _WIDTH * (index / last - 0.5)}


def _mean(one: DuetRound) -> Row:
    number = one.repetition + 1
    return {**_change(one.ratio, number), "place": number - _WIDTH / 2, "to": number + _WIDTH / 2}


def _change(ratio: float, number: int) -> Row:
    change = _percent(ratio)
    return {"round": number, "change": change, "shown": f"{change:+.1f} %"}


def _percent(ratio: float) -> float:
    return (ratio - 1) * 100
