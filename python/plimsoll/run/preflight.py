"""What would fail half way is refused before anything starts."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from plimsoll.drive.engine import Driver
from plimsoll.drive.shared import SharedDriver
from plimsoll.errors import HostError, SpecError
from plimsoll.hosts.local import HERE
from plimsoll.plan.disk import data_bytes_most
from plimsoll.run.aged import unfit_kept_data
from plimsoll.run.connections import crowded_managed
from plimsoll.run.disk_space import missing_space
from plimsoll.run.elsewhere import unfit_hosts
from plimsoll.run.environments import is_switched_by_hook, there_from_the_start
from plimsoll.run.events import DataProgressed
from plimsoll.run.hosts import Hosts
from plimsoll.run.huge_page_limits import missing_huge_pages
from plimsoll.run.permitted import unpermitted
from plimsoll.run.role_targets import role_targets
from plimsoll.run.running_servers import unfit_targets
from plimsoll.run.same_device import refused_devices
from plimsoll.run.server_faults import server_faults
from plimsoll.run.storage import storages_faults
from plimsoll.run.target_system import exporters_of
from plimsoll.servers.buffer_pool import pool_bytes_of
from plimsoll.servers.control import check_files
from plimsoll.spec.hooks import all_hooks
from plimsoll.spec.origin import placed
from plimsoll.spec.secrets import with_secrets
from plimsoll.spec.study import StudySpec
from plimsoll.spec.system import SystemSpec
from plimsoll.spec.target import Target

DESCRIPTORS_BESIDE_CONNECTIONS = 64


def refuse_before_start(
    spec: StudySpec,
    folder: Path,
    trial_count: int,
    watch: Callable[[DataProgressed], None] = lambda _: None,
    *,
    hosts: Hosts | None = None,
    driver: Driver | None = None,
    hooks_folder: Path | None = None,
) -> None:
    """Looks for what a whole study needs, from passwords to disk space.

    Servers must answer, and let in as many connections as the highest level has; their tables must fit or be ours to
    make, and the account must be allowed to.

    Args:
        spec: What the user wrote.
        folder: Of the study.
        trial_count: How many trials will run.
        watch: Is told how far looking at tables is.
        hosts: Of the study; None for this machine only.
        driver: What will drive the load; None for one engine on this machine.
        hooks_folder: Where hooks run; the current folder when not given.

    Raises:
        SpecError: A password is not where the study says. It names everything else that is wrong too.
        HostError: Something else is missing; all of it at once, with the cures.
    """
    targets, missing = _targets(spec)
    faults = [
        *missing,
        *(unfit_hosts(spec, hosts, there_from_the_start(spec)) if hosts is not None else ()),
        *(driver.faults() if isinstance(driver, SharedDriver) else ()),
        *_unfit_servers(spec),
        *_missing_hooks(spec, hooks_folder or Path.cwd()),
        *missing_space(spec, folder, trial_count),
        *_missing_descriptors(spec),
        *storages_faults(spec.storage),
        *crowded_managed(spec),
        *refused_devices(spec),
        *missing_huge_pages(spec),
        *_small_pools(spec),
        *unfit_kept_data(spec),
        *unpermitted(spec),
        *unfit_targets(spec, [(system, target) for system, target in targets if runs_already(spec, system)], watch),
    ]
    if faults:
        placed_faults = placed(faults, [system.origin for system in spec.system])
        raise SpecError(*placed_faults) if missing else HostError("\n".join(placed_faults))


def _targets(spec: StudySpec) -> tuple[list[tuple[SystemSpec, Target]], list[str]]:
    """Every running server of the study, with its password; and a line for each that the file says wrongly."""
    targets, faults = [], []
    for index, system in enumerate(spec.system):
        if system.server is not None:
            continue
        try:
            target = with_secrets(
                system.parsed_target(), password_env=system.password_env, defaults_file=system.defaults_file
            )
            exporters_of(system)
            for one in role_targets(system):
                check_files(one)
            targets.append((system, target))
        except SpecError as error:
            faults += [f"system[{index}].{fault}" for fault in error.faults]
    return targets, faults


def runs_already(spec: StudySpec, system: SystemSpec) -> bool:
    """Whether a target can be looked at before the study begins: no hook starts it, or its environment."""
    is_started = system.hooks is not None and system.hooks.start is not None
    return not is_started and not is_switched_by_hook(spec)


def _missing_hooks(spec: StudySpec, folder: Path) -> Iterable[str]:
    """Commands of hooks that cannot be executed; a path is one from the folder of the study file."""
    for place, hook in all_hooks(spec):
        program = hook.command[0]
        if shutil.which(str(folder / program) if "/" in program else program) is None:
            where = f"in {folder}" if "/" in program else "on PATH"
            yield f"{place}: {program} is no program that can be executed {where}; check its name and rights (chmod +x)"


def _unfit_servers(spec: StudySpec) -> Iterable[str]:
    """What would keep servers on this machine from being made or started."""
    for index, system in enumerate(spec.system):
        if (server := system.server_here) is not None:
            yield from (f"system[{index}].server.{fault}" for fault in server_faults(system.name, server, HERE))


def _small_pools(spec: StudySpec) -> Iterable[str]:
    """Shares of tables that make no buffer pool that a server has, however large these turn out to be."""
    for index, system in enumerate(spec.system):
        if (server := system.server) is None or server.pool_ratio is None:
            continue
        if (most := data_bytes_most(spec, server.instances)) is not None:
            try:
                pool_bytes_of(most, server.pool_ratio, "at most")
            except HostError as error:
                yield f"system[{index}].server.{error}"


def _missing_descriptors(spec: StudySpec) -> Iterable[str]:
    """The engine needs one file descriptor for each connection; it may raise the soft limit up to the hard one."""
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = spec.sessions_max + DESCRIPTORS_BESIDE_CONNECTIONS
    if hard not in {resource.RLIM_INFINITY} and wanted > hard:
        yield f"study.levels.connections: {wanted} open files are needed, {hard} are allowed; raise ulimit -n"
