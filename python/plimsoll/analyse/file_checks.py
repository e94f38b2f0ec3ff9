"""Doubts about where a server's files were: paths on one device, and huge pages that it did not use.

Deliberately not here: how devices differ, and the same look before a study (`plimsoll.run.same_device`).
"""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.analyse.doubts import Code, Doubt, place_of
from plimsoll.analyse.trial_summary import TrialSummary
from plimsoll.record.environment import InstanceFacts
from plimsoll.units import parse_whole

_FLUSHED = ("redo", "binlog", "undo")
"""What shares a device's flushes with the data; temporary files are not flushed."""


def check_files(one: TrialSummary) -> Iterator[Doubt]:
    """Paths of one server that share a device though they were given apart, and unused huge pages."""
    for instance in one.environment.instances:
        place = place_of(one.trial)
        for device, roles in _shared(instance).items():
            figures = {"device": device, "roles": " and ".join(roles)}
            yield place.doubt(Code.PATHS_ON_ONE_DEVICE, "paths-on-one-device", float(len(roles)), **figures)
        pool_bytes = parse_whole(instance.variables.get("innodb_buffer_pool_size", ""))
        in_huge_pages, wanted = instance.huge_pages_bytes, one.trial.system.factors.get("huge_pages") == "true"
        if wanted and in_huge_pages is not None and pool_bytes is not None and in_huge_pages < pool_bytes:
            yield place.doubt(
                Code.HUGE_PAGES_UNUSED,
                "huge-pages-unused",
                huge_pages_bytes=in_huge_pages,
                buffer_pool_bytes=pool_bytes,
            )


def _shared(instance: InstanceFacts) -> dict[str, list[str]]:
    """What lies on each device that holds more than one of a server's paths; empty where there is one path only."""
    below: dict[str, list[str]] = {}
    if instance.storage is not None and instance.storage.device is not None:
        below[instance.storage.device] = ["data"]
    for role in _FLUSHED:
        storage = instance.storage_of_roles.get(role)
        if storage is not None and storage.device is not None:
            below.setdefault(storage.device, []).append(role)
    return {device: roles for device, roles in below.items() if len(roles) > 1}
