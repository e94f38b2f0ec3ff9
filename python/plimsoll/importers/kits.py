"""Which kit printed a log, and the runs in it.

Deliberately not here: the formats, and what becomes of the runs (`tpcc`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from plimsoll.errors import SpecError
from plimsoll.importers.dbt2_mix import is_mix_line, read_mix, runs_of_folders
from plimsoll.importers.dbt2_report import Dbt2ReportReader
from plimsoll.importers.go_tpc import GoTpcReader
from plimsoll.importers.kit_run import KitRun, RunReader
from plimsoll.importers.log_files import LogFiles
from plimsoll.importers.log_lines import Unread, lines_of
from plimsoll.importers.skipped_logs import SkippedLog
from plimsoll.importers.sysbench_lines import command_line
from plimsoll.importers.tpcc_mysql import TpccMysqlReader

KITS = ("go-tpc", "sysbench-tpcc", "tpcc-mysql", "dbt2")

_CHARACTERS_MAX = 10_000  # a report of go-tpc as JSON is one line
_READERS: dict[str, type[RunReader]] = {one.kit: one for one in (GoTpcReader, TpccMysqlReader, Dbt2ReportReader)}
_SIGNS = {
    "go-tpc": re.compile(r'\[(?:Current|Summary)\] \S+\s+- .*|\[\{.*"(?:Prefix|tpmC)".*'),
    "tpcc-mysql": re.compile(r".*TPC-C Load Generator.*|<(?:Raw Results|Parameters)>|\d+, (?:trx: |\d+\(\d+\):).*"),
    "dbt2": re.compile(r"Transaction\s+%\s+Average\b.*|.* new-order transactions per minute \(NOTPM\)"),
    "sysbench-tpcc": re.compile(
        r"sysbench \d.*|Running the test with following options:|\[\s*\d+s\s*\] thds: .*|SQL statistics:"
    ),
}


@dataclass(frozen=True, slots=True)
class KitLog:
    """The runs in one log, or in the mix logs of one run.

    Attributes:
        path: The first log.
    """

    path: Path
    runs: tuple[KitRun, ...]
    unread: tuple[Unread, ...]


@dataclass(frozen=True, slots=True)
class KitLogs:
    """All logs.

    Attributes:
        sysbench: Those of sysbench-tpcc, which are read as logs of sysbench.
        refused: Logs of which nothing can be made.
        faults: What the user has to correct: one line each.
    """

    logs: tuple[KitLog, ...]
    sysbench: tuple[Path, ...]
    refused: tuple[SkippedLog, ...]
    faults: tuple[str, ...]


def read_kits(files: LogFiles, kit: str | None = None) -> KitLogs:
    """Reads logs, each of the kit that it looks like, or all of one.

    Args:
        files: The logs.
        kit: One of `KITS`; None to recognise it.
    """
    logs: list[KitLog] = []
    found: dict[str, list[Path]] = {}
    refused: list[SkippedLog] = []
    faults = [*files.faults]
    for path in files.paths:
        try:
            kind, script = _kind(path, kit)
            if kind is None:
                refused.append(SkippedLog.of(path, f"holds no run of {kit or 'a kit that is known'}"))
            elif kind == "sysbench-tpcc" and script not in (None, "tpcc"):
                reason = f"is of sysbench's {script}: not imported. Say plimsoll import sysbench"
                refused.append(SkippedLog.of(path, reason))
            elif kind in _READERS:
                logs.append(_read(path, _READERS[kind]))
            else:
                found.setdefault(kind, []).append(path)
        except SpecError as error:
            if path in files.named:
                faults += error.faults
            else:
                refused.append(SkippedLog.of(path, str(error).removeprefix(f"{path}: ")))
    for group in runs_of_folders(found.get("mix", [])):
        unread = tuple(Unread(str(path)) for path in group)
        logs.append(KitLog(group[0], (read_mix(group, unread),), unread))
    return KitLogs(tuple(logs), tuple(found.get("sysbench-tpcc", [])), tuple(refused), tuple(faults))


def _kind(path: Path, kit: str | None) -> tuple[str | None, str | None]:
    """The kit whose sign comes first, `mix` for a mix log of DBT-2; and the script of a command line before it."""
    script = None
    for text in _texts(path):
        if command := command_line(text):
            script = command.workload
        if kit in (None, "dbt2") and is_mix_line(text):
            return "mix", script
        for name, sign in _SIGNS.items():
            if kit in (None, name) and sign.fullmatch(text):
                return name, script
    return None, script


def _texts(path: Path) -> Iterator[str]:
    return (text for _, _, text in lines_of(path, Unread(str(path)), _CHARACTERS_MAX))


def _read(path: Path, reader: type[RunReader]) -> KitLog:
    unread = Unread(str(path))
    reading = reader(unread)
    for number, line, text in lines_of(path, unread, _CHARACTERS_MAX):
        reading.feed(number, line, text)
    reading.finish()
    return KitLog(path, tuple(reading.runs), (unread,))
