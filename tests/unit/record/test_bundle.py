"""Bundles on their way: the same files are the same bytes, and of one that was tampered with nothing is unpacked."""

from __future__ import annotations

import hashlib
import io
import json
import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.errors import HostError, NewerFormatError, RecordError, SpecError
from plimsoll.record import bundle as bundles
from plimsoll.record.bundle import BUNDLE_FORMAT, MANIFEST, Manifest, unpack_bundle, write_bundle
from plimsoll.record.document import FileMark

FILES = {"study.toml": b"[study]\n" * 40, "recordings/t1/trial.json": b"{}", "recordings/t1/intervals.parquet": b"PAR1"}
NAMED = Manifest(plimsoll_version="0.1.0", study="s", files={})


def write(folder: Path, files: dict[str, bytes] = FILES, **options: Any) -> Path:
    members = {}
    for name, content in files.items():
        members[name] = folder / "source" / name
        members[name].parent.mkdir(parents=True, exist_ok=True)
        members[name].write_bytes(content)
    write_bundle(folder / "s.zip", NAMED, members, **options)
    return folder / "s.zip"


def unpacked(bundle: Path, to: Path) -> dict[str, bytes]:
    unpack_bundle(bundle, to, lambda name, mark: True)
    return {path.relative_to(to).as_posix(): path.read_bytes() for path in to.rglob("*") if path.is_file()}


def manifest_of(files: dict[str, bytes], **changes: Any) -> bytes:
    marks = {name: {"size_bytes": len(c), "sha256": hashlib.sha256(c).hexdigest()} for name, c in files.items()}
    fields = {"bundle_format": BUNDLE_FORMAT, "plimsoll_version": "0.1.0", "study": "s", "files": marks}
    return json.dumps({**fields, **changes}).encode()


def archive(files: dict[str, bytes], manifest: bytes | None = None, *more: tuple[zipfile.ZipInfo, bytes]) -> bytes:
    """An archive as anybody makes one."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(name, content)
        for info, content in more:
            made.writestr(info, content)
        if manifest != b"":
            made.writestr(MANIFEST, manifest_of(files) if manifest is None else manifest)
    return file.getvalue()


def of_kind(name: str, kind: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = (kind | 0o777) << 16
    return info


def with_name(name: str) -> bytes:
    return archive({name: b"x"})


def with_bytes(content: bytes, old: bytes, new: bytes, count: int = -1) -> bytes:
    assert old in content
    assert len(old) == len(new)
    return content.replace(old, new, count)


def bomb() -> bytes:
    """A hundred megabytes of zeros in a hundred kilobytes."""
    return archive({"study.toml": bytes(100 * 2**20)})


def overlapping() -> bytes:
    """Two entries of the list that are one file."""
    content = archive({"a.toml": b"x" * 1000, "b.toml": b"x" * 1000})
    with zipfile.ZipFile(io.BytesIO(content)) as read:
        first, second = (read.getinfo(name).header_offset for name in ("a.toml", "b.toml"))
    at = content.index(b"b.toml", content.index(b"PK\x01\x02")) - 4
    assert content[at : at + 4] == struct.pack("<L", second)
    return content[:at] + struct.pack("<L", first) + content[at + 4 :]


def duplicate() -> bytes:
    content = archive({"aa.toml": b"x", "ab.toml": b"y"})
    return content.replace(b"ab.toml", b"aa.toml")


def with_directory_of(size_bytes: int) -> bytes:
    """An end that states a list of files of that length."""
    return archive(FILES)[:-10] + struct.pack("<LLH", size_bytes, 0, 0)


def by_bzip2() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_BZIP2) as made:
        made.writestr("study.toml", b"x" * 100)
        made.writestr(MANIFEST, manifest_of({"study.toml": b"x" * 100}))
    return file.getvalue()


def encrypted() -> bytes:
    content = bytearray(archive({"study.toml": b"x"}))
    content[content.index(b"PK\x01\x02") + 8] |= 1
    return bytes(content)


HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "above": (lambda: with_name("../study.toml"), "leads elsewhere"),
    "above, further in": (lambda: with_name("recordings/../../study.toml"), "leads elsewhere"),
    "absolute": (lambda: with_name("/tmp/study.toml"), "leads elsewhere"),
    "of a drive": (lambda: with_name("C:/study.toml"), "leads elsewhere"),
    "backslash": (lambda: with_name("a\\study.toml"), "leads elsewhere"),
    "control character": (lambda: with_name("a\x1b[2Jb"), "leads elsewhere"),
    "deep": (lambda: with_name("a/b/c/d/e"), "leads elsewhere"),
    "long": (lambda: with_name("a" * 300), "leads elsewhere"),
    "folder": (lambda: archive({}, manifest_of({}), (of_kind("a/", stat.S_IFDIR), b"")), "leads elsewhere"),
    "link": (lambda: archive({}, manifest_of({"a": b"/etc"}), (of_kind("a", stat.S_IFLNK), b"/etc")), "is a link"),
    "pipe": (lambda: archive({}, manifest_of({"a": b""}), (of_kind("a", stat.S_IFIFO), b"")), "is a link or no file"),
    "twice": (duplicate, "twice"),
    "twice where case is the same": (lambda: archive({"a.toml": b"", "A.toml": b""}), "twice"),
    "bomb": (bomb, "when unpacked"),
    "overlapping": (overlapping, "over another file"),
    "long list": (lambda: with_directory_of(2**31), "more than 250,000 files"),
    "list beyond the file": (lambda: with_directory_of(2**20), "damaged"),
    "bzip2": (by_bzip2, "method"),
    "encrypted": (encrypted, "encrypted"),
    "no manifest": (lambda: archive(FILES, b""), "no manifest.json"),
    "manifest that is no JSON": (lambda: archive(FILES, b"{"), "manifest.json in it is damaged"),
    "manifest of another kind": (lambda: archive(FILES, b"[]"), "manifest.json in it is damaged"),
    "manifest that nests": (lambda: archive(FILES, b"[" * 100_000), "manifest.json in it is damaged"),
    "unknown file": (lambda: archive(FILES, manifest_of({"study.toml": FILES["study.toml"]})), "no file of a bundle"),
    "missing file": (lambda: archive({"a": b""}, manifest_of({"a": b"", "b": b""})), "'b' is missing"),
    "other bytes": (lambda: archive({"a": b"x"}, manifest_of({"a": b"y"})), "not what was packed"),
    "other length": (lambda: archive({"a": b"x"}, manifest_of({"a": b"xy"})), "another length"),
    "file and folder": (lambda: archive({"a": b"x", "a/b": b"y"}), "below a file"),
    "empty": (lambda: b"", "cut short"),
    "no archive": (lambda: b"[study]\n" * 100, "cut short"),
    "behind it": (lambda: archive(FILES) + b"x", "cut short"),
    "cut": (lambda: archive(FILES)[:-30], "cut short"),
    "begins later": (lambda: archive(FILES)[40:], "damaged"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_of_a_hostile_bundle_nothing_is_unpacked(name: str, tmp_path: Path) -> None:
    make, reason = HOSTILE[name]
    (tmp_path / "b.zip").write_bytes(make())
    with pytest.raises((RecordError, HostError), match=reason):
        unpacked(tmp_path / "b.zip", tmp_path / "inner" / "to")
    assert [path.name for path in tmp_path.rglob("*") if path.name != "inner"] == ["b.zip"]


def test_what_is_packed_comes_out(tmp_path: Path) -> None:
    bundle = write(tmp_path, later={"study.toml"})
    assert unpacked(bundle, tmp_path / "to") == FILES
    newest = max((path for path in (tmp_path / "to").rglob("*") if path.is_file()), key=lambda at: at.stat().st_mtime)
    assert newest.name == "study.toml"


def test_an_archive_that_anybody_makes_is_a_bundle(tmp_path: Path) -> None:
    (tmp_path / "b.zip").write_bytes(archive(FILES))
    (tmp_path / "to").mkdir()
    assert unpacked(tmp_path / "b.zip", tmp_path / "to") == FILES


def test_the_same_files_make_the_same_bytes(tmp_path: Path) -> None:
    first = write(tmp_path / "a").read_bytes()
    again = write(tmp_path / "b", dict(reversed(FILES.items()))).read_bytes()
    assert first == again


def test_a_bundle_replaces_a_file_only_when_told_to_and_never_what_is_no_file(tmp_path: Path) -> None:
    bundle = write(tmp_path)
    with pytest.raises(SpecError, match="--force"):
        write(tmp_path)
    write(tmp_path, {"study.toml": b"x"}, force=True)
    assert unpacked(bundle, tmp_path / "to") == {"study.toml": b"x"}
    bundle.unlink()
    bundle.mkdir()
    with pytest.raises(SpecError, match="no file"):
        write(tmp_path, force=True)


def test_a_file_that_cannot_be_read_leaves_no_bundle(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="cannot be read"):
        write_bundle(tmp_path / "s.zip", NAMED, {"a": tmp_path})
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    bundle = write(tmp_path)
    (tmp_path / "to").mkdir()
    (tmp_path / "to" / "mine").touch()
    with pytest.raises(SpecError, match="exists already"):
        unpacked(bundle, tmp_path / "to")
    assert [path.name for path in (tmp_path / "to").iterdir()] == ["mine"]


def test_a_newer_format_is_refused_whatever_else_it_says(tmp_path: Path) -> None:
    (tmp_path / "b.zip").write_bytes(archive(FILES, manifest_of(FILES, bundle_format=BUNDLE_FORMAT + 1, x=1)))
    with pytest.raises(NewerFormatError, match="Upgrade"):
        unpacked(tmp_path / "b.zip", tmp_path / "to")
    assert not (tmp_path / "to").exists()


def test_only_files_of_a_study_come_in(tmp_path: Path) -> None:
    bundle, asked = write(tmp_path), dict[str, FileMark]()

    def is_member(name: str, mark: FileMark) -> bool:
        asked[name] = mark
        return name != "study.toml"

    with pytest.raises(RecordError, match=r"study\.toml', which is no file of a bundle"):
        unpack_bundle(bundle, tmp_path / "to", is_member)
    assert asked["recordings/t1/trial.json"].size_bytes == 2


def test_too_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = write(tmp_path)
    monkeypatch.setattr(bundles, "FILES_MAX", 3)
    with pytest.raises(RecordError, match="more than 3 files"):
        unpacked(bundle, tmp_path / "to")
    bundle.unlink()
    with pytest.raises(SpecError, match="a bundle holds at most 3"):
        write(tmp_path)
    assert not bundle.exists()


def test_a_large_archive_states_its_list_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As archives of more than 4 GiB do: the library's own limits are made small."""
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 100)
    bundle = write(tmp_path)
    content = bundle.read_bytes()
    assert content[-42:-38] == b"PK\x06\x07"
    assert unpacked(bundle, tmp_path / "to") == FILES
    bundle.write_bytes(content[:-58] + struct.pack("<Q", 2**40) + content[-50:])
    with pytest.raises(RecordError, match="more than 250,000 files"):
        unpacked(bundle, tmp_path / "other")


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_whatever_is_changed_on_the_way_is_noticed_or_changes_nothing(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    bundle = write(folder)
    content = bytearray(bundle.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    bundle.write_bytes(content)
    try:
        assert unpacked(bundle, folder / "to") == FILES
    except (RecordError, HostError):
        assert not (folder / "to").exists()
        assert sorted(path.name for path in folder.iterdir()) == ["s.zip", "source"]
