"""What others put before each line of a log: times, names of containers, colours.

Known are `ts`, journald, `docker logs --timestamps` and `docker compose logs`. Deliberately not here: what a line
itself means.
"""

from __future__ import annotations

import re

_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}m")
_CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_ZONE = r"(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?"
_DATE = rf"\d{{4}}[-/]\d\d[-/]\d\d[T ]{_CLOCK}{_ZONE}"
_JOURNAL = rf"[A-Z][a-z]{{2}} [ \d]\d {_CLOCK}(?: [\w.-]{{1,64}} [\w./-]{{1,64}}(?:\[\d{{1,9}}\])?:)?"
_PREFIX = re.compile(
    rf"(?:\[(?:{_DATE}|{_CLOCK})\]|{_DATE}|{_JOURNAL}|{_CLOCK}):?\s+|[\d._-]*[A-Za-z][\w.-]{{0,99}}\s*\|(?:\s+|$)",
    re.ASCII,
)
_PREFIXES_MAX = 3


def without_prefix(text: str) -> str:
    """The line without what stands before it.

    >>> without_prefix("sysbench-1  | 2026-01-31T12:00:00.000000001Z [ 10s ] thds: 4")
    '[ 10s ] thds: 4'
    """
    text = _COLOUR.sub("", text) if "\x1b" in text else text
    for _ in range(_PREFIXES_MAX):
        if (found := _PREFIX.match(text)) is None:
            break
        text = text[found.end() :]
    return text.strip()
