"""What all documents have in common, and the mark that tells whether a file is as it was written."""

from __future__ import annotations

import json

from pydantic import BaseModel, ConfigDict


class Document(BaseModel):
    """A value that can be written as JSON and read back. Unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="null")


class FileMark(Document):
    """What a file of the recording must be like to be trusted: whoever finds it otherwise knows it was damaged.

    Attributes:
        size_bytes: Its length.
        sha256: Digest of its bytes, 64 hexadecimal digits.
    """

    size_bytes: int
    sha256: str


def is_newer(content: bytes, field: str, known: int) -> bool:
    """Whether a JSON document says that its format is newer than the one that is known, whatever else is in it."""
    try:
        version = json.loads(content)[field]
    except (ValueError, KeyError, TypeError, RecursionError):
        return False
    return isinstance(version, int) and version > known
