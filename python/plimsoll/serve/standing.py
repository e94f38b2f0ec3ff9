"""Where a study stands, as a page shows it: cells with their figures, the answer so far, the machine, trials that run.

While a study runs only the new lines of its events are read each time, and of each running trial what is new in its
live file; what came before somebody looked is read from the segments of the recording. Deliberately not here: any
statistic. Means and intervals are those of package `analyse`, points of a trial those of `course`.
"""

from __future__ import annotations

import contextlib
import math
import os
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from plimsoll.analyse.study.cell_model import Bounds, Estimate
from plimsoll.analyse.study.throughput import Repeated, mean_throughputs
from plimsoll.errors import RecordError
from plimsoll.plan.model import Plan, PlannedTrial
from plimsoll.prose.capacity import bracket_words, objective_words
from plimsoll.prose.phrases import VAGUE_SHORT
from plimsoll.record.capacity import SearchRecord
from plimsoll.record.files import partials, read_document, recordings_folder
from plimsoll.record.level import Level
from plimsoll.record.model import Outcome, TrialRecord, Verdict, Weather, Window
from plimsoll.record.store import read_recording
from plimsoll.regular_file import open_regular
from plimsoll.run.capacity_search import read_searches
from plimsoll.run.events import (
    SearchBegan,
    SearchEnded,
    SearchProgressed,
    SearchStopped,
    Stamped,
    TrialEnded,
)
from plimsoll.run.folder import EVENTS_FILE, PLAN_FILE, is_held, read_plan
from plimsoll.run.live import LiveReader
from plimsoll.run.status import EventSummary, answer_lines, duet_words, search_line
from plimsoll.serve.course import Course
from plimsoll.serve.folders import FileStamp, file_stamp
from plimsoll.serve.moments import of_live, tables_of_partial, tables_of_recording
from plimsoll.units import format_duration, format_number, format_percent, format_rate
from plimsoll.wording import counted

_INTERVAL_MARK = b'"type":"interval_ended"'
_LATEST_SHOWN = 12
_TRIALS_LEAST = 2
_COMPARED_MAX = 50
"""The machine around the last trial is compared with that around so many before it."""


@dataclass(slots=True)
class Events:
    """What the events of a study have said so far.

    Attributes:
        summary: What is known of the trial, the answer and the end.
        ended: Trials by their id, each with when it ended, wall clock; the last of each counts.
        searches: The last event of each search, by its id.
    """

    path: Path
    summary: EventSummary = field(default_factory=EventSummary)
    ended: dict[str, tuple[float, TrialEnded]] = field(default_factory=dict)
    searches: dict[str, SearchBegan | SearchProgressed | SearchEnded | SearchStopped] = field(default_factory=dict)
    _position: int = 0

    def read_on(self) -> None:
        """Takes in what was said since the last time. Of intervals only the last is of interest."""
        lines = self._new_lines()
        last_interval = next((line for line in reversed(lines) if _INTERVAL_MARK in line), None)
        for line in lines:
            if _INTERVAL_MARK not in line or line is last_interval:
                with contextlib.suppress(ValidationError):
                    self._take(Stamped.model_validate_json(line))

    def _new_lines(self) -> list[bytes]:
        try:
            with open_regular(self.path) as file:
                if os.fstat(file.fileno()).st_size < self._position:  # another study was begun in this folder
                    self._position = 0
                file.seek(self._position)
                content = file.read()
        except OSError:
            return []
        whole = content[: content.rfind(b"\n") + 1]
        self._position += len(whole)
        return whole.splitlines()

    def _take(self, stamped: Stamped) -> None:
        self.summary.take(stamped)
        match stamped.event:
            case TrialEnded() as trial:
                self.ended[trial.trial_id] = (stamped.unix_s, trial)
            case SearchBegan() | SearchProgressed() | SearchEnded() | SearchStopped() as search:
                self.searches[search.search_id] = search


class Standing:
    """One folder, looked at again and again."""

    def __init__(self, folder: Path) -> None:
        """Takes the folder."""
        self.folder = folder
        self._events = Events(folder / EVENTS_FILE)
        self._weather: dict[str, Weather | None] = {}
        self._plan: tuple[FileStamp | None, Plan | None] = (None, None)
        self._of_trials: tuple[object, dict[str, Any]] = (None, {})

    def document(self) -> dict[str, Any]:
        """Where it stands now, as JSON; reads what is new."""
        self._events.read_on()
        plan, is_running = self._read_plan(), is_held(self.folder)
        summary = self._events.summary
        trial = summary.trial if is_running else None
        return {
            "name": plan.study if plan is not None else self.folder.resolve().name,
            "is_study": plan is not None,
            "state": "running" if is_running else "finished" if summary.ended or plan is None else "stopped",
            "doing": summary.doing if is_running and trial is None else None,
            "now": None if trial is None else _now(trial.model_dump(mode="json")),
            "progress": None if plan is None else self._progress(plan),
            "answer": self._answer(is_running=is_running),
            **self._after_each_trial(plan, None if trial is None else trial.trial_id),
        }

    def _after_each_trial(self, plan: Plan | None, running_id: str | None) -> dict[str, Any]:
        """What changes only when a trial begins or ends, so it is not calculated each second."""
        state = (self._plan[0], running_id, max((at_s for at_s, _ in self._events.ended.values()), default=0.0))
        if self._of_trials[0] != state:
            made = {
                "tables": [] if plan is None else self._tables(plan, running_id),
                "latest": self._latest(),
                "weather": self._weather_words(),
            }
            self._of_trials = (state, made)
        return self._of_trials[1]

    def _read_plan(self) -> Plan | None:
        stamp = file_stamp(self.folder / PLAN_FILE)
        if stamp is None:
            return None
        if self._plan[0] != stamp:
            with contextlib.suppress(RecordError):
                self._plan = (stamp, read_plan(self.folder))
        return self._plan[1]

    def _progress(self, plan: Plan) -> dict[str, Any]:
        """How many of the planned trials are done, and how long the rest is expected to take."""
        of_plan = [trial.trial_id for trial in plan.trials]
        done = sum(self._is_complete(trial_id) for trial_id in of_plan)
        left, remaining_s = len(of_plan) - done, None
        summary = self._events.summary
        if summary.trial is not None and summary.remaining_s is not None and summary.last_unix_s is not None:
            remaining_s = max(summary.remaining_s - (summary.last_unix_s - summary.trial.began_unix_s), 0.0)
        return {
            "done": done,
            "planned": len(of_plan),
            "left": summary.left(left),
            "remaining": None if remaining_s is None else f"about {format_duration(remaining_s)} left",
        }

    def _is_complete(self, trial_id: str) -> bool:
        known = self._events.ended.get(trial_id)
        return known is not None and known[1].verdict is Verdict.COMPLETE

    def _answer(self, *, is_running: bool) -> list[str]:
        """What is known of the answer so far, a line each."""
        summary = self._events.summary
        lines = [duet_words(duet) for duet in summary.duets_known(is_running=is_running)]
        if summary.ramps is not None:
            lines.append(search_line(summary.ramps))
        if summary.answer is not None:
            lines += answer_lines(summary.answer)
        of_events = [search_line(search) for search in self._events.searches.values()]
        return lines + (of_events or self._searches())

    def _searches(self) -> list[str]:
        """Where the searches of a folder of runs stand."""
        with contextlib.suppress(RecordError):
            return list(map(_search_words, read_searches(self.folder)))
        return []

    def _tables(self, plan: Plan, running_id: str | None) -> list[dict[str, Any]]:
        """A table for each workload: a row for each level, a column for each system."""
        trials: dict[str, dict[tuple[str, str], list[PlannedTrial]]] = {}
        levels: dict[str, dict[str, Level]] = {}
        for trial in [trial for trial in plan.trials if trial.search_id is None]:
            label = trial.level.label()
            trials.setdefault(trial.workload, {}).setdefault((label, trial.system), []).append(trial)
            levels.setdefault(trial.workload, {})[label] = trial.level
        tables = []
        for workload, by_cell in trials.items():
            labels = sorted(levels[workload], key=lambda label: levels[workload][label].order)
            systems = list(dict.fromkeys(system for _, system in by_cell))
            means = self._means(by_cell)
            rows = [
                {
                    "level": label,
                    "cells": [
                        self._cell(by_cell.get((label, system), []), means.get((label, system)), running_id)
                        for system in systems
                    ],
                }
                for label in labels
            ]
            tables.append({"workload": workload, "systems": systems, "rows": rows})
        return tables

    def _means(self, by_cell: Mapping[tuple[str, str], Sequence[PlannedTrial]]) -> dict[tuple[str, str], Estimate]:
        """The means of the cells of a workload over their complete repetitions, as guides calculate them."""
        cells = {}
        for (label, system), planned in by_cell.items():
            rates = {
                trial.repetition: self._events.ended[trial.trial_id][1].throughput_tps
                for trial in planned
                if self._is_complete(trial.trial_id)
            }
            known = {repetition: rate for repetition, rate in rates.items() if rate is not None}
            if known:
                cells[label, system] = Repeated(
                    throughputs_tps=tuple(known.values()),
                    within=(None,) * len(known),
                    system=system,
                    level=label,
                    repetitions=tuple(known),
                )
        means = mean_throughputs(list(cells.values()))
        return {key: mean.estimate() for key, mean in zip(cells, means, strict=True)}

    def _cell(self, planned: Sequence[PlannedTrial], mean: Estimate | None, running_id: str | None) -> dict[str, Any]:
        """A cell, with the 95 % confidence interval of its mean where there is one."""
        trial_ids = [trial.trial_id for trial in planned]
        ended = [self._events.ended[trial_id][1] for trial_id in trial_ids if trial_id in self._events.ended]
        bounds = None if mean is None else mean.bounds
        return {
            "planned": len(planned),
            "done": sum(map(self._is_complete, trial_ids)),
            "failed": sum(trial.verdict in (Verdict.FAILED, Verdict.INVALID) for trial in ended),
            "running": running_id in trial_ids,
            "tps": None if mean is None else mean.value,
            "interval": None if bounds is None else _interval_words(bounds),
        }

    def _latest(self) -> list[dict[str, Any]]:
        """The trials that ended last, the latest first."""
        ended = sorted(self._events.ended.values(), key=lambda entry: -entry[0])[:_LATEST_SHOWN]
        return [
            {
                "trial_id": trial.trial_id,
                "system": trial.system,
                "workload": trial.workload,
                "level": Level(connections=trial.connections, rate_tps=trial.rate_tps).label(),
                "verdict": str(trial.verdict),
                "reason": trial.reason,
                "tps": trial.throughput_tps,
                "p99": trial.response_ms_p99,
                "warnings": [warning.code for warning in trial.warnings],
                "ended_unix_s": unix_s,
            }
            for unix_s, trial in ended
        ]

    def _weather_words(self) -> list[str]:
        """How fast the machine was around the last trial, against the trials before it."""
        in_order = [trial_id for trial_id, _ in sorted(self._events.ended.items(), key=lambda entry: entry[1][0])]
        in_order = in_order[-_COMPARED_MAX:]
        for trial_id in in_order:
            if trial_id in self._weather:
                continue
            with contextlib.suppress(RecordError):
                path = recordings_folder(self.folder) / trial_id / "outcome.json"
                self._weather[trial_id] = read_document(path, Outcome).weather
            self._weather.setdefault(trial_id, None)
        known = [weather for trial_id in in_order if (weather := self._weather.get(trial_id)) is not None]
        return list(_against_median(known)) if len(known) > _TRIALS_LEAST else []


class FollowedTrial:
    """One trial.

    Attributes:
        trial: What it is; None where nothing says so yet.
        course: How it goes.
    """

    def __init__(self, folder: Path) -> None:
        """Takes the folder of its partial recording."""
        self.folder = folder
        self.trial: TrialRecord | None = None
        self.course = Course()
        self._is_whole = False
        self._reader = LiveReader(folder)

    def read_on(self) -> bool:
        """Takes in what is new; whether there was anything."""
        intervals = self._reader.take()
        if self.trial is None or (intervals and not self.trial.states):
            with contextlib.suppress(RecordError):
                self.trial = read_document(self.folder / "trial.json", TrialRecord)
        if intervals and intervals[0].index > self.course.last_index + 1:
            self._catch_up(intervals[0].index, intervals[0].window)
        for interval in intervals:
            self.course.add(of_live(interval))
        return bool(intervals)

    def _catch_up(self, before: int, window: Window | None) -> None:
        """Takes in earlier intervals from the segments; a segment that is gone or half there costs its intervals."""
        with contextlib.suppress(RecordError):
            for moment in tables_of_partial(self.folder, window).moments():
                if moment.index >= before:
                    break
                self.course.add(moment)

    def complete(self, recordings: Path) -> None:
        """Takes in what ended last, once, from the recording that the trial has become."""
        if self._is_whole or self.trial is None:
            return
        self._is_whole = True
        with contextlib.suppress(RecordError):
            for moment in tables_of_recording(read_recording(recordings / self.trial.trial_id)).moments():
                self.course.add(moment)


class FollowedFolder:
    """All trials that run in a folder: one, or in a duet one for each system."""

    def __init__(self, folder: Path) -> None:
        """Takes the folder of a study, or of runs."""
        self._folder = folder
        self._trials: dict[Path, FollowedTrial] = {}
        self._shown: list[FollowedTrial] = []

    def read_on(self) -> list[FollowedTrial]:
        """Those that have load, after taking in what is new; where none has any more, the last ones that had."""
        there = partials(self._folder)
        for path in there:
            if path not in self._trials:
                self._trials[path] = FollowedTrial(path)
        for trial in self._trials.values():
            trial.read_on()
        loaded = [trial for trial in self._trials.values() if trial.course.points_count]
        self._shown = [trial for trial in loaded if trial.folder in there] or self._shown
        for trial in loaded:
            if trial.folder not in there:
                trial.complete(recordings_folder(self._folder))
        self._trials = {path: trial for path, trial in self._trials.items() if path in there or trial in self._shown}
        return self._shown


def trial_document(trial: TrialRecord | None, trial_id: str) -> dict[str, Any]:
    """What a page says of a trial besides its course."""
    if trial is None:
        return {"trial_id": trial_id, "system": "", "workload": "", "level": "", "repetition": None, "states": []}
    return {
        "trial_id": trial.trial_id,
        "study": trial.study,
        "system": trial.system.name,
        "workload": trial.workload.name,
        "level": trial.level.label(),
        "repetition": trial.repetition + 1,
        "interval_s": trial.interval_s,
        "states": [{"state": str(mark.state), "began_unix_s": mark.began_unix_s} for mark in trial.states],
    }


def _interval_words(bounds: Bounds) -> str:
    """A 95 % confidence interval of a throughput, as far as it says anything."""
    return VAGUE_SHORT if bounds.is_vague else f"95 % CI {format_number(bounds.low)} to {format_number(bounds.high)}"


def _search_words(search: SearchRecord) -> str:
    """The capacity with its 95 % confidence interval, or how far the search is."""
    capacity = search.capacity
    of = f"{search.system}, {search.workload}, {objective_words(capacity.objective)}"
    if capacity.capacity_tps is None:
        high_tps = math.inf if capacity.high is None else capacity.high
        runs = counted(len(capacity.runs), "run")
        return f"{of}: no capacity yet after {runs}{bracket_words(capacity.low or 0.0, high_tps)}"
    known = capacity.low is not None and capacity.high is not None
    bounds = f" (95 % CI {format_rate(capacity.low or 0.0)} to {format_rate(capacity.high or 0.0)})" if known else ""
    return f"{of}: capacity {format_rate(capacity.capacity_tps)}{bounds}"


def _now(trial: dict[str, Any]) -> dict[str, Any]:
    level = Level(connections=trial["connections"], rate_tps=trial["rate_tps"])
    return trial | {"level": level.label()}


def _against_median(weather: Sequence[Weather]) -> Iterator[str]:
    """One phrase for each reference load: the times of the last trial over the median of all."""
    parts = {"processor": "processor_ms", "memory": "memory_ms", "flushes": "flush_ms"}
    for name, attribute in parts.items():
        times = [value for each in weather if (value := _time_of(each, attribute)) is not None]
        if len(times) == len(weather):
            change = times[-1] / max(statistics.median(times), 1e-9) - 1
            word = "slower" if change > 0 else "faster"
            yield f"{name} {format_percent(abs(change))} {word} than usual"


def _time_of(weather: Weather, attribute: str) -> float | None:
    """The longer one of the times before and after a trial."""
    times: Iterable[float | None] = (
        getattr(reference, attribute) for reference in (weather.before, weather.after) if reference is not None
    )
    return max((value for value in times if value is not None), default=None)
