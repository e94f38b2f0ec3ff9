"""A bundle: the files of a study in one zip archive, with a manifest of their digests.

The same files make the same bytes: names are sorted, all times are those of 1980. A bundle that somebody sent is
hostile until it was unpacked. Names, kinds, counts and sizes are checked before a byte is unpacked, every byte is
counted and digested while it is, and the folder gets its name when all of it is there. A digest tells damage, and not
who made the bundle. Deliberately not here: which files of a study belong into a bundle, and what must not
(`guide.bundle`).
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from pydantic import ValidationError

from plimsoll.errors import HostError, NewerFormatError, RecordError, SpecError
from plimsoll.private_folder import PrivateFolder
from plimsoll.record.document import Document, FileMark, is_newer
from plimsoll.record.files import document_bytes, sync_directory, unreadable
from plimsoll.regular_file import open_regular

BUNDLE_FORMAT = 1
"""Version of a bundle's format."""

MANIFEST = "manifest.json"

FILES_MAX = 250_000
"""Of over twenty thousand trials."""

_DIRECTORY_BYTES_MAX = 160 * FILES_MAX
_MANIFEST_BYTES_MAX = 320 * FILES_MAX
_RATIO_MAX = 100
"""How many times the size of a bundle its files may have together; documents of a study have up to 30 times."""

_UNPACKED_BYTES_MIN = 64 * 2**20
"""So much is unpacked from a bundle of any size."""

_PIECE_BYTES = 2**20
_TIME, _LATER = (1980, 1, 1, 0, 0, 0), (1980, 1, 1, 0, 0, 2)
"""The first moments that a zip archive can state."""

_TIME_UNIX_S = 315_532_800
_LATER_UNIX_S = _TIME_UNIX_S + 2
_COMPRESSED = (".parquet", ".png", ".jpg", ".jpeg")
"""Files that do not get smaller."""

_NAME = re.compile(r"\w[\w. -]{0,149}")
_BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, RuntimeError, IndexError, OverflowError)
"""What the library raises of an archive that is none; RuntimeError stands for encryption and unknown methods too."""

_CURE = "Ask for it again."

Progress = Callable[[int, int], None]
"""Is told how many bytes are done, and how many there are."""

IsMember = Callable[[str, FileMark], bool]


class Manifest(Document):
    """`manifest.json`: what a bundle holds.

    Attributes:
        bundle_format: Version of the format.
        plimsoll_version: What made it.
        study: Name of the study.
        files: All other files, with their lengths and digests.
    """

    bundle_format: int = BUNDLE_FORMAT
    plimsoll_version: str
    study: str
    files: dict[str, FileMark]


def write_bundle(
    to: Path, manifest: Manifest, members: Mapping[str, Path], *, later: Collection[str] = (), force: bool = False,
    progress: Progress = lambda _done, _total: None,
) -> int:  # fmt: skip
    """Writes a bundle, whole or not at all.

    Args:
        to: The file.
        manifest: Without its files.
        members: Where each file is, by its name in the bundle.
        later: Names of files that are to be newer than the others, once they are unpacked.
        force: Replaces what is there.
        progress: Is told after each piece.

    Returns:
        The size of the bundle, bytes.

    Raises:
        SpecError: There is something already, or these are more files than a bundle may hold.
        RecordError: A file cannot be read.
        HostError: It cannot be written.
    """
    refuse_existing(to, force=force)
    if len(members) >= FILES_MAX:
        raise SpecError(f"{to}: these are {len(members):,} files, and a bundle holds at most {FILES_MAX:,}")
    with _written_beside(to) as folder:
        unfinished = folder / "bundle"
        with unfinished.open("xb") as file:
            with zipfile.ZipFile(file, "w") as archive:
                marks = dict(_packed(archive, members, later, progress))
                content = document_bytes(manifest.model_copy(update={"files": marks}))
                archive.writestr(_entry(MANIFEST, _TIME), content)
            file.flush()
            os.fsync(file.fileno())
            size_bytes = file.tell()
        unfinished.replace(to)
        sync_directory(to.parent)
    return size_bytes


def refuse_existing(to: Path, *, force: bool) -> None:
    """Refuses to write over what is there, and always over what is no file.

    Raises:
        SpecError: There is something.
    """
    if to.exists() and not to.is_file():
        raise SpecError(f"{to}: is no file; choose another name with --to")
    if to.exists() and not force:
        raise SpecError(f"{to}: exists already; choose another file with --to, or replace it with --force")


@contextmanager
def _written_beside(to: Path) -> Iterator[Path]:
    """A folder of our own on the same file system, whose content can be renamed."""
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        with PrivateFolder("bundle", to.parent) as folder:
            yield folder
    except OSError as error:
        reason = error.strerror or str(error)
        raise HostError(f"{to}: cannot be written: {reason}; free space, or choose another place with --to") from error


def _packed(
    archive: zipfile.ZipFile, members: Mapping[str, Path], later: Collection[str], progress: Progress
) -> Iterator[tuple[str, FileMark]]:
    sizes = {name: path.stat().st_size for name, path in members.items()}
    done, total = 0, sum(sizes.values())
    for name, path in sorted(members.items()):
        entry, digest = _entry(name, _LATER if name in later else _TIME), hashlib.sha256()
        entry.file_size = sizes[name]  # by it the library decides on a header for more than 4 GiB
        size_bytes = 0
        with archive.open(entry, "w") as target:
            for piece in _pieces_of_file(path):
                target.write(piece)
                digest.update(piece)
                size_bytes += len(piece)
                progress(done + size_bytes, total)
        done += size_bytes
        yield name, FileMark(size_bytes=size_bytes, sha256=digest.hexdigest())


def _pieces_of_file(path: Path) -> Iterator[bytes]:
    try:
        with open_regular(path) as source:
            while piece := source.read(_PIECE_BYTES):
                yield piece
    except OSError as error:
        raise unreadable(path, error) from None


def _entry(name: str, moment: tuple[int, int, int, int, int, int]) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, moment)
    entry.create_system = 3  # Unix, whatever this is
    entry.external_attr = (stat.S_IFREG | 0o644) << 16
    entry.compress_type = zipfile.ZIP_STORED if name.endswith(_COMPRESSED) else zipfile.ZIP_DEFLATED
    return entry


def unpack_bundle(
    bundle: Path, to: Path, is_member: IsMember, progress: Progress = lambda _done, _total: None
) -> Manifest:
    """Unpacks a bundle into a new folder, once all of it is as its manifest says.

    Args:
        bundle: The file.
        to: The folder; it must not be there, or be empty.
        is_member: Whether a bundle may hold a file of that name and content.
        progress: Is told after each piece.

    Raises:
        SpecError: The folder is there already.
        NewerFormatError: A newer Plimsoll wrote it.
        RecordError: It is no bundle, damaged, or holds what a bundle does not.
        HostError: The folder cannot be written.
    """
    if to.exists() and not (to.is_dir() and not any(to.iterdir())):
        raise SpecError(f"{to}: exists already; choose another folder with --to")
    try:
        with open_regular(bundle) as file, _opened(bundle, file) as archive:
            received = _Received(bundle, archive, _checked_entries(bundle, file, archive))
            received.check(is_member)
            received.refuse_too_large(to)
            with _written_beside(to) as beside:
                folder = beside / "study"
                folder.mkdir()
                received.unpack(folder, progress)
                folder.replace(to)
    except OSError as error:
        raise unreadable(bundle, error) from None
    return received.manifest


def _wrong(bundle: Path, reason: str) -> RecordError:
    return RecordError(f"{bundle}: {reason}. Nothing was unpacked. {_CURE}")


@contextmanager
def _opened(bundle: Path, file: BinaryIO) -> Iterator[zipfile.ZipFile]:
    """The archive; whatever is broken in it while it is open is told as one."""
    if _directory_bytes(bundle, file) > _DIRECTORY_BYTES_MAX:
        raise _wrong(bundle, f"holds more than {FILES_MAX:,} files")
    try:
        with zipfile.ZipFile(file) as archive:
            yield archive
    except _BROKEN as error:
        raise _wrong(bundle, f"is damaged, or no bundle: {error}") from None


_END, _END_64, _LOCATOR_64 = b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07"
_END_BYTES, _END_64_BYTES, _LOCATOR_BYTES = 22, 56, 20


def _directory_bytes(bundle: Path, file: BinaryIO) -> int:
    """How long the list of files is that the library reads at once, as the end of the archive states it."""
    size_bytes = file.seek(0, os.SEEK_END)
    file.seek(max(size_bytes - _END_BYTES - _LOCATOR_BYTES - _END_64_BYTES, 0))
    tail = file.read()
    end = tail[-_END_BYTES:]
    if not end.startswith(_END) or not end.endswith(b"\0\0"):
        raise _wrong(bundle, "is cut short, or no bundle: plimsoll bundle makes one")
    if not tail[-_END_BYTES - _LOCATOR_BYTES :].startswith(_LOCATOR_64):
        return int.from_bytes(end[12:16], "little")
    if not tail.startswith(_END_64):
        raise _wrong(bundle, "is damaged: its end is not where it says")
    return int.from_bytes(tail[40:48], "little")


def _checked_entries(bundle: Path, file: BinaryIO, archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """The entries by name, each a plain file in the place that its name says, and none over another."""
    entries: dict[str, zipfile.ZipInfo] = {}
    folded: set[str] = set()
    for entry in archive.infolist():
        name = entry.orig_filename
        if not _is_safe(name) or name != entry.filename:
            raise _wrong(bundle, f"holds a file with a name that leads elsewhere: {name[:100]!r}")
        if name.casefold() in folded:
            raise _wrong(bundle, f"holds {name!r} twice")
        if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG):
            raise _wrong(bundle, f"{name!r} in it is a link or no file")
        if entry.flag_bits & 1 or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise _wrong(bundle, f"{name!r} in it is encrypted, or compressed by a method that bundles do not have")
        folded.add(name.casefold())
        entries[name] = entry
    if len(entries) > FILES_MAX:
        raise _wrong(bundle, f"holds more than {FILES_MAX:,} files")
    _refuse_overlap(bundle, file.seek(0, os.SEEK_END), entries, folded)
    return entries


def _refuse_overlap(bundle: Path, end: int, entries: Mapping[str, zipfile.ZipInfo], folded: Collection[str]) -> None:
    """Refuses files that lie over each other: in the archive, or as a file and a folder of one name."""
    for name in folded:
        if any(str(above) in folded for above in PurePosixPath(name).parents):
            raise _wrong(bundle, f"{name!r} in it is below a file")
    for entry in sorted(entries.values(), key=lambda entry: entry.header_offset, reverse=True):
        if entry.header_offset + _HEADER_BYTES + len(entry.filename) + entry.compress_size > end:
            raise _wrong(bundle, f"is damaged: {entry.filename!r} lies over another file in it")
        end = entry.header_offset
    if end < 0:
        raise _wrong(bundle, "is damaged: its beginning is missing")


_HEADER_BYTES = 30
"""Of each file in an archive, before its name."""


def _is_safe(name: str) -> bool:
    """Whether a name leads to a file below the folder, on any system."""
    parts = name.split("/")
    return len(parts) <= 4 and all(_NAME.fullmatch(part.removeprefix(".")) for part in parts)


class _Received:
    """An archive whose entries were checked.

    Attributes:
        manifest: What it says of itself.
    """

    def __init__(self, bundle: Path, archive: zipfile.ZipFile, entries: dict[str, zipfile.ZipInfo]) -> None:
        """Reads the manifest; raises as `unpack_bundle` does."""
        self._bundle, self._archive = bundle, archive
        if MANIFEST not in entries:
            raise _wrong(bundle, f"is no bundle: it has no {MANIFEST}")
        self._entries = {name: entry for name, entry in sorted(entries.items()) if name != MANIFEST}
        self.manifest = self._read_manifest(entries[MANIFEST])

    def _read_manifest(self, entry: zipfile.ZipInfo) -> Manifest:
        if entry.file_size > _MANIFEST_BYTES_MAX:
            raise _wrong(self._bundle, f"{MANIFEST} in it is larger than that of {FILES_MAX:,} files")
        content = b"".join(self._pieces(entry))
        if is_newer(content, "bundle_format", BUNDLE_FORMAT):
            raise NewerFormatError(f"{self._bundle}: written by a newer Plimsoll. Upgrade Plimsoll to open it.")
        try:
            return Manifest.model_validate_json(content)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise _wrong(self._bundle, f"{MANIFEST} in it is damaged: {first['msg']}") from None

    def check(self, is_member: IsMember) -> None:
        """Refuses an archive that holds more or less than its manifest says, or what a bundle does not."""
        marks = self.manifest.files
        if missing := sorted(marks.keys() - self._entries.keys()):
            raise _wrong(self._bundle, f"{missing[0][:100]!r} is missing in it")
        for name, entry in self._entries.items():
            if name not in marks or not is_member(name, marks[name]):
                raise _wrong(self._bundle, f"holds {name!r}, which is no file of a bundle")
            if entry.file_size != marks[name].size_bytes:
                raise _wrong(self._bundle, f"{name!r} in it has another length than its manifest says")

    def refuse_too_large(self, to: Path) -> None:
        """Refuses what nothing can have become so small, and what the disk has no room for."""
        packed_bytes = self._bundle.stat().st_size
        limit = max(_UNPACKED_BYTES_MIN, _RATIO_MAX * packed_bytes)
        if self._total_bytes > limit:
            raise _wrong(
                self._bundle,
                f"would be {self._total_bytes:,} bytes when unpacked; of {packed_bytes:,} bytes come {limit:,} at most",
            )
        place = next(folder for folder in to.absolute().parents if folder.is_dir())
        free = shutil.disk_usage(place).free
        if self._total_bytes > free:
            raise HostError(
                f"{place}: has {free:,} bytes free, and {self._bundle} needs {self._total_bytes:,}; choose another --to"
            )

    @property
    def _total_bytes(self) -> int:
        return sum(entry.file_size for entry in self._entries.values())

    def unpack(self, folder: Path, progress: Progress) -> None:
        """Writes the files, and refuses the archive at the first that is not what was packed."""
        done, total = 0, self._total_bytes
        for name, entry in self._entries.items():
            path, digest, size_bytes = folder / name, hashlib.sha256(), 0
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as file:
                for piece in self._pieces(entry):
                    file.write(piece)
                    digest.update(piece)
                    size_bytes += len(piece)
                    progress(done + size_bytes, total)
            if FileMark(size_bytes=size_bytes, sha256=digest.hexdigest()) != self.manifest.files[name]:
                raise _wrong(self._bundle, f"{name!r} in it is not what was packed")
            moment_s = _LATER_UNIX_S if entry.date_time == _LATER else _TIME_UNIX_S
            os.utime(path, (moment_s, moment_s))
            done += size_bytes

    def _pieces(self, entry: zipfile.ZipInfo) -> Iterator[bytes]:
        """The content of a file; never more than its entry says."""
        left = entry.file_size
        with self._archive.open(entry) as source:
            while left:
                try:
                    piece = source.read(min(_PIECE_BYTES, left))
                except OSError as error:
                    raise unreadable(self._bundle, error) from None
                if not piece:
                    return
                left -= len(piece)
                yield piece
