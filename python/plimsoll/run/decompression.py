"""What is in a compressed file, read so strictly that no damage passes for the end.

The standard library's files take damage at the begin of a later stream of bzip2 or xz for the end of the file, and keep
to themselves what they decompressed just before they failed. Deliberately not here: what is done with the content.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import subprocess
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO

_MAGIC: dict[bytes, str] = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}
_SUFFIXES = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}
_PIECE_BYTES = 1 << 16
_CHUNK_BYTES = 1 << 20
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
        said = " ".join(program.stderr.read(_WORDS_MAX).decode(errors="replace").split())
    if program.returncode != 0:
        reason = said.removeprefix("zstd: ").removeprefix("/*stdin*\\").lstrip(" :")
        raise DamagedContentError(reason or f"zstd ended with exit code {program.returncode}")
