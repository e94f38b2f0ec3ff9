"""The drivers of a study: from their names to engines, and what environments and tables say of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from plimsoll.drive.engine import Driver, LocalDriver, TrialRun
from plimsoll.drive.launchers import Launcher, LocalLauncher
from plimsoll.drive.ray_cluster.cluster import RayCluster, RayLauncher
from plimsoll.drive.shared import DriverPlace, SharedDriver
from plimsoll.hosts.engines import SshLauncher
from plimsoll.record.drivers import DriverRecord
from plimsoll.record.environment import Environment
from plimsoll.run.environment import with_client_cpus
from plimsoll.spec.drivers import ONE_HERE, DriverSpec, driver_names


@contextmanager
def driver_of(drivers: Sequence[DriverSpec], cpus: Sequence[int] | None = None) -> Iterator[Driver]:
    """What runs the engines of trials. Machines are connected to when they are needed, until the context ends.

    Args:
        drivers: The machines that share the load.
        cpus: CPUs of the engines on this machine; None for all.

    Raises:
        HostError: There is no ssh here.
    """
    local = LocalDriver(cpus)
    if tuple(drivers) == ONE_HERE:
        yield local
        return
    with ExitStack() as stack:
        first, places, cluster = drivers[0], [], None
        if first.ray is not None:
            cluster = RayCluster(first.ray, len(drivers))
            stack.callback(cluster.close)
        for index, (name, one) in enumerate(zip(driver_names(drivers), drivers, strict=True)):
            launcher: Launcher = LocalLauncher(cpus)
            if cluster is not None:
                launcher = RayLauncher(cluster, index)
            elif one.ssh is not None:
                launcher = stack.enter_context(SshLauncher(one.ssh))
            places.append(DriverPlace(name, launcher))
        yield SharedDriver(places, local, cluster)


def to_be_driven(environment: Environment, drivers: Sequence[DriverSpec]) -> Environment:
    """The environment with the drivers that are to share the load, as far as they are known before they run."""
    if tuple(drivers) == ONE_HERE:
        return environment
    names = driver_names(drivers)
    records = [DriverRecord(name=name, is_here=one.is_here) for name, one in zip(names, drivers, strict=True)]
    return _with_drivers(environment, records)


def as_driven(environment: Environment, run: TrialRun) -> Environment:
    """The environment with what is known of the engines that run now."""
    if run.local_pid is not None:
        environment = with_client_cpus(environment, run.local_pid)
    return _with_drivers(environment, run.drivers)


def _with_drivers(environment: Environment, drivers: Sequence[DriverRecord]) -> Environment:
    """The environment with the drivers that shared the load, where there are any to be named.

    What this machine alone can drive at most says nothing about several, and a client elsewhere shares no machine
    with servers that run here.
    """
    if not drivers:
        return environment
    is_here = any(one.is_here for one in drivers)
    client = environment.client.model_copy(
        update={
            "drivers": tuple(one.place for one in drivers),
            "limit_tps": None,
            "on_server_host": environment.client.on_server_host and is_here,
        }
    )
    return environment.model_copy(update={"client": client})


def driven_from(run: TrialRun) -> str | None:
    """What the telemetry of this machine names as its driver; None for this machine, where an engine runs here."""
    return None if run.local_pid is not None else ", ".join(one.name for one in run.drivers)
