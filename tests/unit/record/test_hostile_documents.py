"""Documents whose digests fit and whose content nothing measured: a clear error or an answer, and never a crash."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plimsoll.errors import RecordError
from plimsoll.guide.build import analyse_folder
from plimsoll.guide.markdown import render_markdown
from plimsoll.guide.terminal import render_terminal
from plimsoll.record.environment import Environment
from plimsoll.record.model import DataReset, DataState, EngineAccount, Outcome, State, StateMark, Verdict, Window
from plimsoll.record.store import read_recording, read_study, write_recording
from support.recordings import a_trial, intervals, rewrite, telemetry

HUGE = "9" * 400
DEEP = "[" * 50_000
REFUSED = {
    "400 digits": HUGE,
    "400 digits, negative": f"-{HUGE}",
    "NaN": "NaN",
    "Infinity": "-Infinity",
    "1e400": "1e400",
    "deep": DEEP,
    "deep and whole": DEEP + "]" * 50_000,
    "text": '"x"',
    "list": "[[]]",
    "object": '{"a": 1}',
}
ODD = {"62 bits": str(2**62), "1e29": "1e29", "negative": "-5", "zero": "0", "null": "null"}


def written(study: Path) -> Path:
    """A recording with figures in its documents."""
    outcome = Outcome(
        verdict=Verdict.COMPLETE,
        window=Window(first=1, last=5),
        account=EngineAccount(
            started_unix_s=1.7e9,
            duration_s=6.0,
            offered_count=600,
            unfinished_count=0,
            client_user_s=0.1,
            client_system_s=0.1,
            client_memory_bytes_max=10_000_000,
        ),
        data=DataState(
            reset=DataReset(way="copy", duration_s=1.5, size_bytes=1_000, other_s=9.5),
            rows_before=1_000,
            rows_after=1_010,
            bytes_before=16_384,
            bytes_after=16_384,
            redo_warm_bytes=50,
            redo_capacity_bytes=100,
        ),
    )
    trial = a_trial(states=(StateMark(state=State.MEASURE, began_unix_s=1.7e9),), duration_s=5.0)
    tables = {"intervals": intervals(0, 6), "telemetry": telemetry(1_700_000_000, 6, cpu_idle_ratio=0.5)}
    return write_recording(study, trial, Environment(), outcome, **tables)


def numbers(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Where a document has numbers."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers(inner, (*path, key))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path


def changed(document: Any, path: tuple[str | int, ...], raw: str) -> bytes:
    """The document with other JSON in the place of a number."""
    result = copy.deepcopy(document)
    place = result
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = "PLANTED"
    return json.dumps(result).replace('"PLANTED"', raw).encode()


def put(path: Path, name: str, content: bytes) -> None:
    if name == "outcome.json":
        (path / name).write_bytes(content)
    else:
        rewrite(path, name, content)


@pytest.mark.parametrize("name", ["trial.json", "outcome.json"])
def test_what_no_field_means_is_refused_and_what_is_odd_is_lived_with(tmp_path: Path, name: str) -> None:
    path = written(tmp_path)
    before = {file.name: file.read_bytes() for file in path.iterdir()}
    document = json.loads(before[name])
    places = [number for number in numbers(document) if number[0] != "files"]
    assert len(places) >= 8
    for place in places:
        for kind, raw in {**REFUSED, **ODD}.items():
            put(path, name, changed(document, place, raw))
            damaged = read_study(tmp_path).damaged
            if kind in REFUSED:
                assert damaged, (place, kind)
                assert len(damaged[0].reason) < 500, (place, kind)
                with pytest.raises(RecordError, match=name):
                    read_recording(path)
            elif not damaged:
                analysis = analyse_folder(tmp_path)
                assert render_terminal(analysis)
                assert render_markdown(analysis)
            for file, content in before.items():
                (path / file).write_bytes(content)


@pytest.mark.parametrize("name", ["trial.json", "environment.json", "outcome.json"])
@pytest.mark.parametrize("raw", [HUGE, DEEP, "NaN", "[]", "null", '"x"', '{"a": ' + HUGE + "}"])
def test_a_whole_document_of_something_else_is_refused(tmp_path: Path, name: str, raw: str) -> None:
    path = written(tmp_path)
    put(path, name, raw.encode())
    with pytest.raises(RecordError, match=name) as caught:
        read_recording(path)
    assert len(str(caught.value)) < 500
