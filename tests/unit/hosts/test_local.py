"""What is told of samples while they are taken, also where servers take turns."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from plimsoll.hosts.host import WatchRequest
from plimsoll.hosts.local import LocalCollecting
from plimsoll.telemetry.sampler import Sample
from support.waiting import until


@contextlib.contextmanager
def frozen() -> Iterator[bool]:
    yield False


def test_in_a_duet_the_processors_of_the_host_are_watched_and_told_of() -> None:
    told: set[tuple[str, str, str]] = set()

    def saw(host: str, instance: str, sample: Sample) -> None:
        told.add((host, instance, sample.metric))

    wanted = WatchRequest(instances=[], driver="d", interval_s=0.05, asking=frozen, saw=saw)
    collecting = LocalCollecting(wanted, host="h")
    try:
        assert until(lambda: ("h", "", "cpu_idle_ratio") in told)
    finally:
        collecting.stop()
    recorded = collecting.take()
    assert set(recorded["host"]) == {"h"}
    assert "cpu_idle_ratio" in set(recorded["metric"])
    assert "memory_available_bytes" not in {metric for _, _, metric in told} | set(recorded["metric"])
