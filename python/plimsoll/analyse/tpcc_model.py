"""What is said about trials of the TPC-C-derived workload beyond what is said about all; part of the analysis."""

from __future__ import annotations

from plimsoll.record.document import Document


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
