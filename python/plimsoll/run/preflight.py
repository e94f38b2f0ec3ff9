"""What would fail half way is refused before anything starts."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

from plimsoll.errors import HostError, SpecError
from plimsoll.plan.build import disk_bytes, recordings_bytes
from plimsoll.run.connections import crowded_managed, unready_targets
from plimsoll.run.events import DataProgressed
from plimsoll.run.running_servers import unfit_targets
from plimsoll.servers.command import find_server
from plimsoll.servers.directory import default_base_dir, nearest_existing
from plimsoll.spec.secrets import with_secrets
from plimsoll.spec.study import StudySpec
from plimsoll.spec.system import SystemSpec
from plimsoll.spec.target import Target
from plimsoll.units import format_bytes

DESCRIPTORS_BESIDE_CONNECTIONS = 64


def refuse_before_start(
    spec: StudySpec, folder: Path, trial_count: int, watch: Callable[[DataProgressed], None] = lambda _: None
) -> None:
    """Looks for what a whole study needs, from passwords to disk space.

    Servers must answer, and let in as many connections as the highest level has; their tables must fit or be ours to
    make, and the account must be allowed to.

    Args:
        spec: What the user wrote.
        folder: Of the study.
        trial_count: How many trials will run.
        watch: Is told how far looking at tables is.

    Raises:
        SpecError: A password is not where the study says; all of them at once.
        HostError: Something else is missing; all of it at once, with the cures.
    """
    targets = _targets(spec)
    faults = [
        *_missing_commands(spec),
        *_missing_space(spec, folder, trial_count),
        *_missing_descriptors(spec),
        *crowded_managed(spec),
        *unready_targets(spec, [target for _, target in targets]),
    ]
    faults = faults or list(unfit_targets(spec, targets, watch))
    if faults:
        raise HostError("\n".join(faults))


def _targets(spec: StudySpec) -> list[tuple[SystemSpec, Target]]:
    """Every running server of the study, with its password."""
    targets, faults = [], []
    for index, system in enumerate(spec.system):
        if system.target is None:
            continue
        try:
            target = with_secrets(
                system.parsed_target(), password_env=system.password_env, defaults_file=system.defaults_file
            )
            targets.append((system, target))
        except SpecError as error:
            faults += [f"system[{index}].{fault}" for fault in error.faults]
    if faults:
        raise SpecError(*faults)
    return targets


def _missing_commands(spec: StudySpec) -> Iterable[str]:
    wanted = {(system.server.managed, system.server.command) for system in spec.system if system.server}
    for managed, command in sorted(wanted, key=str):
        try:
            found = find_server(command or managed)
        except HostError as error:
            yield str(error)
            continue
        if found.flavour.name != managed:
            yield (
                f'system.server.managed: says "{managed}", but the command {" ".join(command or ())} is a'
                f' {found.flavour.name} ({found.version_text}); write managed = "{found.flavour.name}"'
            )


def _missing_space(spec: StudySpec, folder: Path, trial_count: int) -> Iterable[str]:
    """Each file system must hold everything that comes to lie on it: data of servers, its copies, recordings."""
    wanted = [(folder, recordings_bytes(spec, trial_count))]
    for system in spec.system:
        if system.server is not None:
            place = Path(system.server.data_dir) if system.server.data_dir else default_base_dir()
            wanted.append((place, disk_bytes(spec, system)))
    for places in _by_file_system(wanted):
        size, free = sum(places.values()), shutil.disk_usage(nearest_existing(next(iter(places)))).free
        if size > free:
            told = ", ".join(f"{format_bytes(of_one)} for {place}" for place, of_one in places.items())
            yield (
                f"about {format_bytes(size)} are needed on one file system and {format_bytes(free)} are free: {told};"
                " free space, name another data_dir, or make table_size smaller"
            )


def _by_file_system(wanted: Iterable[tuple[Path, int]]) -> Iterable[dict[Path, int]]:
    """Space by place, those of one file system together, bytes."""
    found: dict[int, dict[Path, int]] = defaultdict(lambda: defaultdict(int))
    for place, size in wanted:
        found[nearest_existing(place).stat().st_dev][place] += size
    return found.values()


def _missing_descriptors(spec: StudySpec) -> Iterable[str]:
    """The engine needs one file descriptor for each connection; it may raise the soft limit up to the hard one."""
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = spec.sessions_max + DESCRIPTORS_BESIDE_CONNECTIONS
    if hard not in {resource.RLIM_INFINITY} and wanted > hard:
        yield f"study.levels.connections: {wanted} open files are needed and {hard} allowed; raise ulimit -n"
