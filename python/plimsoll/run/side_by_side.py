"""The same step for several instances at the same time: one failure ends all, with one message.

Deliberately not here: what the steps are (`systems`).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import TypeVar

from plimsoll.drive.protocol import Progress
from plimsoll.run.keeper import DataKeeper

T = TypeVar("T")


def side_by_side(steps: Sequence[Callable[[], T]], cancel: Callable[[], None] = lambda: None) -> list[T]:
    """Runs steps in threads of their own, at most two for each CPU at a time, and waits for all of them.

    Args:
        steps: What is to be done; one is done in this thread.
        cancel: Called when one failed or somebody interrupted, to end the others early. Those that have not begun never
            do.

    Returns:
        What they returned, in their order.

    Raises:
        Exception: What the first one that failed raised, in the order of time.
    """
    if len(steps) == 1:
        return [steps[0]()]
    with ThreadPoolExecutor(max_workers=max(min(len(steps), 2 * (os.cpu_count() or 1)), 2)) as pool:
        futures = [pool.submit(step) for step in steps]
        try:
            done, _ = wait(futures, return_when=FIRST_EXCEPTION)
            failed = [future for future in done if future.exception() is not None]
            if failed:
                raise failed[0].exception() or AssertionError("it failed")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            cancel()
            raise
    return [future.result() for future in futures]


def counted_together(keepers: Sequence[DataKeeper]) -> tuple[DataKeeper, ...]:
    """Keepers that tell of their progress together: the sum over all of them that are in the same phase."""
    lock, counts = threading.Lock(), dict[int, Progress]()
    if len(keepers) == 1:
        return tuple(keepers)

    def telling(index: int, tell: Callable[[Progress], None]) -> Callable[[Progress], None]:
        def progressed(progress: Progress) -> None:
            with lock:
                counts[index] = progress
                same = [one for one in counts.values() if one.phase == progress.phase]
                total = {name: sum(getattr(one, name) for one in same) for name in ("done_count", "total_count")}
                tell(progress.model_copy(update=total))

        return progressed

    return tuple(replace(one, progress=telling(index, one.progress)) for index, one in enumerate(keepers))
