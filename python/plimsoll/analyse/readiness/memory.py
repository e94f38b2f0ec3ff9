"""Memory that the kernel may take away or rearrange under load: swap, transparent huge pages, large buffer pools."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.analyse.doubts import Code, Doubt
from plimsoll.analyse.finding_model import Figure
from plimsoll.analyse.readiness.model import Readiness
from plimsoll.record.environment import InstanceFacts
from plimsoll.units import parse_whole

SWAPPINESS_MAX = 10
"""Up to this the kernel hardly swaps before the page cache is gone; distributions set 60."""

_POOL_RATIO_MAX = 0.9
"""Connections, dictionary and the kernel need memory beside buffer pools."""


def swap(facts: Readiness) -> Iterator[Doubt]:
    """The kernel may swap parts of the buffer pool out in favour of its page cache."""
    host = facts.host
    if host.swap_bytes and host.swappiness is not None and host.swappiness > SWAPPINESS_MAX:
        yield facts.place.doubt(Code.SWAP_LIKELY, "swap", swap_bytes=host.swap_bytes, swappiness=host.swappiness)


def huge_pages(facts: Readiness) -> Iterator[Doubt]:
    """With `always` the kernel joins pages in the background, and requests wait for it."""
    if facts.host.transparent_huge_pages == "always":
        yield facts.place.doubt(Code.HUGE_PAGES_ALWAYS, "huge-pages")


def pools_and_memory(facts: Readiness) -> Iterator[Doubt]:
    """Buffer pools leave too little of the machine's memory, or of what a server's control group allows."""
    pools = [size for one in facts.servers if (size := buffer_pool_bytes(one)) is not None]
    memory = facts.host.memory_bytes
    if memory is not None and pools and sum(pools) > _POOL_RATIO_MAX * memory:
        yield facts.place.doubt(
            Code.MEMORY_OVERCOMMITTED, "pools-and-memory", buffer_pool_bytes=sum(pools), memory_bytes=memory
        )
    for one in facts.servers:
        limit = None if one.placement is None else one.placement.memory_limit_bytes
        pool = buffer_pool_bytes(one)
        if limit is not None and pool is not None and pool > _POOL_RATIO_MAX * limit:
            yield facts.place.doubt(
                Code.MEMORY_OVERCOMMITTED, "pool-and-limit", buffer_pool_bytes=pool, limit_bytes=limit
            )


def data_and_memory(facts: Readiness) -> Iterator[Doubt]:
    """Data does not fit the buffer pool, and perhaps fits the kernel's page cache instead."""
    memory_bytes = facts.host.memory_bytes
    for instance in facts.servers:
        pool_bytes = buffer_pool_bytes(instance)
        if instance.data_bytes is None or pool_bytes is None or instance.data_bytes <= pool_bytes:
            continue
        weight = instance.data_bytes / pool_bytes
        sizes: dict[str, Figure] = {"data_bytes": instance.data_bytes, "buffer_pool_bytes": pool_bytes}
        yield facts.place.doubt(Code.DATA_LARGER_THAN_BUFFER_POOL, "data-and-buffer-pool", weight, **sizes)
        method = instance.variables.get("innodb_flush_method", "")
        if memory_bytes and instance.data_bytes < memory_bytes - pool_bytes and not method.startswith("O_DIRECT"):
            sizes |= {"memory_bytes": memory_bytes, "innodb_flush_method": method or "unknown"}
            yield facts.place.doubt(Code.DATA_IN_PAGE_CACHE, "data-and-memory", weight, **sizes)


def buffer_pool_bytes(instance: InstanceFacts) -> int | None:
    """Size of the buffer pool; None when the server's variables are unknown."""
    return parse_whole(instance.variables.get("innodb_buffer_pool_size", "")) or None
