"""Logs that an import passed over, kept in the study's folder so that its guide can name them.

Deliberately not here: lines that could not be read; they are told when a log is imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field, ValidationError

from plimsoll.errors import HostError, RecordError
from plimsoll.record.content import unreadable
from plimsoll.record.document import Document
from plimsoll.record.files import write_file
from plimsoll.regular_file import read_regular
from plimsoll.units import printable

SKIPPED_FILE = "skipped-logs.json"
_BYTES_MAX = 64 * 2**20


class SkippedLog(Document):
    """A log, or a run in it, of which nothing could be made.

    Attributes:
        log: Its file as the user named it.
        line: The run's first line, counted from 1; None where it is the whole log.
        reason: Why.
    """

    log: str
    line: int | None = None
    reason: str

    @classmethod
    def of(cls, path: Path, reason: str, line: int | None = None) -> SkippedLog:
        """With the name of the file as people can read it."""
        return cls(log=printable(str(path)), line=line, reason=reason)

    @property
    def name(self) -> str:
        """What people find it by."""
        return self.log if self.line is None else f"{self.log}: line {self.line}"

    @property
    def told(self) -> str:
        """For the person who imports it."""
        return f"{self.name}: {self.reason}"


class _SkippedLogs(Document):
    skipped: tuple[SkippedLog, ...] = Field(default=())


@dataclass(frozen=True, slots=True)
class MissingLog:
    """A skipped log as the analysis takes what is missing.

    Attributes:
        trial_id: What people find it by.
        path: Where that is written.
    """

    trial_id: str
    path: Path
    reason: str


def keep_skipped(folder: Path, imported: Iterable[Path], skipped: Sequence[SkippedLog]) -> None:
    """Adds what an import passed over; of the logs that it read, nothing older stays.

    Raises:
        RecordError: What is there cannot be read.
        HostError: It cannot be written.
    """
    read = {printable(str(path)) for path in imported}
    before = tuple(one for one in _read(folder) if one.log not in read)
    file = folder / SKIPPED_FILE
    if not skipped and not file.exists():
        return
    try:
        write_file(file, _SkippedLogs(skipped=(*before, *skipped)).model_dump_json(indent=1).encode())
    except OSError as error:
        raise HostError(f"{file}: cannot be written: {error.strerror}; free space or choose another folder") from None


def missing_logs(folder: Path) -> tuple[MissingLog, ...]:
    """What the imports of a study passed over, in their order.

    Raises:
        RecordError: It cannot be read.
    """
    return tuple(MissingLog(one.name, folder / SKIPPED_FILE, f"skipped: {one.reason}") for one in _read(folder))


def _read(folder: Path) -> tuple[SkippedLog, ...]:
    file = folder / SKIPPED_FILE
    try:
        return _SkippedLogs.model_validate_json(read_regular(file, _BYTES_MAX)).skipped
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise unreadable(file, error) from None
    except ValidationError:
        raise RecordError(f"{file}: is damaged; remove it, and import the logs again") from None
