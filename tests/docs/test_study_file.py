"""docs/study-file.md says what every key of a study file means."""

from __future__ import annotations

import pytest
from model_docs import meanings
from write_study_docs import models, written_fields

from plimsoll.spec.fields import Written
from support.repository import ROOT

PAGE = (ROOT / "docs" / "study-file.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", dict.fromkeys(models()), ids=lambda kind: kind.__name__)
def test_every_key_has_a_meaning_that_users_understand(kind: type[Written]) -> None:
    known = meanings(kind)
    silent = [name for name in kind.model_fields if not known.get(name)]
    assert not silent, f"{kind.__name__}: say under Attributes what these mean: {', '.join(silent)}"
    assert not [name for name, text in known.items() if "None" in text], "say what users write instead of None"
    assert not set(known) - set(kind.model_fields)
    assert all(f"| `{name}` |" in PAGE for name, _ in written_fields(kind))
