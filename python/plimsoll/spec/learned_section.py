"""`[learned]` of a workload file: which log it was learned from, and how a run of it compared with that log.

`plimsoll learn` and `plimsoll learn check` write it. It changes nothing that runs.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field

from plimsoll.spec.fields import Written, a_list

FigureKind = Literal[
    "type-share",
    "statement-share",
    "statements",
    "rollbacks",
    "rows-examined",
    "rows-sent",
    "rows-affected",
    "pages",
    "handler-reads",
    "deadlocks",
    "lock-waits",
    "response-p50",
    "response-tail",
    "throughput",
]
"""What of a run is compared with a log: shares of types among transactions and of statements among all; statements for
each transaction; the share that is rolled back; rows, pages and handler reads for each execution; deadlocks and lock
wait timeouts for each 1,000 transactions; the median response time of a type, its 99th percentile over that median, and
transactions per second."""


def _of_this_era(value: datetime) -> datetime:
    if value.tzinfo is None or not 1970 < value.year < 3000:
        raise ValueError(f"must be a time with its offset, such as 2026-11-23T16:48:36Z, is {value.isoformat()}")
    return value


Moment = Annotated[datetime, AfterValidator(_of_this_era)]
Share = Annotated[float, Field(ge=0, le=1)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]


class CheckedKind(Written):
    """All figures of one kind together.

    Attributes:
        judged: Figures that had observations enough.
        met: Of these, how many are within the goal.
        worst: The largest deviation among them; null where none was judged.
        goal: The largest deviation that is within it.
    """

    kind: FigureKind
    judged: Count
    met: Count
    worst: Amount | None = None
    goal: Amount


class LearnedCheck(Written):
    """The last `plimsoll learn check`.

    Attributes:
        at: When.
        server: Flavour and version.
        connections: In a closed loop.
        duration_s: How long it ran.
        figures: By kind; only those that have a goal.
    """

    at: Moment
    server: Annotated[str, Field(max_length=200)]
    connections: Annotated[int, Field(ge=1)]
    duration_s: Amount
    figures: Annotated[tuple[CheckedKind, ...], BeforeValidator(a_list), Field(max_length=32)] = ()


class LearnedSpec(Written):
    """Where a workload was learned.

    Attributes:
        first: First second of the log, `last` its last one.
        transactions: In the log.
        transaction_share: Of these, in types that run; `time_share` of statement time.
        check: None where it was never checked.
    """

    model_config = ConfigDict(populate_by_name=True)

    first: Annotated[Moment | None, Field(alias="from")] = None
    last: Annotated[Moment | None, Field(alias="to")] = None
    transactions: Amount
    transaction_share: Share
    time_share: Share | None = None
    check: LearnedCheck | None = None
