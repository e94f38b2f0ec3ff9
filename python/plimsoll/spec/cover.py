"""What a guide says of itself as a document: title, author, audience. In a study file, or beside an imported table."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, ValidationError

from plimsoll.errors import SpecError, within
from plimsoll.regular_file import text_regular
from plimsoll.spec.fields import Written, faults_of
from plimsoll.spec.new_study import toml_lines

COVER_FILE = "document.toml"
"""In the folder of an import: a study that was measured has its `[document]` in the study file."""

_BYTES_MAX = 1_000_000


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("must be one line of printable text")
    return text.strip()


Line = Annotated[str, Field(max_length=200), AfterValidator(_printable)]


class CoverSpec(Written):
    """`[document]`: what the guide's first page says of itself. Nothing of it is a condition of a trial.

    Attributes:
        title: Of the guide, in place of the study's name.
        author: Who wrote it.
        organisation: Where the author works.
        audience: Whom it is for.
        summary: Above the answer, in your own words.
        confidential: A mark on every sheet, such as `"Internal use only"`.
        group_by: Systems that differ only in this factor, such as "storage", share a page of the guide, with a column
            for each value. Default: a page for each system.
    """

    title: Line = ""
    author: Line = ""
    organisation: Line = ""
    audience: Line = ""
    summary: Annotated[str, Field(max_length=2000)] = ""
    confidential: Annotated[str, Field(max_length=80), AfterValidator(_printable)] = ""
    group_by: Line = ""


def read_cover(path: Path) -> CoverSpec:
    """Reads the `[document]` of a TOML file, whatever else is in it; of a file without one nothing.

    Raises:
        SpecError: It cannot be read or is wrong; all faults at once.
    """
    try:
        written = tomllib.loads(text_regular(path, _BYTES_MAX))
        return CoverSpec.model_validate(written.get("document", {}))
    except OSError as error:
        raise SpecError(f"{path}: cannot be read: {error.strerror}") from None
    except ValidationError as error:
        raise SpecError(*(f"{path}: {fault}" for fault in within(("document",), faults_of(error)))) from None
    except (ValueError, RecursionError) as error:
        raise SpecError(f"{path}: is not TOML: {error}") from None


def cover_text(cover: CoverSpec) -> str:
    """The text of a file with nothing but `[document]`, which `read_cover` reads back."""
    stated = {key: text for key, text in cover.model_dump().items() if text}
    return "\n".join(("[document]", *toml_lines(stated), ""))
