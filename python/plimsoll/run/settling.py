"""Waits until an instance and all devices that it uses are quiet.

Deliberately not here: when a server is quiet (`servers.settle`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from plimsoll.run.instance import Instance
from plimsoll.servers.control import connect
from plimsoll.servers.settle import settle
from plimsoll.servers.storage import data_device
from plimsoll.telemetry.device import busy_ratio, device_busy_ms


def settled(instance: Instance, limit_s: float) -> str:
    """Waits for at most so long; says how that ended.

    Raises:
        TargetError: The server stopped answering.
    """
    devices = _devices(instance) if instance.is_managed else ()
    with connect(instance.target) as control:
        return settle(
            control,
            limit_s=limit_s,
            may_set_variables=instance.is_managed,
            device_busy_ratio=_busiest(
                [busy_ratio(partial(instance.host.call, device_busy_ms, device)) for device in devices]
            )
            if devices
            else None,
        ).note


def _devices(instance: Instance) -> tuple[str, ...]:
    """Devices below the instance's files, each once."""
    data = instance.host.call(data_device, instance.data_dir) if instance.data_dir else None
    return tuple(dict.fromkeys(one for one in (data, *(s.device for s in instance.storage_of_roles.values())) if one))


def _busiest(ratios: Iterable[Callable[[], float | None]]) -> Callable[[], float | None]:
    """The largest of some shares of time; None while none is known."""
    kept = tuple(ratios)

    def busiest() -> float | None:
        known = [ratio for ratio in [look() for look in kept] if ratio is not None]
        return max(known, default=None)

    return busiest
