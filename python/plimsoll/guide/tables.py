"""What tables there are and what stands in them: one model for HTML, Markdown and terminal, so that they agree.

Levels of every kind take one road: which figures a kind has, a `Measure` says.

Deliberately not here: how a table looks anywhere, and how numbers with bounds read (`numbers`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from plimsoll.guide.numbers import (
    NOT_KNOWN,
    SINGLE_RUNS,
    SINGLE_RUNS_NOTE,
)
from plimsoll.prose.phrases import VAGUE_MARKS, VAGUE_WORDS

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table with its caption. The first column names the row.

    Attributes:
        system: Whose table it is, where the caption does not say that; empty for tables of the whole study.
        notes: Sentences below it.
        fold: What a page folds it under, together with its neighbours of the same fold; empty where it stands open.
    """

    caption: str
    system: str = ""
    columns: tuple[Column, ...]
    rows: tuple[tuple[Entry, ...], ...]
    notes: tuple[str, ...] = ()
    fold: str = ""

    def __post_init__(self) -> None:
        """Says below the table what intervals are too wide for, and marks them: they get no wide column for it."""
        details = dict.fromkeys(entry.detail for row in self.rows for entry in row)
        marks = dict(zip((text for text in details if text and text in VAGUE_WORDS), VAGUE_MARKS, strict=False))
        if not marks:
            return
        rows = tuple(
            tuple(replace(one, detail=marks.get(one.detail or "", one.detail)) for one in row) for row in self.rows
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
