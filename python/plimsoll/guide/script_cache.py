"""Text that takes long to make and is always the same, kept in the user's cache directory from one guide to the next.

A cache is never needed: where it cannot be read or written, or was changed, the text is made again. What another user
owns is not read: a script from there would run in the guide's page. Deliberately not here: which text (`pictures`).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from plimsoll.regular_file import open_regular

_BYTES_MAX = 8_000_000


def cached(name: str, make: Callable[[], str]) -> str:
    """A text from the cache, else made and kept there.

    Args:
        name: Of its file; it says all that the text depends on.
        make: Makes it.
    """
    path = _folder() / name
    found = _read(path)
    if found is None:
        found = make()
        with contextlib.suppress(OSError):
            _write(path, found)
    return found


def _folder() -> Path:
    """`plimsoll` in the user's cache directory (XDG base directories)."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - Path fails without a home
    return Path(base) / "plimsoll"


def _read(path: Path) -> str | None:
    """None unless the file is ours and whole: its first line is the digest of the others."""
    try:
        with open_regular(path) as file:
            content = file.read(_BYTES_MAX) if os.fstat(file.fileno()).st_uid == os.geteuid() else b""
        digest, _, text = content.partition(b"\n")
        return text.decode() if digest.decode() == hashlib.sha256(text).hexdigest() else None
    except (OSError, UnicodeDecodeError):
        return None


def _write(path: Path, text: str) -> None:
    content = text.encode()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, partial = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(content).hexdigest().encode() + b"\n" + content)
        Path(partial).replace(path)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise
