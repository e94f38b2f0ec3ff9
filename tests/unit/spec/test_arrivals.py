"""Rates as people write them."""

from __future__ import annotations

import pytest

from plimsoll.errors import SpecError
from plimsoll.spec.clients import OpenArrivals, RateStep, parse_rate


def test_a_rate_goes_on_for_ever() -> None:
    assert parse_rate(" 12.5 ") == (RateStep(None, 12.5, 12.5),)


def test_steps_and_ramps_follow_each_other() -> None:
    assert parse_rate("100 for 2m, 100 to 0 for 500ms , 7 for 1s") == (
        RateStep(120.0, 100.0, 100.0),
        RateStep(0.5, 100.0, 0.0),
        RateStep(1.0, 7.0, 7.0),
    )


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("fast", "must be transactions per second"),
        ("-1", "must be transactions per second"),
        ("nan", "must be transactions per second"),
        ("1e300", "must be transactions per second"),
        ("0", "more than 0 somewhere"),
        ("0 for 5s, 0", "more than 0 somewhere"),
        ("500, 100 for 5s", "only the last one without 'for'"),
        ("0 to 500", "only the last one without 'for'"),
        ("500 for ages", "must be a duration"),
        ("500 for 5s,", "must be a rate such as 500"),
        ("", "must be a rate such as 500"),
    ],
)
def test_what_is_no_rate_is_refused(text: str, wrong: str) -> None:
    with pytest.raises(SpecError, match=wrong):
        parse_rate(text)


def test_when_the_rate_falls_is_known() -> None:
    assert OpenArrivals(steps=parse_rate("2000 for 60s, 500")).falls_s() == (60.0,)
    assert OpenArrivals(steps=parse_rate("0 to 100 for 10s, 100 for 5s, 100 to 50 for 5s, 60")).falls_s() == (15.0,)
    assert OpenArrivals(steps=parse_rate("500")).falls_s() == ()
