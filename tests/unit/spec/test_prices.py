"""Prices in a study and in a file of their own; all faults at once."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from plimsoll.errors import SpecError
from plimsoll.record.model import Price
from plimsoll.spec.study import parse_study
from plimsoll.spec.system import read_prices

STUDY = """
[study]
name = "s"
levels = {{ connections = [1] }}
reset = "never"
[[workload]]
name = "ro"
kind = "oltp_read_only"
[[system]]
name = "a"
target = "mysql://u@127.0.0.1/db"
{price}
"""
WRITTEN = 'cost = { per_month = 310, currency = "EUR", term = "1 year reserved", date = 2026-11-01 }'
PRICE = Price(per_month=310, currency="EUR", term="1 year reserved", date=datetime.date(2026, 11, 1))


def test_a_study_states_prices_in_two_ways() -> None:
    assert parse_study(STUDY.format(price=WRITTEN)).system[0].price == PRICE
    assert parse_study(STUDY.format(price="cost_per_month = 12")).system[0].price == Price(per_month=12)
    assert parse_study(STUDY.format(price="")).system[0].price is None


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        (f"cost_per_month = 1\n{WRITTEN}", "keep one of them"),
        ('cost = { per_month = 1, currency = "euro" }', "currency"),
        ("cost = { per_month = -1 }", "must be >= 0"),
        ('cost = { per_month = 1, curency = "EUR" }', "did you mean currency?"),
    ],
)
def test_wrong_prices(written: str, fault: str) -> None:
    with pytest.raises(SpecError, match=fault.replace("?", r"\?")):
        parse_study(STUDY.format(price=written))


def test_a_file_of_prices(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text('utilisation = 0.4\n[price."system a"]\nper_month = 310\ncurrency = "EUR"\n')
    prices = read_prices(path)
    assert prices.utilisation == 0.4
    assert prices.price_of("system a") == Price(per_month=310, currency="EUR")
    assert prices.price_of("b") is None
    path.write_text('utilisation = 2\n[price.a]\ncurrency = "x"\n')
    with pytest.raises(SpecError) as caught:
        read_prices(path)
    assert len(caught.value.lines) == 3
    path.write_text("= no TOML")
    with pytest.raises(SpecError, match="is not TOML"):
        read_prices(path)
