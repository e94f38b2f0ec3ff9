"""From what the user wrote to a system: one that Plimsoll starts, a running server, or one with hooks around it."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.hosts.host import Host
from plimsoll.hosts.local import HERE
from plimsoll.run.hooked_target import HookedTarget
from plimsoll.run.hooks import SystemHooks
from plimsoll.run.keeper import DataKeeper
from plimsoll.run.machines import Machines
from plimsoll.run.role_targets import role_targets
from plimsoll.run.systems import ManagedSystem, System
from plimsoll.run.target_system import TargetSystem
from plimsoll.spec.system import SystemSpec


def open_system(
    spec: SystemSpec,
    keeper: DataKeeper,
    machines: Machines,
    *,
    resets: bool,
    together_count: int = 1,
    client_cpus: Sequence[int] = (),
    host: Host = HERE,
    hooks: SystemHooks | None = None,
    resets_by_hook: bool = False,
) -> System:
    """The system that a study file describes; nothing is started yet.

    Args:
        spec: What the user wrote.
        keeper: Keeps the rows that all workloads of the study use.
        machines: Says what managed servers are sized to.
        resets: Whether data will be put back, so that a pristine copy is worth its space.
        together_count: How many systems of as many servers run on this machine at the same time, and share its memory.
        client_cpus: CPUs of the load generator; those that are chosen for servers are others, as far as there are any.
        host: Where its servers run, or are started.
        hooks: Of a target.
        resets_by_hook: Whether the hook `reset` puts its data back.

    Raises:
        SpecError, HostError: A password or a server command is missing.
    """
    if spec.server is not None:
        return ManagedSystem(
            spec,
            spec.server,
            keeper,
            machines,
            resets=resets,
            together_count=together_count,
            client_cpus=client_cpus,
            host=host,
        )
    target, *_ = role_targets(spec)
    system = TargetSystem(spec, target, keeper, host)
    if hooks is None or not hooks.spec.written:
        return system
    hooks.masked = (target.password.get_secret_value(),)
    return HookedTarget(system, hooks, keeper, resets=resets_by_hook)
