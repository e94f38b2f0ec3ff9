"""What a guide says of exporters: what came, how coarse it is, and what failed."""

from __future__ import annotations

from plimsoll.guide.facts import exporter_lines
from plimsoll.record.environment import ExporterFacts

URL = "http://db1:9100/metrics"
SEEN = ExporterFacts(instance="a/0", url=URL, interval_s=5.0, resolution_s=5.0, sources=("host",), pages_count=12)


def words(**changes: object) -> str:
    ((name, text),) = exporter_lines([SEEN.model_copy(update=changes)])
    assert name == f"Telemetry from {URL}"
    return text


def test_the_resolution_is_always_stated() -> None:
    assert words() == "processors, memory, disks and network of the host, every 5 s"
    assert words(resolution_s=15.0).endswith("every 15 s (asked every 5 s)")
    assert words(resolution_s=None).endswith("how often is not known")
    named = words(sources=("server", "waits"), host_name="db1")
    assert named == "status variables and waits for files, every 5 s, of the machine db1"


def test_what_failed_is_told() -> None:
    assert words(failures_count=3).endswith("every 5 s; 3 requests failed")
    assert words(sources=(), failures_count=3) == "nothing came; 3 requests failed"
    assert words(unused="it is here") == "not used: it is here"
