"""What an agent needs on another host, as one compressed archive: Plimsoll's own modules and a few packages.

Compiled packages fit one version of Python on one kind of processor, so the host needs the same (`Interpreter`).
Nothing is installed there: the archive is unpacked into a directory of Plimsoll's own, which is removed at the end.
Deliberately not here: sending it (`ssh`).
"""

from __future__ import annotations

import importlib.util
import io
import platform
import sys
import tarfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

OWN = (
    "__init__.py",
    "errors.py",
    "interruption.py",
    "private_folder.py",
    "regular_file.py",
    "strict_json.py",
    "units.py",
    "analyse",
    "record",
    "spec",
    "servers",
    "telemetry",
    "hosts",
)
"""Modules and packages of Plimsoll that run on hosts."""

PACKAGES = (
    "annotated_types",
    "cffi",
    "_cffi_backend",
    "cryptography",
    "nacl",
    "psutil",
    "pydantic",
    "pydantic_core",
    "pymysql",
    "typing_extensions",
    "typing_inspection",
)
"""What these use."""

_LEFT_OUT = frozenset({"__pycache__", "tests"})


@dataclass(frozen=True, slots=True)
class Interpreter:
    """What compiled packages fit.

    Attributes:
        python: Major and minor version.
        machine: Kind of processor, as `uname -m` calls it.
        libc: Name of the C library.
    """

    python: str
    machine: str
    libc: str


PROBE = (
    "import json,platform,sys;"
    "print(json.dumps({'python':'%d.%d'%sys.version_info[:2],'machine':platform.machine(),"
    "'libc':platform.libc_ver()[0]}))"
)
"""A program that prints an `Interpreter` on any version of Python 3."""


def this_interpreter() -> Interpreter:
    """The one that runs now."""
    return Interpreter(f"{sys.version_info[0]}.{sys.version_info[1]}", platform.machine(), platform.libc_ver()[0])


@cache
def archive() -> bytes:
    """All of it, as tar compressed by gzip: some megabytes."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz", compresslevel=3) as tar:
        own = Path(__file__).parents[1]
        for name in OWN:
            tar.add(own / name, f"plimsoll/{name}", filter=_wanted)
        for package in PACKAGES:
            if (place := _place_of(package)) is not None:
                tar.add(place, place.name, filter=_wanted)
    return written.getvalue()


def _place_of(package: str) -> Path | None:
    """Its folder, or its file where it is a single one; None for one that is not here."""
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        return None
    origin = Path(found.origin)
    return origin.parent if origin.name == "__init__.py" else origin


def _wanted(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    name = entry.name.rpartition("/")[2]
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return None if name in _LEFT_OUT or name.endswith(".pyi") else entry
