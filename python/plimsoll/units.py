"""How quantities are read from what people write, and shown to them. Inside, every name carries its unit.

Deliberately not here: arithmetic on quantities. Code calculates with plain numbers in the unit that the name says.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction

from plimsoll.errors import SpecError

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_BYTES = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_DURATION_S_MAX = 366 * 86_400.0
_SIZE_BYTES_MAX = 2**60
_GROWTH_MAX = 99


def parse_duration_s(text: str) -> float:
    """Reads a duration such as `"250ms"`, `"60s"`, `"5m"` or `"3h"` as seconds.

    Raises:
        SpecError: The text is no duration.

    >>> parse_duration_s("1.5m"), parse_duration_s("1.1h")
    (90.0, 3960.0)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|min|m|h)\s*", text, re.ASCII)
    if match is None:
        raise SpecError(f"must be a duration such as 250ms, 60s, 5m or 3h, is {_shortened(text)}")
    seconds = round(float(match[1]) * _SECONDS[match[2]], 9)  # 1.1 h are 3,960 s, and not a little more
    if seconds > _DURATION_S_MAX:
        raise SpecError(f"must be at most a year (8784h), is {_shortened(text)}")
    return seconds


def parse_size_bytes(text: str) -> int:
    """Reads a size such as `"512M"` or `"2G"` (powers of 1,024) as bytes.

    Raises:
        SpecError: The text is no size.

    >>> parse_size_bytes("2K")
    2048
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", text, re.ASCII)
    if match is None:
        raise SpecError(f"must be a size such as 512M or 2G, is {_shortened(text)}")
    size_bytes = float(match[1]) * _BYTES[match[2]]
    if size_bytes > _SIZE_BYTES_MAX:
        raise SpecError(f"must be at most 1048576T, is {_shortened(text)}")
    return int(size_bytes)


def parse_whole(text: str) -> int | None:
    """Reads digits as a number of up to 18 of them; None for anything else, whatever it is.

    >>> parse_whole("12"), parse_whole("²"), parse_whole("-1"), parse_whole("9" * 5000)
    (12, None, None, None)
    """
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 18 else None


def _shortened(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:39]}…")


def format_rate(per_second: float, unit: str = "tps") -> str:
    """Shows a throughput that is kept per second: three to four significant digits, thousands separated.

    Args:
        per_second: Transactions per second.
        unit: `"tps"`, or `"tpm"` to show it per minute.

    >>> format_rate(1234.5), format_rate(1089.0, "tpm"), format_rate(3.14159)
    ('1,234 tps', '65,340 tpm', '3.14 tps')
    """
    return f"{format_number(per_second * (60 if unit == 'tpm' else 1))} {unit}"


def format_rate_inwards(per_second: float, unit: str = "tps", *, is_lower_end: bool = False) -> str:
    """Shows the end of a range of throughputs with the digits of `format_rate`, rounded to within the range.

    >>> format_rate_inwards(1234.9), format_rate_inwards(1234.1, is_lower_end=True), format_rate_inwards(9.999)
    ('1,234 tps', '1,235 tps', '9.99 tps')
    """
    value = Fraction(per_second) * (60 if unit == "tpm" else 1)
    decimals = _decimals(float(value))
    scaled = (math.ceil if is_lower_end else math.floor)(value * 10**decimals)
    return f"{scaled / 10**decimals if decimals else scaled:,.{decimals}f} {unit}"


def format_exact(value: float) -> str:
    """Shows a number that was asked for, with all of its digits, thousands separated.

    >>> format_exact(50.0), format_exact(1234.5), format_exact(2e6)
    ('50', '1,234.5', '2,000,000')
    """
    return f"{value:,.12g}"


def format_number(value: float) -> str:
    """Shows a number with as many decimals as its size deserves, thousands separated.

    >>> format_number(4682.0), format_number(12.34), format_number(0.1234)
    ('4,682', '12.3', '0.12')
    """
    return f"{value:,.{_decimals(value)}f}"


def _decimals(value: float) -> int:
    """Of a number as its size deserves."""
    size = abs(value)
    return 0 if size >= 100 else 1 if size >= 10 else 2


def format_significant(value: float) -> str:
    """Shows a figure of any size, such as an amount of money, with at least three significant digits.

    >>> format_significant(0.06912), format_significant(1234.5), format_significant(0.0)
    ('0.0691', '1,234', '0')
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:.0f}"
    return f"{value:,.{max(2 - math.floor(math.log10(abs(value))), 0)}f}"


def format_ms(milliseconds: float) -> str:
    """Shows a time that is kept in milliseconds.

    >>> format_ms(0.4567), format_ms(20.0), format_ms(2500.0)
    ('0.46 ms', '20.0 ms', '2.50 s')
    """
    if milliseconds >= 1000:
        return f"{format_number(milliseconds / 1000)} s"
    return f"{format_number(milliseconds)} ms"


def format_duration(seconds: float) -> str:
    """Shows how long something takes, for progress and plans.

    >>> format_duration(12.3), format_duration(75), format_duration(7260)
    ('12 s', '1 min 15 s', '2 h 01 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def format_bytes(count: float) -> str:
    """Shows a size in powers of 1,024.

    >>> format_bytes(1536), format_bytes(2 * 2**30)
    ('1.50 KiB', '2.00 GiB')
    """
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{format_number(count)} {unit}" if unit != "B" else f"{count:.0f} B"
        count /= 1024
    return f"{format_number(count)} TiB"


def parse_percent(text: str) -> float:
    """Reads a share such as `5%`.

    Returns:
        0..1 for 0..100 %; 0.05 here.

    Raises:
        SpecError: It is no number with a percent sign.

    >>> parse_percent("5%"), parse_percent("2.5 %")
    (0.05, 0.025)
    """
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?) ?%", text, re.ASCII)
    if match is None:
        raise SpecError(f'must be a number with a percent sign, such as "5%", is {text!r}')
    return float(Decimal(match[1]) / 100)


def parse_growth(text: str) -> float:
    """Reads by what share something grows: `30%/y` each year, `2%/mo` each month, `0` not at all.

    Returns:
        By the year, compounded: 0.3 for 30 % more each year.

    Raises:
        SpecError: It is no growth, or more than a hundredfold in a year.

    >>> parse_growth("30%/y"), round(parse_growth("2%/mo"), 4), parse_growth("0")
    (0.3, 0.2682, 0.0)
    """
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?) ?% ?/ ?(y|year|mo|month)", text.strip(), re.ASCII)
    if match is None and text.strip() != "0":
        raise SpecError(f"must be a growth such as 30%/y, 2%/mo or 0, is {_shortened(text)}")
    share = Decimal(match[1]) / 100 if match else Decimal(0)
    if match and match[2].startswith("m"):
        share = (1 + share) ** 12 - 1
    if share > _GROWTH_MAX:
        raise SpecError(f"must be at most 9900%/y, is {_shortened(text)}")
    return float(share)


def format_percent(ratio: float, *, signed: bool = False) -> str:
    """Shows a ratio 0..1 as percent.

    >>> format_percent(0.1234), format_percent(0.05, signed=True)
    ('12.3 %', '+5.0 %')
    """
    return f"{ratio * 100:+.1f} %" if signed else f"{ratio * 100:.1f} %"


def printable(text: str) -> str:
    r"""Makes text from a server or a file harmless on a terminal: what is not to be seen becomes an escape.

    >>> print(printable("a\x1b[31mb"))
    a\x1b[31mb
    """
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in text
    )
