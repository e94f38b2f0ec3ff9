"""The small form of an example, run whole as users would."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plimsoll.record.model import Verdict
from plimsoll.record.store import Recording, read_study
from support.command import LIMIT_S, plimsoll
from support.repository import ROOT

FAILED_TRIALS = 4
"""Exit code."""


@dataclass(frozen=True)
class Ran:
    """What an example left."""

    analysis: dict[str, Any]
    recordings: tuple[Recording, ...]
    guide: str

    @property
    def verdicts(self) -> dict[str, str]:
        """By claim."""
        return {one["says"]: one["verdict"] for one in self.analysis["claims"]}


def run_example(name: str | Path, to: Path, *, limit_s: float = LIMIT_S, attempts: int = 1) -> Ran:
    """Runs a file below examples/small; every trial of it must be complete, and every claim be in the guide.

    Args:
        name: Of the file, or its path.
        to: The folder of the study.
        limit_s: How long it may take.
        attempts: How often the command is given where trials fail, as users would: it repeats those.
    """
    data_dir = {"PLIMSOLL_DATA_DIR": f"/var/tmp/plimsoll-test-example-{os.getpid()}"}
    file = ROOT / "examples/small" / name
    for _ in range(attempts):
        ran = plimsoll("study", "run", file, "--to", to, env=data_dir, timeout_s=limit_s)
        if ran.returncode != FAILED_TRIALS:
            break
    assert ran.returncode == 0, ran.stderr
    recordings = tuple(read_study(to).recordings)
    assert recordings
    assert {recording.outcome.verdict for recording in recordings} == {Verdict.COMPLETE}
    analysis = json.loads((to / "guide.json").read_text())
    assert analysis["missing"] == []
    assert analysis["claims"]
    guide = (to / "guide.md").read_text()
    assert all(one["says"].rstrip(".") in guide for one in analysis["claims"])
    return Ran(analysis, recordings, guide)
