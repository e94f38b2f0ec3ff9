"""Prices as users write them: with a system of a study, or in a file of their own.

utilisation = 0.5

[price."system name"]
per_month = 310
currency = "EUR"
term = "1 year reserved"
date = 2026-11-01
"""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from plimsoll.errors import SpecError
from plimsoll.record.price import Price
from plimsoll.regular_file import text_regular
from plimsoll.spec.fields import Name, Written, faults_of, suggestion

UTILISATION = 0.5
"""Share of its capacity at which a system is taken to run where nothing else is said."""

PRICE_FILE_BYTES_MAX = 1_000_000

Utilisation = Annotated[float, Field(gt=0, le=1)]


class PriceSpec(Written):
    """The cost of a system, with what makes prices comparable.

    Attributes:
        per_month: Cost per month.
        currency: Currency code of ISO 4217, such as "EUR".
        term: Terms of the price, such as "1 year reserved".
        date: Date of the price.
    """

    per_month: float = Field(ge=0, allow_inf_nan=False)
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$")] | None = None
    term: Name | None = None
    date: datetime.date | None = None

    def price(self) -> Price:
        """The same as recordings have it."""
        return Price(per_month=self.per_month, currency=self.currency, term=self.term, date=self.date)


class PriceFile(Written):
    """A file of prices.

    Attributes:
        utilisation: Share of their capacity at which systems will run; None for what the study says.
        price: By the name of the system.
    """

    utilisation: Utilisation | None = None
    price: dict[str, PriceSpec] = Field(default_factory=dict)

    def price_of(self, system: str) -> Price | None:
        """The price of a system; None where the file does not have it."""
        return self.price[system].price() if system in self.price else None


_KNOWN = {"": tuple(PriceFile.model_fields)}


def read_prices(path: Path) -> PriceFile:
    """Reads and checks a file of prices.

    Raises:
        SpecError: The file cannot be read or is wrong; all faults at once.
    """
    try:
        written = tomllib.loads(text_regular(path, PRICE_FILE_BYTES_MAX))
    except OSError as error:
        raise SpecError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:  # not TOML, not UTF-8, or a number of thousands of digits
        raise SpecError(f"{path}: is not TOML: {error}") from None
    except RecursionError:
        raise SpecError(f"{path}: is nested too deeply; this is no file of prices") from None
    try:
        return PriceFile.model_validate(written)
    except ValidationError as error:
        raise SpecError(*(f"{path.name}: {fault}" for fault in faults_of(error, known=_KNOWN))) from None


def check_systems(prices: PriceFile, path: Path, systems: Sequence[str]) -> None:
    """Checks that every price is of a system that the study has.

    Args:
        prices: The file of prices.
        path: Where it was read, for messages.
        systems: The names of the study's systems.

    Raises:
        SpecError: Some are not; all faults at once.
    """
    unknown = [name for name in prices.price if name not in systems]
    if unknown:
        raise SpecError(
            *(
                f'{path.name}: price."{name}": the study has no system of that name{suggestion(name, systems)}'
                for name in unknown
            )
        )
