"""The page of a test that is no study, such as of durability, and its files.

Deliberately not here: what is said of which test (`durability`, `failover`), and how pages look (`pages`).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.guide.tables import Table
from plimsoll.record.document import Document

if TYPE_CHECKING:
    from plimsoll.guide.pages import Page

INCOMPLETE = "The test was ended before all of it was done: this is what was known by then."


@dataclass(frozen=True, slots=True, kw_only=True)
class TestPage:
    """What is shown of a test.

    Attributes:
        name: Of its files.
        title: Its heading.
        facts: What was tested, as names and values.
        tables: Its figures.
        sentences: What they say, the gravest first.
        is_complete: All of the test was done.
    """

    __test__ = False  # no test of pytest's

    name: str
    title: str
    facts: tuple[tuple[str, str], ...]
    tables: tuple[Table, ...]
    sentences: tuple[str, ...]
    is_complete: bool

    @property
    def page(self) -> Page:
        """The page with all of it. Charts take long to import, and a terminal needs none of it."""
        from plimsoll.guide.pages import Page
        from plimsoll.guide.sections import Section

        return Page(
            brand="Test",
            title=self.title,
            facts=self.facts,
            doubts=() if self.is_complete else (INCOMPLETE,),
            sections=(Section(anchor="result", title="Result", sentences=self.sentences, tables=self.tables),),
        )


def write_page(page: TestPage, record: Document, folder: Path) -> tuple[Path, ...]:
    """Writes NAME.json, NAME.md and NAME.html; a reader sees each old or new, and never a part.

    Raises:
        HostError: The folder cannot be written to.
    """
    from plimsoll.guide.files import write_texts
    from plimsoll.guide.pages import page_files

    return write_texts(folder, page_files(page.page, record.model_dump_json(indent=2), page.name), "the result")
