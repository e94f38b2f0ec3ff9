"""Costs in words: an amount with its currency, and what a cost rests on."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.analyse.findings.finding_model import Finding
from plimsoll.analyse.study.capacity_model import CapacityBasis
from plimsoll.prose.phrases import plain_percent
from plimsoll.record.model import Price
from plimsoll.units import format_number, format_significant
from plimsoll.wording import listed

BASIS_WORDS = {
    CapacityBasis.SEARCHED: "the capacity",
    CapacityBasis.WITHIN_OBJECTIVE: "the throughput within the objective",
    CapacityBasis.SUSTAINED_RATE: "the highest sustained rate",
    CapacityBasis.SATURATION: "the highest throughput",
}


def price_words(price: Price) -> str:
    """A stated price with its currency.

    >>> price_words(Price(per_month=310, currency="EUR")), price_words(Price(per_month=0.5))
    ('310 EUR', '0.50')
    """
    return with_currency(format_number(price.per_month), price.currency)


def money_words(amount: float, currency: str | None) -> str:
    """A calculated amount with its currency.

    >>> money_words(0.06912, "EUR"), money_words(310.4, None)
    ('0.0691 EUR', '310')
    """
    return with_currency(format_significant(amount), currency)


def with_currency(amount: str, currency: str | None) -> str:
    """An amount that is text already, with its currency where there is one."""
    return f"{amount} {currency}" if currency else amount


def without_capacity_words(systems: Sequence[str], basis: CapacityBasis) -> str:
    """That systems have no cost, because they lack what the others are judged by."""
    lacks = {
        CapacityBasis.SEARCHED: "a searched capacity",
        CapacityBasis.WITHIN_OBJECTIVE: "a level that is known to keep the objective",
        CapacityBasis.SUSTAINED_RATE: "a sustained rate",
        CapacityBasis.SATURATION: "any throughput",
    }
    return f"no cost is known of {listed(systems)}, without {lacks[basis]}"


def costs_sentence(finding: Finding) -> str:
    """What systems cost for what they sustain, the cheapest first; of many systems the cheapest alone."""
    seen = finding.known
    basis, currency = CapacityBasis(seen["basis"]), seen["currency"]
    pairs = zip(seen["systems"], seen["costs_per_million"], strict=True)
    costs = listed([f"{system} {money_words(cost, currency)}" for system, cost in pairs])
    at = f"per million transactions at {plain_percent(seen['utilisation'])} of {BASIS_WORDS[basis]}"
    what = "the lowest cost" if finding.code == "cheapest" else "cost"
    order = ", cheapest first" if seen["is_decided"] and len(seen["systems"]) > 1 else ""
    parts = [f"{finding.workload}: {what} {at}{order}: {costs}."]
    if not seen["is_decided"]:
        parts.append("Which system is the cheapest is not resolved.")
    if seen["without_price"]:
        parts.append(f"No price is known of {listed(seen['without_price'])}.")
    if seen["without_capacity"]:
        words = without_capacity_words(seen["without_capacity"], basis)
        parts.append(f"{words[0].upper()}{words[1:]}.")
    return " ".join(parts)
