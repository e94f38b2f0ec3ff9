"""Small recordings and their tables, made up."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import polars as pl

from plimsoll.record import frames
from plimsoll.record.environment import Environment
from plimsoll.record.level import Level
from plimsoll.record.model import Outcome, SystemRecord, TrialRecord, Verdict, WorkloadRecord
from plimsoll.record.store import verdicts, write_recording

PLACE = {"driver": "d", "host": "h", "instance": "a/0"}


def a_trial(trial_id: str = "t1", **more: Any) -> TrialRecord:
    """What was planned: four connections on system `a`."""
    return TrialRecord(
        trial_id=trial_id,
        study="s",
        system=SystemRecord(name="a"),
        workload=WorkloadRecord(name="w"),
        level=Level(connections=4),
        **{"repetition": 0, **more},
    )


def finished_ids(study: Path) -> dict[str, Verdict]:
    """The verdict of each recording that is not damaged."""
    return {trial_id: verdict for trial_id, verdict in verdicts(study).items() if verdict is not None}


def intervals(first: int, count: int) -> pl.DataFrame:
    """So many intervals of a second each, with 100 transactions each."""
    counts = dict.fromkeys(frames.INTERVALS, 0) | {"completed": 100}
    rows = [
        {**counts, **PLACE, "interval": n, "from_s": float(n), "to_s": n + 1.0, "transaction": "t"}
        for n in range(first, first + count)
    ]
    return pl.DataFrame(rows, schema=frames.INTERVALS)


def telemetry(first: int, count: int, source: str = "host", **values: float) -> pl.DataFrame:
    """A sample of each metric in each of so many seconds."""
    rows = [
        {**PLACE, "unix_s": float(n), "source": source, "metric": metric, "value": value}
        for n in range(first, first + count)
        for metric, value in values.items()
    ]
    return pl.DataFrame(rows, schema=frames.TELEMETRY)


def write(study: Path, trial_id: str = "t1", verdict: Verdict = Verdict.COMPLETE, **more: Any) -> Path:
    """A recording without tables but those that are given."""
    trial = a_trial(trial_id, position=more.pop("position", 0))
    return write_recording(study, trial, Environment(), Outcome(verdict=verdict), **more)


def rewrite(path: Path, name: str, content: bytes) -> None:
    """Puts other bytes into a recording as if they had been written so."""
    (path / name).write_bytes(content)
    outcome = json.loads((path / "outcome.json").read_bytes())
    outcome["files"][name] = {"size_bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    (path / "outcome.json").write_text(json.dumps(outcome))
