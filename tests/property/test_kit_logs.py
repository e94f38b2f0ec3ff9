"""Whatever a log of a kit holds, it is imported, or refused as somebody's fault: never a bug, nor text that steers."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.analyse.analysis import analyse
from plimsoll.errors import SpecError
from plimsoll.importers.log_places import LogOptions
from plimsoll.importers.tpcc import import_tpcc
from plimsoll.importers.trials import ImportResult, write_import
from plimsoll.record.store import read_study
from support import kit_logs
from support.endure import draws

LOGS = {**kit_logs.ALL, "dbt2-mix": "".join(kit_logs.dbt2_mix().splitlines(keepends=True)[::40])}
MARKS = "1700000000.500000,START,,,0,,\n1700000030.501000,TERMINATED,,,0,,\n"
TROUBLE = [
    "nan",
    "-1",
    "1e999",
    "{",
    "[{",
    "\x1b[2J",
    "\u202e",
    "\n",
    "9" * 40,
    "START",
    "[Summary] ",
    "sc:",
    ",",
    "\0",
]


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A log of some kit with pieces cut out, doubled or put in."""
    text = (draw(st.sampled_from(list(LOGS.values()))) + draw(st.sampled_from(["", MARKS]))).encode()
    for _ in range(draw(st.integers(0, 6))):
        first = draw(st.integers(0, len(text)))
        last = draw(st.integers(first, min(len(text), first + 60)))
        piece = draw(st.sampled_from([word.encode() for word in TROUBLE]) | st.binary(max_size=20))
        text = text[:first] + draw(st.sampled_from([piece, text[first:last] * 2, b""])) + text[last:]
    return text


def imported(folder: str, content: bytes, connections: int | None = None) -> ImportResult | None:
    path = Path(folder) / "a.log"
    path.write_bytes(content)
    try:
        return import_tpcc([path], study_name="s", options=LogOptions(system="db1", connections=connections))
    except SpecError:
        return None


@given(content=damaged() | st.binary(max_size=400), connections=st.sampled_from([None, 16]))
@settings(max_examples=draws(70, 200))
def test_a_damaged_log_is_imported_or_refused(content: bytes, connections: int | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        result = imported(folder, content, connections)
        if result is None:
            return
        assert all(line.isprintable() for line in (*result.skipped, *result.report))
        write_import(Path(folder) / "study", result)
        recordings = read_study(Path(folder) / "study").recordings
        for recording in recordings:
            reported = recording.outcome.reported
            types = reported.types.values() if reported else ()
            stated = [value for one in types for value in one.response_ms.values()]
            for value in (*stated, *((reported.throughput_tps, *reported.response_ms.values()) if reported else ())):
                assert math.isfinite(value)
                assert value >= 0
            intervals = recording.intervals()
            if intervals is not None:
                assert (intervals["to_s"] > intervals["from_s"]).all()
        analyse("s", recordings)


@pytest.mark.parametrize("name", kit_logs.ALL)
def test_every_cut_of_a_log_is_whole_or_says_that_it_is_not(name: str) -> None:
    text = kit_logs.ALL[name]
    step = max(len(text) // draws(40, 120), 1)
    with tempfile.TemporaryDirectory() as folder:
        for end in range(0, len(text), step):
            result = imported(folder, text[:end].encode(), None if "c '16'" in text or "-T 16" in text else 16)
            if result is not None:
                (trial,) = result.trials
                assert (trial.outcome.reported is not None) == (trial.outcome.warnings == ())
                if trial.outcome.reported is not None:
                    assert trial.outcome.reported.counts["transactions"] == 10_000
