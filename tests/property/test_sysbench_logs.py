"""Whatever a log holds, it is imported, or refused as somebody's fault: never a bug, never a text that steers."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.errors import SpecError
from plimsoll.importers.log_places import LogOptions
from plimsoll.importers.sysbench import import_sysbench
from plimsoll.importers.trials import write_import
from plimsoll.record.store import read_study
from support.endure import draws
from support.sysbench_logs import CSV_LINES, JSON_LINES, LOG_0_4, LOG_0_5, LOG_1_0, LOG_1_1, with_histogram, with_lines

LOGS = [LOG_0_4, LOG_0_5, LOG_1_0, LOG_1_1, with_histogram(LOG_1_0), with_lines(CSV_LINES), with_lines(JSON_LINES)]
TROUBLE = ["nan", "-1", "1e999", "{", "}", "[", "\x1b[2J", "\u202e", "\n", "9" * 40, "FATAL: ", "[ 1s ] thds: ", "\0"]


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A log of some version with pieces cut out, doubled or put in."""
    text = draw(st.sampled_from(LOGS)).encode()
    for _ in range(draw(st.integers(0, 6))):
        first = draw(st.integers(0, len(text)))
        last = draw(st.integers(first, min(len(text), first + 60)))
        piece = draw(st.sampled_from([word.encode() for word in TROUBLE]) | st.binary(max_size=20))
        text = text[:first] + draw(st.sampled_from([piece, text[first:last] * 2, b""])) + text[last:]
    return text


@given(content=damaged() | st.binary(max_size=400))
@settings(max_examples=draws(100, 300))
def test_a_damaged_log_is_imported_or_refused(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.log"
        path.write_bytes(content)
        options = LogOptions(system="db1", workload="mix")
        try:
            result = import_sysbench([path], study_name="s", options=options)
        except SpecError:
            return
        assert all(line.isprintable() for line in result.skipped)
        write_import(Path(folder) / "study", result)
        for recording in read_study(Path(folder) / "study").recordings:
            reported = recording.outcome.reported
            for value in (reported.throughput_tps, *reported.response_ms.values()) if reported else ():
                assert math.isfinite(value)
                assert value >= 0
            intervals = recording.intervals()
            if intervals is not None:
                assert (intervals["to_s"] > intervals["from_s"]).all()


@given(
    name=st.text(st.characters(), min_size=1, max_size=30),
    pattern=st.text(max_size=30) | st.just("{system}-{workload}{any}"),
)
@settings(max_examples=draws(70, 200))
def test_any_name_fits_a_pattern_or_is_refused(name: str, pattern: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        try:
            path = Path(folder) / name
            path.write_text(LOG_1_0)
        except (OSError, ValueError):
            return
        try:
            result = import_sysbench([path], study_name="s", options=LogOptions(pattern=pattern))
        except SpecError:
            return
        write_import(Path(folder) / "study", result)


def test_every_cut_of_a_log_is_imported_or_refused() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.log"
        for end in range(0, len(LOG_1_0), 7):
            path.write_text(LOG_1_0[:end])
            options = LogOptions(system="db1", workload="mix", connections=None)
            try:
                result = import_sysbench([path], study_name="s", options=options)
            except SpecError:
                continue
            (trial,) = result.trials
            whole = trial.outcome.reported is not None
            assert whole == (trial.outcome.warnings == ())
    with pytest.raises(SpecError):
        import_sysbench([Path("/nowhere")], study_name="s")
