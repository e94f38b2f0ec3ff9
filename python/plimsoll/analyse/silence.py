"""Whether the server had fallen silent when the load ended: connections were open, and nothing came back any more.

It is a stall (`stalls`) that lasts to the end of the window, after which nothing completed either, while something
never ended. Where as many never ended as there are connections, all of them hung: then the seconds in which they were
waited for after the window belong to the stall as well, so that it is also seen when it began shortly before the
window's end.

Deliberately not here: servers whose connections were lost; those are outages.
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.analyse.histograms import SparseHistogram
from plimsoll.analyse.seen import SeenInterval
from plimsoll.analyse.stalls import find_stalls


def silent_from_s(
    window: Sequence[SeenInterval], after: Sequence[SeenInterval], service: SparseHistogram | None, connections: int
) -> float | None:
    """Since when an instance was silent, seconds since the load began; None when it was not.

    Args:
        window: The measured intervals of the instance.
        after: Those that came after them.
        service: Service times of what completed in the window; None where they are not known.
        connections: That the instance had.
    """
    hung = (after or window)[-1].in_flight if window else 0
    if hung == 0 or any(one.completed for one in after):
        return None
    series = [*window, *after] if hung >= connections else window
    stalls = find_stalls(series, service, connections)
    return stalls[-1].from_s if stalls and stalls[-1].to_s == series[-1].to_s else None
