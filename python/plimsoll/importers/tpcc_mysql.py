"""What tpcc-mysql's `tpcc_start` prints: parameters, interval lines of the older and the newer kind, and results.

Response times are in milliseconds, whatever its documentation says. Percentiles of intervals are not read, as they
cannot be put together, nor whether response times kept their limits: it compares milliseconds with limits in seconds.
"""

from __future__ import annotations

import re

from plimsoll.analyse.trial.tpcc_clauses import TYPES
from plimsoll.importers.kit_run import NUMBER, KitInterval, RunReader, TypeFigures
from plimsoll.importers.log_places import CONNECTIONS_MAX, WAREHOUSES_MAX

_TIME_S_MAX = 10_000_000
_COUNT = r"(\d{1,12})"
_NEWER = re.compile(
    rf"(\d{{1,9}}), trx: {_COUNT}, 95%: {NUMBER}, 99%: {NUMBER}, max_rt: {NUMBER}" + rf", {_COUNT}\|{NUMBER}" * 4,
    re.ASCII,
)
_OLDER = re.compile(r"(\d{1,9})" + rf", {_COUNT}\(\d{{1,12}}\):{NUMBER}\|{NUMBER}" * 5, re.ASCII)
_INTERVAL_LIKE = re.compile(r"\d+, (?:trx: |\d+\(\d+\):)")
_SETTING = re.compile(r"\[(warehouse|connection)\]: (\d{1,8})", re.ASCII)
_RESULT = re.compile(
    rf"\[([0-4])\] sc:{_COUNT}\s+lt:{_COUNT}\s+rt:{_COUNT}\s+fl:{_COUNT}(?:\s+avg_rt: (-?nan|{NUMBER})(?: .*)?)?",
    re.ASCII,
)
_RESULT_LIKE = re.compile(r"\[\d\] sc:")
_MEASURED = re.compile(rf"in {NUMBER} sec\.", re.ASCII)


class TpccMysqlReader(RunReader):
    """Runs of tpcc-mysql in a log."""

    kit = "tpcc-mysql"

    def _begin(self, number: int) -> None:
        super()._begin(number)
        self._results: dict[str, TypeFigures] = {}
        self._longest_ms = dict.fromkeys(TYPES, 0.0)
        self._section = ""
        self._follows = False
        self._is_complete = True

    def _starts(self, text: str) -> bool:
        begun = bool(self._run.intervals or self._results)
        return begun and (text == "<Parameters>" or "TPC-C Load Generator" in text)

    def _line(self, number: int, text: str) -> None:
        if text.startswith("<"):
            self._section = text
        elif text.startswith("MEASURING START"):
            self._follows = True
        elif match := _SETTING.fullmatch(text):
            self._setting(number, text, match[1], int(match[2]))
        elif _INTERVAL_LIKE.match(text):
            self._interval(number, text)
        elif self._section == "<Raw Results>":
            self._result(number, text)

    def _setting(self, number: int, text: str, name: str, value: int) -> None:
        if not 0 < value <= (CONNECTIONS_MAX if name == "connection" else WAREHOUSES_MAX):
            self._skip(number, "its number is out of range", text)
        elif name == "connection":
            self._run.connections = value
        else:
            self._run.warehouses = value

    def _interval(self, number: int, text: str) -> None:
        newer, older = _NEWER.fullmatch(text), _OLDER.fullmatch(text)
        match = newer or older
        before_s = self._run.intervals[-1].to_s if self._run.intervals else 0.0
        if match is None or not before_s < int(match[1]) <= _TIME_S_MAX:
            why = "its time does not rise" if match else "cannot be read as an interval line"
            self._skip(number, why, text)
            self._follows = self._is_complete = False
            return
        counts = match.group(2, 6, 8, 10, 12) if newer else match.group(2, 5, 8, 11, 14)
        if newer:
            longest = newer.group(5, 7, 9, 11, 13)
            self._longest_ms = {
                name: max(self._longest_ms[name], float(ms)) for name, ms in zip(TYPES, longest, strict=True)
            }
        self._is_complete &= newer is not None
        self._run.intervals.append(
            KitInterval(
                from_s=before_s if self._follows else -1.0,
                to_s=float(match[1]),
                completed={name: int(count) for name, count in zip(TYPES, counts, strict=True)},
            )
        )
        self._follows = True

    def _result(self, number: int, text: str) -> None:
        if match := _RESULT.fullmatch(text):
            in_time, late, retries, failed = (int(value) for value in match.group(2, 3, 4, 5))
            self._results[TYPES[int(match[1])]] = TypeFigures(
                completed=in_time + late,
                failed=failed,
                retries=retries,
                response_ms={"mean": float(match[7])} if match[7] else {},
            )
        elif _RESULT_LIKE.match(text):
            self._skip(number, "cannot be read as a result", text)
        elif (match := _MEASURED.fullmatch(text)) and 0 < float(match[1]) <= _TIME_S_MAX:
            self._run.duration_s = float(match[1])

    def _close(self) -> None:
        run = self._run
        lengths_s = [interval.to_s - interval.from_s for interval in run.intervals if interval.from_s >= 0]
        run.interval_s = max(lengths_s, key=lengths_s.count, default=1.0)
        run.intervals = [
            interval if interval.from_s >= 0 else _begun_at(interval, max(interval.to_s - run.interval_s, before))
            for interval, before in zip(
                run.intervals, [0.0, *(previous.to_s for previous in run.intervals)], strict=False
            )
        ]
        if len(self._results) < len(TYPES) or run.duration_s is None:
            return
        covers = self._is_complete and bool(run.intervals) and run.intervals[-1].to_s + run.interval_s > run.duration_s
        run.types = {
            name: _with_longest(self._results[name], self._longest_ms[name] if covers else 0.0) for name in TYPES
        }


def _begun_at(interval: KitInterval, from_s: float) -> KitInterval:
    return KitInterval(from_s=from_s, to_s=interval.to_s, completed=interval.completed)


def _with_longest(figures: TypeFigures, longest_ms: float) -> TypeFigures:
    longest = {"max": longest_ms} if longest_ms else {}
    return TypeFigures(
        completed=figures.completed,
        failed=figures.failed,
        retries=figures.retries,
        response_ms={**figures.response_ms, **longest},
    )
