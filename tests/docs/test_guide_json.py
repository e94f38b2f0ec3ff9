"""docs/guide-json.md, the pages of what commands print with --json, and their schemas say what documents hold."""

from __future__ import annotations

import json

import jsonschema
import pytest
from write_guide_docs import documents, meanings
from write_json_docs import PRINTED, file_name

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.model import ANALYSIS_FORMAT, Analysis
from plimsoll.record.document import Document
from support.analyses import hostile_analysis, measured_analysis
from support.made import measured
from support.published import imported_analysis
from support.repository import ROOT

PAGE = (ROOT / "docs" / "guide-json.md").read_text(encoding="utf-8")
SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "docs" / "guide.schema.json").read_text(encoding="utf-8")))


DESCRIBED = [
    (kind, page)
    for page, kinds in (
        ("guide-json.md", documents(Analysis)),
        *((f"{file_name(command)}-json.md", printed.kinds) for command, printed in PRINTED.items()),
    )
    for kind in kinds
]


@pytest.mark.parametrize(("kind", "page"), DESCRIBED, ids=[f"{page}-{kind.__name__}" for kind, page in DESCRIBED])
def test_every_field_has_a_meaning(kind: type[Document], page: str) -> None:
    """The page is made from the docstrings: what they leave out would be an empty cell."""
    silent = [name for name in kind.model_fields if not meanings(kind).get(name)]
    assert not silent, f"{kind.__name__}: say under Attributes what these mean: {', '.join(silent)}"
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    section = text.split(f"\n## {kind.__name__}\n")[1].split("\n## ")[0]
    described = [line.split("`")[1] for line in section.splitlines() if line.startswith("| `")]
    assert described == list(kind.model_fields)


def test_a_meaning_is_of_a_field() -> None:
    strays = [
        f"{kind.__name__}.{name}" for kind, _ in DESCRIBED for name in meanings(kind) if name not in kind.model_fields
    ]
    assert not strays


def test_the_schema_is_one() -> None:
    SCHEMA.check_schema(SCHEMA.schema)


def test_the_format_is_stated() -> None:
    assert f"`analysis_format` is {ANALYSIS_FORMAT}." in PAGE


@pytest.mark.parametrize(
    "make",
    [measured_analysis, imported_analysis, hostile_analysis, lambda: analyse("s", [measured([100.0] * 12)])],
    ids=["measured", "imported", "hostile", "analysed"],
)
def test_guides_are_what_the_schema_says(make: object) -> None:
    document = json.loads(make().model_dump_json())  # type: ignore[operator]
    SCHEMA.validate(document)
    SCHEMA.validate({**document, "added_later": 1})
    with pytest.raises(jsonschema.ValidationError):
        SCHEMA.validate({**document, "study": 7})
