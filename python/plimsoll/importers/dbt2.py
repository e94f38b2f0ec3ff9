"""DBT-2's mix logs, a line for each transaction, and the report that its post-processing makes of them.

The logs of one folder called `mix-N.log` are of one run. What counts is what ended after the last client had started
and before the first one was told to stop, as DBT-2's own report has it, in whole seconds. A mix log has each response
time, so that recordings get histograms. The report is text or RST, of older and newer versions; its measured time
follows from new orders and new orders per minute, since it is printed in minutes with one decimal only.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plimsoll.analyse.trial.tpcc_clauses import TYPES
from plimsoll.importers.kit_run import NUMBER, KitInterval, KitRun, RunReader, TypeFigures, number
from plimsoll.importers.log_places import WAREHOUSES_MAX
from plimsoll.importers.text_files import UnreadLines, lines_of
from plimsoll.record.frames import HISTOGRAMS
from plimsoll.record.histograms import bucket_of_ns

_LETTERS = {"n": 0, "p": 1, "o": 2, "d": 3, "s": 4}
_CODES = {"C": 0, "R": 1, "E": 2}
_MARKS = ("START", "TERMINATED")
_ROW = re.compile(r"\d+(?:\.\d+)?,(?:[dnops]|START|TERMINATED)(?:,.*)?")
_LIKE = re.compile(r"[^,]*,[^,]*(?:,[^,]*)*")
_RESPONSE_S_MAX = 86_400.0
_DURATION_S_MAX = 86_400


def is_mix_line(text: str) -> bool:
    """Whether a line is one of a mix log."""
    return _ROW.fullmatch(text) is not None


def runs_of_folders(paths: Sequence[Path]) -> list[list[Path]]:
    """The mix logs that are of one run each."""
    folders: dict[Path, list[Path]] = {}
    for path in paths:
        numbered = re.fullmatch(r"mix-\w+\.log", path.name) is not None
        folders.setdefault(path.parent if numbered else path, []).append(path)
    return list(folders.values())


def read_mix(paths: Sequence[Path], unread: Sequence[UnreadLines]) -> KitRun:
    """One run from all its mix logs.

    Args:
        paths: The logs.
        unread: For each of them.

    Raises:
        SpecError: One cannot be read, or is too large.
    """
    reader = _Reader()
    for path, log_unread in zip(paths, unread, strict=True):
        for line_number, line, text in lines_of(path, log_unread):
            reader.feed(line_number, line, text, log_unread)
    return reader.finish()


class _Reader:
    def __init__(self) -> None:
        self._digest = hashlib.sha256()
        self._lines = 1
        self._rows: list[tuple[float, int, int, float]] = []
        self._started_s: list[float] = []
        self._ended_s: list[float] = []

    def feed(self, line_number: int, line: bytes, text: str, unread: UnreadLines) -> None:
        self._digest.update(line.rstrip(b"\r") + b"\n")
        self._lines = max(self._lines, line_number)
        fields = text.split(",")
        at_s = number(fields[0])
        if at_s is not None and len(fields) > 1 and fields[1] in _MARKS:
            (self._started_s if fields[1] == "START" else self._ended_s).append(at_s)
        elif row := _row(at_s, fields):
            self._rows.append(row)
        elif _LIKE.fullmatch(text):
            unread.skip(line_number, "cannot be read as a line of a mix log", text)

    def finish(self) -> KitRun:
        run = KitRun("dbt2", (1, self._lines), digest=self._digest.hexdigest())
        if not self._started_s:
            run.refusals.append("the log has no START, so that its measurement cannot be told from its ramp-up")
            return run
        columns = np.array(self._rows, dtype=np.float64).reshape(-1, 4)
        first_s, last_s = max(self._started_s), min(self._ended_s, default=columns[:, 0].max(initial=0.0))
        if last_s - first_s > _DURATION_S_MAX:
            run.refusals.append("the last START and the first TERMINATED are more than a day apart")
            return run
        length_s = max(int(last_s - first_s), 0)
        seconds = np.floor(columns[:, 0] - first_s).astype(np.int64)
        inside = (columns[:, 0] > first_s) & (seconds < length_s)
        if length_s == 0 or not inside.any():
            run.refusals.append("no transaction ended between the last START and the first TERMINATED")
            return run
        if not self._ended_s:
            run.remarks.append("has no TERMINATED: it was cut short, and counts up to its last line")
        _fill(run, seconds[inside], columns[inside], length_s, is_whole=bool(self._ended_s))
        return run


def _row(at_s: float | None, fields: list[str]) -> tuple[float, int, int, float] | None:
    """Time, type, code and response time in seconds of a transaction."""
    if at_s is None or len(fields) != 7 or fields[1] not in _LETTERS or fields[2] not in _CODES:
        return None
    response_s = number(fields[3])
    if response_s is None or response_s > _RESPONSE_S_MAX:
        return None
    return at_s, _LETTERS[fields[1]], _CODES[fields[2]], response_s


def _fill(
    run: KitRun, seconds: NDArray[np.int64], columns: NDArray[np.float64], length_s: int, *, is_whole: bool
) -> None:
    types, codes = columns[:, 1].astype(np.int64), columns[:, 2].astype(np.int64)
    done = codes != _CODES["E"]
    completed, failed = (_counts(seconds[which], types[which], length_s) for which in (done, ~done))
    run.intervals = [
        KitInterval(
            from_s=float(index),
            to_s=float(index + 1),
            completed=dict(zip(TYPES, completed[index].tolist(), strict=True)),
            failed=dict(zip(TYPES, failed[index].tolist(), strict=True)),
        )
        for index in range(length_s)
    ]
    run.histograms = _histograms(seconds[done], types[done], columns[done, 3])
    if is_whole:
        rolled_back = np.bincount(types[codes == _CODES["R"]], minlength=len(TYPES))
        run.duration_s = float(length_s)
        run.types = {
            name: TypeFigures(
                completed=int(completed[:, index].sum()),
                failed=int(failed[:, index].sum()),
                rolled_back=int(rolled_back[index]),
            )
            for index, name in enumerate(TYPES)
        }


def _counts(seconds: NDArray[np.int64], types: NDArray[np.int64], length_s: int) -> NDArray[np.int64]:
    """Transactions by second and type, shape (length_s, 5)."""
    flat = np.bincount(seconds * len(TYPES) + types, minlength=length_s * len(TYPES))
    return flat.reshape(length_s, len(TYPES)).astype(np.int64)


def _histograms(seconds: NDArray[np.int64], types: NDArray[np.int64], response_s: NDArray[np.float64]) -> pl.DataFrame:
    order = np.lexsort((types, seconds))
    keys = (seconds * len(TYPES) + types)[order]
    ns = np.rint(response_s[order] * 1e9).astype(np.int64)
    buckets = bucket_of_ns(ns)
    rows = []
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    for start, end in zip(starts, [*starts[1:], keys.size], strict=True):
        used, counts = np.unique(buckets[start:end], return_counts=True)
        row = {"interval": int(keys[start]) // len(TYPES), "transaction": TYPES[int(keys[start]) % len(TYPES)]}
        row |= {"measure": "response", "buckets": used.tolist(), "counts": counts.tolist()}
        rows.append(row | {"sum_ns": int(ns[start:end].sum()), "max_ns": int(ns[start:end].max())})
    return pl.DataFrame([{"driver": "", "host": "", "instance": "", **row} for row in rows], schema=HISTOGRAMS)


_NAMES = {name.replace("_", " ").title(): name for name in TYPES}
_REPORT_ROW = re.compile(
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
        if match := _REPORT_ROW.fullmatch(text):
            self._rows[_NAMES[match[1]]] = _report_row(match)
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


def _report_row(match: re.Match[str]) -> TypeFigures:
    """One type; its total has those that were rolled back, its response times are in seconds."""
    stated = {"mean": match[3], "p90": match[4]}
    return TypeFigures(
        completed=int(match[5]),
        rolled_back=int(match[6]),
        response_ms={name: round(float(value) * 1000, 6) for name, value in stated.items() if value is not None},
    )
