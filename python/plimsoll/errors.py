"""Who must act when something goes wrong: one exception class each, with its exit code.

A failed statement of the load is not an error in this sense: it is data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

Loc = tuple[str | int, ...]
"""Where something is in a document: keys of tables and indexes of lists, from the outside in."""


def path_text(loc: Loc) -> str:
    """A path as people write it.

    >>> path_text(("study", "levels", "connections", 2))
    'study.levels.connections[2]'
    """
    text = ""
    for part in loc:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong in something that a user wrote. Its text is the line that people read.

    Attributes:
        path: Where it is; empty for the whole, and for what has no path, such as an option of the command line.
        reason: What is wrong, with the value and the cure.
    """

    path: Loc
    reason: str

    @property
    def place(self) -> str:
        """The path as people write it."""
        return path_text(self.path)

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}" if self.path else self.reason


def within(place: Loc, faults: Iterable[Fault]) -> Iterator[Fault]:
    """Faults of a part of a document as faults of the document; `place` is where the part is."""
    return (Fault((*place, *fault.path), fault.reason) for fault in faults)


class PlimsollError(Exception):
    """Somebody must act. The text names the thing, its value and the cure.

    Attributes:
        exit_code: What the process ends with.
    """

    exit_code: ClassVar[int] = 70


class SpecError(PlimsollError):
    """The user's file or option is wrong. All faults are reported at once.

    Attributes:
        faults: Each with its path. What was given as text has none.
    """

    exit_code: ClassVar[int] = 2

    def __init__(self, *faults: Fault | str) -> None:
        self.faults = tuple(Fault((), fault) if isinstance(fault, str) else fault for fault in faults)
        super().__init__("\n".join(self.lines))

    @property
    def lines(self) -> tuple[str, ...]:
        """The faults as people read them, one line each."""
        return tuple(map(str, self.faults))


class TargetError(PlimsollError):
    """A server said no, or cannot be reached.

    Attributes:
        code: MySQL's error number, where a server answered with one.
        sqlstate: The five characters of SQLSTATE, where a server answered with them.
    """

    exit_code: ClassVar[int] = 3

    def __init__(self, message: str, *, code: int | None = None, sqlstate: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.sqlstate = sqlstate


class DataError(TargetError):
    """A server holds other tables or rows than it should. The text says which, and the cure."""

    exit_code: ClassVar[int] = 4


class DamagedInputError(PlimsollError):
    """Files that the user gave are damaged or cut, so that figures of them would be wrong. The text says where.

    Attributes:
        faults: One line each.
    """

    exit_code: ClassVar[int] = 4

    def __init__(self, *faults: str) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults


class HostError(PlimsollError):
    """A machine, this one included, said no: a full disk, a missing command, a missing right."""

    exit_code: ClassVar[int] = 3


class HookError(HostError):
    """A command of the user's that configures, starts or resets a system failed. The trial fails, the study goes on."""


class StorageError(HostError):
    """What was measured cannot be kept: the disk is full, or the folder was moved or removed."""


class InvalidTrialError(PlimsollError):
    """It ran, and the number must not be believed. The text carries the evidence."""

    exit_code: ClassVar[int] = 4


class NothingCompletedError(InvalidTrialError):
    """No transaction completed in the measured window. At a rate that is overload, and so an answer of a search.

    Attributes:
        trial_id: Of the recording that shows it; empty where that is not known.
    """

    def __init__(self, message: str, *, trial_id: str = "") -> None:
        super().__init__(message)
        self.trial_id = trial_id


class RecordError(PlimsollError):
    """A recording is missing, damaged, or from a newer version."""

    exit_code: ClassVar[int] = 5


class NewerFormatError(RecordError):
    """A newer Plimsoll wrote it. It must stay as it is."""


class EngineBugError(PlimsollError):
    """The load engine failed in a way that only its developers can mend."""

    exit_code: ClassVar[int] = 70
