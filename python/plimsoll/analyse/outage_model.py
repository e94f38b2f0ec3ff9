"""An outage as the guide shows it; part of the analysis."""

from __future__ import annotations

from plimsoll.record.document import Document
from plimsoll.record.level import Level


class TrialOutage(Document):
    """From the first connection that a trial lost until they were back.

    Attributes:
        system: In which cell.
        workload: In which cell.
        level: In which cell.
        repetition: In which of its trials: 0, 1, 2, ...
        instance: Server to which connections were lost.
        from_s: Since the load began, seconds.
        length_s: To the end of the load where it was not over before.
        is_over: All connections, or the share that counts as back, were open again before the end.
        is_measured: It lies in the measured window, or reaches into it.
        connections_count: How many were lost.
        lost_count: Transactions that failed with them.
    """

    system: str
    workload: str
    level: Level
    repetition: int
    instance: str
    from_s: float
    length_s: float
    is_over: bool
    is_measured: bool
    connections_count: int
    lost_count: int
