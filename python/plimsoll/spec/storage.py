"""`[[storage]]`: paths whose storage is measured by itself, before the trials of a study.

Deliberately not here: how it is measured (`plimsoll.servers.fio`), and any look at a machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Annotated, TypeVar

from pydantic import BeforeValidator, Field, field_validator

from plimsoll.errors import Fault
from plimsoll.record.storage import StorageTest
from plimsoll.spec.fields import DurationS, Name, Place, SizeBytes, Written

SIZE_BYTES_MIN = 16 * 2**20
DURATION_S_MIN, DURATION_S_MAX = 1.0, 600.0
_Item = TypeVar("_Item")


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _as_test(value: object) -> object:
    """A test by its name; strict models take no text for it."""
    try:
        return StorageTest(value) if isinstance(value, str) else value
    except ValueError:
        known = ", ".join(test.value for test in StorageTest)
        raise ValueError(f"must be one of {known}, is {value!r}") from None


QueueDepth = Annotated[int, Field(ge=1, le=1024)]
Test = Annotated[StorageTest, BeforeValidator(_as_test)]


class StorageSpec(Written):
    """One `[[storage]]`: a path that fio measures before the trials.

    Attributes:
        path: A folder on the storage. Files go into a directory of their own below it, which is removed at the end.
        name: Name in the guide. Default: the path.
        size: Size of the file that is read and written. It should be larger than the caches of device and controller.
        duration: Length of each test.
        queue_depths: Numbers of requests in progress at once, for random and mixed tests.
        tests: Tests to run. Default: all.
        precondition: Write the file twice in sequence and once in random order before measuring: flash storage is
            slower once it has no fresh blocks left.
    """

    path: Place
    name: Name | None = None
    size: SizeBytes = 2**30
    duration: DurationS = 5.0
    queue_depths: Annotated[tuple[QueueDepth, ...], BeforeValidator(_as_tuple), Field(min_length=1, max_length=16)] = (
        1,
        4,
        16,
        64,
    )
    tests: Annotated[tuple[Test, ...], BeforeValidator(_as_tuple), Field(min_length=1)] = tuple(StorageTest)
    precondition: bool = False

    @property
    def label(self) -> str:
        """What people call it."""
        return self.name or self.path

    @field_validator("size", mode="after")
    @classmethod
    def _large_enough(cls, value: int) -> int:
        if value < SIZE_BYTES_MIN:
            raise ValueError(f'must be at least "16M", is {value} bytes: less is a measurement of a cache')
        return value

    @field_validator("duration", mode="after")
    @classmethod
    def _bounded(cls, value: float) -> float:
        if not DURATION_S_MIN <= value <= DURATION_S_MAX:
            raise ValueError(f'must be between "1s" and "10m", is {value:g} s')
        return value

    @field_validator("queue_depths", "tests", mode="after")
    @classmethod
    def _once_each(cls, value: tuple[_Item, ...]) -> tuple[_Item, ...]:
        return tuple(dict.fromkeys(value))


def storage_faults(storages: Iterable[StorageSpec]) -> Iterable[Fault]:
    """Sections that cannot be told from each other."""
    for label, count in Counter(storage.label for storage in storages).items():
        if count > 1:
            yield Fault(("storage",), f"{label!r} is measured {count} times; give each section a name of its own")
