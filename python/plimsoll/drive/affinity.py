"""CPUs of the load generator: whatever this thread starts meanwhile runs there, with all of its threads."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from plimsoll.errors import HostError


@contextmanager
def running_on(cpus: Sequence[int] | None) -> Iterator[None]:
    """For processes that this thread starts: they inherit its affinity, so that none of their threads escapes.

    Args:
        cpus: Their CPUs; None for all that this process may use.

    Raises:
        HostError: The CPUs may not be used.
    """
    if cpus is None:
        yield
        return
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, cpus)
    except OSError as error:
        among = ", ".join(map(str, sorted(before)))
        raise HostError(f"study.client.cpus: {error.strerror}; choose among {among}") from None
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
