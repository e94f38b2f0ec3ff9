"""Systems that took turns: their comparisons in a table, with what a duet cannot see, and a chart of all pairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from plimsoll.analyse.model import Analysis, Difference
from plimsoll.analyse.study.curve_model import Duet, DuetBasis, DuetRound
from plimsoll.guide.comparisons import response_columns, response_entries, response_notes, response_statistics
from plimsoll.guide.drawing import alt
from plimsoll.guide.marks import (
    Chart,
    Row,
    Style,
    axis_y,
    chart_of,
    clip_signs,
    clipped,
    finish,
    ratio_axis,
    ratio_domain,
)
from plimsoll.guide.sources import Links, href, recordings_line
from plimsoll.guide.tables import NOT_KNOWN, Column, Entry, Table, show_change, text_column
from plimsoll.guide.words import (
    clean,
    difference_verdict,
    effect_words,
    other_factor_words,
)
from plimsoll.wording import counted

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
    return [
        difference
        for difference in analysis.differences
        if difference.duet is not None and difference.level is not None
    ]


def duet_table(analysis: Analysis) -> Table | None:
    """A row for each two systems and level that took turns; None without any."""
    peaks = {_pair(difference): difference for difference in analysis.differences if difference.level is None}
    differences = duet_differences(analysis)
    statistics = response_statistics(differences)
    of_systems = [peaks.get(_pair(difference), difference) for difference in differences]
    rows = tuple(
        _duet_row(difference, difference.duet, other_factor_words(of), statistics, analysis)
        for difference, of in zip(differences, of_systems, strict=True)
        if difference.duet is not None
    )
    if not rows:
        return None
    columns = (
        text_column("compared"),
        text_column("workload"),
        Column(heading="connections"),
        Column(heading="throughput"),
        text_column("verdict"),
        *response_columns(statistics),
        Column(heading="minimum detectable effect (80 % power)"),
        text_column(_OTHERS),
        Column(heading="each round"),
        text_column("interval from variation"),
    )
    levels = list(dict.fromkeys(difference.level.label() for difference in differences if difference.level is not None))
    is_one_level = len(levels) == 1
    caption = f"Systems that took turns at {levels[0]}" if is_one_level else "Systems that took turns"
    table = Table(caption=caption, columns=columns, rows=rows, notes=(*response_notes(statistics), *CANNOT_SEE))
    redundant = {
        _OTHERS: not any(of_system.other_factors or of_system.one_sided_factors for of_system in of_systems),
        "workload": len(analysis.workloads) == 1,
        "connections": is_one_level,
    }
    for heading in (heading for heading, is_redundant in redundant.items() if is_redundant):
        table = table.without(heading)
    return table


def _pair(difference: Difference) -> tuple[str, str, str]:
    return difference.workload, difference.base, difference.system


def _duet_row(
    difference: Difference, duet: Duet, others: str, statistics: tuple[str, ...], analysis: Analysis
) -> tuple[Entry, ...]:
    change, trials = show_change(difference.ratio), _all_trials(difference, duet, analysis)
    ratios = [duet_round.ratio for duet_round in duet.rounds]
    rounds = " to ".join(dict.fromkeys(f"{_percent(edge):+.1f}" for edge in (min(ratios), max(ratios))))
    basis = [_BASIS[duet.basis]]
    basis += [f"neighbouring pairs correlate by {duet.correlation:+.2f}"] if duet.correlation is not None else []
    basis += ["widened for that"] if duet.is_widened else []
    return (
        Entry(f"{difference.system} against {difference.base}"),
        Entry(difference.workload),
        Entry(NOT_KNOWN if difference.level is None else difference.level.figure()),
        replace(change, sources=trials),
        Entry(difference_verdict(difference)),
        *response_entries(difference, statistics, trials),
        Entry(effect_words(difference)),
        Entry(others or NOT_KNOWN),
        Entry(
            f"{rounds} %", f"{counted(len(duet.rounds), 'round')} of {duet.pair_count:,} pairs of turns", sources=trials
        ),
        Entry("; ".join(basis)),
    )


def duet_charts(analysis: Analysis, style: Style, workload: str | None = None) -> Iterator[tuple[str, Chart]]:
    """For each comparison its title, and a chart of all pairs of turns by round with the mean of each round.

    Args:
        analysis: Of the study.
        style: How they are made.
        workload: Under which; None for all.
    """
    for difference in (
        difference for difference in duet_differences(analysis) if workload in (None, difference.workload)
    ):
        if difference.duet is not None and difference.level is not None:
            systems = f"{difference.system} against {difference.base}"
            title = f"{systems}, {difference.workload}, {difference.level.label()}"
            yield clean(title), _duet_chart(difference, difference.duet, analysis, style)


def _duet_chart(difference: Difference, duet: Duet, analysis: Analysis, style: Style) -> Chart:
    links = Links(analysis)
    of_rounds = {
        duet_round.repetition: links.of(_round_trials(difference, duet_round.repetition, analysis))
        for duet_round in duet.rounds
    }
    pairs = [{**row, **of_rounds[duet_round.repetition]} for duet_round in duet.rounds for row in _points(duet_round)]
    means = [{**_mean(duet_round), **of_rounds[duet_round.repetition]} for duet_round in duet.rounds]
    numbers = [duet_round.repetition + 1 for duet_round in duet.rounds]
    scale = alt.Scale(domain=[min(numbers) - 0.5, max(numbers) + 0.5], nice=False)
    x = alt.X("place:Q", scale=scale, axis=alt.Axis(title="Round", values=numbers, format="d", ticks=False, grid=False))
    no_interval: Row = {"low": None, "high": None}
    drawn = [{**row, **no_interval} for row in (*pairs, *means)]
    domain = ratio_domain(drawn, 1 + difference.equal_within, kept=[row["ratio"] for row in means])
    y_scale = alt.Scale(type="log", domain=list(domain), nice=False, clamp=True)
    title = "Difference of throughput in each pair of turns"
    y = axis_y("ratio:Q", title, y_scale, **ratio_axis(domain, is_wide=False))
    tooltip = [alt.Tooltip("round:Q", title="round"), alt.Tooltip("shown:N", title="difference"), recordings_line()]
    within = [row for row in pairs if domain[0] <= row["ratio"] <= domain[1]]
    points = chart_of(within).mark_point(filled=True, size=16, opacity=0.55, color=style.palette.quiet)
    bars = chart_of(means).mark_rule(strokeWidth=3, color=style.palette.ink)
    equal = chart_of([{"ratio": 1.0}]).mark_rule(strokeDash=[3, 3], color=style.palette.quiet).encode(y=y)
    hints = {"tooltip": tooltip, "href": href()}
    beyond = [clipped({**row, **no_interval}, domain) for row in pairs]
    arrows = clip_signs(beyond, domain, x, alt.ColorValue(style.palette.quiet), **hints)
    layers = (points.encode(x=x, y=y, **hints), bars.encode(x=x, x2=alt.X2("to:Q"), y=y, **hints), *arrows)
    return finish(alt.layer(equal, *layers), style)


def _round_trials(difference: Difference, repetition: int, analysis: Analysis) -> list[str]:
    """The recordings of both systems in one round, that of the compared one first."""
    trial_ids = {
        trial.system: trial.trial_id
        for trial in analysis.trials
        if (trial.workload, trial.level, trial.repetition) == (difference.workload, difference.level, repetition)
    }
    return [trial_ids[system] for system in (difference.system, difference.base) if system in trial_ids]


def _all_trials(difference: Difference, duet: Duet, analysis: Analysis) -> tuple[str, ...]:
    """The recordings of both systems in all rounds, round by round."""
    return tuple(trial for of in duet.rounds for trial in _round_trials(difference, of.repetition, analysis))


def _points(duet_round: DuetRound) -> Iterator[Row]:
    """Pairs in the order of time, spread over the width of their round."""
    number, last = duet_round.repetition + 1, max(len(duet_round.pair_ratios) - 1, 1)
    for index, ratio in enumerate(duet_round.pair_ratios):
        yield {**_change(ratio, number), "place": number + _WIDTH * (index / last - 0.5)}


def _mean(duet_round: DuetRound) -> Row:
    number = duet_round.repetition + 1
    return {**_change(duet_round.ratio, number), "place": number - _WIDTH / 2, "to": number + _WIDTH / 2}


def _change(ratio: float, number: int) -> Row:
    return {"round": number, "ratio": ratio, "shown": f"{_percent(ratio):+.1f} %"}


def _percent(ratio: float) -> float:
    return (ratio - 1) * 100
