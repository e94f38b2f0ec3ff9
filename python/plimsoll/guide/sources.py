"""Which recordings of a study count, and which a figure or a sentence rests on: the way back to the raw record.

A figure is of a cell, and a cell of its repetitions, whose recordings a page lists one below the other. So there a link
to the first of them leads to all; Markdown links each. Points of charts lead there too: a line of the tooltip names the
recordings, and a click goes to the first in the list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from plimsoll.analyse.findings.finding_model import Finding
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.study.capacity_model import SystemCapacity
from plimsoll.analyse.study.cell_model import Cell
from plimsoll.analyse.study.curve_model import Curve
from plimsoll.analyse.trial.trial_model import MeasuredTrial
from plimsoll.guide.drawing import alt
from plimsoll.guide.tables import NOT_KNOWN, per_unit, show_ms
from plimsoll.guide.words import clean
from plimsoll.plan.model import Plan
from plimsoll.record.capacity import CapacityRun, SearchRecord
from plimsoll.record.level import Level
from plimsoll.record.store import StudyRecordings
from plimsoll.units import format_duration, format_number, format_rate


@dataclass(frozen=True, slots=True)
class Source:
    """A cell that a sentence rests on, or a single recording.

    Attributes:
        trial_id: Of its first recording.
        label: What it is, in words.
        others: Ids of its other recordings.
    """

    trial_id: str
    label: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingPart:
    """One recording in the list at the end of a guide.

    Attributes:
        href: Its folder, relative to the guide.
        throughput: In `unit`.
        stretches: What stood out in it, such as `stall at 12 s`.
    """

    trial_id: str
    href: str
    system: str
    workload: str
    level: str
    repetition: str
    throughput: str
    unit: str
    response_ms_p99: str
    began: str
    stretches: str


def cell_sources(cell: Cell | None) -> tuple[str, ...]:
    """Where a figure of a cell comes from: the ids of its recordings, one for each repetition."""
    return () if cell is None else tuple(cell.trials)


def trial_source(measured_trial: MeasuredTrial, unit: str) -> Source:
    """One recording, with its repetition."""
    return Source(
        measured_trial.trial_id,
        f"{measured_trial.system}, {measured_trial.level.label(unit)} ({measured_trial.repetition + 1})",
    )


def sources_of(finding: Finding, analysis: Analysis) -> tuple[Source, ...]:
    """The cells that a finding rests on: that of its level, else the peaks of the systems that it names."""
    units = {workload.name: workload.rate_unit for workload in analysis.workloads}
    if finding.code in ("capacity", "capacity-compared"):
        return tuple(_confirmations(finding, analysis, units[str(finding.workload)]))
    named = (finding.system, finding.figures.get("base"))
    curves = [curve for curve in analysis.curves if curve.system in named and curve.workload == finding.workload]
    cells = [(curve, _cell(finding, curve)) for curve in curves]
    return tuple(
        Source(sources[0], f"{curve.system}, {cell.level.label(units[curve.workload])}", sources[1:])
        for curve, cell in cells
        if cell is not None and (sources := cell_sources(cell))
    )


def _confirmations(finding: Finding, analysis: Analysis, unit: str) -> Iterator[Source]:
    """The run nearest below each capacity that a finding rests on."""
    named = (finding.system, finding.figures.get("base"))
    for capacity in analysis.capacities:
        if capacity.system in named and capacity.workload == finding.workload:
            for search in capacity.searches:
                if (run := confirmation(search)) is not None:
                    rate = format_rate(run.rate_tps or 0.0, unit)
                    yield Source(run.trial_id, f"{capacity.system}, {rate}, repetition {search.repetition + 1}")


def confirmation(search: SearchRecord) -> CapacityRun | None:
    """The run nearest below a search's answer; None where it has none."""
    return max(search.capacity.deciding, key=lambda run: run.rate_tps or 0.0, default=None)


def capacity_sources(system_capacity: SystemCapacity) -> tuple[str, ...]:
    """Where a capacity comes from: of each search the id of the run nearest below its answer."""
    return tuple(run.trial_id for search in system_capacity.searches if (run := confirmation(search)) is not None)


def _cell(finding: Finding, curve: Curve) -> Cell | None:
    return curve.peak_cell if finding.level is None else curve.cell_at(finding.level)


def recording_parts(analysis: Analysis, folder: str) -> tuple[RecordingPart, ...]:
    """Every recording that figures rest on.

    Args:
        analysis: Of the study.
        folder: That holds the recordings, relative to the guide, with `/` between its parts.
    """
    units = {workload.name: workload.rate_unit for workload in analysis.workloads}
    return tuple(_recording(trial, units[trial.workload], folder) for trial in analysis.trials)


def _recording(measured_trial: MeasuredTrial, unit: str, folder: str) -> RecordingPart:
    stretches = () if measured_trial.series is None else measured_trial.series.stretches
    return RecordingPart(
        trial_id=measured_trial.trial_id,
        href=f"{quote(folder)}/{quote(measured_trial.trial_id, safe='')}/",
        system=measured_trial.system,
        workload=measured_trial.workload,
        level=measured_trial.level.label(unit) or NOT_KNOWN,
        repetition=str(measured_trial.repetition + 1),
        throughput=format_number(per_unit(measured_trial.throughput_tps, unit)),
        unit=unit,
        response_ms_p99=show_ms(measured_trial.response_ms_p99),
        began=NOT_KNOWN if measured_trial.began_unix_s is None else utc(measured_trial.began_unix_s),
        stretches=", ".join(f"{span.kind} at {format_duration(span.from_s)}" for span in stretches),
    )


def utc(unix_s: float) -> str:
    """An instant as `2026-11-01 14:05:09`, UTC."""
    return datetime.fromtimestamp(unix_s, UTC).strftime("%Y-%m-%d %H:%M:%S")


_NAMED_MAX = 3


def href() -> alt.Href:
    """Where a click on a point goes."""
    return alt.Href("href:N")


def recordings_line() -> alt.Tooltip:
    """The line of a tooltip."""
    return alt.Tooltip("recordings:N", title="recordings")


class Links:
    """What rows of a chart say of their recordings, as far as the guide lists these."""

    def __init__(self, analysis: Analysis) -> None:
        self._listed = {trial.trial_id for trial in analysis.trials}
        self._curves = analysis.curves

    def of(self, trials: Iterable[str]) -> dict[str, Any]:
        """The fields of a row.

        Args:
            trials: Ids of the recordings that its figure rests on.
        """
        known = [trial for trial in trials if trial in self._listed]
        more = f" and {len(known) - _NAMED_MAX} more" if len(known) > _NAMED_MAX else ""
        return {
            "recordings": clean(", ".join(known[:_NAMED_MAX]) + more) or NOT_KNOWN,
            "href": f"#recording-{quote(known[0])}" if known else "#recordings",
        }

    def of_cell(self, system: str, workload: str, level: Level) -> dict[str, Any]:
        """The same for one system, workload and level."""
        return self.of(self.trials_of(system, workload, level))

    def trials_of(self, system: str, workload: str, level: Level) -> tuple[str, ...]:
        """The recordings of one system, workload and level."""
        curves = (curve for curve in self._curves if (curve.system, curve.workload) == (system, workload))
        cells = (curve.cell_at(level) for curve in curves if curve.kind.is_at_rate is level.kind.is_at_rate)
        return next((cell.trials for cell in cells if cell is not None), ())


def of_plan(plan: Plan | None, study_recordings: StudyRecordings) -> StudyRecordings:
    """The recordings of trials that the study's plan holds; all of them where there is no plan."""
    if plan is None:
        return study_recordings
    planned = {trial.trial_id for trial in plan.trials}
    return StudyRecordings(
        tuple(
            recording
            for recording in study_recordings.recordings
            if {recording.trial.trial_id, recording.trial.repeats} & planned
        ),
        tuple(recording for recording in study_recordings.damaged if recording.trial_id in planned),
    )


def searches_of_plan(plan: Plan | None, searches: Iterable[SearchRecord]) -> tuple[SearchRecord, ...]:
    """The searches that the study's plan holds, others were made before the study was changed; all without a plan."""
    if plan is None:
        return tuple(searches)
    planned = {search.search_id for search in plan.searches}
    return tuple(search for search in searches if search.search_id in planned)
