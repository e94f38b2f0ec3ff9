"""Values as TOML text: what is read from it is what was given."""

from __future__ import annotations

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from plimsoll.spec.new_study import TomlValue, toml_lines

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    TEXT | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(TEXT, VALUES, max_size=4))
def test_what_is_written_is_read_again(table: dict[str, TomlValue]) -> None:
    assert tomllib.loads("\n".join(toml_lines(table))) == table
