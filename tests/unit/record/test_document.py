"""docs/recordings.md describes every file, field and column, and nothing that is not there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from plimsoll.record.document import Document
from plimsoll.record.environment import Environment
from plimsoll.record.frames import TABLES
from plimsoll.record.histograms import BUCKET_COUNT, bucket_middle_ns
from plimsoll.record.model import RECORD_FORMAT, Outcome, TrialRecord

TEXT = (Path(__file__).parents[3] / "docs" / "recordings.md").read_text()
NOT_WRITTEN = {"level.terminals"}
"""The workload's options have them."""

DOCUMENTS = {"trial.json": TrialRecord, "environment.json": Environment, "outcome.json": Outcome}


def rows(title: str) -> list[tuple[str, ...]]:
    """The first cells of a section's table, without the header."""
    section = TEXT.split(f"\n## {title}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    return [tuple(cell.strip(" `") for cell in line.strip("|").split(" | ")) for line in lines]


def kinds_in(annotation: Any) -> Iterator[type[Document]]:
    """The documents that a field's type mentions."""
    if isinstance(annotation, type) and issubclass(annotation, Document):
        yield annotation
    for argument in get_args(annotation):
        yield from kinds_in(argument)


def fields(kind: type[Document], prefix: str = "") -> Iterator[str]:
    """Every field that holds a value, those of documents inside included."""
    for name, field in kind.model_fields.items():
        inner = list(kinds_in(field.annotation))
        yield from (f for one in inner for f in fields(one, f"{prefix}{name}.")) if inner else [prefix + name]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_field_is_described(name: str) -> None:
    assert [field for field, *_ in rows(name)] == [
        field for field in fields(DOCUMENTS[name]) if field not in NOT_WRITTEN
    ]


@pytest.mark.parametrize("name", TABLES)
def test_every_column_is_described(name: str) -> None:
    described = [(column, kind) for column, kind, _ in rows(name)]
    assert described == [(column, str(kind)) for column, kind in TABLES[name].items()]


def test_every_file_is_listed() -> None:
    listed = re.findall(r"^   (\S+\.\w+)", TEXT, re.MULTILINE)
    assert sorted(listed) == sorted([*DOCUMENTS, *TABLES])
    assert f"`record_format` in `trial.json` is {RECORD_FORMAT}." in TEXT


def test_the_layout_of_buckets_is_as_described() -> None:
    bucket = np.arange(2048, BUCKET_COUNT, dtype=np.int64)
    k = bucket // 1024 - 1
    first, width = (bucket - 1024 * k) << k, np.int64(1) << k
    assert (bucket_middle_ns(bucket) == first + (width - 1) // 2).all()
    assert ((first + width)[:-1] == first[1:]).all()
    assert bucket_middle_ns(np.arange(2048)).tolist() == list(range(2048))
