"""The share that each instance of a system has of a workload.

Totals are those that the user wrote: the rows of all instances together are the data set of the workload, and each row
is on one of them. So a system of four instances is compared with one of a single instance on the same load.
Deliberately not here: the shares of connections and rates (`drive.plans`) and of memory (`servers.option_file`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from plimsoll.spec.statements import StatementsSpec, Workload
from plimsoll.spec.tpcc import TpccSpec
from plimsoll.units import format_bytes

INSTANCES_MAX = 64

POOL_BYTES_MIN = 8 * 2**20
"""Of each instance; servers take no less than 5 MiB, and would silently take that."""


def shares(workload: Workload, count: int) -> tuple[Workload, ...]:
    """The workload as each of so many instances has it. It must be one that `share_faults` has nothing against.

    Warehouses of a TPC-C-derived workload keep their numbers: each instance has the next block of them, and a copy of
    the items, which nothing changes. Its terminals, and connections for deliveries, are spread as evenly as possible,
    as connections are. Of OLTP tables each has as many, numbered from 1.
    """
    if count == 1:
        return (workload,)
    return tuple(_share(workload, index, count) for index in range(count))


def _share(workload: Workload, index: int, count: int) -> Workload:
    if isinstance(workload, TpccSpec):
        each = workload.warehouses // count
        update = {
            "warehouses": each,
            "first_warehouse": workload.first_warehouse + index * each,
            "terminals": None if workload.terminals is None else spread(workload.terminals, count)[index],
            "delivery_connections": spread(workload.delivery_connections, count)[index],
        }
        return workload.model_copy(update=update)
    assert not isinstance(workload, StatementsSpec), "statements of users are not divided"
    return workload.model_copy(update={"tables": workload.tables // count})


def spread(total: int, count: int) -> list[int]:
    """So many, as evenly as possible; the first ones have one more where it does not divide.

    >>> spread(7, 3)
    [3, 2, 2]
    """
    each, rest = divmod(total, count)
    return [each + (position < rest) for position in range(count)]


def share_faults(
    place: str, count: int, workloads: Iterable[Workload], *, connections: Sequence[int], buffer_pool: int | None
) -> Iterator[str]:
    """Why a study's load cannot be divided among the instances of one of its systems.

    Args:
        place: The path of the server in the study file.
        count: How many instances it has.
        workloads: All of the study.
        connections: Those of all levels.
        buffer_pool: Of all instances together, bytes; None when not given.
    """
    if count == 1:
        return
    place = f"{place}.instances"
    for index, workload in enumerate(workloads):
        if fault := _fault(workload, count):
            yield f"{place}: is {count}, but workload[{index}] {fault}"
    if (fewest := min(connections)) < count:
        yield (
            f"{place}: is {count}, but study.levels has {fewest} connection{'' if fewest == 1 else 's'} for all"
            f" instances together; begin with at least {count}"
        )
    if buffer_pool is not None and buffer_pool // count < POOL_BYTES_MIN:
        yield (
            f"{place}: is {count}, which leaves each {format_bytes(buffer_pool // count)} of buffer_pool; give it at"
            f" least {format_bytes(count * POOL_BYTES_MIN)}"
        )


def _fault(workload: Workload, count: int) -> str | None:
    """Why a workload cannot be divided by so many, and the cure; None when it can."""
    if isinstance(workload, StatementsSpec):
        return (
            "is from a workload file: how its rows belong together, and which instance a statement would be for, is not"
            " known; use OLTP tables or tpcc, or one instance"
        )
    counted, key = (
        (workload.warehouses, "warehouses") if isinstance(workload, TpccSpec) else (workload.tables, "tables")
    )
    if counted % count:
        return f"has {key} = {counted}, which it does not divide; take a multiple of {count}"
    if isinstance(workload, TpccSpec) and 0 < workload.delivery_connections < count:
        few = workload.delivery_connections
        return f"has delivery_connections = {few}; take at least one for each instance, or 0 to deliver at once"
    return None
