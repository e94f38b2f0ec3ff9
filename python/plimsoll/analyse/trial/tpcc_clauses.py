"""What the TPC-C specification (revision 5.11) asks of a measurement, and where the workload departs from it.

One line for each clause that the TPC-C-derived workload departs from. What was measured is in `tpcc`.

What a workload is planned to do is enough; what was measured adds what only then is known. Allowed by the
specification, and no deviations: partitions, further indexes, foreign keys, stored procedures, connections that are a
pool of terminals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from plimsoll.record.document import Document
from plimsoll.spec.tpcc import quirks_of
from plimsoll.units import format_duration, format_ms, format_number

NEW_ORDER = "new_order"
DELIVERY_DEFERRED = "delivery_deferred"
"""Deliveries that were queued, as they are carried out; `delivery` is then putting one into the queue."""

TYPES = (NEW_ORDER, "payment", "order_status", "delivery", "stock_level")

SHARES_MIN = {"payment": 0.43, "order_status": 0.04, "delivery": 0.04, "stock_level": 0.04}
"""Clause 5.2.3: the least share of all transactions, 0..1."""

RESPONSE_S_P90_MAX = {**dict.fromkeys(TYPES, 5.0), "stock_level": 20.0, DELIVERY_DEFERRED: 80.0}
"""Clauses 5.2.5.3 and 2.7.2: nine of ten transactions take at most so long, seconds."""

KEYING_S = (18, 3, 2, 2, 2)
"""Clause 5.2.5.2, by type: the least time for keying in, seconds."""

THINKING_S = (12, 12, 10, 5, 5)
"""Clause 5.2.5.4, by type: the least mean time for thinking, seconds."""

TERMINALS_PER_WAREHOUSE = 10
"""Clause 4.2.2."""

NOTPM_PER_WAREHOUSE_MAX = 12.86
"""Clause 4.1: new orders per minute that the terminals of a warehouse can enter when the server takes no time."""

MEASURED_S_MIN = 7200.0
"""Clause 5.5.2.1: the shortest measurement, seconds."""


class Deviation(Document):
    """A point at which a measurement departs from the TPC-C specification, revision 5.11.

    Attributes:
        clause: Its number, or numbers.
        chosen: What was done instead.
        asked: What the specification asks for.
    """

    clause: str
    chosen: str
    asked: str


class TypeDemands(Document):
    """One type of transaction against what the specification asks of it.

    Attributes:
        name: Of the type.
        share_ratio: Its share of the five types, 0..1; None for the deferred part of deliveries.
        share_ratio_min: The least that is asked for; None where nothing is.
        has_share: Whether it has that much; None where nothing is asked for or nothing completed.
        response_ms_p90_max: Nine of ten transactions may take at most so long, milliseconds.
        is_in_time: Whether they do; None where that is not known.
    """

    name: str
    share_ratio: float | None = None
    share_ratio_min: float | None = None
    has_share: bool | None = None
    response_ms_p90_max: float
    is_in_time: bool | None = None


class TpccFigures(Document):
    """All trials of a cell of the TPC-C-derived workload, all instances together.

    Attributes:
        notpm: New orders per minute, with those that were to be rolled back.
        warehouses_count: Warehouses in use; None where a source does not say.
        notpm_per_warehouse: Of those in use.
        is_above_maximum: More than terminals with the specification's times could enter.
        efficiency_ratio: NOTPM over that maximum; None but with the specification's keying and think times.
        types: In the specification's order, those that completed.
    """

    notpm: float
    warehouses_count: int | None = None
    notpm_per_warehouse: float | None = None
    is_above_maximum: bool | None = None
    efficiency_ratio: float | None = None
    types: tuple[TypeDemands, ...] = ()


FIXED = (
    Deviation(
        clause="1.3.1",
        chosen="s_order_cnt, s_remote_cnt, c_payment_cnt and c_delivery_cnt are INT and count further than four digits",
        asked="four digits",
    ),
    Deviation(
        clause="2.2",
        chosen="what a terminal would show is read, but not put together",
        asked="forms that are filled in and shown on a terminal",
    ),
    Deviation(
        clause="3",
        chosen="of the ACID tests only the twelve consistency conditions",
        asked="tests of atomicity, consistency, isolation and durability",
    ),
    Deviation(
        clause="4.2",
        chosen="room for the growth of 60 days is not shown",
        asked="storage for 60 days of 8 hours at the reported rate",
    ),
    Deviation(
        clause="4.3.2.2",
        chosen="random strings are made of the 62 letters and digits of ASCII",
        asked="a set of at least 128 characters",
    ),
    Deviation(
        clause="4.3.3.1",
        chosen="all dates of loaded rows are 2025-01-01 00:00:00",
        asked="the time of loading",
    ),
    Deviation(
        clause="4.3.3.1",
        chosen="of each ten neighbours exactly one item, stock and customer is special (ORIGINAL, bad credit)",
        asked="a tenth of them, drawn from all",
    ),
    Deviation(
        clause="7, 8, 9",
        chosen="no prices, no disclosure report, no audit",
        asked="all of them",
    ),
)
"""What holds whatever is chosen; docs/tpcc.md has the same."""

_OF_SERVER = "that of the server, REPEATABLE READ where nobody changed it"
_WITHOUT_TRANSACTIONS = ("aria", "csv", "memory", "myisam")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What is known once trials have run; of several the one that departs most.

    Attributes:
        duration_s: The shortest measured window, seconds; also where it is only planned.
        isolations: What the servers have for connections that do not ask for another level.
        shares: The smallest share of each of the five types, 0..1.
        response_ms_p90: The longest 90th percentile of each type, milliseconds.
        notpm_per_warehouse: The largest.
    """

    duration_s: float | None = None
    isolations: frozenset[str] = frozenset()
    shares: Mapping[str, float] = field(default_factory=dict)
    response_ms_p90: Mapping[str, float] = field(default_factory=dict)
    notpm_per_warehouse: float | None = None


PLANNED = Measured()
"""Nothing has run yet."""


def deviations(
    options: Mapping[str, Any],
    *,
    connections: tuple[int, ...],
    instances: int = 1,
    is_at_rates: bool = False,
    is_ours: bool = True,
    measured: Measured = PLANNED,
) -> tuple[Deviation, ...]:
    """Every clause that is departed from, by number.

    Args:
        options: Of the workload, as a recording keeps them.
        connections: Each level, rising.
        instances: The most that share the warehouses.
        is_at_rates: Transactions are wanted at a rate.
        is_ours: Whether it is our workload; of the runs of others only what was measured is known.
        measured: What is known once it ran; shares are planned where none were measured.
    """
    departures: list[Deviation] = []
    if is_ours:
        departures += FIXED
        departures += _of_tables(options, instances)
        departures += _of_terminals(options, connections, is_at_rates=is_at_rates)
        departures += _of_transactions(options, measured)
        departures += _of_quirks(options)
    departures += _of_measurement(measured, measured.shares or _planned_shares(options))
    return tuple(sorted(departures, key=lambda departure: _place(departure.clause)))


def _of_tables(options: Mapping[str, Any], instances: int) -> Iterator[Deviation]:
    if instances > 1:
        yield Deviation(
            clause="2.4.1.5, 2.5.1.2",
            chosen=f"{instances:,} instances share the warehouses: remote lines and payments stay within one",
            asked="remote warehouses are drawn from all",
        )
    engine = str(options.get("storage_engine", ""))
    if engine.lower() in _WITHOUT_TRANSACTIONS:
        yield Deviation(clause="3.2", chosen=f"tables of {engine}, which has no transactions", asked="atomicity")


def _of_terminals(
    options: Mapping[str, Any], connections: tuple[int, ...], *, is_at_rates: bool
) -> Iterator[Deviation]:
    warehouses = int(options["warehouses"])
    stated = options.get("terminals")
    counts = (int(stated),) if stated else connections
    if is_at_rates:
        yield Deviation(
            clause="5.2.2",
            chosen="transactions come at a rate, whether or not a terminal is free for them",
            asked="terminals that enter one after the other",
        )
    if set(counts) != {TERMINALS_PER_WAREHOUSE * warehouses}:
        yield Deviation(
            clause="4.2.2",
            chosen=f"{_many(_range(counts), 'terminal')} for {_many(f'{warehouses:,}', 'warehouse')}",
            asked=f"{TERMINALS_PER_WAREHOUSE} for each warehouse",
        )
    if min(counts) < warehouses and options.get("all_warehouses", True) and not options.get("quirks"):
        yield Deviation(
            clause="2.4.1.1, 2.5.1.1, 2.6.1.1, 2.7.1.1, 2.8.1.1",
            chosen="terminals go around warehouses, and Stock-Level draws its district",
            asked="each terminal has one warehouse, and one district for Stock-Level, for good",
        )
    scale = float(options.get("times", 0))
    if scale < 1:
        yield _times(scale, options.get("think_time"))


def _times(scale: float, think_time: object) -> Deviation:
    without_times = "no keying or think times" if think_time is None else f"no keying, and a think time of {think_time}"
    keying, thinking = (", ".join(map(str, each)) for each in (KEYING_S, THINKING_S))
    return Deviation(
        clause="5.2.5.2, 5.2.5.4",
        chosen=f"{format_number(scale)} of the keying and think times" if scale else without_times,
        asked=f"keying {keying} s, thinking {thinking} s on average",
    )


def _of_transactions(options: Mapping[str, Any], measured: Measured) -> Iterator[Deviation]:
    if options.get("delivery_connections"):
        yield Deviation(
            clause="2.7.2",
            chosen="deliveries are queued in memory, and what they did is kept in no file",
            asked="a file of what each did",
        )
    else:
        yield Deviation(
            clause="2.7.2",
            chosen="Delivery is carried out while the terminal waits",
            asked="it is queued, and carried out in the background",
        )
    asked = str(options.get("isolation", "server_default"))
    levels = measured.isolations if asked == "server_default" else frozenset({asked})
    words = sorted({level.replace("_", " ").replace("-", " ").upper() for level in levels})
    if words != ["SERIALIZABLE"]:
        yield Deviation(
            clause="3.4.1",
            chosen=f"isolation is {' or '.join(words) or _OF_SERVER}",
            asked="all but Stock-Level isolated as if one ran after the other",
        )


def _of_quirks(options: Mapping[str, Any]) -> Iterator[Deviation]:
    for quirk in quirks_of(str(options.get("quirks"))):
        yield Deviation(clause=quirk.clause, chosen=quirk.chosen, asked=quirk.asked)


def _planned_shares(options: Mapping[str, Any]) -> dict[str, float]:
    weights = {str(name): float(weight) for name, weight in dict(options.get("mix") or {}).items()}
    total = sum(weights.values())
    return {name: weights.get(name, 0.0) / total for name in SHARES_MIN} if total else {}


def _of_measurement(measured: Measured, shares: Mapping[str, float]) -> Iterator[Deviation]:
    yield from _shares(shares)
    yield from _response_times(measured.response_ms_p90)
    each = measured.notpm_per_warehouse
    if each is not None and each > NOTPM_PER_WAREHOUSE_MAX:
        yield Deviation(
            clause="4.1",
            chosen=f"{format_number(each)} NOTPM for each warehouse",
            asked=f"at most {NOTPM_PER_WAREHOUSE_MAX}, which is what terminals that keep the times can enter",
        )
    if measured.duration_s is not None and measured.duration_s < MEASURED_S_MIN:
        yield Deviation(
            clause="5.5.2.1",
            chosen=f"measured for {format_duration(measured.duration_s)}",
            asked=f"at least {MEASURED_S_MIN / 60:.0f} minutes",
        )


def _shares(shares: Mapping[str, float]) -> Iterator[Deviation]:
    few = {name: shares[name] for name, least in SHARES_MIN.items() if name in shares and shares[name] < least}
    if few:
        yield Deviation(
            clause="5.2.3",
            chosen=", ".join(f"{share * 100:.2f} % {name}" for name, share in few.items()),
            asked=", ".join(f"at least {SHARES_MIN[name] * 100:.0f} % {name}" for name in few),
        )


def _response_times(response_ms_p90: Mapping[str, float]) -> Iterator[Deviation]:
    for name, limit_s in RESPONSE_S_P90_MAX.items():
        found_ms = response_ms_p90.get(name, 0.0)
        if found_ms > limit_s * 1e3:
            yield Deviation(
                clause="2.7.2, 5.2.5.3" if limit_s == 80 else "5.2.5.3",
                chosen=f"90 % of {name} within {format_ms(found_ms)}",
                asked=f"within {limit_s:.0f} s",
            )


def _range(counts: tuple[int, ...]) -> str:
    low, high = min(counts), max(counts)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _many(count: str, noun: str) -> str:
    return f"{count} {noun}" if count == "1" else f"{count} {noun}s"


def _place(clause: str) -> list[int]:
    """Where a clause comes in the order of their numbers.

    >>> _place("2.7.2, 5.2.5.3")
    [2, 7, 2]
    """
    return [int(part) for part in clause.split(",", maxsplit=1)[0].split(".")]
