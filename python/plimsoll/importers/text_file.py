"""Reads a file that somebody else wrote, never more of it than a bound, as UTF-8.

A file that is packed by gzip is unpacked; UTF-16 is recognised by its byte order mark. Deliberately not here: what is
in it.
"""

from __future__ import annotations

import codecs
import gzip
import zlib
from pathlib import Path

from plimsoll.errors import SpecError
from plimsoll.regular_file import open_regular

_GZIP = b"\x1f\x8b"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_bounded(path: Path, bytes_max: int) -> bytes:
    """All bytes of a file, unpacked, in UTF-8 and without a byte order mark. Bytes that are no text stay as they are.

    Raises:
        SpecError: It cannot be read or unpacked, or has more than `bytes_max` bytes.
    """
    try:
        with open_regular(path) as file:
            is_packed = file.read(len(_GZIP)) == _GZIP
            file.seek(0)
            with gzip.GzipFile(fileobj=file) if is_packed else file as content_of:
                content = content_of.read(bytes_max + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise SpecError(f"{path}: cannot be unpacked: the gzip file is damaged. Copy or pack it again.") from None
    except OSError as error:
        raise SpecError(f"{path}: cannot be read: {error.strerror}. Check the path and the rights.") from error
    if len(content) > bytes_max:
        raise SpecError(f"{path}: is larger than {bytes_max // 2**20} MiB. Cut the file into several.")
    if content.startswith(_UTF_16):
        return content.decode("utf-16", errors="replace").encode()
    return content.removeprefix(codecs.BOM_UTF8)
