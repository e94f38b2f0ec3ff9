"""Has the engine read logs into a private folder, and removes that folder at the end.

The engine reads plain files as they are, compressed ones and standard input through named pipes. Compressed files are
read so strictly that no damage passes for the end: the standard library's files take damage at the begin of a later
stream of bzip2 or xz for the end of the file, and keep to themselves what they decompressed just before they failed.
Formats are named as `--format` names them. Deliberately not here: what is in a log and what is concluded from the
tables (`plimsoll.learn`), and the keys of a map (`plimsoll.spec.audit_map`).
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import tomllib
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import IO, Any

from plimsoll.drive.engine import LocalDriver
from plimsoll.drive.plans import read_logs_line
from plimsoll.drive.protocol import Done, Progress
from plimsoll.errors import DamagedInputError, EngineBugError, HostError, SpecError
from plimsoll.learn.event_log import FILES, EventLog, open_event_log
from plimsoll.learn.report_model import SourceFault
from plimsoll.private_folder import PrivateFolder
from plimsoll.regular_file import text_regular
from plimsoll.spec.audit_map import AuditMap, checked_audit_map, parse_audit_map


@contextmanager
def read_logs(
    names: Sequence[str],
    *,
    form: str | dict[str, Any] = "auto",
    time_zone_offset_s: int = 0,
    work_dir: Path | None = None,
    keep: bool = False,
    progress: Callable[[Progress], None] = lambda _: None,
    say: Callable[[str], None] = lambda _: None,
) -> Iterator[EventLog]:
    """The tables of logs of one server, in a folder that only the owner can read.

    Args:
        names: Files, in the order of time, and `-` for standard input.
        form: `auto`, `slow`, `general`, `binlog`, or the columns of an audit log.
        time_zone_offset_s: Of a server whose log has local times.
        work_dir: Where the folder is made; None for the system's temporary folder.
        keep: The folder stays.
        progress: Is told how far reading is.
        say: Is told of a file that is damaged or cut, and of a folder that stays.

    Raises:
        SpecError: A file cannot be read, or is no log.
        DamagedInputError: The content of a damaged file is no log.
        HostError: There is no room for the tables.
    """
    with _tables_folder(work_dir, keep=keep, say=say) as folder:
        with log_inputs(names, folder) as inputs:
            plan = read_logs_line(
                folder,
                [(log_input.path, log_input.name) for log_input in inputs],
                form=form,
                time_zone_offset_s=time_zone_offset_s,
            )
            _run(plan, inputs, progress)
        for log_input in inputs:
            if log_input.fault is not None:
                say(f"{_damage(log_input)}; what follows is missing")
        log = open_event_log(folder)
        faults = (
            source.model_copy(update={"fault": read.fault}) for source, read in zip(log.sources, inputs, strict=True)
        )
        yield replace(log, sources=tuple(faults))


@contextmanager
def _tables_folder(work_dir: Path | None, *, keep: bool, say: Callable[[str], None]) -> Iterator[Path]:
    """A private folder for tables. One that is to stay has no owner, so that no later run removes it.

    Raises:
        HostError: It cannot be made.
    """
    with ExitStack() as stack:
        try:
            if keep:
                folder = Path(tempfile.mkdtemp(prefix="plimsoll-log-kept-", dir=work_dir))
            else:
                folder = stack.enter_context(PrivateFolder("log", work_dir))
                stack.enter_context(_without_names(folder))
        except OSError as error:
            place = work_dir or tempfile.gettempdir()
            raise HostError(f"{place}: cannot be written: {error.strerror}; choose another with --work-dir") from error
        try:
            yield folder
        finally:
            if keep:
                say(f"{folder}: holds what was read, literals included; keep it private")


@contextmanager
def _without_names(folder: Path) -> Iterator[None]:
    """Makes the files of the tables without names, so that the kernel frees them when this process is gone.

    In the folder are links to them, by way of this process: all that a killed run leaves. Where a file system has no
    such files (`O_TMPFILE`), or processes cannot be looked into, the tables are files as any.
    """
    opened: list[int] = []
    try:
        with suppress(OSError):
            for name in FILES:
                opened.append(os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600))
                file = Path(f"/proc/{os.getpid()}/fd/{opened[-1]}")
                file.stat()
                (folder / name).symlink_to(file)
        yield
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _run(plan: dict[str, Any], inputs: Sequence[LogInput], progress: Callable[[Progress], None]) -> None:
    try:
        with LocalDriver().launch("read-logs", plan) as run:
            for message in run.messages():
                match message:
                    case Progress():
                        progress(message)
                    case Done():
                        return
    except SpecError as error:
        if damaged := [log_input for log_input in inputs if log_input.fault is not None]:
            raise DamagedInputError(*map(_damage, damaged), *error.lines) from error
        raise
    raise EngineBugError("plimsoll-engine read-logs ended without a last message")


def _damage(log_input: LogInput) -> str:
    fault = log_input.fault
    assert fault is not None, "asked for damaged files only"
    return f"{log_input.name}: is damaged or cut, noticed at line {fault.line:,} of its content: {fault.reason}"


_CHUNK_BYTES = 1 << 20
STANDARD_INPUT = "-"


@dataclass(slots=True)
class LogInput:
    """One log as the engine is told of it.

    Attributes:
        name: As the user named it.
        path: What the engine reads.
        fault: Why it could not be read to its end; None while it could.
    """

    name: str
    path: Path
    fault: SourceFault | None = None


@contextmanager
def log_inputs(names: Sequence[str], folder: Path) -> Iterator[list[LogInput]]:
    """Inputs that the engine can open one after the other.

    Args:
        names: Files, and `-` for standard input.
        folder: Private; named pipes are made in it.

    Raises:
        SpecError: A file is missing or cannot be read; all of them at once.
    """
    if faults := [fault for name in dict.fromkeys(names) if (fault := _fault(name))]:
        raise SpecError(*faults)
    inputs: list[LogInput] = []
    pipes: list[Path] = []
    for number, name in enumerate(names):
        content = _content(name)
        if content is None:
            inputs.append(LogInput(name, Path(name).resolve()))
            continue
        pipe = folder / f"input-{number}"
        os.mkfifo(pipe, 0o600)
        pipes.append(pipe)
        inputs.append(log_input := LogInput(name, pipe))
        threading.Thread(target=_feed, args=(log_input, content), name=f"log-input-{number}", daemon=True).start()
    try:
        yield inputs
    finally:
        for pipe in pipes:
            _release(pipe)


def _fault(name: str) -> str | None:
    if name == STANDARD_INPUT:
        return "-: standard input is a terminal; pipe a log into it" if sys.stdin.isatty() else None
    path = Path(name)
    if path.is_dir():
        return f"{name}: is a folder; name the log files in it"
    try:
        form = compression_of(path)
    except OSError as error:
        return f"{name}: cannot be read: {error.strerror}"
    if form == "zstd" and shutil.which("zstd") is None:
        return f"{name}: is compressed with zstd, which is not installed here; install it, or decompress the file"
    return None


def _content(name: str) -> Callable[[], Iterator[bytes]] | None:
    """What reads a log; None for a plain file, which the engine reads itself."""
    if name == STANDARD_INPUT:
        return _standard_input
    path = Path(name)
    if not path.is_file() or (form := compression_of(path)) is None:
        return None
    return partial(decompressed, path, form)


def _standard_input() -> Iterator[bytes]:
    try:
        while chunk := sys.stdin.buffer.read(_CHUNK_BYTES):
            yield chunk
    except OSError as error:
        raise DamagedContentError(str(error)) from error


def _feed(log_input: LogInput, content: Callable[[], Iterator[bytes]]) -> None:
    """Copies a log into its pipe. Damage is noted before the pipe is closed, and what came before it counts."""
    try:
        descriptor = os.open(log_input.path, os.O_WRONLY)  # waits for its reader; never makes a file
    except OSError:
        return
    lines, size_bytes = 0, 0
    with contextlib.suppress(BrokenPipeError), os.fdopen(descriptor, "wb") as pipe:
        try:
            for chunk in content():
                pipe.write(chunk)
                lines += chunk.count(b"\n")
                size_bytes += len(chunk)
        except DamagedContentError as error:
            log_input.fault = SourceFault(line=lines + 1, content_bytes=size_bytes, reason=str(error))


def _release(pipe: Path) -> None:
    """Lets a feeder go whose pipe nobody opened, and removes the pipe."""
    with contextlib.suppress(OSError):
        os.close(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK))
    pipe.unlink(missing_ok=True)


PLAIN_FORMATS = ("auto", "slow", "general", "binlog")
"""Formats that need no map."""

_MAP_BYTES_MAX = 100_000


def log_format(text: str) -> str | dict[str, Any]:
    """What `read_logs` takes as `form`.

    Args:
        text: A plain format, the name of a known map, or the path of a TOML file with the keys of a map.

    Raises:
        SpecError: It is none of them, or the file has faults; all of them at once.
    """
    if text in PLAIN_FORMATS:
        return text
    if text in known_audit_maps():
        return known_audit_maps()[text].line()
    path = Path(text)
    if path.suffix != ".toml" and not path.exists():
        known = ", ".join((*PLAIN_FORMATS, *known_audit_maps()))
        raise SpecError(f"--format: must be {known} or a TOML file with the map of an audit log, is {text[:80]!r}")
    try:
        written = text_regular(path, _MAP_BYTES_MAX)
    except OSError as error:
        raise SpecError(f"--format: {text}: cannot be read: {error.strerror}") from None
    except ValueError as error:  # too long, or not UTF-8
        raise SpecError(f"--format: {text}: is no map of an audit log: {error}") from None
    try:
        return parse_audit_map(written).line()
    except SpecError as error:
        raise SpecError(*(f"{path.name}: {fault}" for fault in error.faults)) from None


@cache
def known_audit_maps() -> dict[str, AuditMap]:
    """The maps of audit logs that have a name."""
    written = tomllib.loads(files("plimsoll.run").joinpath("audit_maps.toml").read_text(encoding="utf-8"))
    return {name: checked_audit_map(keys) for name, keys in written.items()}


_MAGIC: dict[bytes, str] = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}
_SUFFIXES = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}
_PIECE_BYTES = 1 << 16

_WORDS_MAX = 300


class DamagedContentError(Exception):
    """The text says why the rest cannot be decompressed."""


def compression_of(path: Path) -> str | None:
    """How a file is compressed: by its first bytes, and where these are no compressed file's, by the end of its name.

    Raises:
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        begin = file.read(8)
    by_content = next((form for magic, form in _MAGIC.items() if begin.startswith(magic)), None)
    return by_content or _SUFFIXES.get(path.suffix.lower())


def decompressed(path: Path, form: str) -> Iterator[bytes]:
    """The content, piece by piece: all that comes before the damage, where there is any.

    Raises:
        DamagedContentError: The file is cut or damaged, or cannot be read further.
    """
    read: dict[str, Callable[[IO[bytes]], Iterator[bytes]]] = {
        "gzip": _gzip,
        "bzip2": partial(_streams, new=bz2.BZ2Decompressor),
        "xz": partial(_streams, new=partial(lzma.LZMADecompressor, lzma.FORMAT_XZ)),
        "zstd": _zstd,
    }
    try:
        with path.open("rb", buffering=0) as file:  # a child reads on where this process stands
            if not file.read(1):
                raise DamagedContentError("the file is empty")
            file.seek(0)
            yield from read[form](file)
    except EOFError:
        raise DamagedContentError("the file is cut off here") from None
    except (OSError, ValueError, MemoryError, lzma.LZMAError, zlib.error) as error:
        raise DamagedContentError(str(error) or type(error).__name__) from error


def _gzip(file: IO[bytes]) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=file) as content:
        while chunk := content.read1(_CHUNK_BYTES):
            yield chunk


def _streams(file: IO[bytes], *, new: Callable[[], bz2.BZ2Decompressor | lzma.LZMADecompressor]) -> Iterator[bytes]:
    """One stream after the other; between them may be zero bytes, as padding of xz."""
    rest = b""
    while rest := (rest.lstrip(b"\0") or file.read(_PIECE_BYTES)):
        if not rest.strip(b"\0"):
            continue
        stream = new()
        while True:
            if chunk := stream.decompress(rest, _CHUNK_BYTES):
                yield chunk
            if stream.eof:
                break
            rest = file.read(_PIECE_BYTES) if stream.needs_input else b""
            if stream.needs_input and not rest:
                raise EOFError
        rest = stream.unused_data


def _zstd(file: IO[bytes]) -> Iterator[bytes]:
    command = ["zstd", "-dcq"]
    with subprocess.Popen(command, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        while chunk := program.stdout.read1(_CHUNK_BYTES):  # type: ignore[attr-defined]
            yield chunk
        stderr_text = " ".join(program.stderr.read(_WORDS_MAX).decode(errors="replace").split())
    if program.returncode != 0:
        reason = stderr_text.removeprefix("zstd: ").removeprefix("/*stdin*\\").lstrip(" :")
        raise DamagedContentError(reason or f"zstd ended with exit code {program.returncode}")
