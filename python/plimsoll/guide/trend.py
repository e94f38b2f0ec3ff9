"""A trend in words, tables and charts: for a terminal, as Markdown, and as a page.

The first sentence is the whole answer: what became of the rules, what changed since which study and by how much, or
which change would have been found. The table has a row for each place and metric. The page has a chart of each.
Deliberately not here: any calculation (`plimsoll.analyse.answers.trend`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from rich.console import Group

from plimsoll.analyse.answers.compare_model import GateOutcome, GateResult, Metric
from plimsoll.analyse.answers.trend import levels_of, place_name
from plimsoll.analyse.answers.trend_model import TrendAnswer, TrendPlace, TrendShift, TrendStudy
from plimsoll.analyse.findings.finding_model import Finding
from plimsoll.analyse.findings.limits import unlike_figures
from plimsoll.analyse.study.comparison import ALPHA
from plimsoll.analyse.study.conditions import is_disturbed
from plimsoll.analyse.study.ratio_model import Ratio
from plimsoll.guide.compare import change_entry
from plimsoll.guide.drawing import alt
from plimsoll.guide.markdown import section_lines
from plimsoll.guide.marks import Chart, Row, Style, axis_y, chart_of, finish
from plimsoll.guide.sections import Section, SectionChart
from plimsoll.guide.tables import NOT_KNOWN, Column, Entry, Table, text_column
from plimsoll.guide.terminal_blocks import answer_blocks
from plimsoll.guide.words import clean, escape_markdown
from plimsoll.prose.capacity import slow_words
from plimsoll.prose.phrases import vague_words
from plimsoll.prose.ratios import changes_span
from plimsoll.stats.level_shifts import LEAST_CHANCE, ShiftKind
from plimsoll.units import format_number, format_percent
from plimsoll.wording import capitalised, changes_words, counted, first_few

TITLE = "What changed over the studies"
_METRICS = {Metric.THROUGHPUT: "throughput", Metric.P99: "p99"}

_NOTES: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "studies-disturbed": lambda seen: (
        f"Figures of {first_few(seen['names'])} are shown, not tested: the machine was disturbed for too long, or"
        " nothing completed."
    ),
    "studies-without-trials": lambda seen: f"Left out, because no trial is complete: {first_few(seen['names'])}.",
    "newest-without-trials": lambda _: (
        "No trial of the newest study is complete, so rules are undecided. Measure that version again."
    ),
    "mostly-disturbed": lambda _: (
        "The machine was disturbed for too long in most of the studies. They are tested all the same, by how far they"
        " lie apart; steps are indicated and not measured."
    ),
    "order-given": lambda _: (
        "When the studies were measured is not known: they stand in the order in which they were named."
    ),
    "studies-with-trials-left-out": lambda seen: (
        f"Trials that are damaged, failed or invalid were left out in {first_few(seen['names'])}."
    ),
    "studies-without-places": lambda seen: (
        f"Not every system, workload and level is known of {first_few(seen['names'])}."
    ),
    "at-a-rate": lambda _: "At a target rate, throughput is what was asked for unless the system fell behind.",
}

_READING = (
    "A step needs three studies on either side, and has to be so clear that 95 % of histories without any have none,"
    " all places of a metric together. Intervals rest on the spread between studies, not on repetitions.",
    "Each look at a growing history is one such test: over many looks false steps are more frequent than 5 %.",
)


def worded_trend(answer: TrendAnswer) -> TrendAnswer:
    """The answer with its sentences, for whoever reads the JSON."""
    notes = tuple(note.model_copy(update={"text": note_sentence(note)}) for note in answer.notes)
    return answer.model_copy(update={"text": answer_sentence(answer), "notes": notes})


def answer_sentence(answer: TrendAnswer) -> str:
    """The rules, then the last step of each place that has one; where throughput has none, what would have been found.

    At a target rate p99 alone can move, so its steps stand here too, behind those of throughput.
    """
    gates = "".join(f"{trend_gate_words(gate)}: " for gate in answer.gates)
    throughput = list(_clauses(answer))
    clauses = [*throughput, *_p99_clauses(answer)]
    shown = list(clauses[:_CLAUSES_MAX])
    shown += [f"and {len(clauses) - _CLAUSES_MAX} more"] if len(clauses) > _CLAUSES_MAX else []
    shown += [] if throughput else [_nothing(answer)]
    return capitalised(f"{gates}{'; '.join(shown)}.", ())


_CLAUSES_MAX = 3


def _clauses(answer: TrendAnswer) -> Iterator[str]:
    """The last step of throughput in each place, and what the newest studies show that is too new for a step."""
    for place in answer.places:
        if place.metric is not Metric.THROUGHPUT:
            continue
        if place.shifts:
            yield _shift_clause(place, place.shifts[-1], answer)
        if (newest := _newest_clause(place, answer)) is not None:
            yield newest


def _p99_clauses(answer: TrendAnswer) -> Iterator[str]:
    for place in answer.places:
        if place.metric is Metric.P99 and place.shifts:
            yield _shift_clause(place, place.shifts[-1], answer)


def _newest_clause(place: TrendPlace, answer: TrendAnswer) -> str | None:
    """None where the newest studies are like those before, or began with a step."""
    begin = len(answer.studies) - place.newest_count
    is_step = bool(place.shifts) and place.shifts[-1].latest_index >= begin
    if place.newest is None or not place.newest.verdict.is_difference or is_step:
        return None
    size, count = _change_words(place.newest), place.newest_count
    which = "the newest study" if count == 1 else f"the newest {count} studies"
    metric = _metric_word(place)
    return (
        f"{place_words(place, answer)}: {metric} of {which} is {size} than before, too new to be called a lasting step"
    )


def _nothing(answer: TrendAnswer) -> str:
    """What would have been found where nothing was."""
    places = [place for place in answer.places if place.metric is Metric.THROUGHPUT]
    step = "step of throughput" if any(place.shifts for place in answer.places) else "step"
    found_in = f"no {step} was found in {counted(len(answer.studies), 'study')}"
    known = [place for place in places if place.detectable_ratio is not None]
    if not known and ALPHA / max(len(places), 1) < LEAST_CHANCE:
        return f"{found_in}, and none could be in {len(places):,} places together; name fewer systems (STUDY:SYSTEM)"
    if not known:
        power = min((place.detectable_power for place in places), default=0.0)
        few = f"and even a large one would be found with {format_percent(power)}" if power else "too few to find one"
        return f"{found_in}, {few}"
    largest = max(known, key=lambda place: place.detectable_ratio or 1.0)
    everywhere = "" if len(known) == len(places) else f" at {len(known)} of {len(places)} places"
    return f"{found_in}; {_detectable(largest)} would have been found with 90 %{everywhere}"


def _detectable(place: TrendPlace) -> str:
    share = format_percent((place.detectable_ratio or 1.0) - 1)
    studies = place.detectable_studies
    return f"a lasting step of throughput of {share} or more that is at least {studies} studies old"


def trend_gate_words(gate: GateResult) -> str:
    """What a rule comes to: `no regression (throughput of the newest studies more than 5.0 % lower is ruled out)`."""
    worse = "higher" if gate.metric is Metric.P99 else "lower"
    rule = f"{_METRICS[gate.metric]} of the newest studies more than {format_percent(gate.limit)} {worse}"
    match gate.outcome:
        case GateOutcome.FAILED:
            return f"regression ({rule} at {first_few([', '.join(place) for place in gate.failed_at])})"
        case GateOutcome.PASSED:
            return f"no regression ({rule} is ruled out)"
    if not gate.places_count:
        return f"undecided ({_METRICS[gate.metric]} is not known)"
    places = first_few([", ".join(place) for place in gate.undecided_at])
    return f"undecided ({rule} is neither shown nor ruled out at {places}; more studies would decide)"


def study_words(study: TrendStudy) -> str:
    """Its name, and of which version it is: `nights/40 (commit 3f2a91c)`."""
    labels = ", ".join(f"{name} {value}" for name, value in study.labels.items())
    return f"{study.name} ({labels})" if labels else study.name


def place_words(place: TrendPlace, answer: TrendAnswer) -> str:
    """Such as `read-write, 16 connections` or `read-write, capacity at p99 20 ms`."""
    systems = {of.system for of in answer.places}
    return ", ".join(place_name(place, with_system=len(systems) > 1))


def _shift_clause(place: TrendPlace, shift: TrendShift, answer: TrendAnswer) -> str:
    """With its place; `_shift_words` is without."""
    return f"{place_words(place, answer)}: {_shift_words(place, shift, answer)}"


def _shift_words(place: TrendPlace, shift: TrendShift, answer: TrendAnswer) -> str:
    metric, since = _metric_word(place), study_words(answer.studies[shift.study_index])
    if shift.unlike is not None:
        seen = unlike_figures("the studies before", "the studies after", shift.unlike)
        return f"disturbed: {metric} changed at {since}, and {slow_words(seen)}"
    size = _change_words(shift.change)
    match shift.kind:
        case ShiftKind.LASTING:
            return f"{metric} {size} since {since}{_place_interval(shift, answer)}"
        case ShiftKind.RETURN:
            return f"{metric} {size} since {since}, back to what it was before"
        case ShiftKind.ENDED:
            return f"{metric} {size} from {since} on, which has ended"
        case ShiftKind.ONE_SIDED:
            return (
                f"{metric} {size} since {since}, but the fastest studies are about as fast as before:"
                " perhaps the machine is disturbed more often, so this is not called a lasting step"
            )
    return f"{metric} moved gradually, {size} around {since}; no one study began it"


def _metric_word(place: TrendPlace) -> str:
    return "capacity" if place.objective is not None else _METRICS[place.metric]


def _change_words(change: Ratio) -> str:
    """Such as `4.1 % lower (95 % CI -5.0 % to -3.2 %)`."""
    ratio, bounds = change.ratio.value, change.ratio.bounds
    text = f"{format_percent(abs(ratio - 1))} {'lower' if ratio < 1 else 'higher'}"
    if bounds is None:
        return text
    return f"{text} ({vague_words(bounds) if bounds.is_vague_ratio else f'95 % CI {changes_span(bounds)}'})"


def _place_interval(shift: TrendShift, answer: TrendAnswer) -> str:
    if shift.earliest_index == shift.latest_index:
        return ""
    first, last = (answer.studies[index].name for index in (shift.earliest_index, shift.latest_index))
    return f", begun between {first} and {last} (95 %)"


def note_sentence(note: Finding) -> str:
    """What to know before relying on the trend."""
    return _NOTES[note.code](note.figures)


def sentences(answer: TrendAnswer) -> tuple[str, ...]:
    """The answer, what changed around its steps, and what to know, in this order."""
    return (answer_sentence(answer), *_environment_sentences(answer), *map(note_sentence, answer.notes))


def _environment_sentences(answer: TrendAnswer) -> Iterator[str]:
    """What else changed where a step may have begun: it may be the cause."""
    indexes = {
        index
        for place in answer.places
        for shift in place.shifts
        for index in range(shift.earliest_index, shift.latest_index + 1)
    }
    for index in sorted(indexes):
        study = answer.studies[index]
        if study.changes:
            words = changes_words([(change.what, change.base, change.system) for change in study.changes])
            yield f"At {study_words(study)} this changed as well, and may be the cause: {words}."


def trend_table(answer: TrendAnswer) -> Table:
    """Every place and metric: its level now, its last step, and what would have been found."""
    headings = ("place", "metric", "now", "last step", "since", "kind", "detectable")
    numeric = {"now", "detectable"}
    columns = tuple(
        Column(heading=heading, numeric=heading in numeric, detail="95 % CI" if heading == "last step" else "")
        for heading in headings
    )
    rows = tuple(_row(place, answer) for place in answer.places)
    notes = (
        "now: the mean of the studies since the last step, tps or ms. detectable: the smallest lasting step since then"
        " that would have been found with 90 %.",
        *_READING,
    )
    return Table(caption="By place and metric", columns=columns, rows=rows, notes=notes)


def _row(place: TrendPlace, answer: TrendAnswer) -> tuple[Entry, ...]:
    shift, stretches = place.shifts[-1] if place.shifts else None, levels_of(place)
    detectable = NOT_KNOWN if place.detectable_ratio is None else format_percent(place.detectable_ratio - 1)
    return (
        Entry(place_words(place, answer)),
        Entry(_unit_words(place)),
        Entry(format_number(stretches[-1].level) if stretches else NOT_KNOWN),
        Entry(NOT_KNOWN) if shift is None else change_entry(shift.change.ratio.value, shift.change.ratio.bounds),
        Entry(NOT_KNOWN if shift is None else study_words(answer.studies[shift.study_index])),
        Entry("none" if shift is None else "disturbed" if shift.unlike is not None else shift.kind.value),
        Entry(detectable),
    )


def _unit_words(place: TrendPlace) -> str:
    return "tps" if place.metric is Metric.THROUGHPUT else "p99 ms"


def studies_table(answer: TrendAnswer) -> Table:
    """Every study, and what was not as in the one before it."""
    columns = tuple(map(text_column, ("study", "began (UTC)", "server", "changed")))
    rows = tuple(
        (
            Entry(study_words(study)),
            Entry(_moment(study.began_unix_s)),
            Entry(", ".join(study.server_versions) or NOT_KNOWN),
            Entry(changes_words([(change.what, change.base, change.system) for change in study.changes]) or "nothing"),
        )
        for study in answer.studies
    )
    return Table(caption="The studies, in order", columns=columns, rows=rows)


def _moment(unix_s: float | None) -> str:
    return NOT_KNOWN if unix_s is None else f"{datetime.fromtimestamp(unix_s, UTC):%Y-%m-%d %H:%M}"


def summary_line(answer: TrendAnswer) -> str:
    """What was looked at, in one line."""
    studies = counted(len(answer.studies), "study")
    by = {"time": "in order of time", "given": "in the order in which they were named"}
    order = by.get(answer.ordered_by, f"in order of the label {answer.ordered_by}")
    return f"{studies}, {order}. Grade: {answer.grade.value}."


def trend_terminal(answer: TrendAnswer) -> Group:
    """The answer, the table, and what to know."""
    return answer_blocks((*sentences(answer), summary_line(answer)), trend_table(answer))


def trend_markdown(answer: TrendAnswer) -> str:
    """The same as text for a pull request (GitHub's dialect)."""
    first, *rest = sentences(answer)
    section = Section(
        anchor="trend", title=TITLE, sentences=(*rest, summary_line(answer)), tables=(trend_table(answer),)
    )
    return "\n\n".join([f"**{escape_markdown(first)}**", *filter(None, section_lines(section, {}))]) + "\n"


def trend_html(answer: TrendAnswer) -> str:
    """The page as the text of one HTML file, which works offline: a chart of each place and metric."""
    from plimsoll.guide.html import Page, page_html

    first, *doubts = sentences(answer)
    what = Section(anchor="answer", title=TITLE, sentences=(first,), tables=(trend_table(answer),))
    studies = Section(
        anchor="studies",
        title="The studies",
        sentences=(),
        tables=(studies_table(answer),),
    )
    page = Page(
        brand="Plimsoll trend",
        title=first_few(list(dict.fromkeys(study.study for study in answer.studies))),
        facts=(("Studies", f"{len(answer.studies):,}"), ("Grade", answer.grade.value)),
        doubts=tuple(doubts),
        sections=(what, *_place_sections(answer), studies),
    )
    return page_html(page)


def _place_sections(answer: TrendAnswer) -> Iterator[Section]:
    """One for each place, with the charts of its metrics."""
    grouped: dict[str, list[TrendPlace]] = {}
    for place in answer.places:
        grouped.setdefault(place_words(place, answer), []).append(place)
    for number, (words, places) in enumerate(grouped.items()):
        yield Section(
            anchor=f"place-{number}",
            title=words,
            sentences=tuple(
                capitalised(f"{_shift_words(place, shift, answer)}.", ()) for place in places for shift in place.shifts
            )
            or ("No step was found.",),
            charts=tuple(
                SectionChart(title=_chart_title(place), draw=_drawer(place, answer), is_wide=True) for place in places
            ),
            notes=(_CHART_NOTE,),
        )


_CHART_NOTE = (
    "Each point is a study, with the 95 % confidence interval of its repetitions; hollow points were disturbed and are"
    " not tested. Lines are levels; the axis does not begin at 0. A dotted line is a change of the environment, a solid"
    " one a step."
)


def _chart_title(place: TrendPlace) -> str:
    if place.objective is not None:
        return "Capacity, tps"
    return "Throughput, tps" if place.metric is Metric.THROUGHPUT else "p99 response time, ms"


def _drawer(place: TrendPlace, answer: TrendAnswer) -> Callable[[Style], Chart]:
    return lambda style: trend_chart(place, answer, style)


def trend_chart(place: TrendPlace, answer: TrendAnswer, style: Style) -> Chart:
    """One metric of one place over all studies."""
    points = [_point(point.study_index, place, number, answer) for number, point in enumerate(place.points)]
    edges = [edge for row in points for edge in (row["low"], row["value"], row["high"]) if edge is not None]
    room = 0.05 * (max(edges) - min(edges)) or 1.0
    scale = alt.Scale(domain=[max(min(edges) - room, 0.0), max(edges) + room], nice=False, zero=False)
    x = alt.X(
        "study:Q",
        scale=alt.Scale(domain=[0.5, len(answer.studies) + 0.5], nice=False),
        axis=alt.Axis(title="study, in order", tickMinStep=1, format="d"),
    )
    y, palette = axis_y("value:Q", "tps" if place.metric is Metric.THROUGHPUT else "ms", scale), style.palette
    layers = [*_rules(place, answer, x, style)]
    levels: list[Row] = [
        {"from": stretch.first + 0.5, "to": stretch.last + 1.5, "level": stretch.level} for stretch in levels_of(place)
    ]
    if levels:
        line = chart_of(levels).mark_rule(strokeWidth=2.5, color=palette.series[1])
        layers.append(line.encode(x=alt.X("from:Q"), x2=alt.X2("to:Q"), y=alt.Y("level:Q")))
    base = chart_of(points)
    whisker = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=1.2, color=palette.series[0])
    layers.append(whisker.encode(x=x, y=alt.Y("low:Q"), y2=alt.Y2("high:Q")))
    tooltip = [alt.Tooltip(f"{name}:N", title=title) for name, title in (("name", "study"), ("shown", "figure"))]
    for is_used in (True, False):
        mark = base.transform_filter(f"datum.is_used == {str(is_used).lower()}").mark_point(
            filled=is_used, size=46, opacity=1, color=palette.series[0]
        )
        layers.append(mark.encode(x=x, y=y, tooltip=tooltip))
    return finish(alt.layer(*layers), style)


def _point(study_index: int, place: TrendPlace, number: int, answer: TrendAnswer) -> Row:
    point = place.points[number]
    bounds = point.value.bounds
    is_narrow = bounds is not None and not bounds.is_vague
    disturbed = ", disturbed" if is_disturbed(point.disturbance) else ""
    return {
        "study": study_index + 1,
        "name": clean(study_words(answer.studies[study_index])),
        "value": point.value.value,
        "low": bounds.low if bounds is not None and is_narrow else None,
        "high": bounds.high if bounds is not None and is_narrow else None,
        "shown": f"{format_number(point.value.value)}{disturbed}",
        "is_used": point.is_used,
    }


def _rules(place: TrendPlace, answer: TrendAnswer, x: alt.X, style: Style) -> Sequence[alt.Chart]:
    """Upright lines where the environment changed, and where a step began."""
    changed: list[Row] = [{"study": index + 0.5} for index, study in enumerate(answer.studies) if study.changes]
    begun: list[Row] = [{"study": shift.study_index + 0.5} for shift in place.shifts]
    looks: tuple[tuple[list[Row], dict[str, Any]], ...] = (
        (changed, {"strokeDash": [2, 3], "strokeWidth": 1.2, "color": style.palette.quiet}),
        (begun, {"strokeWidth": 1.6, "color": style.palette.series[1]}),
    )
    return [chart_of(rows).mark_rule(**look).encode(x=x) for rows, look in looks if rows]
