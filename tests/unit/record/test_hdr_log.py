"""What is exported as an HdrHistogram log is read back by that library with the same counts and percentiles."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hdrh.histogram import HdrHistogram

from plimsoll.errors import RecordError, SpecError
from plimsoll.record import frames
from plimsoll.record.environment import Environment
from plimsoll.record.histograms import BUCKET_COUNT, SIGNIFICANT_DIGITS, VALUE_NS_MAX, bucket_middle_ns, write_hdr_log
from plimsoll.record.model import EngineAccount, Outcome, TrialRecord, Verdict
from plimsoll.record.store import Recording, read_recording, write_recording

PLACE = {"driver": "d", "host": "h", "instance": "i"}
ACCOUNT = EngineAccount(
    started_unix_s=1000.0, duration_s=2.0, offered_count=6, unfinished_count=0,
    client_user_s=0.1, client_system_s=0.1, client_memory_bytes_max=1,
)  # fmt: skip


def recorded(study: Path, *, account: EngineAccount | None = ACCOUNT) -> Recording:
    counts = dict.fromkeys(("completed", "failed", "dropped", "retries", "reads", "writes", "others"), 1)
    rows = dict.fromkeys(("rolled_back", "rows_returned", "rows_affected"), 1)
    intervals = [
        {**PLACE, "interval": n, "from_s": n, "to_s": n + 1.0, "transaction": "oltp", **counts, **rows} for n in (0, 1)
    ]
    histograms = [
        {**PLACE, "interval": n, "transaction": "oltp", "measure": "response", "buckets": [100, 5000, 20_000],
         "counts": [1, 2, 3 + n], "sum_ns": 1, "max_ns": 7_000_000}
        for n in (0, 1)
    ]  # fmt: skip
    trial = TrialRecord.model_validate(
        {
            "trial_id": "t", "study": "s", "system": {"name": "a"}, "workload": {"name": "w"},
            "level": {"connections": 1}, "repetition": 0,
        }
    )  # fmt: skip
    path = write_recording(
        study,
        trial,
        Environment(),
        Outcome(verdict=Verdict.COMPLETE, account=account),
        intervals=pl.DataFrame(intervals, schema=frames.INTERVALS),
        histograms=pl.DataFrame(histograms, schema=frames.HISTOGRAMS),
    )
    return read_recording(path)


def test_the_layouts_are_the_same() -> None:
    theirs = HdrHistogram(1, VALUE_NS_MAX, SIGNIFICANT_DIGITS)
    assert theirs.counts_len == BUCKET_COUNT
    for index in (0, 2047, 2048, 9999, BUCKET_COUNT - 1):
        middle = int(bucket_middle_ns(np.array([index]))[0])
        low = theirs.get_lowest_equivalent_value(middle)
        assert low <= middle <= theirs.get_highest_equivalent_value(middle)


def test_a_log_is_read_back(tmp_path: Path) -> None:
    log = tmp_path / "t.hlog"
    assert write_hdr_log(recorded(tmp_path / "s"), log) == 2
    lines = [line for line in log.read_text().splitlines() if not line.startswith("#")]
    tag, start_s, length_s, max_ms, encoded = lines[1].split(",")
    assert (tag, float(start_s), float(length_s), float(max_ms)) == ("Tag=oltp", 1001.0, 1.0, 7.0)
    read = HdrHistogram.decode(encoded)
    assert read.get_total_count() == 7
    expected = bucket_middle_ns(np.array([100, 5000, 20_000]))
    assert read.get_count_at_value(int(expected[2])) == 4
    assert read.get_value_at_percentile(100) == pytest.approx(expected[2], rel=0.001)


def test_a_measure_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="measure: must be one of"):
        write_hdr_log(recorded(tmp_path / "s"), tmp_path / "x", measure="latency")


def test_published_figures_cannot_be_exported(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="no histograms"):
        write_hdr_log(recorded(tmp_path / "s", account=None), tmp_path / "x")
