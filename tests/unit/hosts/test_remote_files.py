"""The lock by which a study holds a host has a name that everybody can guess: only a file of our own is written to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plimsoll.errors import HostError
from plimsoll.hosts import remote_functions

UID = os.geteuid()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The lock, in a folder of the test's own."""
    place = tmp_path / "plimsoll-host.lock"
    own_file = remote_functions._own_file
    monkeypatch.setattr(remote_functions, "_own_file", lambda _: own_file(place))
    monkeypatch.setattr(remote_functions, "_held", [])
    return place


def test_a_host_is_held_by_one_study(place: Path) -> None:
    remote_functions.hold("from here, process 1")
    assert place.read_text() == "from here, process 1"
    assert place.stat().st_mode & 0o777 == 0o600
    with pytest.raises(HostError, match=r"another study uses this host \(from here, process 1\); wait"):
        remote_functions.hold("from there")
    assert place.read_text() == "from here, process 1"


def test_what_an_earlier_study_left_is_taken(place: Path) -> None:
    remote_functions.hold("from a machine with a long name")
    os.close(remote_functions._held.pop())
    remote_functions.hold("from here")
    assert place.read_text() == "from here"


def test_what_holds_it_is_shown_without_control_characters(place: Path) -> None:
    remote_functions.hold("\x1b[2Jme")
    with pytest.raises(HostError, match=r"\(\\x1b\[2Jme\)"):
        remote_functions.hold("from there")


def test_nothing_is_written_to_what_is_not_a_file_of_this_user_alone(place: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("rows")
    precious.chmod(0o600)

    def refused(match: str) -> None:
        with pytest.raises(HostError, match=match):
            remote_functions.hold("x")
        assert precious.read_text() == "rows"
        place.unlink()

    place.symlink_to(precious)
    refused("cannot be opened: .*; see what it is, and remove it: ls -l ")
    place.hardlink_to(precious)
    refused("another name of a file")
    os.mkfifo(place, 0o600)
    refused("is no file")
    place.write_text("theirs")
    place.chmod(0o666)
    refused("may be written by others \\(mode 0666\\)")
    if UID == 0:
        place.write_text("theirs")
        os.chown(place, 12345, 12345)
        with pytest.raises(HostError, match="belongs to another user \\(uid 12345\\)"):
            remote_functions.hold("x")
        assert place.read_text() == "theirs"
