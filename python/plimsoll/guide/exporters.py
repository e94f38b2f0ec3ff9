"""What a guide says of exporters: what came from each of them, and how coarse it is.

Deliberately not here: reading them (`plimsoll.telemetry.exporters`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plimsoll.prose.phrases import listed
from plimsoll.record.environment import ExporterFacts
from plimsoll.units import format_duration

_SOURCES = {
    "host": "processors, memory, disks and network of the host",
    "device": "the data device",
    "server": "status variables",
    "waits": "waits for files",
}


def exporter_lines(exporters: Sequence[ExporterFacts]) -> Iterator[tuple[str, str]]:
    """A fact for each exporter, its name first."""
    for one in exporters:
        yield f"Telemetry from {one.url}", _words(one)


def _words(one: ExporterFacts) -> str:
    if one.unused is not None:
        return f"not used: {one.unused}"
    if not one.sources:
        return f"nothing came; {one.failures_count} requests failed"
    what = listed([_SOURCES.get(source, source) for source in one.sources])
    words = f"{what}, {_resolution(one)}"
    if one.host_name is not None:
        words += f", of the machine {one.host_name}"
    return f"{words}; {one.failures_count} requests failed" if one.failures_count else words


def _resolution(one: ExporterFacts) -> str:
    if one.resolution_s is None:
        return "how often is not known"
    coarser = one.resolution_s > 1.5 * one.interval_s
    asked = f" (asked every {format_duration(one.interval_s)})" if coarser else ""
    return f"every {format_duration(one.resolution_s)}{asked}"
