"""Numbers that no computation takes, and nesting that no reader takes, are refused where they are read."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll import strict_json

BEYOND = [
    "9" * 400,
    "-" + "9" * 400,
    "9" * 5000,
    str(2**64),
    f"-{2**64}",
    "1e400",
    "-1E+31",
    "1e0000031",
    "0.1e32",
    f"{'9' * 40}.5",
    "NaN",
    "Infinity",
    "-Infinity",
]
NUMBERS = st.one_of(
    st.integers(-(2**70), 2**70).map(str),
    st.floats(allow_nan=True, allow_infinity=True).map(json.dumps),
    st.from_regex(r"-?(0|[1-9][0-9]{0,40})(\.[0-9]{1,5})?([eE][+-]?[0-9]{1,3})?", fullmatch=True),
)


@pytest.mark.parametrize("text", BEYOND)
def test_numbers_out_of_range_are_refused(text: str) -> None:
    for around in ('{"a": [%s]}', '{"a":[%s]}', '{"a":{"b":%s}}', "[1,%s]", "[\n\t%s\n]", "%s"):
        for data in (around % text, (around % text).encode()):
            with pytest.raises(ValueError, match="out of range"):
                strict_json.read(data)


@given(NUMBERS)
def test_what_is_within_the_bounds_is_read_and_nothing_else(text: str) -> None:
    number = json.loads(text)
    bound = strict_json.INTEGER_MAX if isinstance(number, int) else strict_json.FLOAT_MAX
    is_within = math.isfinite(number) and abs(number) <= bound if isinstance(number, float) else abs(number) <= bound
    try:
        assert strict_json.read(f'{{"a": [0,{text}]}}') == {"a": [0, number]}
        assert is_within
    except strict_json.NumberOutOfRangeError:
        assert not is_within


def test_a_number_is_named_with_its_place() -> None:
    text = f'{{"a": {{"b": [1, {{"c": {"9" * 400}}}]}}}}'
    with pytest.raises(strict_json.NumberOutOfRangeError) as raised:
        strict_json.read(text)
    assert raised.value.place == ("a", "b", 1, "c")
    assert raised.value.shown == f"{'9' * 24}… (400 digits)"


def test_counters_of_64_bits_are_read() -> None:
    most = 2**64 - 1
    assert strict_json.read(f"[{most}, -{most}, 1.5, 18446744073709551615.0, 1e30]") == [
        most,
        -most,
        1.5,
        2.0**64,
        1e30,
    ]


def test_words_that_look_like_numbers_are_words() -> None:
    text = json.dumps({"a": f", {'9' * 400}", "b": " NaN", "c": "3e99"})
    assert strict_json.read(text) == json.loads(text)


def test_deep_nesting_is_refused() -> None:
    for text in ("[" * 100_000, "[" * 100_000 + "]" * 100_000, '{"a":' * 5000 + "1" + "}" * 5000):
        with pytest.raises(ValueError, match="recursion limit exceeded"):
            strict_json.read(text)
    nested: list[object] = []
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises(ValueError, match="nests too deeply"):
        strict_json.write(nested)


def test_what_is_no_json_is_refused() -> None:
    for data in (b"\xff\xfe[\x001\x00", '{"a": 9}'.encode("utf-16"), b'"\xff"', b"[1e", '"\\ud800"', "[1] 2", b""):
        with pytest.raises(ValueError):  # noqa: PT011 - each has a message of its own
            strict_json.read(data)


def test_what_others_could_not_read_is_not_written() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        strict_json.write({"a": float("nan")})
