"""Tables and the figures in them: one model for HTML, Markdown and terminal, so that they agree.

An estimate is shown as its figure, and its confidence interval apart from it. Deliberately not here: how plain
quantities are shown (`plimsoll.units`), estimates within sentences (`plimsoll.prose`), and how a table looks anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from plimsoll.analyse.model import Analysis
from plimsoll.analyse.study.cell_model import Bounds, Durations, Estimate, SpreadKind
from plimsoll.prose.phrases import VAGUE_MARKS, VAGUE_WORDS, vague_words
from plimsoll.units import format_number, format_significant
from plimsoll.wording import listed

NOT_KNOWN = "–"
"""Stands where a figure is not known."""

SINGLE_RUNS = "†"
"""Stands behind percentiles that are of single runs."""

SINGLE_RUNS_NOTE = (
    "Percentiles marked † are those of single runs, the lowest and the highest: their source has no histograms, which"
    " percentiles of all runs together would need."
)


def per_unit(per_second: float, rate_unit: str) -> float:
    """A throughput in the unit in which it is shown.

    Args:
        per_second: Transactions per second.
        rate_unit: `tps` or `tpm`.
    """
    return per_second * 60 if rate_unit == "tpm" else per_second


def show_rate(throughput_tps: Estimate, rate_unit: str) -> Entry:
    """A throughput in its unit.

    >>> from plimsoll.analyse.study.cell_model import Bounds
    >>> show_rate(Estimate(value=1245, bounds=Bounds(low=1190, high=1300, method="t")), "tps")
    Entry(text='1,245', detail='1,190 to 1,300', mark=None, sources=())
    """
    bounds = _range(throughput_tps.bounds, lambda tps: format_number(per_unit(tps, rate_unit)))
    return Entry(format_number(per_unit(throughput_tps.value, rate_unit)), bounds)


def show_ratio(ratio: Estimate) -> Entry:
    """A plain ratio such as a scale factor: `3.99 (3.79 to 4.21)`."""
    return Entry(format_number(ratio.value), _range(ratio.bounds, format_number))


def show_cost(cost: Estimate) -> Entry:
    """A calculated amount of money, without its currency.

    >>> show_cost(Estimate(value=0.06912))
    Entry(text='0.0691', detail=None, mark=None, sources=())
    """
    return Entry(format_significant(cost.value), _range(cost.bounds, format_significant))


def show_change(ratio: Estimate) -> Entry:
    """A ratio of two throughputs as change in percent: `+37.5 % (+32.0 to +43.6 %)`."""
    bounds = None
    if ratio.bounds is not None:
        edges = f"{_change(ratio.bounds.low)} to {_change(ratio.bounds.high)} %"
        bounds = vague_words(ratio.bounds) if ratio.bounds.is_vague_ratio else edges
    return Entry(f"{_change(ratio.value)} %", bounds)


def show_share(ratio: float | None) -> str:
    """A share 0..1 as whole percent without the sign, for columns headed `%`."""
    return NOT_KNOWN if ratio is None else f"{ratio * 100:.0f}"


def show_ms(milliseconds: float | None, *, is_lower_bound: bool = False) -> str:
    """A time for columns headed `ms`.

    >>> show_ms(12.34), show_ms(1560.0, is_lower_bound=True)
    ('12.3', '≥ 1,560')
    """
    if milliseconds is None:
        return NOT_KNOWN
    return f"≥ {format_number(milliseconds)}" if is_lower_bound else format_number(milliseconds)


def show_statistic(times: Durations, name: str) -> str:
    """One statistic of response or service times, for columns headed `ms`; of single runs the range, marked as such.

    >>> show_statistic(Durations(p99=12.34), "p99")
    '12.3'
    >>> show_statistic(Durations(single_runs={"p99": (29.1, 26.3)}), "p99")
    '26.3 to 29.1 †'
    """
    each, of_all = times.single_runs.get(name), getattr(times, name)
    if of_all is not None or not each:
        return show_ms(of_all, is_lower_bound=name in times.lower_bounds)
    edges = dict.fromkeys(format_number(value) for value in (min(each), max(each)))
    return f"{' to '.join(edges)} {SINGLE_RUNS}"


def explain_bounds(analysis: Analysis) -> str:
    """What the ranges beside the figures are, said once for all of them."""
    all_bounds = [cell.throughput_tps.bounds for curve in analysis.curves for cell in curve.cells]
    known = [bounds for bounds in all_bounds if bounds is not None]
    if not all_bounds and analysis.capacities:
        return ""  # of capacities alone: their section says what their ranges are
    if not known:
        return "No figure has a confidence interval."
    confidence = " and ".join(f"{share * 100:.4g} %" for share in sorted({bounds.confidence for bounds in known}))
    parts = [part for kind, words in _RESTS_ON.items() if (part := _rests_on(kind, words, known, of=len(all_bounds)))]
    missing = len(all_bounds) - len(known)
    if missing:
        parts.append(f"{missing:,} {'has' if missing == 1 else 'have'} none")
    of_all = "" if len(known) == len(all_bounds) and len(parts) == 1 else f"Of {len(all_bounds):,} throughputs, "
    return f"Ranges beside figures are {confidence} confidence intervals (CI). {of_all}{listed(parts)}."


_RESTS_ON = {
    SpreadKind.POOLED: (
        "the variation between their own repetitions and those of the systems that were measured alike at the same"
        " level",
        None,
    ),
    SpreadKind.REPETITIONS: ("the variation between their own repetitions", None),
    SpreadKind.BLOCKS: ("the variation between blocks of environments", None),
    SpreadKind.WITHIN_RUN: ("the variation within single runs", "repetitions may vary more"),
    None: ("several of these together", None),
}
"""What an interval may rest on, and what to know of it."""


def _rests_on(
    kind: SpreadKind | None, words: tuple[str, str | None], known: Sequence[Bounds], *, of: int
) -> str | None:
    matching = [bounds for bounds in known if bounds.basis is kind]
    if not matching:
        return None
    degrees = [round(bounds.degrees) for bounds in matching if bounds.degrees is not None]
    edges = " to ".join(dict.fromkeys(f"{edge:,}" for edge in (min(degrees), max(degrees)))) if degrees else None
    notes = [f"{edges} degree{'' if edges == '1' else 's'} of freedom" if edges else None, words[1]]
    inside = "; ".join(note for note in notes if note)
    whose = "that of 1 is" if len(matching) == 1 else f"those of {len(matching):,} are"
    whose = "They are" if len(matching) == of else whose
    return f"{whose} based on {words[0]}{f' ({inside})' if inside else ''}"


def _range(bounds: Bounds | None, show: Callable[[float], str]) -> str | None:
    if bounds is None:
        return None
    return vague_words(bounds) if bounds.is_vague else f"{show(bounds.low)} to {show(bounds.high)}"


def _change(ratio: float) -> str:
    return f"{(ratio - 1) * 100:+.1f}"


PEAK = "peak"
TIED = "≈ peak"
SUSTAINED = "sustained"
SHARE = "share %"
STALLED = "stalled %"
TOO_FEW = "too few"
TOO_SLOW = "too slow"


@dataclass(frozen=True, slots=True)
class Entry:
    """One field of a table.

    Attributes:
        text: The figure or words.
        detail: What belongs below or beside it in smaller type, such as bounds.
        mark: A word that makes it stand out, such as `peak`.
        sources: Ids of the recordings that it rests on; empty for what is no figure of recordings.
    """

    text: str
    detail: str | None = None
    mark: str | None = None
    sources: tuple[str, ...] = ()

    @property
    def source(self) -> str | None:
        """The first of its recordings, below which a guide lists the others."""
        return self.sources[0] if self.sources else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table.

    Attributes:
        heading: Its name, with the unit.
        group: Heading above several columns, such as the workload's name.
        numeric: Figures, aligned right.
        detail: What the details of its entries are, where they stand in a column of their own.
    """

    heading: str
    group: str | None = None
    numeric: bool = True
    detail: str = "95 % CI"

    @property
    def label(self) -> str:
        """The heading in full, for where it stands alone."""
        return self.heading if self.group is None else f"{self.group}: {self.heading}"


def text_column(heading: str) -> Column:
    """A column of words, aligned left."""
    return Column(heading=heading, numeric=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table with its caption. The first column names the row.

    Attributes:
        system: Whose table it is, where the caption does not say that; empty for tables of the whole study.
        notes: Sentences below it.
        fold: What a page folds it under, together with its neighbours of the same fold; empty where it stands open.
        is_printed: A table of a section stands on paper too, unless it is folded.
    """

    caption: str
    system: str = ""
    columns: tuple[Column, ...]
    rows: tuple[tuple[Entry, ...], ...]
    notes: tuple[str, ...] = ()
    fold: str = ""
    is_printed: bool = True

    def __post_init__(self) -> None:
        """Says below the table what intervals are too wide for, and marks them: they get no wide column for it."""
        details = dict.fromkeys(entry.detail for row in self.rows for entry in row)
        marks = dict(zip((text for text in details if text and text in VAGUE_WORDS), VAGUE_MARKS, strict=False))
        if not marks:
            return
        rows = tuple(
            tuple(replace(entry, detail=marks.get(entry.detail or "", entry.detail)) for entry in row)
            for row in self.rows
        )
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "notes", (*self.notes, *(f"{mark} {text}." for text, mark in marks.items())))

    @property
    def title(self) -> str:
        """The caption in full, for where it stands alone."""
        return f"{self.system}, {self.caption}" if self.system else self.caption

    def without(self, heading: str) -> Table:
        """The same without a column, where what it says stands above the table."""
        kept = [index for index, column in enumerate(self.columns) if column.heading != heading]
        rows = tuple(tuple(row[index] for index in kept) for row in self.rows)
        return replace(self, columns=tuple(self.columns[index] for index in kept), rows=rows)


def figures_note(tables: Iterable[Table]) -> str:
    """What the columns and marks of systems' tables mean, as far as they occur."""
    shown = list(tables)
    headings = {column.heading for table in shown for column in table.columns}
    marks = {entry.mark for table in shown for row in table.rows for entry in row}
    texts = {entry.text for table in shown for row in table.rows for entry in row}
    meanings = (
        ("scale" in headings, "Scale is throughput over that of the lowest level."),
        (
            "CPU %" in headings,
            "CPU is the share of the host's processor time that was neither idle nor waiting for storage.",
        ),
        (
            STALLED in headings,
            "Stalled is the share of the measured time in which nothing, or nearly nothing, completed.",
        ),
        (
            any(entry.text.startswith("≥") for table in shown for row in table.rows for entry in row),
            "Times marked “≥” are at least so long: some transactions had not ended when the measurement did.",
        ),
        (SHARE in headings, "Count is of completed transactions; share is that of all transactions at that level."),
        (TOO_FEW in marks, f"Types marked “{TOO_FEW}” have a smaller share than the TPC-C specification asks for."),
        (
            TOO_SLOW in marks,
            f"Those marked “{TOO_SLOW}” have a 90th percentile above what it allows.",
        ),
        (any(SINGLE_RUNS in text for text in texts), SINGLE_RUNS_NOTE),
        (TIED in marks, f"Levels marked “{TIED}” are not distinguishable from the peak."),
    )
    return " ".join(meaning for applies, meaning in meanings if applies)


def whole(count: float | None) -> str:
    """A count or a cost without decimals."""
    return NOT_KNOWN if count is None else f"{count:,.0f}"
