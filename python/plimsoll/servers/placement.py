"""What one managed server may use of this machine: resolved from the study file, set up, and tried beforehand.

Deliberately not here: control groups (`cgroups`), the process that joins them (`placing`), what is in effect
(`placement_facts`).
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plimsoll.errors import HostError
from plimsoll.servers import placing
from plimsoll.servers.cgroups import Group, hierarchies, make_groups, planned_groups
from plimsoll.servers.storage import storage_facts
from plimsoll.servers.topology import Topology, choose_cpus, divide_cpus
from plimsoll.spec.placement import Placement, Share, share_of

_TRY_LIMIT_S = 30.0
_TRIED = "check-"


@dataclass(frozen=True, slots=True, kw_only=True)
class InstancePlacement:
    """What one instance may use.

    Attributes:
        cpus: CPUs that it runs on; None for all.
        share: Its part of the limits.
        scheduling: Class and priority as the study file says them; None for the usual.
        nice: None for the usual.
    """

    cpus: tuple[int, ...] | None = None
    share: Share = field(default_factory=Share)
    scheduling: str | None = None
    nice: int | None = None

    def groups(self, name: str, data_dir: Path) -> tuple[Group, ...]:
        """The control groups that it needs.

        Args:
            name: Of the instance's directory.
            data_dir: A folder on the device that holds its data.

        Raises:
            HostError: This machine cannot set a limit; the message says what to do.
        """
        if self.cpus is None and self.share == Share():
            return ()
        device = device_number(data_dir) if self.share.io_limits else None
        return planned_groups(name, self.share, cpus=self.cpus, device=device, found=hierarchies())

    def how(self, groups: Sequence[Group]) -> dict[str, Any]:
        """What `placing.place_here` is told."""
        said = {"cpus": self.cpus, "nice": self.nice, "scheduling": self.scheduling}
        return {
            "groups": [str(group.path) for group in groups],
            **{key: value for key, value in said.items() if value is not None},
        }


def instance_placements(
    placement: Placement, count: int, topology: Topology, avoid: Sequence[int] = ()
) -> tuple[InstancePlacement, ...]:
    """What each of so many instances of a system may use.

    Args:
        placement: Of all of them together, without faults.
        count: How many.
        topology: This machine.
        avoid: CPUs of the load generator: they are chosen last.
    """
    cpus = placement.cpus
    if placement.cpu_count is not None:
        cpus = choose_cpus(placement.cpu_count, topology, avoid)
    parts = [None] * count if cpus is None else divide_cpus(cpus, count, topology)
    share = share_of(placement, count)
    return tuple(
        InstancePlacement(cpus=part, share=share, scheduling=placement.scheduling, nice=placement.nice)
        for part in parts
    )


def device_number(folder: Path, sys_folder: Path = Path("/sys")) -> str:
    """Number of the disk that holds a folder, `major:minor`: limits are set on whole disks, not on partitions.

    Raises:
        HostError: It lies on no block device.
    """
    facts = storage_facts(folder, sys=sys_folder)
    if facts.device is None:
        raise HostError(
            f"io_limits: {folder} is on {facts.file_system or 'a file system'} without a block device; choose"
            " a data_dir on a disk"
        )
    block = (sys_folder / "class/block" / facts.device).resolve()
    if (block / "partition").exists():
        block = block.parent
    return (block / "dev").read_text(encoding="ascii").strip()


def set_up(placement: InstancePlacement, directory: Path) -> dict[str, Any]:
    """Makes the control groups of an instance, and notes them in its directory before.

    Returns:
        What the guardian's child is told.

    Raises:
        HostError: This machine does not permit it; the message says what to do.
    """
    groups = placement.groups(directory.name, directory)
    if groups:
        placing.note_groups(directory, [str(group.path) for group in groups])
        make_groups(groups)
    return placement.how(groups)


def refused(placement: InstancePlacement, data_dir: Path) -> Iterator[str]:
    """Tries a placement with a process that does nothing; one line for each thing that is refused.

    Args:
        placement: What is to be tried.
        data_dir: An existing folder on the device that will hold the data.
    """
    name = f"{_TRIED}{os.getpid()}"
    try:
        groups = placement.groups(name, data_dir)
        _remove_left({group.path.parent for group in groups})
        make_groups(groups)
    except HostError as error:
        yield str(error)
        return
    try:
        ran = subprocess.run(
            [sys.executable, "-I", "-S", placing.__file__],
            input=json.dumps(placement.how(groups)).encode(),
            capture_output=True,
            timeout=_TRY_LIMIT_S,
            check=False,
        )
        for line in ran.stdout.decode().splitlines():
            yield _with_cure(json.loads(line))
    finally:
        for group in groups:
            placing.remove_group(group.path)


def refusals(placement: InstancePlacement, data_dir: Path) -> tuple[str, ...]:
    """All that `refused` gives."""
    return tuple(refused(placement, data_dir))


def _remove_left(folders: Iterable[Path]) -> None:
    """Removes groups that somebody tried and was killed before removing; they have the number of that process."""
    for left in (one for folder in folders for one in folder.glob(f"{_TRIED}*")):
        pid = left.name.removeprefix(_TRIED)
        if pid.isdigit() and not Path("/proc", pid).exists():
            with contextlib.suppress(OSError):
                left.rmdir()


def _with_cure(fault: str) -> str:
    key = fault.partition(":")[0]
    cures = {
        "scheduling": "run Plimsoll as root, give it CAP_SYS_NICE (container: --cap-add SYS_NICE) or raise ulimit -r",
        "nice": "run Plimsoll as root, give it CAP_SYS_NICE (container: --cap-add SYS_NICE) or raise ulimit -e",
        "cpus": "choose CPUs that this process may use",
    }
    return f"{fault}; {cures.get(key, 'run Plimsoll as root, or in a control group of its own')}"
