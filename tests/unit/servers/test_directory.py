"""Directories of instances: made, refused, removed, swept."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.errors import HostError, SpecError
from plimsoll.servers import directory as directory_module
from plimsoll.servers import marked_directory
from plimsoll.servers.directory import InstanceDirectory, default_base_dir
from plimsoll.servers.left_processes import INSTANCE_VARIABLE, end_processes, is_process_of
from plimsoll.servers.marked_directory import LOCK, MARKER, read_marker, remove_directory
from plimsoll.servers.sweep import sweep
from support.servers import missing


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[InstanceDirectory]:
    made = InstanceDirectory.create(tmp_path / "base", "The Durable One!", allow_tmpfs=True)
    yield made
    made.close_lock()


def test_made_for_this_user_only(instance: InstanceDirectory) -> None:
    assert instance.path.name.startswith("the-durable-one-")
    assert instance.path.stat().st_mode & 0o777 == 0o700
    assert instance.path.parent.stat().st_mode & 0o777 == 0o700
    assert read_marker(instance.path) == {
        "made_by": "plimsoll",
        "format": 1,
        "name": "The Durable One!",
        "throwaway": True,
    }


def test_default_base(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLIMSOLL_DATA_DIR", raising=False)
    assert default_base_dir() == Path(f"/var/tmp/plimsoll-{os.geteuid()}")
    monkeypatch.setenv("PLIMSOLL_DATA_DIR", "/mnt/x")
    assert default_base_dir() == Path("/mnt/x")


def test_memory_is_refused_unless_told() -> None:
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("no /dev/shm here")
    base = Path(tempfile.mkdtemp(dir="/dev/shm"))
    with pytest.raises(HostError, match="is on tmpfs, which is in memory"):
        InstanceDirectory.create(base, "x")
    InstanceDirectory.create(base, "x", allow_tmpfs=True).remove()
    base.rmdir()


def test_another_servers_data_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ibdata1").touch()
    with pytest.raises(HostError, match="is the data directory of another server"):
        InstanceDirectory.create(tmp_path, "x", allow_tmpfs=True)


def test_a_path_too_long_for_a_socket_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="bytes too long for the path of a socket"):
        InstanceDirectory.create(tmp_path / ("d" * 90), "x", allow_tmpfs=True)


def test_places_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for base in (tmp_path / "file", tmp_path / "file/below"):
        with pytest.raises(HostError, match=r"data_dir: .* choose another"):
            InstanceDirectory.create(base, "x", allow_tmpfs=True)


def test_our_name_made_by_somebody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = tmp_path / "plimsoll-1"
    base.mkdir()
    monkeypatch.setattr(directory_module.os, "geteuid", lambda: 4321)
    with pytest.raises(HostError, match="belongs to another user"):
        InstanceDirectory.create(base, "x", allow_tmpfs=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="SKIPPED: only root may give a link away")
def test_a_link_that_somebody_else_made_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    base = tmp_path / "plimsoll-1"
    base.symlink_to("theirs")
    os.lchown(base, 4321, 4321)
    with pytest.raises(HostError, match="is a link of another user"):
        InstanceDirectory.create(base, "x", allow_tmpfs=True)
    assert list((tmp_path / "theirs").iterdir()) == []


def test_removal_follows_no_link_and_takes_nothing_else(instance: InstanceDirectory, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").touch()
    (instance.data / "link").symlink_to(outside)
    (instance.path / "link").symlink_to(outside)
    neighbour = instance.path.parent / "neighbour"
    neighbour.touch()
    instance.remove()
    instance.remove()
    assert not instance.path.exists()
    assert (outside / "precious").exists()
    assert neighbour.exists()


def test_a_directory_without_marker_or_behind_a_link_is_left_alone(instance: InstanceDirectory, tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    link = tmp_path / "link"
    link.symlink_to(instance.path)
    for path in (foreign, link, tmp_path / "absent"):
        with pytest.raises(OSError, match="not touched"):
            remove_directory(path)
    assert instance.data.exists()


def test_the_marker_goes_last(instance: InstanceDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A removal that is interrupted leaves a directory that the next sweep still knows."""
    monkeypatch.setattr("shutil.rmtree", lambda *_: (_ for _ in ()).throw(OSError("interrupted")))
    with pytest.raises(HostError, match="cannot be removed: interrupted"):
        instance.remove()
    assert read_marker(instance.path) is not None


def test_what_is_written_during_the_removal_is_removed_too(
    instance: InstanceDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that was just killed may still write. Without its marker nobody would ever remove the rest."""
    remove_content, turns = marked_directory._remove_content, iter((True, False))

    def with_a_late_writer(directory: Path) -> None:
        remove_content(directory)
        if next(turns):
            (directory / "late").touch()

    monkeypatch.setattr(marked_directory, "_remove_content", with_a_late_writer)
    remove_directory(instance.path)
    assert not instance.path.exists()


def test_what_cannot_be_removed_keeps_its_marker(instance: InstanceDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marked_directory, "_remove_content", lambda directory: (directory / "late").touch())
    monkeypatch.setattr("time.sleep", lambda _: None)
    with pytest.raises(OSError, match="not empty"):
        remove_directory(instance.path)
    assert read_marker(instance.path) is not None


def test_two_may_remove_it_at_once(instance: InstanceDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    remove_content = marked_directory._remove_content

    def with_another(directory: Path) -> None:
        monkeypatch.setattr(marked_directory, "_remove_content", remove_content)
        remove_directory(directory)
        remove_content(directory)

    monkeypatch.setattr(marked_directory, "_remove_content", with_another)
    remove_directory(instance.path)
    assert not instance.path.exists()


def test_sweep_takes_what_was_interrupted_before_it_had_a_marker(tmp_path: Path) -> None:
    def unmarked(name: str, *entries: str, age_s: float = 3600) -> Path:
        path = tmp_path / name
        path.mkdir()
        for entry in entries:
            (path / entry).touch() if entry in {LOCK, "x"} else (path / entry).mkdir()
        os.utime(path, (time.time() - age_s,) * 2)
        return path

    gone = (unmarked("a-000001"), unmarked("b-000002", LOCK), unmarked("c-000003", LOCK, "data", "tmp"))
    stays = (
        unmarked("d-000004", age_s=5),
        unmarked("e-000005", LOCK, "data", "x"),
        unmarked("f-000006", "others"),
        unmarked("other-name"),
    )
    full = unmarked("g-000007", LOCK)
    (full / "data").mkdir()
    (full / "data" / "ibdata1").touch()
    os.utime(full, (0, 0))
    assert sweep(tmp_path) == gone
    for path in (*stays, full / "data" / "ibdata1"):
        assert path.exists()


def test_sweep_takes_stale_ones_only(tmp_path: Path) -> None:
    base = tmp_path / "base"
    living, stale, kept = (
        InstanceDirectory.create(base, name, allow_tmpfs=True, throwaway=name != "kept")
        for name in ("living", "stale", "kept")
    )
    stale.close_lock()
    kept.close_lock()
    (base / "foreign").mkdir()
    (base / "foreign/data").touch()
    (base / "link").symlink_to(living.path)
    assert sweep(base) == (stale.path,)
    assert living.path.exists()
    assert kept.path.exists()
    assert (base / "foreign/data").exists()
    assert sweep(base) == ()
    assert sweep(tmp_path / "absent") == ()
    living.close_lock()
    assert sweep(base) == (living.path,)


def test_sweep_leaves_other_users_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = InstanceDirectory.create(tmp_path, "x", allow_tmpfs=True)
    made.close_lock()
    monkeypatch.setattr("plimsoll.servers.marked_directory.os.geteuid", lambda: 4321)
    assert sweep(tmp_path) == ()
    assert made.path.exists()


SLEEPER = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); time.sleep(60)"


def sleeper(place: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """As a guardian of that directory starts a program; it ignores SIGTERM."""
    words, env = [sys.executable, "-c", SLEEPER, *arguments], {**os.environ, INSTANCE_VARIABLE: str(place)}
    process = subprocess.Popen(words, stdout=subprocess.PIPE, env=env)
    assert process.stdout is not None
    process.stdout.readline()
    return process


@pytest.mark.parametrize("grace_s", [0.0, 0.1])
def test_left_processes_are_ended_even_when_they_ignore_sigterm(instance: InstanceDirectory, grace_s: float) -> None:
    with sleeper(instance.path) as one, sleeper(instance.path) as stopped:
        os.kill(stopped.pid, signal.SIGSTOP)
        assert end_processes(instance.path, grace_s=grace_s)
        assert (one.wait(10), stopped.wait(10)) == (-9, -9)
    assert not end_processes(instance.path)


def test_processes_of_another_instance_are_left_alone(instance: InstanceDirectory) -> None:
    """Also one of this user's that names our files."""
    other = instance.path.with_name(f"{instance.path.name}0")
    with sleeper(other, f"--defaults-file={instance.option_file}") as process:
        assert not end_processes(instance.path)
        assert is_process_of(other, Path(f"/proc/{process.pid}"))
        process.kill()


def test_no_directory_is_removed_with_a_process_of_it_alive(instance: InstanceDirectory) -> None:
    with sleeper(instance.path) as process:
        instance.remove()
        assert process.wait(10) == -9
    assert not instance.path.exists()


def test_a_program_with_file_capabilities_is_found_by_its_arguments(instance: InstanceDirectory) -> None:
    """The kernel hides its environment from its own user, who may still end it. Nothing reads it in vain as root."""
    if os.geteuid() != 0:
        missing("giving a program capabilities, and becoming an ordinary user, needs root")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)
        program = Path(shutil.copy("/bin/sh", f"{folder}/server"))
        can_net_raw = struct.pack(
            "<5I", 0x02000001, 1 << 13, 0, 0, 0
        )  # VFS_CAP_REVISION_2, effective: see capability.h
        os.setxattr(program, "security.capability", can_net_raw)
        words = [str(program), "-c", "echo; read line", f"--defaults-file={instance.option_file}"]
        pipe = subprocess.PIPE
        with subprocess.Popen(words, stdin=pipe, stdout=pipe, user="nobody", cwd="/", env={}) as process:
            assert process.stdout is not None
            process.stdout.readline()
            if (finder := os.fork()) == 0:
                os._exit(1 if ended_by_its_user(process.pid, instance.path) else 2)
            assert os.waitstatus_to_exitcode(os.waitpid(finder, 0)[1]) == 1
            assert process.wait(10) == -signal.SIGKILL


def ended_by_its_user(pid: int, place: Path) -> bool:
    """In a process that becomes that user: whether only the right instance's search finds and ends it."""
    os.setresuid(*[pwd.getpwnam("nobody").pw_uid] * 3)
    try:
        Path(f"/proc/{pid}/environ").read_bytes()
    except PermissionError:
        return not is_process_of(place.parent, Path(f"/proc/{pid}")) and end_processes(place)
    return False


def test_a_base_where_others_may_exchange_what_is_in_it_is_refused(tmp_path: Path) -> None:
    shared, link = tmp_path / "shared", tmp_path / "link"
    shared.mkdir()
    link.symlink_to(shared)
    shared.chmod(0o777)
    for base in (shared, link):
        with pytest.raises(HostError, match=r"shared,? ?(which)? may be written by others \(mode 0777\)"):
            InstanceDirectory.create(base, "x", allow_tmpfs=True)
    shared.chmod(0o1777)
    with pytest.raises(HostError, match=r"link leads to .*/shared, which may be written by others \(mode 1777\)"):
        InstanceDirectory.create(link, "x", allow_tmpfs=True)
    InstanceDirectory.create(shared, "x", allow_tmpfs=True).remove()
    shared.chmod(0o755)
    InstanceDirectory.create(link, "x", allow_tmpfs=True).remove()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"made_by": "somebody"}', "null"])
def test_a_damaged_marker_is_none(instance: InstanceDirectory, text: str) -> None:
    (instance.path / MARKER).write_text(text)
    assert read_marker(instance.path) is None


def test_a_missing_lock_is_a_free_lock(instance: InstanceDirectory) -> None:
    instance.close_lock()
    (instance.path / LOCK).unlink()
    assert sweep(instance.path.parent) == (instance.path,)
