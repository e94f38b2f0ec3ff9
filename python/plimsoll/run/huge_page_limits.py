"""Whether enough huge pages are reserved for the servers of a study that want them: seen before anything starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from plimsoll.plan.disk import data_bytes
from plimsoll.servers.facts import usable_memory_bytes
from plimsoll.servers.huge_pages import huge_pages_fault
from plimsoll.servers.option_file import default_buffer_pool_bytes
from plimsoll.spec.study import StudySpec
from plimsoll.spec.system import SystemSpec


def missing_huge_pages(spec: StudySpec, look: Callable[[int], str | None] = huge_pages_fault) -> Iterator[str]:
    """A line when the largest system that wants them, in a duet all of them together, does not find enough.

    Args:
        spec: What the user wrote.
        look: Says why so many bytes cannot be had.
    """
    wanted = [_pool_bytes(spec, one) for one in spec.system if one.server is not None and one.server.huge_pages]
    if wanted and (fault := look(sum(wanted) if spec.study.is_duet else max(wanted))) is not None:
        yield fault


def _pool_bytes(spec: StudySpec, system: SystemSpec) -> int:
    """Size of the buffer pools of a system, bytes: stated, a share of the expected rows, or what a profile takes."""
    server = system.server_here
    assert server is not None, "only managed servers have pools of ours"
    if server.buffer_pool is not None:
        return server.buffer_pool
    if server.pool_ratio is not None:
        return round(server.pool_ratio * data_bytes(spec, server.instances))
    return default_buffer_pool_bytes(usable_memory_bytes())
