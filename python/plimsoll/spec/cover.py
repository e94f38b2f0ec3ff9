"""What a guide says of itself as a document: title, author, audience. In a study file, or beside an imported table."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from plimsoll.spec.fields import Written


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("must be one line of printable text")
    return text.strip()


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
    """

    title: Line = ""
    author: Line = ""
    organisation: Line = ""
    audience: Line = ""
    summary: Annotated[str, Field(max_length=2000)] = ""
    confidential: Annotated[str, Field(max_length=80), AfterValidator(_printable)] = ""
