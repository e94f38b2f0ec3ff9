"""Space is counted on the file system where each path of a server lies, and what lacks space is said with the cure."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from plimsoll.errors import HostError
from plimsoll.plan.build import recordings_bytes
from plimsoll.plan.disk import disk_bytes, disk_parts
from plimsoll.run import server_faults
from plimsoll.run.preflight import refuse_before_start
from plimsoll.run.server_faults import missing_space
from plimsoll.spec.study import StudySpec, parse_study

GIB = 2**30
STUDY = """
[study]
name = "s"
levels = { connections = [1] }
duration = "60s"
warm_up = "1s"
reset = "per_trial"
[[workload]]
name = "ro"
kind = "oltp_read_only"
table_size = 1000
"""
SYSTEM = """
[[system]]
name = "NAME"
server = { managed = "mariadb", options = { innodb_log_file_size = "1G" }, MORE }
"""


def study(*more: str) -> StudySpec:
    systems = (SYSTEM.replace("NAME", str(number)).replace("MORE", keys) for number, keys in enumerate(more))
    return parse_study(STUDY + "".join(systems))


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, int]:
    """Free space by the name of a folder below `tmp_path`, each a file system of its own; the usual for all others."""
    sizes: dict[str, int] = {}
    devices = {name: number for number, name in enumerate(("data", "redo", "binlog", "undo", "tmp", "kept"))}

    def place(path: Path) -> str:
        return path.relative_to(tmp_path).parts[0] if path.is_relative_to(tmp_path) else "usual"

    class Folder:
        """A folder that may not exist."""

        def __init__(self, path: Path) -> None:
            self.path = path

        def __fspath__(self) -> str:
            return str(tmp_path)

        def stat(self) -> SimpleNamespace:
            return SimpleNamespace(st_dev=devices.get(place(self.path), 99))

    monkeypatch.setattr(server_faults, "nearest_existing", Folder)
    monkeypatch.setattr(
        server_faults.shutil, "disk_usage", lambda one: SimpleNamespace(free=sizes.get(place(one.path), 100 * GIB))
    )
    return sizes


ROLES = ("data", "redo", "binlog", "undo", "tmp")


def all_paths(tmp_path: Path) -> str:
    return ", ".join(f'{role}_dir = "{tmp_path / role}"' for role in ROLES) + f', keep_data = "{tmp_path / "kept"}"'


@pytest.mark.parametrize("role", [*ROLES, "kept"])
def test_each_path_counts_on_its_own_file_system(role: str, tmp_path: Path, free: dict[str, int]) -> None:
    spec = study(all_paths(tmp_path))
    key = "keep_data" if role == "kept" else f"{role}_dir"
    size = next(disk_part.size_bytes for disk_part in disk_parts(spec, spec.system[0]) if disk_part.key == key)
    free[role] = size
    assert list(missing_space(spec, tmp_path / "out", 1)) == []
    free[role] = size - 2**20
    (fault,) = missing_space(spec, tmp_path / "out", 1)
    assert fault.startswith(f"the file system of {tmp_path / role} lacks 1.00 MiB: about ")
    assert f"choose another folder for one of them ({key})" in fault


def test_the_redo_log_is_as_large_as_stated_with_its_copy(tmp_path: Path, free: dict[str, int]) -> None:
    free["redo"] = 2 * GIB - 1
    (fault,) = missing_space(study(f'redo_dir = "{tmp_path / "redo"}"'), tmp_path / "out", 1)
    assert "2.00 GiB of redo log" in fault
    never = study(f'redo_dir = "{tmp_path / "redo"}"')
    never = never.model_copy(update={"study": never.study.model_copy(update={"reset": "never"})})
    assert list(missing_space(never, tmp_path / "out", 1)) == []


def test_a_profile_takes_only_a_part_of_the_space_for_its_redo_log(tmp_path: Path, free: dict[str, int]) -> None:
    """So it does not ask for more than there is: a tenth, and its copy."""
    text = STUDY + SYSTEM.replace("NAME", "a").replace('options = { innodb_log_file_size = "1G" }, MORE', "MORE")
    spec = parse_study(text.replace("MORE", f'buffer_pool = "8G", redo_dir = "{tmp_path / "redo"}"'))
    free["redo"] = 2 * GIB
    assert list(missing_space(spec, tmp_path / "out", 1)) == []


def test_all_that_lies_on_one_file_system_is_summed(tmp_path: Path, free: dict[str, int]) -> None:
    """Each system fits alone, and both do not."""
    first, second, out = (tmp_path / "data" / name for name in ("a", "b", "out"))
    spec = study(f'data_dir = "{first}"', f'data_dir = "{second}"')
    free["data"] = 2 * disk_bytes(spec, spec.system[0]) + recordings_bytes(spec, 10)
    refuse_before_start(spec, out, 10)
    free["data"] -= 1
    with pytest.raises(HostError) as caught:
        refuse_before_start(spec, out, 10)
    (line,) = str(caught.value).splitlines()
    for told in (f"data in {first}", f"redo log in {second}", f"recordings in {out}", "free space, or"):
        assert told in line


def test_servers_that_run_already_need_no_space_here(tmp_path: Path, free: dict[str, int]) -> None:
    spec = parse_study(STUDY + '[[system]]\nname = "a"\ntarget = "mysql://u@h/d"\nreset = "never"\n')
    free["usual"] = 0
    assert len(list(missing_space(spec, Path("/out"), 1))) == 1, "recordings only"
