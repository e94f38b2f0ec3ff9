"""Logs of sysbench become recordings, so that they take the same road as measured ones.

Throughput is the final report's: the interval lines leave out the end of a run, and tell how it varied. Response times
are those of the final report and its histogram: no arithmetic on the percentiles of intervals gives that of the run.

sysbench prints rates; the counts of intervals are rate times length, rounded. A line covers the time since the line
before. Where something between them could not be read, and for the first line, it covers one usual interval. The
histogram of a run stands in its last interval; its buckets are 1.8 % wide. Deliberately not here: reading logs
(`sysbench_log`), where a run belongs (`log_places`), and any statistic.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl

from plimsoll.analyse.findings.recording_warnings import LOG_CUT_SHORT
from plimsoll.errors import SpecError
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
from plimsoll.importers.sysbench_log import IntervalLine, Log, Run, read_log
from plimsoll.importers.text_files import LogFiles, log_files, raise_faults
from plimsoll.importers.trials import ImportedTrial, ImportResult, SkippedLog
from plimsoll.record.environment import Environment
from plimsoll.record.frames import ERRORS, HISTOGRAMS, INTERVALS
from plimsoll.record.histograms import BUCKET_COUNT, bucket_middle_ns
from plimsoll.record.level import Level
from plimsoll.record.model import (
    Origin,
    Outcome,
    ReportedResult,
    SystemRecord,
    TrialRecord,
    Verdict,
    Window,
    WorkloadRecord,
)

_COUNTS = {
    "transactions": "transactions",
    "read": "reads",
    "write": "writes",
    "other": "others",
    "ignored errors": "ignored_errors",
    "reconnects": "reconnects",
    "unfinished": "unfinished",
}


def import_sysbench(
    paths: Sequence[Path], *, study_name: str, options: LogOptions | None = None, workload: str | None = None
) -> ImportResult:
    """Reads logs of sysbench 0.4, 0.5, 1.0 and 1.1. Several runs of one cell are its repetitions.

    Args:
        paths: The logs, or folders of them; each may hold several runs.
        study_name: The study that the recordings will belong to.
        options: What the logs do not say themselves.
        workload: Name of the workload where nobody says another.

    Raises:
        SpecError: What a run belongs to is unknown or contradictory, or no log holds a run. All faults at once.
    """
    placing = Placing(options or LogOptions())
    files = log_files(paths)
    logs, faults, refused = _read(files)
    refused += [SkippedLog.of(path, "holds no run of sysbench") for path, log in logs if not log.runs]
    runs = [LocatedRun(path, run) for path, log in logs for run in log.runs]
    usable, refused_runs = split_refused(runs, _refusals)
    refused += refused_runs
    places = place_runs(usable, placing, lambda _: workload, faults)
    unread = [line for _, log in logs for line in log.unread.lines]
    if not usable:
        raise_faults([*(skipped_log.sentence for skipped_log in refused), *unread] or ["no log was given"])
    trials = with_doubts(
        places,
        [
            _trial(study_name, position, log_run, place)
            for position, (log_run, place) in enumerate(zip(usable, places, strict=True))
        ],
    )
    skipped = skipped_lines([log.unread for _, log in logs], refused)
    notes = (*skipped, *repetition_words(places))
    return ImportResult(trials, tuple(_report(len(logs), usable, trials)), notes, files.paths, tuple(refused))


def _read(files: LogFiles) -> tuple[list[tuple[Path, Log]], list[str], list[SkippedLog]]:
    """The logs; what is wrong with those that were named; and those in folders that cannot be read."""
    logs: list[tuple[Path, Log]] = []
    faults = [*files.faults]
    refused: list[SkippedLog] = []
    for path in files.paths:
        try:
            logs.append((path, read_log(path)))
        except SpecError as error:
            if path in files.named:
                faults += error.lines
            else:
                refused.append(SkippedLog.of(path, str(error).removeprefix(f"{path}: ")))
    return logs, faults, refused


def _refusals(run: Run) -> Iterator[str]:
    """Why nothing can be made of a run."""
    if run.settings.get("rate"):
        yield "the run was at a rate (--rate), whose log does not say when transactions were due: not imported"
    elif run.fatal:
        return
    elif run.has_checkpoints and not run.intervals:
        yield "the run had checkpoints and no interval lines, so its final report covers its last part only"
    elif not run.intervals and not run.is_whole:
        yield "the run has neither interval lines nor a whole final report of SQL statements"


def _trial(study: str, position: int, log_run: LocatedRun[Run], place: Place) -> ImportedTrial:
    run = log_run.run
    rows = interval_rows(run)
    last_s = run.intervals[-1].stated.time_s if run.intervals else None
    trial = TrialRecord(
        trial_id=trial_id("imported-sysbench", place, run),
        study=study,
        system=SystemRecord(name=place.system, factors=dict(place.factors)),
        workload=WorkloadRecord(
            name=place.workload, options={"warehouses": place.warehouses} if place.warehouses else {}
        ),
        level=Level(connections=place.connections),
        repetition=0,
        position=position,
        interval_s=interval_length_s(run),
        duration_s=run.figures.get("total time", last_s),
        origin=Origin(kind="imported-sysbench", detail=log_run.name),
    )
    tool = {"load generator": f"sysbench {run.version}"} if run.version else {}
    return ImportedTrial(trial, Environment(reported=tool), _outcome(run), rows, error_rows(run), histogram_rows(run))


def _outcome(run: Run) -> Outcome:
    warm_up = 1 if run.settings.get("warm_up_s") and len(run.intervals) > 1 else 0
    doubts = (LOG_CUT_SHORT.warning(_cut_words(run)),) if not run.is_whole and not run.fatal else ()
    return Outcome(
        verdict=Verdict.FAILED if run.fatal else Verdict.COMPLETE,
        reason=f"sysbench said: {'; '.join(run.fatal)}" if run.fatal else None,
        window=Window(first=warm_up, last=len(run.intervals) - 1) if run.intervals else None,
        reported=_reported(run),
        warnings=doubts,
    )


def _cut_words(run: Run) -> str:
    last_s = run.intervals[-1].stated.time_s
    lines = many(len(run.intervals), "interval line")
    return f"the log has no whole final report; there are {lines}, up to {last_s} s"


def _reported(run: Run) -> ReportedResult | None:
    """The final report; None where it is not whole, or covers only what followed a checkpoint."""
    if not run.is_whole or run.has_checkpoints:
        return None
    figures = run.figures
    response_ms = {"mean" if name == "avg" else name: figures[name] for name in figures if _is_response(name)}
    counts = {name: int(figures[label]) for label, name in _COUNTS.items() if label in figures}
    return ReportedResult(throughput_tps=figures["tps"], response_ms=response_ms, counts=counts)


def _is_response(name: str) -> bool:
    return name in ("min", "avg", "max") or (name[0] == "p" and name[1:].isdigit())


def _report(logs_count: int, runs: Sequence[LocatedRun[Run]], trials: Sequence[ImportedTrial]) -> Iterator[str]:
    yield f"{many(logs_count, 'log')}, {many(len(runs), 'run')} of {', '.join(_versions(runs))}"
    yield from levels(trials)
    stated = Counter(", ".join(trial.outcome.reported.response_ms) for trial in trials if trial.outcome.reported)
    for names, count in stated.items():
        yield f"response times of {many(count, 'final report')}: {names or 'none'}"
    histograms = sum(trial.histograms is not None for trial in trials)
    if histograms:
        yield f"histograms of {many(histograms, 'run')}: percentiles of repetitions follow from them together"
    for log_run in runs:
        yield from (f"{log_run.name}: {remark}" for remark in _remarks(log_run.run))


def _versions(runs: Sequence[LocatedRun[Run]]) -> list[str]:
    return sorted({f"sysbench {log_run.run.version or 'of unknown version'}" for log_run in runs})


def _remarks(run: Run) -> Iterator[str]:
    """What the user should know of how a run was taken."""
    if run.fatal:
        yield f"failed, and is kept as such: {'; '.join(run.fatal)}"
    elif not run.is_whole:
        yield f"cut short: {_cut_words(run)}, and nothing else is kept"
    elif run.has_checkpoints:
        yield "its final report covers only what followed the last checkpoint; the interval lines are all that is kept"
    elif not run.intervals:
        yield "has no interval lines: its figures are kept as reported, without anything about how they varied"
    if has_histogram(run) and histogram_rows(run) is None:
        yield "its histogram counts other transactions than its final report, and is left out"
    if run.settings.get("warm_up_s") and run.intervals:
        yield "its first interval line is of the warm-up too, and does not count"


_NOWHERE = {"driver": "", "host": "", "instance": ""}
_TRANSACTION = "transaction"
_ERROR_CLASSES = {"errors": "retryable", "reconnects": "connection"}


def interval_length_s(run: Run) -> float:
    """Usual length of an interval, seconds: as the header says, else the most frequent one."""
    stated = run.settings.get("report_interval_s")
    times = [interval.stated.time_s for interval in run.intervals]
    if stated or not times:
        return float(stated or 1)
    steps = Counter(after - before for before, after in pairwise(times))
    return float(steps.most_common(1)[0][0] if steps else times[0])


def interval_rows(run: Run) -> pl.DataFrame | None:
    """`frames.INTERVALS`; None without interval lines. What sysbench does not state is 0."""
    if not run.intervals:
        return None
    rows = [
        {
            **_NOWHERE,
            "interval": index,
            "from_s": from_s,
            "to_s": float(line.time_s),
            "transaction": _TRANSACTION,
            "completed": _count(line.tps, line.time_s - from_s),
            "rolled_back": None,
            "failed": 0,
            "dropped": 0,
            "retries": _count(line.errors, line.time_s - from_s),
            "reads": _count(line.reads, line.time_s - from_s),
            "writes": _count(line.writes, line.time_s - from_s),
            "others": _count(line.others, line.time_s - from_s),
            "rows_returned": 0,
            "rows_affected": 0,
        }
        for index, (from_s, line) in enumerate(_timed(run))
    ]
    return pl.DataFrame(rows, schema=INTERVALS)


def error_rows(run: Run) -> pl.DataFrame | None:
    """`frames.ERRORS`, without codes, which sysbench does not print; None without interval lines."""
    if not run.intervals:
        return None
    rows = [
        {**_NOWHERE, "interval": index, "class": kind, "code": 0, "count": count}
        for index, (from_s, line) in enumerate(_timed(run))
        for name, kind in _ERROR_CLASSES.items()
        if (count := _count(getattr(line, name), line.time_s - from_s))
    ]
    return pl.DataFrame(rows, schema=ERRORS)


def histogram_rows(run: Run) -> pl.DataFrame | None:
    """`frames.HISTOGRAMS`; None without a histogram that has exactly the transactions of the final report."""
    total = sum(count for _, count in run.histogram)
    if not has_histogram(run) or total != run.figures["transactions"]:
        return None
    middles_ns = bucket_middle_ns(np.arange(BUCKET_COUNT))
    counts: Counter[int] = Counter()
    for middle_ms, count in run.histogram:
        counts[int(np.abs(middles_ns - middle_ms * 1e6).argmin())] += count
    buckets = sorted(counts)
    row = {
        **_NOWHERE,
        "interval": max(len(run.intervals) - 1, 0),
        "transaction": _TRANSACTION,
        "measure": "response",
        "buckets": buckets,
        "counts": [counts[bucket] for bucket in buckets],
        "sum_ns": round(run.figures["sum"] * 1e6),
        "max_ns": round(run.figures["max"] * 1e6),
    }
    return pl.DataFrame([row], schema=HISTOGRAMS)


def has_histogram(run: Run) -> bool:
    """Whether the log has a histogram of the whole run."""
    known = run.is_whole and {"sum", "max"} <= run.figures.keys()
    return known and not run.has_checkpoints and sum(count for _, count in run.histogram) > 0


def _timed(run: Run) -> Iterator[tuple[float, IntervalLine]]:
    """Each interval line with its begin, seconds."""
    usual_s = interval_length_s(run)
    before_s: float | None = None
    for interval in run.intervals:
        from_s = (
            before_s
            if before_s is not None and interval.follows
            else max(interval.stated.time_s - usual_s, before_s or 0.0)
        )
        yield from_s, interval.stated
        before_s = float(interval.stated.time_s)


def _count(rate: float, length_s: float) -> int:
    return round(rate * length_s)
