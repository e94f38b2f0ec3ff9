"""How logs were understood, in words for the person who imported them.

Deliberately not here: printing, and what only one kind of log has to say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from plimsoll.importers.csv_table import FAULTS_SHOWN_MAX
from plimsoll.importers.log_lines import Unread
from plimsoll.importers.skipped_logs import SkippedLog
from plimsoll.importers.trials import ImportedTrial


def levels(trials: Sequence[ImportedTrial]) -> Iterator[str]:
    """What became systems, workloads and levels."""
    cells = Counter((one.trial.system.name, one.trial.workload.name, one.trial.level.connections) for one in trials)
    for system, workload in dict.fromkeys((name, work) for name, work, _ in cells):
        own = sorted(
            (level, count) for (name, work, level), count in cells.items() if (name, work) == (system, workload)
        )
        found = ", ".join(str(level) if count == 1 else f"{level} ({count} times)" for level, count in own)
        yield f"system {system}, workload {workload}: connections {found}"


def skipped_lines(unread: Sequence[Unread], refused: Sequence[SkippedLog]) -> Iterator[str]:
    """What was left out: lines that could not be read, and logs or runs of which nothing can be made."""
    lines = [line for one in unread for line in one.lines]
    count = sum(one.count for one in unread)
    yield from lines[:FAULTS_SHOWN_MAX]
    if count > FAULTS_SHOWN_MAX:
        yield f"… and {count - FAULTS_SHOWN_MAX} more like these"
    yield from (one.told for one in refused[:FAULTS_SHOWN_MAX])
    if count:
        yield f"{many(count, 'line')} could not be read and {'was' if count == 1 else 'were'} skipped"
    if refused:
        yield f"{many(len(refused), 'log or run', 'logs or runs')} skipped"


def many(count: int, noun: str, plural: str | None = None) -> str:
    """A count with its noun.

    >>> many(1, "log"), many(2, "log or run", "logs or runs")
    ('1 log', '2 logs or runs')
    """
    return f"{count} {noun if count == 1 else plural or noun + 's'}"
