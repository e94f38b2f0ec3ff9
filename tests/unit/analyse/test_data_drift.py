"""What is said of data over trials: ways, times, the largest drift, how far the redo log was filled."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from plimsoll.analyse.study.trials import data_summaries
from plimsoll.analyse.trial.trial_summary import TrialSummary
from plimsoll.guide.storage import data_section
from plimsoll.record.model import DataReset, DataState


def trial(state: DataState | None, system: str = "s") -> TrialSummary:
    made = SimpleNamespace(
        trial=SimpleNamespace(system=SimpleNamespace(name=system), workload=SimpleNamespace(name="w")),
        outcome=SimpleNamespace(data=state),
    )
    return cast("TrialSummary", made)


def state(way: Any, redo: int, **changes: Any) -> DataState:
    reset = DataReset(way=way, duration_s=2.0, size_bytes=10**6 if way == "copy" else None, other_s=9.0)
    return DataState(reset=reset, redo_warm_bytes=redo, redo_capacity_bytes=100, **changes)


def test_summed_up_by_system() -> None:
    trials = [
        trial(state("fresh", 50, rows_before=100, rows_after=100, bytes_before=10, bytes_after=11)),
        trial(state("copy", 250, rows_before=100, rows_after=80, bytes_before=10, bytes_after=10)),
        trial(state("copy", 100, rows_before=100, rows_after=105)),
        trial(None),
        trial(DataState(), "other"),
    ]
    one, other = data_summaries(trials)
    assert (one.system, one.trials_count, one.ways) == ("s", 3, {"fresh": 1, "copy": 2})
    assert (one.reset_s_median, one.other_s_median, one.size_bytes) == (2.0, 9.0, 10**6)
    assert one.rows_ratio is not None
    assert one.bytes_ratio is not None
    assert (round(one.rows_ratio, 6), round(one.bytes_ratio, 6)) == (-0.2, 0.1)
    assert (one.redo_turns_min, one.redo_turns_max) == (0.5, 2.5)
    assert (other.ways, other.rows_ratio, other.redo_turns_max) == ({}, None, None)


def test_shown_as_a_table() -> None:
    analysis = SimpleNamespace(data=data_summaries([trial(state("copy", 250, rows_before=100, rows_after=80))]))
    section = data_section(cast("Any", analysis))
    assert section is not None
    (row,) = section.tables[0].rows
    assert [entry.text for entry in row][:7] == ["s", "w", "copied, 977 KiB", "2 s", "9 s", "-20.0 %", "–"]
    assert row[7].text == "2.5 ×"
    assert data_section(cast("Any", SimpleNamespace(data=()))) is None
