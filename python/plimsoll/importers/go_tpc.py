"""What go-tpc prints during and after `tpcc run`, as plain text (also `tiup bench tpcc`) or as JSON.

A `[Current]` line has the counts of one type since the lines before, without saying when: lines that are printed
together are one interval. When the number of intervals does not fit the length of the run, some are missing, and where
is unknown: then all are left out. Mean response times are sum by count; the others have one significant digit, as kept.
Deliberately not here: output as a table, and other benchmarks of go-tpc.
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass

from plimsoll.analyse.trial.tpcc_clauses import NOTPM_PER_WAREHOUSE_MAX, TYPES
from plimsoll.importers.kit_run import COUNT_MAX, KitInterval, RunReader, TypeFigures, number
from plimsoll.importers.log_places import CONNECTIONS_MAX, WAREHOUSES_MAX

_LINE = re.compile(r"\[(Current|Summary)\] (\S+)\s+- (.*)")
_LIKE = re.compile(r"(?:\[(?:Current|Summary)\] |\[\{).*")
_TOTAL = re.compile(r"tpmC: (\S+?)(?:, .*?efficiency: (\S+)%)?")
_COMMAND = re.compile(r"(?:[+$#] *)*(?:\S*/)?(?:go-tpc|tiup\s+bench|tiup-bench)\s.*\btpcc\b.*\brun\b.*")
_STATISTICS = {
    "50th(ms)": "p50",
    "90th(ms)": "p90",
    "95th(ms)": "p95",
    "99th(ms)": "p99",
    "99.9th(ms)": "p999",
    "Max(ms)": "max",
}
_OPERATIONS = sorted(name + kind for name in TYPES for kind in ("", "_err"))
_TAKES_SLACK_S = 0.15
_LENGTH_MAX_S = 86_400
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}


@dataclass(frozen=True, slots=True)
class _Figures:
    """One type, or its errors, in one report; durations in milliseconds."""

    takes_s: float
    count: int
    response_ms: dict[str, float]


class GoTpcReader(RunReader):
    """Runs of go-tpc in a log."""

    kit = "go-tpc"

    def _begin(self, number: int) -> None:
        super()._begin(number)
        self._length_s: float | None = None
        self._blocks: list[dict[str, _Figures]] = []
        self._lost: set[int] = set()
        self._last_operation = ""
        self._summary: dict[str, _Figures] = {}
        self._is_next_lost = self._is_damaged = self._is_over = False

    def _starts(self, text: str) -> bool:
        after = bool(self._summary) or self._is_over
        current = text.startswith("[Current]") or '"[Current] "' in text
        return (after and current) or (bool(_COMMAND.fullmatch(text)) and (after or bool(self._blocks)))

    def _line(self, number: int, text: str) -> None:
        if _COMMAND.fullmatch(text):
            self._command(text)
        elif match := _LINE.fullmatch(text):
            pairs = dict(pair.split(": ", 1) for pair in match[3].split(", ") if ": " in pair)
            self._report(number, text, [(match[1], match[2], pairs)])
        elif text.startswith("[{"):
            self._objects(number, text)
        elif _LIKE.fullmatch(text):
            self._lose(number, text, is_summary=text.startswith("[Summary]"))
        elif match := _TOTAL.fullmatch(text):
            self._total(match[1], match[2])

    def _command(self, text: str) -> None:
        """Takes threads, warehouses and interval from a command line, as `set -x` of a shell prints it."""
        try:
            words = " ".join(shlex.split(text.lstrip("+$# "))).replace("=", " ")
        except ValueError:
            return
        threads = re.search(r" (?:-T|--threads) ?([1-9]\d{0,6})\b", words, re.ASCII)
        warehouses = re.search(r" --warehouses ([1-9]\d{0,6})\b", words, re.ASCII)
        interval = re.search(r" --interval (\d{1,5})([smh])(?: |$)", words, re.ASCII)
        if threads and int(threads[1]) <= CONNECTIONS_MAX:
            self._run.connections = int(threads[1])
        if warehouses and int(warehouses[1]) <= WAREHOUSES_MAX:
            self._run.warehouses = int(warehouses[1])
        if interval and 0 < int(interval[1]) * _SECONDS[interval[2]] <= _LENGTH_MAX_S:
            self._length_s = float(int(interval[1]) * _SECONDS[interval[2]])

    def _objects(self, number: int, text: str) -> None:
        """Takes a report as JSON: one line, an array of objects whose values are texts."""
        try:
            objects = [dict(record) for record in json.loads(text)]
        except (ValueError, TypeError, RecursionError):
            objects = []
        rows = [
            (str(record.get("Prefix", "")).strip(" []"), str(record.get("Operation", "")), record) for record in objects
        ]
        if objects and "tpmC" in objects[0]:
            self._total(str(objects[0]["tpmC"]), str(objects[0].get("efficiency", "")).removesuffix("%"))
        elif objects and all(prefix in ("Current", "Summary") for prefix, _, _ in rows):
            self._last_operation = ""
            self._report(number, text, rows)
        elif '"Prefix"' in text or '"tpmC"' in text:
            self._lose(number, text, is_summary="[Summary]" in text)

    def _report(self, number: int, text: str, rows: list[tuple[str, str, dict[str, str]]]) -> None:
        for prefix, name, pairs in rows:
            operation = name.lower()
            if operation.startswith(("keyingtime-", "thinkingtime-")):
                self._run.options["waits"] = True
            elif re.fullmatch(r"q\d+", operation):
                self._refuse("the run had analytical queries beside its transactions: not imported")
            elif operation in _OPERATIONS and (figures := _figures(pairs)):
                self._keep(prefix, operation, figures)
            else:
                self._lose(number, text, is_summary=prefix == "Summary")

    def _keep(self, prefix: str, operation: str, figures: _Figures) -> None:
        if prefix == "Summary":
            self._summary[operation] = figures
            return
        self._open(operation)
        self._blocks[-1][operation] = figures

    def _open(self, operation: str) -> None:
        """Begins an interval where the operations, which are sorted, begin anew."""
        if not self._blocks or operation <= self._last_operation or not self._last_operation:
            if self._is_next_lost:
                self._lost.add(len(self._blocks))
            self._blocks.append({})
            self._is_next_lost = False
        self._last_operation = operation

    def _lose(self, number: int, text: str, *, is_summary: bool) -> None:
        """Skips a line, and with it the report that it is part of, or both that it may be of."""
        self._skip(number, "cannot be read as a line of go-tpc's report", text)
        operation = re.match(r"\[Current\] (\w+)\s", text)
        if is_summary:
            self._is_damaged = True
        elif operation and operation[1].lower() in _OPERATIONS:
            self._open(operation[1].lower())
            self._lost.add(len(self._blocks) - 1)
        else:
            self._lost.add(len(self._blocks) - 1)
            self._is_next_lost = True

    def _refuse(self, why: str) -> None:
        if why not in self._run.refusals:
            self._run.refusals.append(why)

    def _total(self, tpmc: str, efficiency: str | None) -> None:
        """Takes the last line: the share of the highest possible figure tells the warehouses, if digits suffice."""
        self._is_over = True
        shown, percent = number(tpmc), number(efficiency or "")
        if not shown or not percent or percent <= 0.05 or self._run.warehouses:
            return
        low, high = (
            100 * (shown + sign * 0.05) / (NOTPM_PER_WAREHOUSE_MAX * (percent - sign * 0.05)) for sign in (-1, 1)
        )
        if int(high) == int(low) + 1 and int(high) <= WAREHOUSES_MAX:
            self._run.warehouses = int(high)

    def _close(self) -> None:
        is_whole = not self._is_damaged and (self._is_over or "stock_level" in self._summary)
        if not self._summary and self._blocks:
            self._blocks.pop()  # the log may end within the lines of an interval
        if self._summary and is_whole:
            self._run.types = {name: figures for name in TYPES if (figures := _of_type(self._summary, name))}
            self._run.duration_s = max(figures.takes_s for figures in self._summary.values()) or None
        length_s = self._length()
        if length_s is not None and self._fits(length_s):
            self._run.interval_s = length_s
            self._run.intervals = [
                _interval(index * length_s, length_s, block)
                for index, block in enumerate(self._blocks)
                if index not in self._lost
            ]

    def _length(self) -> float | None:
        """Seconds of an interval: as the command line says, or the longest that a type of one took."""
        if self._length_s or not self._blocks:
            return self._length_s
        longest_s = max((figures.takes_s for block in self._blocks for figures in block.values()), default=0.0)
        if round(longest_s) > 0 and abs(longest_s - round(longest_s)) <= _TAKES_SLACK_S:
            return float(round(longest_s))
        self._run.remarks.append("its intervals are left out: their length is unknown. Put --interval into the log")
        return None

    def _fits(self, length_s: float) -> bool:
        expected = None if self._run.duration_s is None else self._run.duration_s / length_s
        if expected is None or abs(len(self._blocks) - expected) <= 1:
            return True
        if self._blocks:
            self._run.remarks.append(
                f"its intervals are left out: there are {len(self._blocks)} of {length_s:g} s in "
                f"{self._run.duration_s} s, so that some are missing, and the log does not say which"
            )
        return False


def _figures(pairs: dict[str, str]) -> _Figures | None:
    """One line; None when a figure that must be there is not, or any cannot be read."""
    values = {
        name: number(str(value)) for name, value in pairs.items() if name in {*_STATISTICS, "Takes(s)", "Sum(ms)"}
    }
    count = re.fullmatch(r"\d{1,12}", str(pairs.get("Count", "")), re.ASCII)
    takes_s, sum_ms = values.get("Takes(s)"), values.get("Sum(ms)")
    if count is None or takes_s is None or sum_ms is None or int(count[0]) > COUNT_MAX:
        return None
    stated = {_STATISTICS[name]: value for name, value in values.items() if name in _STATISTICS and value is not None}
    if len(stated) + 2 < len(values):
        return None
    mean = {"mean": round(sum_ms / int(count[0]), 6)} if int(count[0]) else {}
    return _Figures(takes_s, int(count[0]), {**mean, **stated})


def _of_type(summary: dict[str, _Figures], name: str) -> TypeFigures | None:
    done, failed = summary.get(name), summary.get(f"{name}_err")
    if done is None and failed is None:
        return None
    return TypeFigures(
        completed=done.count if done else 0,
        failed=failed.count if failed else 0,
        response_ms=done.response_ms if done else {},
    )


def _interval(from_s: float, length_s: float, block: dict[str, _Figures]) -> KitInterval:
    counts = {name: figures.count for name, figures in block.items()}
    return KitInterval(
        from_s=from_s,
        to_s=from_s + length_s,
        completed={name: counts.get(name, 0) for name in TYPES},
        failed={name: counts.get(f"{name}_err", 0) for name in TYPES},
    )
