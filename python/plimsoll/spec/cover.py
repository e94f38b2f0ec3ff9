"""What a guide says of itself as a document: title, author, audience. In a study file, or beside an imported table."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from plimsoll.errors import SpecError
from plimsoll.regular_file import read_regular
from plimsoll.spec.fields import Written

_LOGO_BYTES_MAX = 200_000
LOGO_NAME = re.compile(r"\w[\w. -]{0,99}\.(?:png|jpe?g|svg)", re.IGNORECASE)
"""Names that a logo can have: files beside the document, and none elsewhere."""


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("must be one line of printable text")
    return text.strip()


def _logo_name(text: str) -> str:
    if text and not LOGO_NAME.fullmatch(text):
        raise ValueError('must be the name of a file beside this one, such as "logo.svg" (.png, .jpg or .svg)')
    return text


Line = Annotated[str, Field(max_length=200), AfterValidator(_printable)]
"""One line that people read."""


class CoverSpec(Written):
    """`[document]`: what the guide's first page says of itself. Nothing of it is a condition of a trial.

    Attributes:
        title: Of the guide, in place of the study's name.
        author: Who wrote it.
        organisation: Where the author works.
        audience: Whom it is for.
        summary: Above the answer, in your own words.
        confidential: A mark on every sheet, such as `"Internal use only"`.
        logo: A picture beside the file that says so, such as `"logo.svg"`: PNG, JPEG or SVG, at most 200 kB.
        group_by: Systems that differ only in this factor, such as "storage", share a page of the guide, with a column
            for each value. It is named by what the systems' names have in common, else by their other factors; where
            neither says anything, each system keeps its page. Default: a page for each system.
    """

    title: Line = ""
    author: Line = ""
    organisation: Line = ""
    audience: Line = ""
    summary: Annotated[str, Field(max_length=2000)] = ""
    confidential: Annotated[str, Field(max_length=80), AfterValidator(_printable)] = ""
    logo: Annotated[str, AfterValidator(_logo_name)] = ""
    group_by: Line = ""


def read_logo(cover: CoverSpec, *folders: Path) -> bytes:
    """The picture that the cover names, from the first of the folders that has it; nothing where it names none.

    Raises:
        SpecError: No folder has it, or it is no picture of a kind that guides show.
    """
    if not cover.logo:
        return b""
    path = next((folder / cover.logo for folder in folders if (folder / cover.logo).exists()), folders[0] / cover.logo)
    try:
        picture = read_regular(path, _LOGO_BYTES_MAX)
    except OSError as error:
        raise SpecError(f"document.logo: {path}: {error.strerror}") from None
    if not _media_type(picture):
        raise SpecError(f"document.logo: {path}: is neither PNG nor JPEG nor SVG")
    return picture


def picture_address(picture: bytes) -> str:
    """A picture as a `data:` address, which a page holds itself; empty for none. Scripts in an SVG do not run."""
    return f"data:image/{_media_type(picture)};base64,{base64.b64encode(picture).decode()}" if picture else ""


def _media_type(picture: bytes) -> str:
    if picture.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if picture.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    return "svg+xml" if picture.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"<svg", b"<?xml")) else ""
