"""What was learned of a load, as values that may be shared: ranks, counts and lengths, no names and no literals."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from plimsoll.learn.data_model import DataNote
from plimsoll.record.document import Document

PROFILE_FORMAT = 1

ValueKind = Literal["key", "foreign key", "date", "text", "number", "limit", "list length", "member", "constant"]
"""What a value is; `member`: which statement of a family; `constant`: a number that is part of the statement."""


class Distribution(Document):
    """How a parameter chooses among its values.

    Attributes:
        kind: `constant`, `uniform`, `hot` (a hot set with a Zipf tail), `recent` (near the newest key) or `next` (a key
            that no row has yet).
        shares: Of the hottest values, the hottest first.
        exponent: Of the Zipf distribution of all other values by rank; of `recent`, by distance from the newest key.
        observed_count: Values that were looked at.
        distinct_count: Different ones among them.
        domain: Values that there are to choose from.
        judged: By candidate, the mean logarithm of the likelihood of observations that it was not fitted to.
    """

    kind: Literal["constant", "uniform", "hot", "recent", "next"]
    shares: tuple[float, ...] = ()
    exponent: float = 0.0
    observed_count: int = 0
    distinct_count: int = 0
    domain: int = 1
    judged: dict[str, float] = Field(default_factory=dict)


class ValueProfile(Document):
    """One value of a statement.

    Attributes:
        name: As the statement has it; None where it is part of its text.
        kind: What it is.
        column: Whose value; None where it is of no column.
        same_as: The earlier value that it equals, or follows from by adding `add`.
        add: The constant.
        same_ratio: In which share of its draws it is that value, and is drawn otherwise; None where it always is.
        item_of: The list that the rounds of a loop, or the rows of an INSERT, take it from one by one.
        read_from: The statement, from 1, whose first row it is assumed to come from.
        distribution: Of what is drawn.
        holds: In which share of the observations the relation held.
        assumed: What the log does not show: `row-read`, `made-up`; None for nothing.
    """

    name: str | None
    kind: ValueKind
    column: str | None = None
    same_as: str | None = None
    add: int = 0
    same_ratio: float | None = None
    item_of: str | None = None
    read_from: int | None = None
    distribution: Distribution | None = None
    holds: float | None = None
    assumed: str | None = None


class StatementProfile(Document):
    """One statement.

    Attributes:
        text: With `:name` for values; of a family, that of the first member.
        members_count: Statements that differ in one number of a name.
        left_out: Why it is not run; None where it is.
        values: Of its literals, in order.
        counts: Of an IN list or an INSERT of several rows, how often it has so many items or rows.
    """

    text: str
    members_count: int = 1
    left_out: str | None = None
    values: tuple[ValueProfile, ...] = ()
    counts: dict[int, int] = Field(default_factory=dict)


class ListProfile(Document):
    """Items that a transaction chooses before its first statement.

    Attributes:
        name: As statements have it.
        counts: How often there were so many items.
        is_sorted: They rise.
        is_distinct: No two are the same.
    """

    name: str
    counts: dict[int, int]
    is_sorted: bool = False
    is_distinct: bool = False


class LoopProfile(Document):
    """Statements that are run several times.

    Attributes:
        first: The first of them, from 1.
        last: The last of them.
        rounds: How often each number of rounds was seen.
        items_of: The list that has as many items.
    """

    first: int
    last: int
    rounds: dict[int, int]
    items_of: str | None = None


class TypeProfile(Document):
    """One type of transactions.

    Attributes:
        name: As in reports.
        share: Of all transactions.
        time_share: Of all statement time; None where the log has no durations.
        statements: Mean number.
        is_explicit: BEGIN and COMMIT around it.
        rollback_ratio: So many of them were rolled back.
        unlike_ratio: So many of those that were looked at have their loops elsewhere; they are told as the others.
        lists: That rounds and rows take items from.
    """

    name: str
    share: float
    time_share: float | None
    statements: float
    is_explicit: bool
    rollback_ratio: float
    unlike_ratio: float = 0.0
    loops: tuple[LoopProfile, ...] = ()
    lists: tuple[ListProfile, ...] = ()
    statement: tuple[StatementProfile, ...] = ()


class Profile(Document):
    """A load, without names and literals unless names were to be kept.

    Attributes:
        has_names: Names are those of the server.
        scale: Rows that are made, as a share of those that there were.
        types: Those that are run.
        other_share: Of transactions, in types that are not run.
        other_time_share: Of statement time, in types that are not run.
        is_prepared: Statements are prepared on the server.
        notes: What was assumed of the data, and what its tables cannot have.
    """

    profile_format: int = PROFILE_FORMAT
    has_names: bool = False
    scale: float = 1.0
    types: tuple[TypeProfile, ...] = ()
    other_share: float = 0.0
    other_time_share: float | None = None
    is_prepared: bool = False
    notes: tuple[DataNote, ...] = ()
