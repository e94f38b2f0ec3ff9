"""What is written is what is read; and damage at any byte is noticed, never read as a shorter recording."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.errors import RecordError
from plimsoll.record import frames
from plimsoll.record.environment import Environment, HostFacts, InstanceFacts
from plimsoll.record.level import Level
from plimsoll.record.model import (
    EngineAccount,
    Origin,
    Outcome,
    ReportedResult,
    State,
    StateMark,
    SystemRecord,
    TrialRecord,
    TrialWarning,
    Verdict,
    Window,
    WorkloadRecord,
)
from plimsoll.record.store import Recording, read_recording, read_study, write_recording
from support.endure import draws, in_endure
from support.recordings import finished_ids

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
MEASURED = st.floats(-1e30, 1e30)
WHOLE = st.integers(1 - 2**64, 2**64 - 1)
MOMENT = st.floats(0, 253_402_300_799)
TABLES = {
    "intervals": frames.INTERVALS,
    "errors": frames.ERRORS,
    "histograms": frames.HISTOGRAMS,
    "telemetry": frames.TELEMETRY,
}


@contextmanager
def a_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="plimsoll-test-", dir="/var/tmp") as name:
        yield Path(name)


TRIALS = st.builds(
    TrialRecord,
    trial_id=st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}", fullmatch=True),
    study=TEXT,
    system=st.builds(SystemRecord, name=TEXT, factors=st.dictionaries(TEXT, TEXT, max_size=3)),
    workload=st.builds(
        WorkloadRecord, name=TEXT, options=st.dictionaries(TEXT, WHOLE | TEXT | st.booleans(), max_size=3)
    ),
    level=st.builds(Level, connections=st.integers(1, 10**6)),
    repetition=st.integers(0, 99),
    position=st.integers(0, 999),
    seed=st.integers(0, 2**64 - 1),
    origin=st.builds(Origin, detail=st.none() | TEXT),
    states=st.tuples() | st.tuples(st.builds(StateMark, state=st.sampled_from(State), began_unix_s=MOMENT)),
)
ENVIRONMENTS = st.builds(
    Environment,
    host=st.builds(HostFacts, name=st.none() | TEXT, memory_bytes=st.none() | st.integers(0, 2**50)),
    instances=st.tuples()
    | st.tuples(st.builds(InstanceFacts, name=TEXT, variables=st.dictionaries(TEXT, TEXT, max_size=4))),
    reported=st.dictionaries(TEXT, TEXT, max_size=2),
)
ACCOUNTS = st.builds(
    EngineAccount,
    started_unix_s=MOMENT,
    **dict.fromkeys(("duration_s", "client_user_s", "client_system_s"), MEASURED),
    **dict.fromkeys(("offered_count", "unfinished_count", "client_memory_bytes_max"), WHOLE),
)
OUTCOMES = st.builds(
    Outcome,
    verdict=st.sampled_from(Verdict),
    reason=st.none() | TEXT,
    window=st.none() | st.builds(Window, first=st.integers(0, 9), last=st.integers(9, 99)),
    account=st.none() | ACCOUNTS,
    reported=st.none()
    | st.builds(ReportedResult, throughput_tps=MEASURED, response_ms=st.dictionaries(TEXT, MEASURED)),
    warnings=st.tuples() | st.tuples(st.builds(TrialWarning, code=TEXT, evidence=TEXT, advice=TEXT)),
)


def values_of(kind: pl.DataType) -> st.SearchStrategy[Any]:
    if isinstance(kind, pl.String):
        return TEXT
    if isinstance(kind, pl.Float64):
        return NUMBER
    bits = {pl.UInt16(): 16, pl.UInt32(): 32, pl.UInt64(): 64}[kind]
    return st.integers(0, 2**bits - 1)


@st.composite
def tables(draw: st.DrawFn, schema: dict[str, pl.DataType]) -> pl.DataFrame:
    rows = []
    for _ in range(draw(st.integers(0, 4))):
        buckets = draw(st.lists(st.integers(0, 33_000), unique=True, max_size=4).map(sorted))
        lists = {"buckets": buckets, "counts": [draw(st.integers(1, 2**40)) for _ in buckets]}
        plain = {name: kind for name, kind in schema.items() if not isinstance(kind, pl.List)}
        rows.append({name: draw(values_of(kind)) for name, kind in plain.items()} | lists)
    return pl.DataFrame([{name: row[name] for name in schema} for row in rows], schema=schema, orient="row")


@st.composite
def recordings(draw: st.DrawFn) -> dict[str, Any]:
    documents = {"trial": draw(TRIALS), "environment": draw(ENVIRONMENTS), "outcome": draw(OUTCOMES)}
    return documents | {name: draw(st.none() | tables(schema)) for name, schema in TABLES.items()}


def everything(recording: Recording) -> dict[str, Any]:
    documents = {
        "trial": recording.trial,
        "environment": recording.environment,
        "outcome": recording.outcome.model_copy(update={"files": {}}),
    }
    return documents | {name: getattr(recording, name)() for name in TABLES}


def _in_order(table: pl.DataFrame) -> pl.DataFrame:
    """Rows of one measure stay in their order; measures come one after the other."""
    return table.sort("measure", maintain_order=True) if "measure" in table.columns else table


def assert_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        if isinstance(value, pl.DataFrame):
            assert value.schema == other[name].schema
            assert _in_order(value).equals(_in_order(other[name]))
        else:
            assert value == other[name]


@given(recordings())
@settings(max_examples=draws(30, 60))
def test_what_is_written_is_read(written: dict[str, Any]) -> None:
    with a_folder() as study:
        path = write_recording(study, **written)
        assert_same(everything(read_recording(path)), written)
        assert finished_ids(study) == {written["trial"].trial_id: written["outcome"].verdict}


def a_full_recording() -> dict[str, Any]:
    """A small recording with all of its tables."""
    rows = {name: {column: example(kind) for column, kind in schema.items()} for name, schema in TABLES.items()}
    documents = {
        "trial": TrialRecord(
            trial_id="t1",
            study="s",
            system=SystemRecord(name="a"),
            workload=WorkloadRecord(name="w"),
            level=Level(connections=4),
            repetition=0,
        ),
        "environment": Environment(),
        "outcome": Outcome(verdict=Verdict.COMPLETE),
    }
    return documents | {name: pl.DataFrame([row] * 3, schema=TABLES[name]) for name, row in rows.items()}


def example(kind: pl.DataType) -> Any:
    if isinstance(kind, pl.List):
        return [1, 2, 3]
    return "x" if isinstance(kind, pl.String) else 1.5 if isinstance(kind, pl.Float64) else 7


FILES = ["trial.json", "environment.json", "outcome.json", *(f"{name}.parquet" for name in TABLES)]


EDGE_BYTES = 32
"""Files are cut at each of so many first and last bytes."""


@pytest.mark.parametrize("step", [13, in_endure(1)])
@pytest.mark.parametrize("name", FILES)
def test_a_file_cut_short_at_any_byte_is_noticed(name: str, step: int) -> None:
    """Between its edges at each of so many bytes."""
    with a_folder() as study:
        written = a_full_recording()
        path = write_recording(study, **written)
        content = (path / name).read_bytes()
        size = len(content)
        edges = range(min(EDGE_BYTES, size)), range(max(size - EDGE_BYTES, 0), size)
        for length in sorted({*edges[0], *edges[1], *range(0, size, step)}, reverse=True):
            os.truncate(path / name, length)
            assert_refused_or_same(study, path, written, lossless=content[length:].isspace() and name == "outcome.json")


def assert_refused_or_same(study: Path, path: Path, written: dict[str, Any], *, lossless: bool) -> None:
    """Every way of reading refuses it; without the last line break an outcome still says the same."""
    if lossless:
        assert_same(everything(read_recording(path)), written)
        return
    with pytest.raises(RecordError, match=r"t1"):
        everything(read_recording(path))
    found = read_study(study)
    assert [damaged.trial_id for damaged in found.damaged] == ["t1"]
    assert found.recordings == ()
    assert finished_ids(study) == {}


@given(st.sampled_from([name for name in FILES if name != "outcome.json"]), st.data())
@settings(max_examples=draws(30, 80))
def test_a_changed_byte_is_noticed(name: str, data: st.DataObject) -> None:
    with a_folder() as study:
        path = write_recording(study, **a_full_recording())
        content = bytearray((path / name).read_bytes())
        at = data.draw(st.integers(0, len(content) - 1))
        content[at] ^= data.draw(st.integers(1, 255))
        (path / name).write_bytes(content)
        with pytest.raises(RecordError, match=name):
            everything(read_recording(path))


@given(st.binary(max_size=200) | st.text(max_size=60).map(str.encode), st.sampled_from(FILES))
@settings(max_examples=draws(30, 80))
def test_any_bytes_in_place_of_a_file_give_a_record_error(content: bytes, name: str) -> None:
    with a_folder() as study:
        path = write_recording(study, **a_full_recording())
        (path / name).write_bytes(content)
        with pytest.raises(RecordError):
            everything(read_recording(path))
