"""What a system costs in a month, and on which terms: a price is no condition of a trial and may change later."""

from __future__ import annotations

import datetime
from typing import Any

from plimsoll.record.document import Document


class Price(Document):
    """The price of a system.

    Attributes:
        per_month: What a month costs.
        currency: ISO 4217, such as `EUR`; null where the user does not say.
        term: On which terms, such as `1 year reserved`; null where the user does not say.
        date: When it was the price; null where the user does not say.
    """

    per_month: float
    currency: str | None = None
    term: str | None = None
    date: datetime.date | None = None


def priced(price: Price | None) -> dict[str, Any]:
    """The fields of a system's record that say its price."""
    return {"cost_per_month": None if price is None else price.per_month, "price": price}
