"""DBT-2's report: the table of its post-processing, as text or RST, of older and newer versions.

The measured time follows from new orders and new orders per minute: it is printed in minutes with one decimal only.
"""

from __future__ import annotations

import re

from plimsoll.analyse.tpcc_clauses import TYPES
from plimsoll.importers.kit_run import NUMBER, RunReader, TypeFigures
from plimsoll.importers.log_places import WAREHOUSES_MAX

_NAMES = {name.replace("_", " ").title(): name for name in TYPES}
_ROW = re.compile(
    rf"({'|'.join(_NAMES)})\s+{NUMBER}\s+(?:{NUMBER}\s+(?::\s+)?{NUMBER}|N/A)\s+(\d{{1,12}})\s+(\d{{1,12}})\s+{NUMBER}",
    re.ASCII,
)
_ROW_LIKE = re.compile(rf"(?:{'|'.join(_NAMES)})\s+\d")
_HEADING = re.compile(r"Transaction\s+%\s+Average\b.*")
_NOTPM = re.compile(rf"(?:\* Throughput: )?{NUMBER} new-order transactions per minute \(NOTPM\)", re.ASCII)
_ERRORS = re.compile(r"\* Unknown Errors: (\d{1,12})|(\d{1,12}) total unknown errors", re.ASCII)
_SCALE = re.compile(r"\* Scale Factor: (\d{1,8}) warehouses?", re.ASCII)


class Dbt2ReportReader(RunReader):
    """Reports of DBT-2 in a file."""

    kit = "dbt2"

    def _begin(self, number: int) -> None:
        super()._begin(number)
        self._rows: dict[str, TypeFigures] = {}
        self._notpm: float | None = None

    def _starts(self, text: str) -> bool:
        return bool(self._rows) and bool(_HEADING.fullmatch(text) or _SCALE.fullmatch(text))

    def _line(self, number: int, text: str) -> None:
        if match := _ROW.fullmatch(text):
            self._rows[_NAMES[match[1]]] = _row(match)
        elif _ROW_LIKE.match(text):
            self._skip(number, "cannot be read as a row of DBT-2's report", text)
        elif match := _NOTPM.fullmatch(text):
            self._notpm = float(match[1])
        elif "NOTPM" in text:
            self._skip(number, "cannot be read as new orders per minute", text)
        elif match := _ERRORS.fullmatch(text):
            self._run.failed = int(match[1] or match[2])
        elif (match := _SCALE.fullmatch(text)) and 0 < int(match[1]) <= WAREHOUSES_MAX:
            self._run.warehouses = int(match[1])

    def _close(self) -> None:
        if self._rows.keys() == set(TYPES) and self._notpm and self._rows["new_order"].completed:
            self._run.types = {name: self._rows[name] for name in TYPES}
            self._run.duration_s = self._rows["new_order"].completed / self._notpm * 60
        elif self._rows:
            self._run.refusals.append("the report has not all five types and its new orders per minute")


def _row(match: re.Match[str]) -> TypeFigures:
    """One type; its total has those that were rolled back, its response times are in seconds."""
    stated = {"mean": match[3], "p90": match[4]}
    return TypeFigures(
        completed=int(match[5]),
        rolled_back=int(match[6]),
        response_ms={name: round(float(value) * 1000, 6) for name, value in stated.items() if value is not None},
    )
