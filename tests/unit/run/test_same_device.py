"""Paths that a study tells apart and that share a device: told, or refused where that was asked for."""

from __future__ import annotations

from pathlib import Path

from plimsoll.run.server_faults import refused_devices, shared_devices
from plimsoll.spec.study import StudySpec, parse_study

HEAD = """
[study]
name = "x"
levels = { connections = [1] }
[[workload]]
name = "w"
kind = "oltp_read_only"
"""


def study(*servers: str) -> StudySpec:
    systems = (
        f'[[system]]\nname = "{number}"\nserver = {{ managed = "mariadb", {server} }}\n'
        for number, server in enumerate(servers)
    )
    return parse_study(HEAD + "".join(systems))


def disks(folder: Path) -> frozenset[str]:
    """A made-up machine: of /proc/a/b the disk is `a`; folders that do not exist yet are on `/`."""
    return frozenset({folder.parts[2]} if len(folder.parts) > 2 else {"vda"})


def test_one_device_is_told_and_refused_on_demand() -> None:
    paths = 'data_dir = "/proc/sys/kernel", redo_dir = "/proc/sys/vm", undo_dir = "/proc/net/stat"'
    told = shared_devices(study(paths), disks)
    assert [(one.device, one.paths) for one in told] == [
        ("sys", ("data_dir /proc/sys/kernel", "redo_dir /proc/sys/vm"))
    ]
    assert list(refused_devices(study(paths), disks)) == []
    (fault,) = refused_devices(study(f"{paths}, distinct_devices = true"), disks)
    assert str(fault).startswith(
        "system[0].server.distinct_devices: data_dir /proc/sys/kernel and redo_dir /proc/sys/vm are both on sys; put"
    )


def test_devices_of_their_own_are_fine() -> None:
    paths = 'data_dir = "/proc/sys/kernel", redo_dir = "/proc/net/stat", distinct_devices = true'
    assert shared_devices(study(paths), disks) == ()
    assert list(refused_devices(study(paths), disks)) == []


def test_data_of_systems_that_are_compared() -> None:
    same = study('data_dir = "/proc/sys/kernel"', 'data_dir = "/proc/sys/vm"')
    assert [shared_device.paths for shared_device in shared_devices(same, disks)] == [
        ("data_dir /proc/sys/kernel", "data_dir /proc/sys/vm")
    ]
    assert shared_devices(study('data_dir = "/proc/sys/vm"', 'data_dir = "/proc/sys/vm"'), disks) == ()
    assert shared_devices(study('tmp_dir = "/proc/sys/vm", data_dir = "/proc/sys/kernel"'), disks) == ()
