"""Numbers that no computation takes, and nesting that no reader takes, are refused where they are read."""

from __future__ import annotations

import pytest

from plimsoll.hosts import strict_json


@pytest.mark.parametrize("text", ["9" * 400, "-" + "9" * 400, "9" * 5000, str(2**64 + 1), "1e400", "1e30", "NaN"])
def test_numbers_out_of_range_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"the number \S+ is out of range"):
        strict_json.read(f'{{"a": [{text}]}}')


def test_counters_of_64_bits_are_read() -> None:
    assert strict_json.read(f"[{2**64}, -{2**63}, 1.5, 18446744073709551615.0]") == [2**64, -(2**63), 1.5, 2.0**64]


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(ValueError, match="nests too deeply"):
        strict_json.read("[" * 100_000)
    nested: list[object] = []
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises(ValueError, match="nests too deeply"):
        strict_json.write(nested)


def test_what_others_could_not_read_is_not_written() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        strict_json.write({"a": float("nan")})
