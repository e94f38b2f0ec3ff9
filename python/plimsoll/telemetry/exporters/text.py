"""From the text of an exporter's page to its known samples: other lines are dropped unread.

What stands between quotes, and how it is escaped, is left to `prometheus_client`. Its parser takes time that grows with
the square of a line's length, so lines and their number are limited before. Deliberately not here: what samples mean.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from plimsoll.errors import HostError

LINES_MAX = 10_000
"""That are read; a machine of 500 CPUs has 5,000."""

_LINE_LENGTH_MAX = 1_000
_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")


@dataclass(frozen=True, slots=True)
class Exposed:
    """One sample of a page; its value is finite."""

    name: str
    labels: Mapping[str, str]
    value: float


def exposed(text: str, is_known: Callable[[str], bool]) -> list[Exposed]:
    """The samples of a page whose names are known.

    Args:
        text: The page.
        is_known: Says of a name whether it is.

    Raises:
        HostError: There are too many, or the page is not in Prometheus' text format.
    """
    from prometheus_client.parser import text_string_to_metric_families  # takes half a second, and most need it not

    lines = list(_known_lines(text, is_known))
    try:
        return [
            Exposed(sample.name, sample.labels, float(sample.value))
            for family in text_string_to_metric_families("\n".join([*lines, ""]))
            for sample in family.samples
            if math.isfinite(sample.value)
        ]
    except Exception:  # whatever a parser does with hostile text
        raise HostError("the answer is not in Prometheus' text format") from None


def _known_lines(text: str, is_known: Callable[[str], bool]) -> Iterator[str]:
    count = 0
    for line in io.StringIO(text):
        if len(line) > _LINE_LENGTH_MAX or (name := _NAME.match(line)) is None or not is_known(name[0]):
            continue
        count += 1
        if count > LINES_MAX:
            raise HostError(f"the answer has more than {LINES_MAX} samples that would be read")
        yield line.rstrip("\n")
