"""Logs of kits with a TPC-C-derived workload become recordings: go-tpc, sysbench-tpcc, tpcc-mysql and DBT-2.

Throughput is that of all five types, as everywhere; new-order transactions per minute are shown beside it. Each kit
departs from the specification in its own ways, so the kit is an option of the workload, and two of them are never one.
Which kit printed a log is found here; the formats are not (`go_tpc`, `tpcc_mysql`, `dbt2`, `sysbench_log`), nor where a
run belongs (`log_places`), nor any statistic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from plimsoll.analyse.findings.recording_warnings import LOG_CUT_SHORT
from plimsoll.errors import SpecError
from plimsoll.importers.dbt2 import Dbt2ReportReader, is_mix_line, read_mix, runs_of_folders
from plimsoll.importers.go_tpc import GoTpcReader
from plimsoll.importers.kit_run import KitRun, RunReader, error_rows, interval_rows
from plimsoll.importers.log_places import LogOptions, Place, Placing
from plimsoll.importers.log_runs import (
    LocatedRun,
    levels,
    many,
    place_runs,
    repetition_words,
    skipped_lines,
    split_refused,
    trial_id,
    with_doubts,
)
from plimsoll.importers.sysbench import import_sysbench
from plimsoll.importers.sysbench_log import command_line
from plimsoll.importers.text_files import LogFiles, UnreadLines, lines_of, log_files, raise_faults
from plimsoll.importers.tpcc_mysql import TpccMysqlReader
from plimsoll.importers.trials import ImportedTrial, ImportResult, SkippedLog
from plimsoll.record.environment import Environment
from plimsoll.record.level import Level
from plimsoll.record.model import (
    Origin,
    Outcome,
    ReportedResult,
    ReportedType,
    SystemRecord,
    TrialRecord,
    Verdict,
    Window,
    WorkloadRecord,
)
from plimsoll.spec.tpcc import TPCC

_SYSBENCH = "sysbench-tpcc"
_NEW_ORDERS_ROLLED_BACK = 10 / 23 * 0.01
"""Of all transactions of sysbench-tpcc: 10 of 23 are new orders, 1 % of them end in a rollback."""


def import_tpcc(
    paths: Sequence[Path], *, study_name: str, options: LogOptions | None = None, kit: str | None = None
) -> ImportResult:
    """Reads logs of kits with a TPC-C-derived workload. Several runs of one cell are its repetitions.

    Args:
        paths: The logs, or folders of them; each may hold several runs of one kit.
        study_name: The study that the recordings will belong to.
        options: What the logs do not say themselves.
        kit: The kit of all logs, one of `tpcc.KITS`; None to recognise it.

    Raises:
        SpecError: What a run belongs to is unknown or contradictory, or no log holds a run. All faults at once.
    """
    log_options = options or LogOptions()
    placing = Placing(log_options)
    files = log_files(paths)
    read = read_kits(files, kit)
    runs = [LocatedRun(log.path, run) for log in read.logs for run in log.runs]
    usable, refused_runs = split_refused(runs, _refusals)
    empty = (SkippedLog.of(log.path, "holds no run that can be read") for log in read.logs if not log.runs)
    refused = [*read.refused, *empty, *refused_runs]
    places = place_runs(usable, placing, lambda run: run.kit, read.faults)
    unread = [log_unread for log in read.logs for log_unread in log.unread]
    of_sysbench = _of_sysbench(read.sysbench, study_name, log_options)
    if not usable and not of_sysbench.trials:
        raise_faults(
            [
                *(skipped_log.sentence for skipped_log in refused),
                *(line for log_unread in unread for line in log_unread.lines),
            ]
            or ["no log was given"]
        )
    trials = with_doubts(
        places,
        [
            _trial(study_name, position, log_run, place)
            for position, (log_run, place) in enumerate(zip(usable, places, strict=True))
        ],
    )
    report = _report(read.logs, usable, trials) if usable else ()
    return ImportResult(
        (*trials, *of_sysbench.trials),
        (*report, *of_sysbench.report),
        (*skipped_lines(unread, refused), *repetition_words(places), *of_sysbench.skipped),
        files.paths,
        (*refused, *of_sysbench.refused),
    )


def _refusals(run: KitRun) -> Iterator[str]:
    """Why nothing can be made of a run."""
    yield from run.refusals
    if not run.refusals and not run.is_whole and not run.intervals:
        yield "the run has neither intervals that can be read nor a whole final report"


def _trial(study: str, position: int, log_run: LocatedRun[KitRun], place: Place) -> ImportedTrial:
    run = log_run.run
    trial = TrialRecord(
        trial_id=trial_id("imported-tpcc", place, run),
        study=study,
        system=SystemRecord(name=place.system, factors=dict(place.factors)),
        workload=_workload(place, run),
        level=Level(connections=place.connections),
        repetition=0,
        position=position,
        interval_s=run.interval_s,
        duration_s=run.duration_s or (run.intervals[-1].to_s if run.intervals else None),
        origin=Origin(kind="imported-tpcc", detail=log_run.name),
    )
    environment = Environment(reported={"load generator": run.kit})
    return ImportedTrial(trial, environment, _outcome(run), interval_rows(run), error_rows(run), run.histograms)


def _workload(place: Place, run: KitRun) -> WorkloadRecord:
    scale = {"warehouses": place.warehouses} if place.warehouses else {}
    return WorkloadRecord(name=place.workload, kind=TPCC, options={"kit": run.kit, **scale, **run.options})


def _outcome(run: KitRun) -> Outcome:
    doubts = () if run.is_whole else (LOG_CUT_SHORT.warning(_cut_words(run)),)
    return Outcome(
        verdict=Verdict.COMPLETE,
        window=Window(first=0, last=len(run.intervals) - 1) if run.intervals else None,
        reported=_reported(run),
        warnings=doubts,
    )


def _cut_words(run: KitRun) -> str:
    intervals = many(len(run.intervals), "interval")
    return f"the log has no whole final report; there are {intervals}, up to {run.intervals[-1].to_s:g} s"


def _reported(run: KitRun) -> ReportedResult | None:
    if not run.is_whole or not run.duration_s:
        return None
    types = {name: _reported_type(run, name) for name in run.types}
    failed = [reported_type.counts["failed"] for reported_type in types.values() if "failed" in reported_type.counts]
    counts = {"transactions": run.completed}
    if failed or run.failed is not None:
        counts["failed"] = sum(failed) + (run.failed or 0)
    return ReportedResult(
        throughput_tps=run.completed / run.duration_s, response_ms=_of_all(run), counts=counts, types=types
    )


def _reported_type(run: KitRun, name: str) -> ReportedType:
    figures = run.types[name]
    stated = {"failed": figures.failed, "retries": figures.retries, "rolled_back": figures.rolled_back}
    counts = {"transactions": figures.completed} | {key: value for key, value in stated.items() if value is not None}
    return ReportedType(counts=counts, response_ms=figures.response_ms)


def _of_all(run: KitRun) -> dict[str, float]:
    """Of all types together: means by their counts, the largest maximum. Percentiles of types give none of all."""
    types = [figures for figures in run.types.values() if figures.completed]
    response_ms = {}
    if all("mean" in figures.response_ms for figures in types):
        response_ms["mean"] = sum(figures.completed * figures.response_ms["mean"] for figures in types) / run.completed
    if all("max" in figures.response_ms for figures in types):
        response_ms["max"] = max(figures.response_ms["max"] for figures in types)
    return response_ms


def _report(
    logs: Sequence[KitLog], runs: Sequence[LocatedRun[KitRun]], trials: Sequence[ImportedTrial]
) -> Iterator[str]:
    count = sum(len(log.unread) for log in logs)
    kits = ", ".join(sorted({log_run.run.kit for log_run in runs}))
    yield f"{many(count, 'log')}, {many(len(runs), 'run')} of {kits}"
    yield from levels(trials)
    for log_run, trial in zip(runs, trials, strict=True):
        if (notpm := log_run.run.notpm) is not None:
            yield f"{log_run.name}: {notpm:,.1f} NOTPM, {trial.trial.level.connections} connections"
        if not log_run.run.is_whole:
            yield f"{log_run.name}: cut short: {_cut_words(log_run.run)}, and nothing else is kept"
        yield from (f"{log_run.name}: {remark}" for remark in log_run.run.remarks)


def _of_sysbench(paths: Sequence[Path], study: str, options: LogOptions) -> ImportResult:
    """Logs of sysbench-tpcc are logs of sysbench; they state no counts of types, and so no new orders per minute."""
    if not paths:
        return ImportResult((), ())
    read = import_sysbench(paths, study_name=study, options=options, workload=_SYSBENCH)
    trials = tuple(replace(trial, trial=_as_tpcc(trial.trial)) for trial in read.trials)
    return ImportResult(trials, (*read.report, *_rollbacks(trials)), read.skipped)


def _as_tpcc(trial: TrialRecord) -> TrialRecord:
    options = {"kit": _SYSBENCH, **trial.workload.options}
    return trial.model_copy(update={"workload": trial.workload.model_copy(update={"kind": TPCC, "options": options})})


def _rollbacks(trials: Sequence[ImportedTrial]) -> Iterator[str]:
    for trial in trials:
        counts = trial.outcome.reported.counts if trial.outcome.reported else {}
        if counts.get("transactions") and "ignored_errors" in counts:
            share = counts["ignored_errors"] / counts["transactions"]
            yield (
                f"{trial.trial.origin.detail}: ignored errors are {share:.2%} of transactions; about "
                f"{_NEW_ORDERS_ROLLED_BACK:.2%} are new orders that are to be rolled back, which are counted as errors"
            )


KITS = ("go-tpc", "sysbench-tpcc", "tpcc-mysql", "dbt2")

_CHARACTERS_MAX = 10_000  # a report of go-tpc as JSON is one line
_READERS: dict[str, type[RunReader]] = {
    reader.kit: reader for reader in (GoTpcReader, TpccMysqlReader, Dbt2ReportReader)
}
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
    unread: tuple[UnreadLines, ...]


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
    paths_by_kind: dict[str, list[Path]] = {}
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
                paths_by_kind.setdefault(kind, []).append(path)
        except SpecError as error:
            if path in files.named:
                faults += error.lines
            else:
                refused.append(SkippedLog.of(path, str(error).removeprefix(f"{path}: ")))
    for group in runs_of_folders(paths_by_kind.get("mix", [])):
        unread = tuple(UnreadLines(str(path)) for path in group)
        logs.append(KitLog(group[0], (read_mix(group, unread),), unread))
    return KitLogs(tuple(logs), tuple(paths_by_kind.get("sysbench-tpcc", [])), tuple(refused), tuple(faults))


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
    return (text for _, _, text in lines_of(path, UnreadLines(str(path)), _CHARACTERS_MAX))


def _read(path: Path, reader: type[RunReader]) -> KitLog:
    unread = UnreadLines(str(path))
    reading = reader(unread)
    for number, line, text in lines_of(path, unread, _CHARACTERS_MAX):
        reading.feed(number, line, text)
    reading.finish()
    return KitLog(path, tuple(reading.runs), (unread,))
