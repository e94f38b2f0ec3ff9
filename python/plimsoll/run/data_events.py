"""What becomes of data, devices and hosts while a study runs, as events."""

from __future__ import annotations

from typing import Literal

from plimsoll.record.data import DataReset
from plimsoll.record.document import Document


class DataPutBack(Document):
    """The data of a system was put back, by the way that `reset` says."""

    type: Literal["data_put_back"] = "data_put_back"
    system: str
    reset: DataReset


class DataKept(Document):
    """The data of a system was kept at the end of a study."""

    type: Literal["data_kept"] = "data_kept"
    system: str
    folder: str
    size_bytes: int
    duration_s: float


class DeviceShared(Document):
    """Paths that a study tells apart are on one device, so that they show no difference between devices.

    Attributes:
        device: Its name; a disk where paths are on several partitions of it.
        paths: As written, with what they are for.
    """

    type: Literal["device_shared"] = "device_shared"
    device: str
    paths: tuple[str, ...]


class HostLost(Document):
    """The host of a system was lost while the system was set up: the study waits for it, and sets it up again.

    Attributes:
        reason: What failed, with the host's name.
        limit_s: It waits for so long, seconds.
    """

    type: Literal["host_lost"] = "host_lost"
    system: str
    reason: str
    limit_s: float
